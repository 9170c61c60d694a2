//! Qwen Code: a session's `chats/ID.jsonl`, a tree of records in an envelope like Claude Code's, around
//! messages like Gemini's.
//!
//! The tool goes on from the last record: what is on no path to it was taken back, and is hidden here; what
//! a compression left out is hidden behind what it left. Deliberately absent: the folder of a session's
//! notes on its agents.
//!
//! # Source
//!
//! `chatRecordingService.ts`, `sessionService.ts` and `agents/agent-transcript.ts` in `packages/core/src`
//! of <https://github.com/QwenLM/qwen-code>.

mod call_ids;
mod read;
mod record;
#[cfg(test)]
mod tests;
mod write;

use crate::formats::format::{Format, Home, Resume, Shape};
use crate::formats::shared::head::Keys;
use crate::formats::shared::places::slug;

/// The format.
pub static QWEN: Format = Format {
    aliases: &["qwen-code"],
    tools: &["Qwen Code"],
    seen: "0.21 in two small files; with its requests 0.24.4; resumed in 0.24.4",
    sniff: |head| head.first(is_record),
    home: Some(Home {
        variable: Some("QWEN_HOME"),
        of_directory: Some((|cwd| format!("projects/{}/chats", slug(cwd)), 0)),
        belongs: |name, _, _| is_session(name),
        agents_in: &["../subagents/{}"],
        descent: |first_line, _| record::descent(first_line),
        resume: Some(Resume::by(&["qwen", "--resume"], |new| {
            format!("projects/{}/chats/{}.jsonl", slug(new.cwd), new.id)
        })),
        ..Home::of(".qwen", "projects", 2, is_session)
    }),
    ..Format::of("qwen", Shape::Lines, read::import, write::export)
};

/// Whether a record is of this tool: another one has the same envelope.
pub(super) fn is_record(record: &Keys<'_>) -> bool {
    let message = record.inside("message");
    record.has("systemPayload") || message.is_some_and(|message| message.has("parts"))
}

/// Whether a file of this name is a session that one would go on with, and no agent's.
fn is_session(name: &str) -> bool {
    name.ends_with(".jsonl") && !name.starts_with("agent-")
}
