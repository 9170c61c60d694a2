//! Messages of Microsoft's Agent Framework: lines of a session's file, or the object of a session with all of its state.
//!
//! Deliberately absent: files in MessagePack, what other providers of context keep in a session's state, checkpoints of
//! workflows, and any writing.
//!
//! # Source
//!
//! `python/packages/core/agent_framework/{_types.py,_sessions.py}` of <https://github.com/microsoft/agent-framework>,
//! 1.23.

mod message;
mod read;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::histories;

/// Whose opaque blocks these are.
const PROVIDER: &str = "agent-framework";

/// The format.
pub static AGENT_FRAMEWORK: Format = Format {
    tools: &["Microsoft Agent Framework"],
    seen: "files and sessions of 1.23",
    sniff: |head| {
        let session = head.first(read::is_session);
        session.or_else(|| histories::sniff::<read::History>(head))
    },
    ..Format::only_read("agent-framework", Shape::Document, read::import)
};
