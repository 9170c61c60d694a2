//! Aider's chat history: a Markdown file in the repository that all its sessions are appended to.
//!
//! A heading begins a session, a `####` a line of what was asked, a `>` a line of what the tool itself said;
//! everything else is the model's. A line of a reply that begins so cannot be told from them, but for a heading.
//! Commands are not sent; two of them take the chat away, which is a hide here. Deliberately absent: what was sent
//! beside the chat (prompts of the system, files, the map of the repository), for the history has none of it, and any
//! writing.
//!
//! # Source
//!
//! `aider/{io,utils,commands}.py` and `aider/coders/base_coder.py` of <https://github.com/Aider-AI/aider>.

mod read;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};

/// What a session begins with; the local time follows.
const HEADING: &[u8] = b"# aider chat started at ";

/// The format.
pub static AIDER: Format = Format {
    tools: &["Aider"],
    seen: "histories of 2023 to 2025 with 1,152 sessions, and of 0.86.2",
    text: Some(shows),
    common_stem: Some(".aider.chat.history"),
    ..Format::only_read("aider", Shape::Lines, read::import)
};

/// Whether a text has a session's heading on a line of its own.
fn shows(front: &[u8]) -> bool {
    let mut found = memchr::memmem::find_iter(front, HEADING);
    found.any(|at| at == 0 || front[at - 1] == b'\n')
}
