//! Claude Code session JSONL.
//!
//! A session is a tree of records; its messages are put together along the path to the current
//! leaf. The importer reads the file twice: once for the tree (`index`), once for the messages
//! (`read`). Deliberately absent: other files of the session (a sub-agent's own file is a source
//! of its own), and what the client adds to a request but doesn't write down.

mod attachments;
mod ends;
mod index;
mod next_request;
mod parent_part;
mod path;
mod queue;
mod read;
mod record;
mod requests;
mod running;
mod session_state;
mod session_usage;
mod write;

use serde::Deserialize;

use crate::formats::format::{Format, Home, Resume, Shape};
use crate::formats::shared::places;
use crate::formats::shared::sent::ReadSent;
use crate::formats::{Descent, qwen};

use parent_part::ForkContext;
pub(super) use session_usage::by_model;

/// Record types that only Claude Code writes.
const OWN_TYPES: [&str; 10] = [
    "api-request",
    "api-request-shape",
    "fork-context-ref",
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "last-prompt",
    "mode",
    "permission-mode",
    "custom-title",
];

/// How requests stand in a file.
static SENT: ReadSent = ReadSent {
    read: requests::read,
    answered_by: requests::answered_by,
    next: next_request::next,
    differences: requests::differences,
};

/// The format.
pub static CLAUDE_CODE: Format = Format {
    aliases: &["claude"],
    tools: &["Claude Code"],
    seen: "1.0.98 to 2.1.332; with its requests 2.1.197, 2.1.330 and 2.1.332",
    sniff: |head| {
        head.first(|record| {
            let kind = record.text("type");
            let is_linked = record.has("parentUuid") && !qwen::is_record(record);
            is_linked || kind.is_some_and(|kind| OWN_TYPES.contains(&&*kind))
        })
    },
    go_on: Some(read::go_on),
    contents_of: Some("anthropic"),
    running: Some(running::running),
    ended: Some(ends::ended),
    injected: Some(record::is_injected),
    copied_from: record::copied_from,
    request_of: Some(record::request_of),
    sent: Some(&SENT),
    attaches: true,
    home: Some(Home {
        variable: Some("CLAUDE_CONFIG_DIR"),
        of_directory: Some((|cwd| format!("projects/{}", slug(cwd)), 0)),
        // A sub-agent's own file is none to go on with.
        belongs: |name, _, _| !name.starts_with("agent-"),
        agents_in: &["{}/subagents", "."],
        descent: |first_line, _| descent(first_line),
        resume: Some(Resume {
            prompted: Some((&["claude", "-p", "--resume"], &[])),
            state: session_state::is_state,
            is_said: session_state::is_said,
            moved_to: session_state::moved_to,
            files: session_state::files,
            ..Resume::by(&["claude", "--resume"], |new| {
                format!("projects/{}/{}.jsonl", slug(new.cwd), new.id)
            })
        }),
        ..Home::of(".claude", "projects", 1, |name| !name.starts_with("agent-"))
    }),
    ..Format::of("claude-code", Shape::Lines, read::import, write::export)
};

/// What a sub-agent's own file says of the session that started it; nothing of any other file.
fn descent(first_line: &str) -> Option<(String, Descent)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Agents {
        is_sidechain: bool,
        agent_id: String,
        session_id: String,
    }
    if let Some(fork) = ForkContext::of(first_line) {
        let id = agents_id(&fork.parent_session_id, &fork.agent_id);
        let base = Some(fork.base());
        let descent = Descent::spawned_by(Some(fork.parent_session_id));
        return Some((id, Descent { base, ..descent }));
    }
    let agents: Agents = serde_json::from_str(first_line).ok()?;
    let id = agents_id(&agents.session_id, &agents.agent_id);
    let descent = Descent::spawned_by(Some(agents.session_id));
    agents.is_sidechain.then_some((id, descent))
}

/// The id of a sub-agent's session.
fn agents_id(parent: &str, agent: &str) -> String {
    format!("{parent}/agent-{agent}")
}

/// The directory name under which the tool files a working directory.
///
/// # Source
///
/// Observed: every UTF-16 unit that is not a letter or digit becomes `-`; of a longer name the first
/// 200 characters stay, and a hash of the directory follows in base 36.
fn slug(cwd: &str) -> String {
    let name = places::slug(cwd);
    if name.len() <= SLUG_CHARS {
        return name;
    }
    let step = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(unit.into());
    let mut rest = cwd.encode_utf16().fold(0, step).unsigned_abs();
    let mut hash = Vec::new();
    while rest > 0 || hash.is_empty() {
        hash.push(char::from_digit(rest % 36, 36).expect("below 36"));
        rest /= 36;
    }
    let hash: String = hash.into_iter().rev().collect();
    format!("{}-{hash}", &name[..SLUG_CHARS])
}

/// How long a directory's name may be before it is cut.
const SLUG_CHARS: usize = 200;

#[cfg(test)]
mod tests;
