//! Which format a source is in, from its content alone.
//!
//! The rules are those of the formats' notes: one JSON document by its keys, JSON Lines by their
//! records. Deliberately absent: file names, and formats that this crate cannot import (they are
//! recognised only where they could be taken for another).

use std::ops::Range;

use super::chat::spans::{elements, members, skip_space, skip_value};
use super::{Format, Input};
use crate::error::{Error, Result};

/// How much of a source is looked at: 16 MiB.
const HEAD_BYTES: u64 = 16 << 20;
/// How many records are looked at.
const MAX_RECORDS: usize = 200;

/// Record types that only Claude Code writes.
const CLAUDE_CODE_TYPES: [&str; 7] = [
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "last-prompt",
    "mode",
    "permission-mode",
    "custom-title",
];

/// Keys that only Roo Code and Cline put beside a message's role and content.
const ROO_KEYS: [&str; 7] = [
    "ts",
    "isSummary",
    "condenseParent",
    "isTruncationMarker",
    "truncationParent",
    "modelInfo",
    "metrics",
];

/// What a piece of the source says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is of this format.
    Is(Format),
    /// It is of a format that is not imported.
    Foreign,
    /// It is a conversation of plain texts, good in either chat format.
    Plain,
}

/// The format of `input`; none if it is in none of the known ones, or empty.
///
/// # Errors
///
/// [`Error::Io`] if the source cannot be read.
pub fn sniff(input: &dyn Input) -> Result<Option<Format>> {
    let bytes = input.front(HEAD_BYTES).map_err(Error::io("source"))?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    Ok(match verdict(bytes) {
        Some(Verdict::Is(format)) => Some(format),
        Some(Verdict::Plain) => Some(Format::OpenAi),
        Some(Verdict::Foreign) | None => None,
    })
}

/// Whether a chat source is JSON Lines, a conversation a line, and not one document.
pub(super) fn is_lines(input: &dyn Input) -> Result<bool> {
    let bytes = input.front(HEAD_BYTES).map_err(Error::io("source"))?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let complete = skip_value(bytes, 0).is_ok_and(|end| skip_space(bytes, end) == bytes.len());
    let several = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| skip_space(line, 0) < line.len())
        .nth(1)
        .is_some();
    Ok(!complete && several && matches!(by_lines(bytes), Some(Verdict::Is(_) | Verdict::Plain)))
}

fn verdict(bytes: &[u8]) -> Option<Verdict> {
    let start = skip_space(bytes, 0);
    let complete = skip_value(bytes, start).is_ok_and(|end| skip_space(bytes, end) == bytes.len());
    match bytes.get(start)? {
        b'{' | b'[' if complete => document(bytes, start),
        b'{' | b'[' => by_lines(bytes).or_else(|| document(bytes, start)),
        // A spoilt first line: the next one decides whether this is JSON Lines.
        _ => {
            let next = skip_space(bytes, start + memchr::memchr(b'\n', &bytes[start..])?);
            (bytes.get(next) == Some(&b'{')).then(|| by_lines(&bytes[next..]))?
        }
    }
}

/// A whole document.
fn document(bytes: &[u8], start: usize) -> Option<Verdict> {
    if bytes[start] == b'{' {
        let record = Keys::of(bytes, start);
        return object(&record).or_else(|| line_record(&record));
    }
    let (items, _) = elements(bytes, start);
    let items = &items[..items.len().min(MAX_RECORDS)];
    for item in items {
        let keys = Keys::of(bytes, item.start);
        if keys.has("traj") && keys.has("task_id") {
            return Some(Verdict::Is(Format::OpenAi));
        }
        if ["mapping", "say", "ask"].iter().any(|key| keys.has(key)) {
            return Some(Verdict::Foreign);
        }
        if keys.has("role") && ROO_KEYS.iter().any(|key| keys.has(key)) {
            return Some(Verdict::Is(Format::Roo));
        }
    }
    messages(bytes, items)
}

/// One record by the keys of a whole document.
fn object(record: &Keys<'_>) -> Option<Verdict> {
    // The last is Amp's, whose messages are Anthropic's but for the results.
    if ["trajectory", "projectHash", "mapping", "nextMessageId"]
        .iter()
        .any(|key| record.has(key))
    {
        return Some(Verdict::Foreign);
    }
    if record.has("choices") {
        return Some(Verdict::Is(Format::OpenAi));
    }
    if record.is("type", "message") && record.has("content") && record.is("role", "assistant") {
        return Some(Verdict::Is(Format::Anthropic));
    }
    if record.has("info") && record.has("messages") {
        return Some(Verdict::Foreign);
    }
    request(record)
}

/// A request body or a fine-tuning row.
fn request(record: &Keys<'_>) -> Option<Verdict> {
    let list = record.get("messages")?;
    if record.has("system") {
        return Some(Verdict::Is(Format::Anthropic));
    }
    if let Some(tools) = record.get("tools") {
        for tool in elements(record.bytes, tools.start).0 {
            let tool = Keys::of(record.bytes, tool.start);
            if tool.has("function") || tool.has("custom") {
                return Some(Verdict::Is(Format::OpenAi));
            }
            if tool.has("input_schema") || tool.has("name") {
                return Some(Verdict::Is(Format::Anthropic));
            }
        }
    }
    let (items, _) = elements(record.bytes, list.start);
    if record.bytes.get(list.start) != Some(&b'[') {
        return None;
    }
    match messages(record.bytes, &items) {
        None if !items.is_empty() => None,
        None | Some(Verdict::Plain) => {
            let known = [
                "context_management",
                "mcp_servers",
                "thinking",
                "stop_sequences",
            ];
            if known.iter().any(|key| record.has(key)) {
                Some(Verdict::Is(Format::Anthropic))
            } else {
                Some(Verdict::Plain)
            }
        }
        sure => sure,
    }
}

/// A list of messages.
fn messages(bytes: &[u8], items: &[Range<usize>]) -> Option<Verdict> {
    let mut found = None;
    for item in items {
        let message = Keys::of(bytes, item.start);
        if !message.has("role") {
            continue;
        }
        let openai = ["tool", "function", "developer", "system"]
            .iter()
            .any(|role| message.is("role", role));
        if openai || message.has("tool_calls") || message.has("function_call") {
            return Some(Verdict::Is(Format::OpenAi));
        }
        let content = message.get("content");
        for block in content.map_or(Vec::new(), |span| elements(bytes, span.start).0) {
            let block = Keys::of(bytes, block.start);
            if block.has("toolUseID") {
                return Some(Verdict::Foreign);
            }
            match block.text("type").as_deref() {
                Some("image_url" | "input_audio" | "file" | "refusal") => {
                    return Some(Verdict::Is(Format::OpenAi));
                }
                Some("text") | None => {}
                Some(
                    "image" | "document" | "thinking" | "redacted_thinking" | "compaction"
                    | "search_result" | "container_upload",
                ) => return Some(Verdict::Is(Format::Anthropic)),
                Some(other) if other.contains("tool_") => {
                    return Some(Verdict::Is(Format::Anthropic));
                }
                Some(_) => {}
            }
        }
        found = Some(Verdict::Plain);
    }
    found
}

/// Records, one a line. Lines that are no JSON object say nothing.
fn by_lines(bytes: &[u8]) -> Option<Verdict> {
    let mut found = None;
    let lines = bytes.split(|byte| *byte == b'\n');
    for line in lines
        .filter(|line| line.get(skip_space(line, 0)) == Some(&b'{'))
        .take(MAX_RECORDS)
    {
        match line_record(&Keys::of(line, 0)) {
            Some(Verdict::Plain) => found = Some(Verdict::Plain),
            None => {}
            sure => return sure,
        }
    }
    found
}

fn line_record(record: &Keys<'_>) -> Option<Verdict> {
    let kind = record.text("type");
    let kind = kind.as_deref();
    if kind == Some("session") && record.has("cwd") {
        return Some(Verdict::Foreign);
    }
    if record.has("payload") && kind.is_some() {
        return Some(if record.has("sessionId") {
            Verdict::Foreign
        } else {
            Verdict::Is(Format::Codex)
        });
    }
    let legacy = record.has("instructions") && record.has("timestamp") && kind.is_none();
    if record.has("record_type") || legacy {
        return Some(Verdict::Is(Format::Codex));
    }
    if record.has("projectHash") {
        return Some(Verdict::Foreign);
    }
    // Qwen Code has Claude Code's envelope around Gemini's messages.
    let message = record.get("message");
    let parts = |span: Range<usize>| Keys::of(record.bytes, span.start).has("parts");
    if record.has("systemPayload") || message.is_some_and(parts) {
        return Some(Verdict::Foreign);
    }
    if record.has("parentUuid") || kind.is_some_and(|kind| CLAUDE_CODE_TYPES.contains(&kind)) {
        return Some(Verdict::Is(Format::ClaudeCode));
    }
    if record.has("choices") {
        return Some(Verdict::Is(Format::OpenAi));
    }
    request(record)
}

/// The members of one object.
struct Keys<'a> {
    bytes: &'a [u8],
    members: Vec<(String, Range<usize>)>,
}

impl<'a> Keys<'a> {
    fn of(bytes: &'a [u8], start: usize) -> Self {
        Self {
            bytes,
            members: members(bytes, start).0,
        }
    }

    fn get(&self, key: &str) -> Option<Range<usize>> {
        let found = self.members.iter().find(|(name, _)| name == key);
        found.map(|(_, span)| span.clone())
    }

    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn text(&self, key: &str) -> Option<String> {
        serde_json::from_slice(&self.bytes[self.get(key)?]).ok()
    }

    fn is(&self, key: &str, value: &str) -> bool {
        self.text(key).as_deref() == Some(value)
    }
}
