//! A part of a message, drawn: whole, as one commit is shown, or in brief, as a diff lists what is
//! on one side alone.

use std::borrow::Cow;

use crate::hash::fingerprint;
use crate::model::{Media, MediaSource, Message, Part, call};
use crate::render::{Label, Line, bytes};

/// What stands before a text in the whole form.
const INDENT: &str = "    ";

/// How much is said of a part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    /// A call on one line of at most so many columns.
    Brief(Option<usize>),
}

/// What a part is drawn of.
enum Piece<'a> {
    /// What it is.
    Head(Line),
    /// What it says.
    Text(Cow<'a, str>),
}

/// A part whole: what it is and all that it says, at most `limit` lines of each text.
pub fn whole(part: &Part, limit: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for piece in pieces(part, Form::Whole) {
        match piece {
            Piece::Head(line) => lines.push(line),
            Piece::Text(text) => {
                let shown = text.lines().take(limit);
                lines.extend(shown.map(|line| Line::from(INDENT) + Label::Text.quote(line)));
                lines.extend(rest(text.lines().count(), limit));
            }
        }
    }
    lines
}

/// That a list of `count` was cut to `limit`, if it was.
pub fn rest(count: usize, limit: usize) -> Option<Line> {
    let more = || Label::Dim.of(format!("  … {} more (--full)", count - limit));
    (count > limit).then(more)
}

/// A part in brief, as texts that are hostile until escaped. A call takes one line, of at most
/// `call_cols` columns.
pub fn brief(part: &Part, call_cols: Option<usize>) -> Vec<Cow<'_, str>> {
    let text = |piece| match piece {
        Piece::Head(line) => Cow::Owned(line.text()),
        Piece::Text(text) => text,
    };
    let pieces = pieces(part, Form::Brief(call_cols));
    pieces.into_iter().map(text).collect()
}

fn pieces(part: &Part, form: Form) -> Vec<Piece<'_>> {
    let is_whole = form == Form::Whole;
    let head = |label: Label, whole: String, brief: &str| match form {
        Form::Whole => Piece::Head(label.of(whole)),
        Form::Brief(_) => Piece::Head(Line::from(brief)),
    };
    let text = |text| Piece::Text(Cow::Borrowed(text));
    match part {
        Part::Text { text: said } => vec![text(said)],
        Part::Thinking {
            text: thought,
            signature,
            ..
        } => {
            let signed = if signature.is_some() { " (signed)" } else { "" };
            let whole = format!("  thinking{signed}");
            vec![head(Label::Dim, whole, "(thinking)"), text(thought)]
        }
        Part::ToolCall {
            id,
            name,
            arguments,
            ..
        } => match form {
            Form::Whole => {
                let head = Label::Tool.of(format!("  call {name}  {id}"));
                let pretty = serde_json::from_str::<serde_json::Value>(arguments)
                    .and_then(|value| serde_json::to_string_pretty(&value));
                let pretty = pretty.map_or(Cow::Borrowed(arguments.as_str()), Cow::Owned);
                vec![Piece::Head(head), Piece::Text(pretty)]
            }
            Form::Brief(cols) => {
                let summary = Line::from(format!("→ {}", call::summary(name, arguments)));
                vec![Piece::Head(summary.cut(cols.unwrap_or(usize::MAX)))]
            }
        },
        Part::ToolResult {
            call,
            content,
            is_error,
        } => {
            let (label, word) = match is_error {
                true => (Label::Error, "failed"),
                false => (Label::Tool, "result"),
            };
            let mut pieces = Vec::new();
            if is_whole || *is_error {
                pieces.push(head(label, format!("  {word}  {call}"), "(failed)"));
            }
            pieces.extend(content.iter().flat_map(|part| self::pieces(part, form)));
            pieces
        }
        Part::Image(media) | Part::File(media) => {
            let noun = match part {
                Part::Image(_) => "image",
                _ => "file",
            };
            let text = format!("[{noun} {}]", describe(media, is_whole));
            vec![head(Label::Dim, format!("{INDENT}{text}"), &text)]
        }
        Part::Opaque { provider, data } => match form {
            Form::Whole => {
                let head = Label::Dim.of(format!("  opaque block of {provider}"));
                vec![Piece::Head(head), text(data)]
            }
            Form::Brief(_) => {
                let size = bytes(data.len() as u64);
                let text = format!("[block of {provider}, {size}]");
                vec![Piece::Head(text.into())]
            }
        },
    }
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
