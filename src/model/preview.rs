//! One line that tells a message from others.

use crate::model::{Message, Part, call};

/// The longest preview, in bytes.
pub const PREVIEW_BYTES: usize = 80;

/// One line that tells a message from others: its first text, or its first call as
/// `name key="value"`, or its first result; white space folded, at most [`PREVIEW_BYTES`] bytes and
/// then `…`. What was cut is `(interrupted)`. Control characters are kept: escaping is for whoever shows it.
pub fn preview(message: &Message) -> String {
    fn words(part: &Part) -> Option<String> {
        let text = match part {
            Part::Text { text } => text.clone(),
            Part::ToolCall {
                name, arguments, ..
            } => call::summary(name, arguments),
            Part::ToolResult { content, .. } => content.iter().find_map(words)?,
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
        (!text.trim().is_empty()).then_some(text)
    }
    let text = message.parts.iter().find_map(words).or_else(|| {
        message.parts.iter().find_map(|part| match part {
            Part::Thinking { text, .. } => Some(format!("(thinking) {text}")),
            Part::Opaque { .. } => Some("(opaque)".to_owned()),
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
