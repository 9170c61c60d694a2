//! What a history holds: the text of its messages.

use crate::model::{Message, Part};

/// All text of a message.
pub(super) fn prompt_text(message: &Message) -> String {
    message.parts.iter().filter_map(Part::as_text).collect()
}
