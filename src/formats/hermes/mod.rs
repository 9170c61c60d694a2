//! Hermes: a session of its database (`~/.hermes/state.db`), its own export of one, or the log of one that it writes: one
//! object with its messages ([`rows`]).
//!
//! A compaction leaves all rows in place as no longer active, and writes what it keeps as rows once more, with a summary
//! among them: that is one hide here, and what is kept stays. What the user took back is hidden, too. An export and a log
//! have what is sent now alone. Deliberately absent: any writing.
//!
//! # Source
//!
//! `hermes_state.py`, `agent/{conversation_loop,context_compressor}.py` of `hermes-agent` 0.19.0 on PyPI. Observed: the
//! database of 0.19.0 beside its requests.

mod message;
mod read;
mod rows;
mod stood;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::conversations;
use crate::formats::shared::head::Keys;

/// Whose opaque blocks these are, where they are no provider's.
const PROVIDER: &str = "hermes";

/// The member that holds a session's messages.
const MESSAGES: &str = "messages";

/// The format.
pub static HERMES: Format = Format {
    tools: &["Hermes"],
    seen: "the database and an export of 0.19.0, with its requests; logs and sub-agents by its source",
    sniff: |head| {
        let shows = |keys: &Keys<'_>| is_stored(keys) || is_log(keys);
        if head.object().is_some_and(shows) || head.lists(is_stored) {
            return Some(0);
        }
        head.first(is_stored)
    },
    home: Some(Home {
        variable: Some("HERMES_HOME"),
        belongs: |name, _, _| name == rows::DATABASE,
        // Each profile has a database of its own.
        ..Home::of(".hermes", "profiles", 1, |name| name == rows::DATABASE)
    }),
    tables: Some(rows::TABLES),
    ..Format::only_read(
        "hermes",
        Shape::Document,
        conversations::import::<read::Session>,
    )
};

/// Whether an object is a session's row with its messages.
fn is_stored(object: &Keys<'_>) -> bool {
    let own = [
        "started_at",
        "api_call_count",
        "system_prompt",
        "message_count",
    ];
    own.iter().all(|key| object.has(key)) && object.list(MESSAGES).is_some()
}

/// Whether it is what the tool wrote of a session at its end, or when it was asked to: a request's members and its own in
/// one object.
fn is_log(object: &Keys<'_>) -> bool {
    object.has("session_id") && object.has("session_start") && object.list(MESSAGES).is_some()
}
