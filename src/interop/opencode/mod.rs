//! OpenCode: a session as `opencode export` writes it and `opencode import` reads it, one object with
//! the session and its messages.
//!
//! A message's parts hold calls together with what they gave back; here that is a message of its own,
//! with the same record behind it. What the tool does not send again is hidden: what stands before a
//! summary, outputs that it has cleared, and what was reverted. Deliberately absent: the tool's own
//! database, and the way back into it.
//!
//! # Source
//!
//! `packages/opencode/src/session` of <https://github.com/sst/opencode>. Observed: the requests of
//! OpenCode 1.18.33 beside its sessions.

mod ids;
mod read;
mod said;
#[cfg(test)]
mod tests;
mod write;

use super::format::{Format, Shape};

/// Whose opaque blocks these are, where they are no provider's.
const PROVIDER: &str = "opencode";

/// What the tool says in place of a request for a summary.
const SUMMARY_ASKED: &str = "What did we do so far?";
/// What it says before a call that the user made.
const BY_THE_USER: &str = "The following tool was executed by the user";
/// What it says in place of an output that it has cleared.
const CLEARED: &str = "[Old tool result content cleared]";

/// The format.
pub static OPENCODE: Format = Format {
    tools: &["OpenCode"],
    seen: "exports of 1.2.20 and 1.18.33",
    sniff: |head| {
        let document = head.object()?;
        let info = document.inside("info")?;
        let own = info.has("id") && info.has_any(&["slug", "projectID", "directory"]);
        (own && document.list("messages").is_some()).then_some(0)
    },
    ..Format::of("opencode", Shape::Document, read::import, write::export)
};
