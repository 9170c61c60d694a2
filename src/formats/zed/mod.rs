//! Zed: a thread of its agent as the object that the editor keeps, which stands packed in its database ([`rows`]).
//!
//! What was mentioned in a prompt is put behind it as the editor sends it ([`mentions`]), and a compaction hides what
//! it sends no more. Deliberately absent: threads of other agents that run in the editor, which their own tools keep;
//! conversations of its older text threads; and any writing.
//!
//! # Source
//!
//! `crates/agent/src/{db,thread,legacy_thread}.rs` and `crates/acp_thread/src/mention.rs` of
//! <https://github.com/zed-industries/zed>, of 2025 and 2026.

mod mentions;
mod message;
mod read;
mod rows;
#[cfg(test)]
mod tests;
mod variant;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;
use crate::formats::shared::head::Keys;

/// The members of a thread's object: what its row says of it, where it comes from one, and its messages.
const ROW: &str = "zed_thread";
const MESSAGES: &str = "messages";

/// The database's name.
const DATABASE: &str = "threads.db";

/// The kinds of messages, as the editor names them.
const KINDS: [&str; 3] = ["User", "Agent", "Compaction"];

/// The format.
pub static ZED: Format = Format {
    tools: &["Zed"],
    seen: "none at hand: its source of 2025 and 2026",
    unproven: true,
    sniff: |head| head.object().is_some_and(shows).then_some(0),
    home: Some(Home::database(".local/share/zed/threads", DATABASE)),
    tables: Some(rows::TABLES),
    ..Format::only_read("zed", Shape::Document, document::import::<read::Thread>)
};

/// Whether an object is a thread: by its row, by the kinds of its messages, or by the segments of older ones.
fn shows(thread: &Keys<'_>) -> bool {
    if thread.has(ROW) {
        return true;
    }
    let is_one = |message: Keys<'_>| {
        let held = KINDS.iter().find_map(|kind| message.inside(kind));
        let is_newer = held.is_some_and(|held| held.list("content").is_some());
        is_newer || message.has("role") && message.list("segments").is_some()
    };
    let mut messages = thread.list(MESSAGES).into_iter().flatten();
    thread.has_any(&["title", "summary"]) && messages.any(is_one)
}
