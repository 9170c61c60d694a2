//! Sources of tools whose sessions are not imported: told apart, so that they are not taken for one
//! of ours, and called by their name.
//!
//! Deliberately absent: any reading of them.

use crate::error::Result;
use crate::formats::Input;
use crate::formats::shared::chat::is_in_parts;
use crate::formats::shared::head::{Keys, Layout, SourceHead, front, is_complete};
use crate::formats::shared::records::without_mark;
use crate::formats::shared::spans::skip_space;

/// How a container begins, and what a person calls it.
const CONTAINERS: [(&[u8], &str); 3] = [
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
];

/// What OpenClaw writes beside its sessions.
const TRAJECTORY: &str = "an OpenClaw trajectory";

/// Messages in parts that do not name their types.
const GEMINI_REQUEST: &str = "a Gemini request";
/// What the files of a session that stands in several are, where another of them shows it: by members that an object in one
/// has.
const PARTS: [(&str, &[&[&str]]); 3] = [
    (
        "a Cline CLI session part",
        &[
            &["source_message_count", "messages"],
            &["session_id", "workspace_root", "started_at"],
        ],
    ),
    (
        "a Mistral Vibe session part",
        &[
            &["recovery_journal_record_version", "record_sha256"],
            &["recovery_journal_segment", "manifest_version"],
            &["checkpoint_version", "context"],
            &["projection_state_version", "snapshot"],
            &["runtime_state_version", "session_metadata"],
            &["message", "source", "turn_index"],
            &["generationStatus", "turnId"],
            &["hook_bindings", "tool_groups"],
        ],
    ),
    (
        "a Strands session part",
        &[
            &["agent_id", "conversation_manager_state"],
            &["message", "message_id", "redact_message"],
        ],
    ),
];

/// The record that shows a format which is not imported and would be taken for another.
pub(in crate::formats) fn foreign(head: &SourceHead<'_>) -> Option<usize> {
    if head.lists(|item| item.has_any(&["say", "ask"]) || is_amp(item.clone())) {
        return Some(0);
    }
    if head.object().is_some_and(is_trajectory) {
        return Some(0);
    }
    if head.lists(|item| part(item).is_some()) {
        return Some(0);
    }
    let first = head.first(|record| is_trajectory(record) || part(record).is_some());
    if first.is_some() {
        return first;
    }
    // A thread alone is one of Amp's own.
    let is_thread = |record: &Keys<'_>| record.list("messages").into_iter().flatten().any(is_amp);
    head.first(is_thread).filter(|_| head.object().is_none())
}

/// OpenClaw's events of its runs, and the file that says where those are, name their schema.
fn is_trajectory(record: &Keys<'_>) -> bool {
    let schemas = ["openclaw-trajectory", "openclaw-trajectory-pointer"];
    schemas
        .iter()
        .any(|schema| record.is("traceSchema", schema))
}

/// Which part of a session an object is.
fn part(object: &Keys<'_>) -> Option<&'static str> {
    let is_one = |members: &&[&str]| members.iter().all(|key| object.has(key));
    let mut parts = PARTS.iter();
    let found = parts.find(|(_, known)| known.iter().any(is_one));
    found.map(|(name, _)| *name)
}

/// Amp's blocks are Anthropic's, but for the results.
pub(in crate::formats) fn is_amp(message: Keys<'_>) -> bool {
    let mut blocks = message.list("content").into_iter().flatten();
    blocks.any(|block| block.has("toolUseID"))
}

/// What `input` is, where that is known and it is nothing that can be imported: `a Cline display log`,
/// `an SQLite database`.
///
/// # Errors
///
/// [`crate::Error::Io`] if the source cannot be read.
pub fn called(input: &dyn Input) -> Result<Option<&'static str>> {
    let bytes = front(input)?;
    let bytes = without_mark(&bytes);
    let mut containers = CONTAINERS.iter();
    if let Some((_, name)) = containers.find(|(start, _)| bytes.starts_with(start)) {
        return Ok(Some(name));
    }
    let start = skip_space(bytes, 0);
    Ok(match bytes.get(start) {
        Some(b'{' | b'[') if is_complete(bytes) => of_head(&SourceHead::document(bytes, start)),
        Some(b'{' | b'[') => {
            let lines = of_head(&SourceHead::lines(bytes));
            lines.or_else(|| of_head(&SourceHead::document(bytes, start)))
        }
        _ => None,
    })
}

fn of_head(head: &SourceHead<'_>) -> Option<&'static str> {
    if head.lists(|item| item.has_any(&["say", "ask"])) {
        return Some("a Cline display log");
    }
    if head.lists(is_in_parts) {
        return Some(GEMINI_REQUEST);
    }
    if head.layout == Layout::List {
        return head.records.iter().find_map(part);
    }
    let document = head.object().and_then(of_document);
    let record = || head.first(|record| of_record(record).is_some());
    document.or_else(|| of_record(&head.records[record()?]))
}

/// By the keys of a file that is one object.
fn of_document(object: &Keys<'_>) -> Option<&'static str> {
    if object.has("exportedAt") && object.has("prompts") {
        return Some("a debug log of Copilot Chat");
    }
    if is_trajectory(object) {
        return Some(TRAJECTORY);
    }
    if let Some(part) = part(object) {
        return Some(part);
    }
    let mut messages = object.list("messages").into_iter().flatten();
    let in_parts = messages.find(is_in_parts);
    let contents = object.list("contents").into_iter().flatten().next();
    in_parts.or(contents).map(|_| GEMINI_REQUEST)
}

/// By one record of a file of lines.
fn of_record(record: &Keys<'_>) -> Option<&'static str> {
    if record.is("type", "metadata") && record.has("protocol_version") {
        return Some("a log of Kimi CLI");
    }
    if is_trajectory(record) {
        return Some(TRAJECTORY);
    }
    if let Some(part) = part(record) {
        return Some(part);
    }
    let is_step = record.has("step_index") && record.has("source");
    is_step.then_some("an Antigravity session")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_imported_is_called_by_its_name() {
        let known: [(&[u8], Option<&str>); 11] = [
            (b"SQLite format 3\0...", Some("an SQLite database")),
            (b"\x1f\x8b\x08", Some("a gzip archive")),
            (
                b"[{\"ts\":1,\"say\":\"text\"}]",
                Some("a Cline display log"),
            ),
            (
                b"{\"type\":\"metadata\",\"protocol_version\":\"1\"}\n{\"a\":1}\n",
                Some("a log of Kimi CLI"),
            ),
            (
                b"[{\"message\":{\"role\":\"user\"},\"source\":\"history\",\"turn_index\":0}]",
                Some("a Mistral Vibe session part"),
            ),
            (
                b"[{\"role\":\"user\",\"content\":\"a\",\"generationStatus\":\"completed\",\"turnId\":\"t\"}]",
                Some("a Mistral Vibe session part"),
            ),
            (
                b"{\"version\":1,\"source_message_count\":2,\"messages\":[]}",
                Some("a Cline CLI session part"),
            ),
            (
                b"{\"agent_id\":\"a\",\"state\":{},\"conversation_manager_state\":{}}",
                Some("a Strands session part"),
            ),
            (
                b"{\"message\":{\"role\":\"user\",\"content\":[]},\"message_id\":0,\"redact_message\":null}",
                Some("a Strands session part"),
            ),
            (b"{\"a\":1}", None),
            (b"buy milk", None),
        ];
        for (bytes, name) in known {
            assert_eq!(called(&bytes).expect("readable"), name);
        }
    }
}
