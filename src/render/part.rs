//! A part of a message in brief, as a diff lists what is on one side alone; and what is no text of
//! it. Deliberately absent: a part whole, which is drawn as in a chat ([`crate::render::chat`]).

use std::borrow::Cow;

use crate::hash::fingerprint;
use crate::model::call::Brief;
use crate::model::server_tools::{Hosted, hosted};
use crate::model::{Media, MediaSource, Message, Part};
use crate::render::{Label, Line, bytes, grouped};

/// What a part is that is no text: a picture, a file, an opaque block. Nothing of any other.
pub fn held(part: &Part) -> Option<Line> {
    match part {
        Part::Image(media) => Some(Label::Dim.of(format!("[image {}]", describe(media, true)))),
        Part::File(media) => Some(Label::Dim.of(format!("[file {}]", describe(media, true)))),
        Part::Opaque { provider, .. } => Some(Label::Dim.of(format!("opaque block of {provider}"))),
        _ => None,
    }
}

/// That a list of `count` was cut to `limit`, if it was.
pub fn rest(count: usize, limit: usize) -> Option<Line> {
    let more = count.checked_sub(limit).filter(|more| *more > 0)?;
    let more = grouped(more as u64);
    Some(Label::Dim.of(format!("  … {more} more (--full)")))
}

/// A part in brief, as texts that are hostile until escaped. A call takes one line, of at most
/// `call_cols` columns.
pub fn brief(part: &Part, call_cols: Option<usize>) -> Vec<Cow<'_, str>> {
    match part {
        Part::Text { text } => vec![text.into()],
        Part::Thinking { text, .. } => vec!["(thinking)".into(), text.into()],
        Part::ToolCall {
            name, arguments, ..
        } => vec![summary(name, arguments, call_cols).into()],
        Part::ToolResult { content, .. } => {
            let failed = part.has_failed().then(|| "(failed)".into());
            let said = content.iter().flat_map(|part| brief(part, call_cols));
            failed.into_iter().chain(said).collect()
        }
        Part::Image(media) => vec![format!("[image {}]", describe(media, false)).into()],
        Part::File(media) => vec![format!("[file {}]", describe(media, false)).into()],
        Part::Opaque { provider, data } => match hosted(data) {
            Some(Hosted { call, gave }) => {
                let asked = call.map(|(name, arguments)| summary(&name, &arguments, call_cols));
                asked.into_iter().chain(gave).map(Cow::Owned).collect()
            }
            None => {
                let size = bytes(data.len() as u64);
                vec![format!("[block of {provider}, {size}]").into()]
            }
        },
    }
}

fn summary(name: &str, arguments: &str, cols: Option<usize>) -> String {
    let line = Line::from(format!("→ {}", Brief::of(name, arguments).whole()));
    line.cut(cols.unwrap_or(usize::MAX)).text()
}

/// `shot.png, image/png, 1.2 kB`; in brief also what else tells one picture from another.
fn describe(media: &Media, is_whole: bool) -> String {
    let source = match &media.source {
        MediaSource::Base64(data) => {
            let mut size = bytes(data.len() as u64 / 4 * 3);
            if !is_whole {
                let hash = fingerprint(data.as_bytes());
                let digits = hash.iter().take(4).map(|byte| format!("{byte:02x}"));
                size += &format!(", hash {}", digits.collect::<String>());
            }
            size
        }
        MediaSource::Url(address) => address.clone(),
        MediaSource::FileId(id) => id.clone(),
    };
    let detail = media.detail.as_ref().filter(|_| !is_whole);
    let (name, media_type) = (media.name.as_ref(), media.media_type.as_ref());
    let words = [name, media_type, detail, Some(&source)];
    let words: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
    words.join(", ")
}

/// The parts' types in order, `thinking, text, 2 tool_call`, from how many there are of each.
pub fn types(counted: &[(&str, usize)]) -> String {
    let word = |(name, count): &(&str, usize)| match count {
        1 => (*name).to_owned(),
        _ => format!("{count} {name}"),
    };
    counted.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// The types of a message's parts.
pub fn types_of(message: &Message) -> String {
    types(&message.part_types())
}
