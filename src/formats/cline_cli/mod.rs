//! Cline's command line: a session in `data/sessions/ID/`, `ID.messages.json` with what was said, `ID.json` with what
//! is known of it, `ID.compaction.json` with what its newest compaction left; each sub-agent has an
//! `AGENT.messages.json` beside them.
//!
//! The three are joined to one object ([`files`]). The messages are Anthropic's but for the results: these are objects
//! of the tool, of which the model is sent the JSON. Deliberately absent: the database beside the sessions, which says
//! the same as the files; the tasks of the editor's extension ([`crate::formats::roo`]); any writing.
//!
//! # Source
//!
//! Sessions of 3.0.65 with their requests, and the `@cline/core` and `@cline/shared` packages 0.0.86.

mod files;
mod read;
mod sent;
#[cfg(test)]
mod tests;

use crate::formats::Descent;
use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;
use crate::formats::shared::head::Keys;

/// The member with the messages.
const MESSAGES: &str = "messages";
/// The members that hold the files beside the messages, and one that names those that are no JSON.
const SESSION: &str = "cline_session";
const COMPACTION: &str = "cline_compaction";
const UNREAD: &str = "cline_unread";

/// What the names of files with messages end with.
const MESSAGES_FILE: &str = ".messages.json";

/// The format.
pub static CLINE_CLI: Format = Format {
    unanswered: Some("Tool execution was interrupted before a result was produced."),
    tools: &["Cline CLI"],
    seen: "sessions of 3.0.65, with their requests",
    sniff: |head| head.object().is_some_and(is_session).then_some(0),
    home: Some(Home {
        variable: Some("CLINE_DIR"),
        belongs: |name, cwd, first_line| {
            let told = || {
                let first = first_line()?;
                Keys::of(first.as_bytes(), 0).inside(SESSION)?.text("cwd")
            };
            is_root(name) && told().as_deref() == Some(cwd)
        },
        names_starters: true,
        descent: |first_line, _| {
            let session = Keys::of(first_line.as_bytes(), 0);
            let by = || session.inside("origin")?.text("parentThreadId");
            let id = session.text("sessionId").filter(|_| is_session(&session))?;
            Some((id, Descent::spawned_by(by())))
        },
        agents_in: &["."],
        ..Home::of(".cline", "data/sessions", 1, is_root)
    }),
    joined_files: Some(files::FILES),
    ..Format::only_read(
        "cline-cli",
        Shape::Document,
        document::import::<read::Session>,
    )
};

/// Whether an object has what a file with messages has beside them.
fn is_session(object: &Keys<'_>) -> bool {
    object.has("sessionId") && object.has("agent") && object.list(MESSAGES).is_some()
}

/// Whether a file of this name holds the messages of a session to which the user speaks: those of a sub-agent are called
/// by the agent, and those of a team's task by both.
fn is_root(name: &str) -> bool {
    let stem = name.strip_suffix(MESSAGES_FILE);
    stem.is_some_and(|stem| !stem.starts_with("agent_") && !stem.contains("__"))
}
