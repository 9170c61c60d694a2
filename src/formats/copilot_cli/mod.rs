//! GitHub Copilot CLI: a session's `events.jsonl`, one event a line, each naming the one before.
//!
//! A user's message says what was typed and, beside it, what the model was sent; here it is the
//! latter. Sub-agents tell of themselves in the same file, under ids of their own: each is a branch.
//! Events that say a thing again (a tool that starts, hooks, permissions) and those about the tool
//! itself are counted and kept. Deliberately absent: what stands in the files beside it, and going
//! back into the tool, which nobody has been seen to do with a session from elsewhere.
//!
//! # Source
//!
//! The generated schema of session events, and the conversations recorded for tests, in
//! <https://github.com/github/copilot-sdk>. Observed: sessions of 1.0.20 to 1.0.60, and of 1.0.102 with its requests.

mod assets;
mod ends;
mod hides;
mod message;
mod prompts;
mod read;
mod record;
#[cfg(test)]
mod tests;
mod usage;
mod write;

use crate::formats::format::{Format, Home, Shape};

/// Whose opaque blocks and sealed reasoning these are: only its service takes them back.
const PROVIDER: &str = "copilot";

/// How the message begins that the tool sends in place of what it has summed up.
const SUMMED_UP: &str = "Some of the conversation history has been summarized to free up context.";
/// What the tool answers to a call that it finds cut off when it goes on; its record says more.
const CUT_OFF: &str = "The execution of this tool, or a previous tool was interrupted.";
/// What stands there before the user's messages.
const ASKED: &str = "You were originally given instructions from a user over one or more turns. \
                     Here were the user messages:";
/// What stands there before the summary.
const SUMMARY: &str = "Here is a summary of the prior context:";

/// The format.
pub static COPILOT_CLI: Format = Format {
    aliases: &["copilot"],
    tools: &["Copilot CLI"],
    seen: "1.0.20 to 1.0.60, 1.0.102; compactions and clears by its schema",
    sniff: |head| {
        head.first(|record| {
            let kind = record.text("type").unwrap_or_default();
            kind.contains('.') && record.has("data") && record.has("parentId")
        })
    },
    go_on: Some(read::go_on),
    ended: Some(ends::ended),
    injected: Some(record::is_injected),
    common_stem: Some("events"),
    home: Some(Home {
        variable: Some("COPILOT_HOME"),
        belongs: |name, cwd, first_line| {
            let first = || first_line().and_then(|line| record::cwd(&line));
            is_session(name) && first().as_deref() == Some(cwd)
        },
        names_starters: true,
        descent: |first_line, _| record::descent(first_line),
        ..Home::of(".copilot", "session-state", 1, is_session)
    }),
    ..Format::of("copilot-cli", Shape::Lines, read::import, write::export)
};

/// A session is a folder with its events, or, of older versions, a file by its id.
fn is_session(name: &str) -> bool {
    name.ends_with(".jsonl")
}
