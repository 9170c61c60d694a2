//! Goose: a session as its own export says it, one object with its messages; before it had a database, lines:
//! what is known of the session, then a message on each. Sessions in the database are put together to that
//! object ([`rows`]).
//!
//! A compaction leaves all before it in place, as no longer visible to the agent, and puts a summary behind
//! it: that is a hide here, as is whatever else the agent does not see. Deliberately absent: any writing: the
//! tool takes an export in under a new id, and does not say what it asks of one.
//!
//! # Source
//!
//! `crates/goose/src/{session,conversation,context_mgmt,providers/formats}` of
//! <https://github.com/block/goose>, whose newer home is `aaif-goose/goose`.

mod read;
mod record;
mod rows;
#[cfg(test)]
mod tests;

use serde::Deserialize;

use crate::formats::Descent;
use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::head::{Keys, first_line};

/// Whose opaque blocks these are, where they are no provider's.
const PROVIDER: &str = "goose";

/// The member that holds a session's messages.
const MESSAGES: &str = "conversation";

/// The format.
pub static GOOSE: Format = Format {
    tools: &["Goose"],
    seen: "a database of 1.9 without messages; the rest by its source of 2025 and 2026",
    unproven: true,
    sniff: |head| {
        let is_session = |keys: &Keys<'_>| keys.has("working_dir") && keys.list(MESSAGES).is_some();
        if head.object().is_some_and(is_session) {
            return Some(0);
        }
        head.first(|record| {
            let tells = record.has_any(&["message_count", "extension_data", "total_tokens"]);
            record.has("working_dir") && tells && !record.has("role")
        })
    },
    is_document: Some(is_document),
    home: Some(Home {
        belongs: |name, cwd, first_line| {
            let told = first_line().filter(|_| is_session(name));
            let told = told.and_then(|line| serde_json::from_str::<Told>(&line).ok());
            told.is_some_and(|told| told.working_dir == cwd)
        },
        names_starters: true,
        descent: |first_line, _| {
            let told: Told = serde_json::from_str(first_line).ok()?;
            let descent = Descent {
                spawned_by: told.parent_session_id,
                ..Descent::default()
            };
            Some((told.id?, descent))
        },
        ..Home::of(".local/share/goose/sessions", "", 0, is_session)
    }),
    tables: Some(rows::TABLES),
    ..Format::only_read("goose", Shape::Lines, read::import)
};

/// What the first line says of its session.
#[derive(Deserialize)]
struct Told {
    id: Option<String>,
    working_dir: String,
    parent_session_id: Option<String>,
}

fn is_session(name: &str) -> bool {
    name.ends_with(".jsonl")
}

/// Whether a source that begins so is one object: its first value holds the messages, or does not end with
/// its line.
fn is_document(front: &[u8]) -> bool {
    let (keys, is_whole) = first_line(front);
    !is_whole || keys.iter().any(|key| key == MESSAGES)
}
