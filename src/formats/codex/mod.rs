//! Codex CLI rollouts: JSON Lines, each an envelope `{"timestamp", "type", "payload"}`, and the
//! bare items that the tool wrote before it had the envelope.
//!
//! Messages come from `response_item` records alone; `event_msg` records say much of it a second
//! time and give only counts, names, aborts and rollbacks. Deliberately absent: the tool's
//! directory and its index of sessions, and anything that decrypts.
//!
//! # Source
//!
//! `codex-rs/protocol` and `codex-rs/rollout` of <https://github.com/openai/codex>.

mod asides;
mod cut;
mod ends;
mod header;
mod hides;
mod history;
mod inheritance;
mod kept;
mod parent_part;
mod record;
mod session;
mod tool_state;
mod write;

pub(super) use record::TokenUsage;

use crate::formats::format::{Format, Home, NewFile, Resume, Shape};

/// The format.
pub static CODEX: Format = Format {
    tools: &["Codex"],
    seen: "September 2025 to 0.171.0; with its requests 0.169.0 and 0.171.0",
    sniff: |head| {
        head.first(|record| {
            let legacy = record.has("instructions") && record.has("timestamp");
            // With a session's id beside it a payload is an event log's.
            let item = record.has("payload") && !record.has("sessionId");
            item && record.text("type").is_some()
                || record.has("record_type")
                || legacy && record.text("type").is_none()
        })
    },
    go_on: Some(session::go_on),
    copied_from: record::copied_from,
    ended: Some(ends::ended),
    home: Some(Home {
        variable: Some("CODEX_HOME"),
        belongs: |_, cwd, first_line| {
            let first = first_line();
            first.and_then(|line| record::cwd(&line)).as_deref() == Some(cwd)
        },
        beside: &["sessions", "archived_sessions"],
        names_starters: true,
        descent: |first_line, _| record::descent(first_line),
        number: record::number,
        // Both read a database of the tool's own.
        // The tool orders its sessions by ids that hold the time.
        resume: Some(Resume {
            prompted: Some((
                &["codex", "exec", "--skip-git-repo-check", "resume"],
                &["-"],
            )),
            shown: Some("codex resume --last and its list show it once it was opened so"),
            new_id: |now, random| {
                let mut tail = [0; 10];
                tail.copy_from_slice(&random[..10]);
                let millis = now.0.max(0) as u64;
                let id = uuid::Builder::from_unix_timestamp_millis(millis, &tail);
                id.into_uuid().to_string()
            },
            state: tool_state::is_state,
            checked_out: header::checked_out,
            provider: Some(("config.toml", header::provider)),
            ..Resume::by(&["codex", "resume"], |new| {
                let NewFile { id, local_time, .. } = new;
                let date = local_time.get(..10).unwrap_or(local_time).replace('-', "/");
                format!("sessions/{date}/rollout-{local_time}-{id}.jsonl")
            })
        }),
        ..Home::of(".codex", "sessions", 3, |_| true)
    }),
    ..Format::of("codex", Shape::Lines, session::import, write::export)
};

#[cfg(test)]
mod tests;
