//! The folder of small files that the tool had before its database: a file for each session, message and part.
//!
//! Each holds what an export shows of it, ids included. They are put together as they stand; what is no JSON
//! object is kept as text.

use crate::formats::WithParts;
use crate::wire::json::{Object, array, is_object};

/// The export document of a session, of its file's text, and those of its messages with their parts.
pub(super) fn document(session: &str, messages: &[WithParts]) -> String {
    let messages = messages.iter().map(|(message, parts)| {
        Object::new()
            .raw("info", &whole(message))
            .raw("parts", &array(parts.iter().map(|part| whole(part))))
            .finish()
    });
    Object::new()
        .raw("info", &whole(session))
        .raw("messages", &array(messages))
        .finish()
}

fn whole(text: &str) -> String {
    if is_object(text) {
        text.trim().to_owned()
    } else {
        Object::new().string("data", text).finish()
    }
}
