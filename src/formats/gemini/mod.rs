//! Gemini CLI: a session's `chats/session-*.json`, one object with its messages, and the
//! `chats/session-*.jsonl` that newer versions write, where later lines change what earlier ones say.
//!
//! A reply's record holds its tool calls together with what they gave back; here that is a message
//! of its own, with the same record behind it. What the tool has taken out of its list (a prompt that
//! was taken back, what a summary stands for) is hidden. Deliberately absent: the tool's own
//! checkpoints (`/chat save`), which are no sessions.
//!
//! # Source
//!
//! `packages/core/src/services/chatRecordingService.ts` and `config/storage.ts` of
//! <https://github.com/google-gemini/gemini-cli>. Observed: the requests of 0.61 beside its sessions.

mod about;
mod lines;
mod read;
mod record;
#[cfg(test)]
mod tests;
mod write;

use serde_json::Value;

use crate::formats::format::{Format, Home, Resume, Shape};
use crate::formats::shared::spans::{members, skip_space, skip_value};
use crate::hash::fingerprint;

/// The format.
pub static GEMINI: Format = Format {
    aliases: &["gemini-cli"],
    tools: &["Gemini CLI"],
    seen: "JSON of December 2025 and January 2026, JSON Lines of 0.40 and 0.61; with its requests 0.61; resumed by its source",
    sniff: |head| {
        head.first(|record| record.has("projectHash") && record.has_any(&["messages", "sessionId"]))
    },
    is_document: Some(is_document),
    home: Some(Home {
        belongs: |name, cwd, beginning| is_session(name) && is_of(cwd, beginning),
        agents_in: &["{}"],
        descent: about::descent,
        // A process that goes on with a session in a later minute begins a file by that minute's name.
        leaves_stubs: true,
        folders: Some(("projects.json", folder)),
        resume: Some(Resume::by(&["gemini", "--resume"], |new| {
            let folder = new.folder.map(str::to_owned);
            // A version that names folders otherwise takes one over that is called so.
            let folder = folder.unwrap_or_else(|| project_hash(new.cwd));
            let minute = new.local_time.get(..16).unwrap_or(new.local_time);
            let short = new.id.get(..8).unwrap_or(new.id);
            format!("tmp/{folder}/chats/session-{minute}-{short}.jsonl")
        })),
        ..Home::of(".gemini", "tmp", 2, is_session)
    }),
    ..Format::of("gemini", Shape::Lines, read::import, write::export)
};

/// Whether a file of this name is a session that one would go on with: a sub-agent's is called by its id.
fn is_session(name: &str) -> bool {
    let is_named = name.ends_with(".json") || name.ends_with(".jsonl");
    name.starts_with("session-") && is_named
}

/// Whether the session that begins so ran in a working directory.
fn is_of(cwd: &str, beginning: &dyn Fn() -> Option<String>) -> bool {
    let Some(text) = beginning() else {
        return false;
    };
    let (found, _) = members(text.as_bytes(), skip_space(text.as_bytes(), 0));
    let hash = found.into_iter().find(|(key, _)| key == "projectHash");
    let hash = hash.and_then(|(_, at)| serde_json::from_str::<String>(text.get(at)?).ok());
    hash.is_some_and(|hash| hash == project_hash(cwd))
}

/// The folder in which the tool keeps the sessions of a working directory, by its list of them.
fn folder(list: &str, cwd: &str) -> Option<String> {
    let list: Value = serde_json::from_str(list).ok()?;
    let name = list["projects"][cwd].as_str()?;
    // It is the name of one folder, and leads nowhere else.
    let is_name = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_');
    (!name.is_empty() && name.chars().all(is_name)).then(|| name.to_owned())
}

/// Whether a source that begins so is one document: its first line is no whole value, or one that holds
/// the messages, with nothing behind it.
fn is_document(front: &[u8]) -> bool {
    let front = crate::formats::shared::records::without_mark(front);
    let start = skip_space(front, 0);
    let end = memchr::memchr(b'\n', &front[start..]).map_or(front.len(), |end| start + end);
    let line = &front[start..end];
    let behind = skip_space(front, end);
    let holds_messages = members(line, 0).0.iter().any(|(key, _)| key == "messages");
    match skip_value(line, 0) {
        Ok(_) => holds_messages && behind == front.len(),
        // Of lines the first may be damaged; each begins as a record does.
        Err(_) => holds_messages || front.get(behind).is_some_and(|byte| *byte != b'{'),
    }
}

/// The name by which the tool knows a working directory: its SHA-256.
fn project_hash(cwd: &str) -> String {
    let bytes = fingerprint(cwd.as_bytes());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
