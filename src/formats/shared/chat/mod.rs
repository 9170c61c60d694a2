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
pub(in crate::formats) mod write;

use serde_json::value::RawValue;

use crate::model::{Message, Millis, UsageRecord};
use crate::wire::Notes;

pub(in crate::formats) use read::read;
pub(in crate::formats) use sniff::{Kind, is_in_parts, is_lines, is_plain, kind};

/// A reply's message and what stands beside it.
#[derive(Debug)]
pub(in crate::formats) struct Reply {
    /// Which member of the document holds the message; none: the document is the message.
    pub(in crate::formats) choices: Option<&'static str>,
    /// The model that replied, as JSON.
    pub(in crate::formats) model: Option<String>,
    /// The tier of service, as JSON.
    pub(in crate::formats) tier: Option<String>,
    /// When it was made.
    pub(in crate::formats) time: Option<Millis>,
    /// What was counted.
    pub(in crate::formats) usage: Option<UsageRecord>,
}

/// What the two formats do differently.
pub(in crate::formats) struct Dialect {
    /// Reads one element of `messages`.
    pub(in crate::formats) message: fn(&RawValue, &mut Notes) -> Result<Message, String>,
    /// Reads the value of a top-level `system`; none if the format has no such key.
    pub(in crate::formats) system: fn(&RawValue, &mut Notes) -> Option<Message>,
    /// Reads what stands beside the message of a response body; none if it is none.
    pub(in crate::formats) reply: fn(&RawValue) -> Option<Reply>,
}
