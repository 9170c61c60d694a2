//! Kimi Code: an agent's `wire.jsonl`, the log of what was done to its context, from which the tool makes
//! that context anew.
//!
//! A reply is told in pieces, with its calls and what they gave between them; what came in before all of
//! that was here stands behind it. A compaction keeps the user's own words, within a measure, and says what
//! it has summed up. Deliberately absent: what stands in the files beside it (the title, the bytes of
//! pictures), the logs of Kimi CLI, which the tool takes over itself, and any writing: what it goes on with
//! is a folder of several files.
//!
//! # Source
//!
//! `packages/agent-core/src/agent`, and `packages/agent-core-v2/src` with its `docs/wire-manifest.d.ts`, of
//! <https://github.com/MoonshotAI/kimi-code>. Observed: a session of protocol 1.4 and one of its agents.

mod ends;
mod hides;
mod message;
mod read;
mod record;
mod select;
#[cfg(test)]
mod tests;

use crate::formats::Descent;
use crate::formats::format::{Agents, Format, Home, Shape};
use crate::hash::fingerprint;

/// The name of every log.
const LOG: &str = "wire";
/// The folder of a session in which each agent has one.
const AGENTS: &str = "agents";
/// That of the agent to which the user speaks.
const MAIN: &str = "main";

/// The longest name of a working directory's folder, without what tells two alike apart.
const SLUG_CHARS_MAX: usize = 40;

/// The format.
pub static KIMI: Format = Format {
    aliases: &["kimi-code"],
    tools: &["Kimi Code"],
    seen: "one session of protocol 1.4 with an agent, its long texts cut, and of 2.1.0; protocols 1.0 to 1.5 by its source",
    sniff: |head| {
        head.first(|record| {
            let kind = record.text("type").unwrap_or_default();
            record::OWN.contains(&&*kind) && !record.has_any(&["data", "payload", "uuid"])
        })
    },
    go_on: Some(read::go_on),
    ended: Some(ends::ended),
    attaches: true,
    common_stem: Some(LOG),
    agents: Some(Agents {
        folder: AGENTS,
        main: MAIN,
    }),
    home: Some(Home {
        variable: Some("KIMI_CODE_HOME"),
        of_directory: Some((|cwd| format!("sessions/{}", folder_of(cwd)), 3)),
        belongs: |name, _, _| is_log(name),
        agents_in: &[".."],
        descent: |first_line, folder| {
            let (id, descent) = called(folder)?;
            record::is_opening(first_line).then_some((id, descent))
        },
        ..Home::of(".kimi-code", "sessions", 4, is_log)
    }),
    ..Format::only_read("kimi", Shape::Lines, read::import)
};

fn is_log(name: &str) -> bool {
    name.strip_suffix(".jsonl") == Some(LOG)
}

/// The id of the session whose log lies in this folder, which is named from the session's own on, and what
/// that says of others; none if it is no such folder.
fn called(folder: &str) -> Option<(String, Descent)> {
    let mut names = folder.rsplitn(3, '/');
    let (agent, agents, session) = (names.next()?, names.next()?, names.next()?);
    if agents != AGENTS || session.is_empty() {
        return None;
    }
    Some(match agent {
        MAIN => (session.to_owned(), Descent::default()),
        _ => {
            let by = Descent::spawned_by(Some(session.to_owned()));
            (format!("{session}/{agent}"), by)
        }
    })
}

/// The folder in which the tool keeps the sessions of a working directory.
fn folder_of(cwd: &str) -> String {
    let cwd = cwd.trim_end_matches('/');
    let name = cwd.rsplit('/').next().unwrap_or_default().to_lowercase();
    let mut slug = String::new();
    for char in name.chars() {
        match char {
            'a'..='z' | '0'..='9' | '.' | '_' | '-' => slug.push(char),
            _ if slug.ends_with('\0') => {}
            _ => slug.push('\0'),
        }
    }
    let slug = slug.replace('\0', "-");
    let slug = slug.trim_matches('-');
    let slug = slug.get(..SLUG_CHARS_MAX).unwrap_or(slug);
    let slug = match slug.trim_matches('-') {
        "" | "." | ".." => "workspace",
        slug => slug,
    };
    let hash = fingerprint(cwd.as_bytes());
    let hash: String = hash[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("wd_{slug}_{hash}")
}
