//! What a client attached, where a provider has no place of its own for it: the user's text, within
//! tags that set it apart.

use std::borrow::Cow;

use crate::model::{Message, Part};

/// What a message is attached as that holds, as its text, the `output_config` of a system message, a JSON object. It is sent
/// where system messages are, and no words with it.
pub const OUTPUT_CONFIG: &str = "output_config";

/// What a message is attached as that holds, as its texts, further blocks of a system message, a JSON object each.
pub const SYSTEM_BLOCKS: &str = "system_blocks";

/// A text within the tags, as it is where it stands within them already.
///
/// # Source
///
/// Observed: so Claude Code sends it to models that take no system message in mid-conversation.
pub fn tagged(text: &str) -> String {
    match untagged(text) {
        Some(_) => text.to_owned(),
        None => format!("<system-reminder>\n{text}\n</system-reminder>"),
    }
}

/// A text without the tags, where it stands within them.
pub fn untagged(text: &str) -> Option<&str> {
    text.strip_prefix("<system-reminder>\n")?
        .strip_suffix("\n</system-reminder>")
}

/// A message as a plain one: what is attached, with its texts within tags.
pub fn plain(message: &Message) -> Cow<'_, Message> {
    if !message.is_attached() {
        return Cow::Borrowed(message);
    }
    let parts = message.parts.iter().map(|part| match part {
        Part::Text { text } => Part::text(tagged(text)),
        part => part.clone(),
    });
    Cow::Owned(Message {
        attached: None,
        recipient: None,
        interrupted: false,
        parts: parts.collect(),
        ..message.clone()
    })
}
