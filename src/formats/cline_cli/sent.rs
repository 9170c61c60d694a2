//! What the tool makes of a message when it sends it: prompts without their frame, arguments and results as the JSON of
//! what they hold, and long texts in results without their middle.
//!
//! # Source
//!
//! `normalizeUserInput` of `@cline/shared`, and `MessageBuilder` of `@cline/core`, both 0.0.86.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::formats::shared::records::replaced;
use crate::wire::json::{Object, Raw, array, decode, quoted, string, tight, word};

/// How long a text in a result may be, in UTF-16 units.
const RESULT_UNITS_MAX: usize = 8_000;

/// What stands around a prompt.
const FRAMES: [&str; 2] = ["user_input", "user_command"];

lazy! { struct Block { r#type, text, content, input } }

/// A message's content as it is sent.
pub(super) fn content(raw: &RawValue, is_users: bool) -> String {
    if let Some(text) = string(Some(raw)) {
        return quoted(&if is_users { unframed(&text) } else { text });
    }
    let Some(blocks) = decode::<Vec<&RawValue>>(Some(raw)) else {
        return raw.get().to_owned();
    };
    array(blocks.into_iter().map(|block| {
        let parts: Block<'_> = decode(Some(block)).unwrap_or_default();
        match (word(parts.r#type).as_deref(), string(parts.text)) {
            (Some("text"), Some(text)) if is_users => {
                replaced(block.get(), "text", &quoted(&unframed(&text))).finish()
            }
            (Some("tool_use"), _) => {
                let given = parts
                    .input
                    .map_or_else(|| "{}".to_owned(), |it| tight(it.get()));
                replaced(block.get(), "input", &given).finish()
            }
            (Some("tool_result"), _) => {
                let given = result(parts.content);
                replaced(block.get(), "content", &given).finish()
            }
            _ => block.get().to_owned(),
        }
    }))
}

/// What a result holds, as it is sent: texts and pictures as they are, all else as one text.
fn result(content: Raw<'_>) -> String {
    if let Some(text) = string(content) {
        return quoted(&cut(&text));
    }
    let blocks: Vec<&RawValue> = decode(content).unwrap_or_default();
    let is_known = |block: &&RawValue| {
        let kind = decode::<Block<'_>>(Some(block)).unwrap_or_default().r#type;
        matches!(word(kind).as_deref(), Some("text" | "image"))
    };
    if blocks.iter().all(is_known) {
        return array(blocks.into_iter().map(|block| {
            let text = string(decode::<Block<'_>>(Some(block)).unwrap_or_default().text);
            match text {
                Some(text) => Object::typed("text").string("text", &cut(&text)).finish(),
                None => block.get().to_owned(),
            }
        }));
    }
    let all = content.map_or("null", RawValue::get);
    let is_long = all.len() > RESULT_UNITS_MAX;
    let value = decode::<Value>(content).filter(|_| is_long);
    quoted(&value.map_or_else(|| tight(all), |value| cut_in(value).to_string()))
}

/// A value whose texts are no longer than they may be; pictures stay.
fn cut_in(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(cut(&text)),
        Value::Array(items) => items.into_iter().map(cut_in).collect(),
        Value::Object(fields) if fields.get("type").is_none_or(|kind| kind != "image") => {
            let fields = fields.into_iter();
            Value::Object(fields.map(|(key, it)| (key, cut_in(it))).collect())
        }
        value => value,
    }
}

/// A text without its middle where it is too long, with a note of how much that was.
fn cut(text: &str) -> String {
    if text.len() <= RESULT_UNITS_MAX {
        return text.to_owned();
    }
    let units: Vec<u16> = text.encode_utf16().collect();
    if units.len() <= RESULT_UNITS_MAX {
        return text.to_owned();
    }
    let note = |gone: usize| format!("\n\n...[truncated {gone} chars]...\n\n");
    // The length of the note depends on the number in it; it is reckoned twice.
    let side = |note: &str| (RESULT_UNITS_MAX - note.len()) / 2;
    let guessed = side(&note(units.len() - RESULT_UNITS_MAX));
    let note = note(units.len() - 2 * guessed);
    let side = side(&note);
    let [first, last] = [&units[..side], &units[units.len() - side..]];
    [
        &*String::from_utf16_lossy(first),
        &note,
        &String::from_utf16_lossy(last),
    ]
    .concat()
}

/// A prompt without its frame.
fn unframed(text: &str) -> String {
    let mut text = text.trim().to_owned();
    for frame in FRAMES {
        text = without(&text, frame).trim().to_owned();
    }
    text
}

/// A text with what is inside each such frame in its place; where none is closed, without what opens them.
fn without(text: &str, frame: &str) -> String {
    let (open, close) = (format!("<{frame}"), format!("</{frame}>"));
    let inner = opened(text, &open, |made, behind| {
        let is_longer = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let (_, inside) = behind
            .split_once('>')
            .filter(|_| !behind.starts_with(is_longer))?;
        let (inner, after) = inside.split_once(&*close)?;
        made.push_str(inner);
        Some(after)
    });
    if inner != text {
        return inner;
    }
    opened(text, &open, |_, behind| Some(behind.split_once('>')?.1))
}

/// A text in which each place that begins so is taken for what `take` makes of what is behind it, and goes on where that
/// says; one of which it makes nothing stays.
fn opened<'t>(
    text: &'t str,
    open: &str,
    take: impl Fn(&mut String, &'t str) -> Option<&'t str>,
) -> String {
    let (mut made, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(open) {
        let (before, behind) = (&rest[..at], &rest[at + open.len()..]);
        made.push_str(before);
        rest = match take(&mut made, behind) {
            Some(after) => after,
            None => {
                made.push_str(open);
                behind
            }
        };
    }
    made + rest
}
