//! A picture or a file of a message, written to a file.

use std::path::Path;

use tract::Error;
use tract::model::{Media, MediaSource, Message, Part};
use tract::query::Shown;
use tract::render::bytes;

use super::{Args, Piece};
use crate::cli::{App, Failure, Result, private};

/// Writes the one that is meant.
pub fn save(
    shown: &Shown,
    piece: Option<&Piece>,
    path: &Path,
    args: &Args,
    app: &mut App,
) -> Result<()> {
    let messages = || shown.message.iter().chain(&shown.replacements);
    let all: Vec<&Media> = match piece {
        Some(Piece::Part(at)) => {
            let parts = messages().flat_map(|message| message.parts.get(*at));
            parts.flat_map(held).collect()
        }
        Some(Piece::Message(at)) => of_message(&shown.replacements[*at]),
        None => messages().flat_map(of_message).collect(),
    };
    let hash = shown.row.hash.short();
    let media = one(&all, args.which, &hash)?;
    let data = match (&media.source, media.bytes()) {
        (_, Some(data)) => data,
        (MediaSource::Base64(_), None) => {
            return Err(Failure::refused(
                "it is not base64, so there are no bytes to write",
            ));
        }
        (MediaSource::Url(place) | MediaSource::FileId(place), None) => {
            let what = "it is not here: the message only says where it is";
            return Err(Failure::refused(what).with_hint(place.clone()));
        }
    };
    let path = app.path(path)?;
    private::write(&path, args.force, |out| {
        Ok(out.write_all(&data).map_err(Error::io(&path))?)
    })?;
    let kind = media.media_type.as_deref().unwrap_or("a file");
    let (size, place) = (bytes(data.len() as u64), app.short_path(&path));
    app.ui.status(format!("Wrote {kind}, {size}, to {place}"));
    Ok(())
}

/// The one that is meant of those in a commit.
fn one<'a>(all: &[&'a Media], which: Option<usize>, hash: &str) -> Result<&'a Media> {
    let hint = format!("--which N, from 1 to {}", all.len());
    match (all, which) {
        ([], _) => {
            let failure = Failure::refused("there is no picture and no file in it");
            Err(failure.with_hint(format!("tract show {hash} says what is in it")))
        }
        ([only], None) => Ok(only),
        (all, None) => {
            let what = format!("which one? there are {}", all.len());
            Err(Failure::usage(what).with_hint(hint))
        }
        (all, Some(which)) => match which.checked_sub(1).and_then(|at| all.get(at)) {
            Some(media) => Ok(media),
            None => {
                let what = format!("there is no number {which} among {}", all.len());
                Err(Failure::refused(what).with_hint(hint))
            }
        },
    }
}

fn of_message(message: &Message) -> Vec<&Media> {
    message.parts.iter().flat_map(held).collect()
}

/// The pictures and files in a part, those of a tool's result too.
fn held(part: &Part) -> Vec<&Media> {
    match part {
        Part::Image(media) | Part::File(media) => vec![media],
        Part::ToolResult { content, .. } => content.iter().flat_map(held).collect(),
        _ => Vec::new(),
    }
}
