//! pi: a session as JSON Lines, a header and entries that form a tree. The last entry is where the
//! session stands; the ways that were left are branches.
//!
//! A compaction sums up what stands before it, but for a tail that it names. What the tool does not
//! send again (replies that failed or were broken off, commands that the user kept for themselves) is
//! no message here either, and stays in the source. The first version has neither ids nor a tree: each
//! entry follows the one before.
//!
//! OpenClaw keeps the same entries, since 2026.9 in a database for each agent ([`rows`]), with entries of its own: a mark
//! that the session stands elsewhere, a reset, and what was put beside.
//!
//! # Source
//!
//! `packages/coding-agent/src/core/session-manager.ts` and `messages.ts`, and `packages/ai` of
//! <https://github.com/earendil-works/pi> (before 1.0 <https://github.com/badlogic/pi-mono>); `src/config/sessions/transcript-{tree,payload}.ts` of
//! <https://github.com/openclaw/openclaw>.

mod hides;
mod index;
mod message;
mod read;
mod rows;
mod system;
#[cfg(test)]
mod tests;
mod write;

use crate::formats::format::{Format, Home, Resume, Shape};
use crate::formats::shared::head::Keys;

/// Whose reasoning it is where no provider is known that takes it back.
const PROVIDER: &str = "pi";

/// What stands before a compaction's summary when it is sent, and after it.
const SUMMED_UP: [&str; 2] = [
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
    "\n</summary>",
];
/// What stands before the summary of a way that was left, and after it.
const CAME_BACK: [&str; 2] = [
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
    "</summary>",
];

/// The format.
pub static PI: Format = Format {
    copied_from: index::copied_from,
    tools: &["pi"],
    seen: "all three versions of its files; with its requests 0.73.1 and 1.6.0",
    sniff: |head| {
        head.first(|record| {
            let opens = record.is("type", "session") && record.has("id") && record.has("cwd");
            opens || is_entry(record)
        })
    },
    go_on: Some(read::go_on),
    unanswered: Some("No result provided"),
    home: Some(Home {
        variable: Some("PI_CODING_AGENT_DIR"),
        of_directory: Some((|cwd| format!("sessions/{}", folder(cwd)), 0)),
        belongs: |name, _, _| is_session(name),
        names_starters: true,
        descent: |first_line, _| index::descent(first_line),
        resume: Some(Resume {
            state: write::is_state,
            ..Resume::by(&["pi", "--session"], |new| {
                let (folder, time) = (folder(new.cwd), new.local_time);
                format!("sessions/{folder}/{time}-000Z_{}.jsonl", new.id)
            })
        }),
        ..Home::of(".pi/agent", "sessions", 1, is_session)
    }),
    ..Format::of("pi", Shape::Lines, read::import, write::export)
};

/// OpenClaw writes pi's files, with entries of its own; one without any of them is read as pi's.
pub static OPENCLAW: Format = Format {
    copied_from: index::copied_from,
    aliases: &["clawdbot", "moltbot"],
    tools: &["OpenClaw"],
    seen: "the database of 2026.9.6; JSON Lines of earlier ones by lines that others quote, resets by its source",
    sniff: |head| head.first(is_claws).map(|_| 0),
    go_on: Some(read::go_on),
    tables: Some(rows::TABLES),
    home: Some(Home {
        variable: Some("OPENCLAW_STATE_DIR"),
        belongs: |name, _, _| name == rows::DATABASE,
        formerly: &[".clawdbot", ".moltbot"],
        names_starters: true,
        descent: |first_line, _| index::descent(first_line),
        ..Home::of(".openclaw", "agents", 2, |name| {
            // One that was ended has that behind its name.
            let is_ended = name.contains(".jsonl.reset.") || name.contains(".jsonl.deleted.");
            let is_beside = name.contains(".trajectory.") || name.contains(".checkpoint.");
            name == rows::DATABASE || (is_session(name) || is_ended) && !is_beside
        })
    }),
    ..Format::only_read("openclaw", Shape::Lines, read::import_repaired)
};

/// Whether an entry is one that pi does not write.
fn is_claws(record: &Keys<'_>) -> bool {
    let kind = record.text("customType").unwrap_or_default();
    let is_leaf = record.is("type", "leaf") && record.has("targetId");
    let is_newer = record.number("version") == Some(4) || record.has("spawnedBy");
    let is_newer = is_newer && record.is("type", "session");
    let message = record.inside("message");
    let is_message = message.is_some_and(|message| message.has("__openclaw"));
    let is_custom = kind == "model-snapshot" || kind.starts_with("openclaw");
    is_leaf || is_newer || record.has("parentId") && (is_custom || is_message)
}

/// Whether a record is a message of the tool's, whose message bears a time of its own: a file may have lost its
/// first line.
pub(super) fn is_entry(record: &Keys<'_>) -> bool {
    let message = record.inside("message");
    let is_own = message.is_some_and(|message| message.has("role") && message.has("timestamp"));
    is_own && record.is("type", "message") && !record.has_any(&["uuid", "sessionId"])
}

fn is_session(name: &str) -> bool {
    name.ends_with(".jsonl")
}

/// The name of the folder for a working directory's sessions.
fn folder(cwd: &str) -> String {
    let path = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    format!("--{}--", path.replace(['/', '\\', ':'], "-"))
}
