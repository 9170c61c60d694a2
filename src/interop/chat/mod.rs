//! What the two chat formats share: how conversations lie in a file, and how JSON is written.
//!
//! A file is one document (messages, request, response, an array of recorded runs) or JSON Lines
//! with a conversation a line. A document is held in memory as bytes, a file of lines line by line;
//! messages are decoded one at a time. Deliberately absent: what a message means; that is the
//! [`Dialect`].

mod read;
mod sniff;
#[cfg(test)]
mod tests;
pub(super) mod write;

use serde_json::value::RawValue;

use crate::model::{Message, Millis, Usage};
use crate::wire::Notes;

pub(super) use read::read;
pub(super) use sniff::{Kind, is_in_parts, is_plain, kind};

/// A reply's message and what stands beside it.
#[derive(Debug)]
pub(super) struct Reply {
    /// Which member of the document holds the message; none: the document is the message.
    pub(super) choices: Option<&'static str>,
    /// The model that replied, as JSON.
    pub(super) model: Option<String>,
    /// The tier of service, as JSON.
    pub(super) tier: Option<String>,
    /// When it was made.
    pub(super) time: Option<Millis>,
    /// What was counted.
    pub(super) usage: Option<Usage>,
}

/// What the two formats do differently.
pub(super) struct Dialect {
    /// Reads one element of `messages`.
    pub(super) message: fn(&RawValue, &mut Notes) -> Result<Message, String>,
    /// Reads the value of a top-level `system`; none if the format has no such key.
    pub(super) system: fn(&RawValue, &mut Notes) -> Option<Message>,
    /// Reads what stands beside the message of a response body; none if it is none.
    pub(super) reply: fn(&RawValue) -> Option<Reply>,
}
