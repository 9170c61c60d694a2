//! One line that tells a message from others.

use std::borrow::Cow;

use crate::model::server_tools::hosted;
use crate::model::{Message, Part, call, told};

/// The longest preview, in bytes.
pub const PREVIEW_BYTES: usize = 80;

/// One line that tells a message from others: its first text, or its first call as
/// `name key="value"`, or what its first result tells (`told`); white space folded, at most [`PREVIEW_BYTES`] bytes and
/// then `…`. What was cut is `(interrupted)`. Control characters are kept: escaping is for whoever shows it.
pub fn preview(message: &Message) -> String {
    line(message, told, said)
}

/// The same with the whole of a result in it, heads and numbers too, and nothing of a provider's own tools: what was kept
/// before `told` was asked.
pub fn plain_preview(message: &Message) -> String {
    line(message, |text| Cow::Borrowed(text), |_| None)
}

/// What a block of a provider's own says: the call in it, or what it gave.
fn said(data: &str) -> Option<String> {
    let said = hosted(data)?;
    let call = said
        .call
        .map(|(name, arguments)| call::summary(&name, &arguments));
    call.or_else(|| said.gave.into_iter().next())
}

fn line(
    message: &Message,
    result: for<'a> fn(&'a str) -> Cow<'a, str>,
    block: fn(&str) -> Option<String>,
) -> String {
    let words = |part: &Part| words(part, |text| Cow::Borrowed(text), result, block);
    let text = message.parts.iter().find_map(words).or_else(|| {
        message.parts.iter().find_map(|part| match part {
            Part::Thinking { text, .. } => Some(format!("(thinking) {text}")),
            Part::Opaque { data, .. } => Some(block(data).unwrap_or_else(|| "(opaque)".to_owned())),
            _ => None,
        })
    });
    let text = text.unwrap_or_default();
    let text = if message.interrupted {
        format!("(interrupted) {text}")
    } else {
        text
    };
    one_line(&text)
}

/// The words of a part: a text as `text` has it, one within a result as `result` has it, and a provider's own block
/// there as `block` has it.
fn words(
    part: &Part,
    text: for<'a> fn(&'a str) -> Cow<'a, str>,
    result: for<'a> fn(&'a str) -> Cow<'a, str>,
    block: fn(&str) -> Option<String>,
) -> Option<String> {
    let said = match part {
        Part::Text { text: said } => text(said).into_owned(),
        Part::ToolCall {
            name, arguments, ..
        } => call::summary(name, arguments),
        Part::ToolResult { content, .. } => content.iter().find_map(|part| match part {
            Part::Opaque { data, .. } => block(data),
            part => words(part, result, result, block),
        })?,
        Part::Image(media) | Part::File(media) => {
            let what = media
                .media_type
                .as_deref()
                .or(media.name.as_deref())
                .unwrap_or("file");
            format!("[{what}]")
        }
        Part::Thinking { .. } | Part::Opaque { .. } => return None,
    };
    (!said.trim().is_empty()).then_some(said)
}

/// The text on one line of at most [`PREVIEW_BYTES`] bytes: white space folded, and `…` after what
/// was cut.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let space = usize::from(!line.is_empty());
        if line.len() + space + word.len() + "…".len() > PREVIEW_BYTES {
            let room = PREVIEW_BYTES - "…".len() - line.len().min(PREVIEW_BYTES - "…".len());
            if room > space {
                if space == 1 {
                    line.push(' ');
                }
                let mut end = room - space;
                while !word.is_char_boundary(end.min(word.len())) {
                    end -= 1;
                }
                line.push_str(&word[..end.min(word.len())]);
            }
            line.push('…');
            return line;
        }
        if space == 1 {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
