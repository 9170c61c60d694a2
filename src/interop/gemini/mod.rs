//! Gemini CLI: a session's `chats/session-*.json`, one object with its messages.
//!
//! A reply's record holds its tool calls together with what they gave back; here that is a message
//! of its own, with the same record behind it. Deliberately absent: the JSON Lines that the tool
//! writes since 0.40, and the way back into the tool, whose newer versions find their sessions in
//! another way.
//!
//! # Source
//!
//! `packages/core/src/services/chatRecordingService.ts` of
//! <https://github.com/google-gemini/gemini-cli>.

mod read;
#[cfg(test)]
mod tests;
mod write;

use super::format::{Everywhere, Format, Home, Shape};
use crate::hash::fingerprint;

/// The format.
pub static GEMINI: Format = Format {
    tools: &["Gemini CLI"],
    seen: "JSON documents of December 2025 and January 2026",
    sniff: |head| head.first(|record| record.has("projectHash") && record.has("messages")),
    home: Some(Home {
        variable: None,
        directory: ".gemini",
        sessions: |cwd| format!("tmp/{}/chats", project_hash(cwd)),
        depth: 0,
        belongs: |name, _, _| name.ends_with(".json"),
        everywhere: Everywhere {
            folder: "tmp",
            depth: 2,
            is_session: |name| name.starts_with("session-") && name.ends_with(".json"),
        },
        beside: &[],
        descent: |_| None,
        number: |_| None,
        resume: None,
    }),
    ..Format::of("gemini", Shape::Document, read::import, write::export)
};

/// The name by which the tool knows a working directory: its SHA-256.
fn project_hash(cwd: &str) -> String {
    let bytes = fingerprint(cwd.as_bytes());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
