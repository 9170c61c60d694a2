//! What a session's first records say of whose copy it is, of when it began, and where.
//!
//! Deliberately absent: which of two sessions made what both hold; that takes both of them.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::formats::Format;
use crate::formats::shared::parts::time;
use crate::formats::shared::records::without;
use crate::model::{Millis, RefName};
use crate::wire::json::{quoted, string};

/// How much of a source is looked at for what its first records say.
pub const FRONT_BYTES: u64 = 64 << 10;

/// What a session's first records say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstRecords {
    /// The first time that a record tells, in the order of the records.
    pub began: Option<Millis>,
    /// The session of which its first messages are copies.
    pub copied_from: Option<RefName>,
    /// The session of which an agent did all of it.
    pub started_by: Option<RefName>,
}

/// The first key of what `resume` writes: the session that went on there. No client looks at it.
const RESUMED_FROM: &str = "resumedFrom";

impl FirstRecords {
    /// Of a source of `format` that begins so; its last line may be cut.
    pub fn of(format: &Format, front: &str) -> Self {
        let mut found = Self {
            started_by: starter(format, front.lines().next().unwrap_or_default()),
            ..Self::default()
        };
        for line in front.lines() {
            found.began = found.began.or_else(|| told_time(line));
            found.copied_from = original(format, line);
            if found.copied_from.is_some() {
                break;
            }
        }
        found
    }
}

/// The time that a line tells: a record, or a member of a document that stands on lines of its own.
fn told_time(line: &str) -> Option<Millis> {
    lazy! { struct Line { timestamp } }
    let member = line.trim().trim_end_matches(',');
    let record = match member.starts_with('"') {
        true => Cow::Owned(format!("{{{member}}}")),
        false => Cow::Borrowed(line),
    };
    time(serde_json::from_str::<Line<'_>>(&record).ok()?.timestamp)
}

/// The session of which an agent did all that a file with this first line holds.
fn starter(format: &Format, first_line: &str) -> Option<RefName> {
    let home = format.home.as_ref().filter(|home| home.names_starters)?;
    let (_, descent) = (home.descent)(first_line, "")?;
    Some(RefName::session(format.name, &descent.spawned_by?))
}

/// The sessions that the records at the beginning of a source name as those that it is a copy of: the nearest first, for
/// a copy of a copy has the records of both.
pub fn originals(format: &Format, front: &str) -> Vec<RefName> {
    let mut named = Vec::new();
    for name in front.lines().filter_map(|line| original(format, line)) {
        if !named.contains(&name) {
            named.push(name);
        }
    }
    named
}

/// The session of which a line says that it is a copy: by the words of its client, or by those of `resume`.
fn original(format: &Format, line: &str) -> Option<RefName> {
    // A client that forks what `resume` wrote copies its words.
    let by_client = (format.copied_from)(line).map(|id| RefName::session(format.name, &id));
    by_client.or_else(|| resumed_from(line))
}

/// The session that went on in what begins with this line. The line may be a document's first part.
fn resumed_from(line: &str) -> Option<RefName> {
    lazy! { struct Line { resumed_from = "resumedFrom" } }
    if !line.contains(RESUMED_FROM) {
        return None;
    }
    let name = match serde_json::from_str::<Line<'_>>(line) {
        Ok(line) => string(line.resumed_from)?,
        Err(_) => {
            let rest = line
                .strip_prefix('{')?
                .strip_prefix(&quoted(RESUMED_FROM))?;
            let (name, _) = rest.strip_prefix(":\"")?.split_once('"')?;
            name.to_owned()
        }
    };
    let name: RefName = format!("{}{name}", RefName::SESSIONS).parse().ok()?;
    name.as_session().is_some().then_some(name)
}

/// A session's file with the name of the session that goes on there in front of what its first record says.
pub fn with_original(bytes: Vec<u8>, original: &RefName) -> Vec<u8> {
    let end = bytes.iter().position(|it| *it == b'\n');
    let (first, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
    let name = original.as_str().strip_prefix(RefName::SESSIONS);
    let (Some(name), Ok(first)) = (name, std::str::from_utf8(first)) else {
        return bytes;
    };
    let front = format!("{{{}:{},", quoted(RESUMED_FROM), quoted(name));
    // A record of the original may say it of that one.
    let first = match serde_json::from_str::<IgnoredAny>(first) {
        Ok(_) => without(first, &[RESUMED_FROM]).finish(),
        // A document over several lines.
        Err(_) => first.to_owned(),
    };
    match first.strip_prefix('{') {
        Some(members) => [front.as_bytes(), members.as_bytes(), rest].concat(),
        None => bytes,
    }
}

/// The first working directory that the records at the beginning of a source tell, where they do so by the usual key.
pub fn cwd(front: &str) -> Option<String> {
    lazy! { struct Line { cwd } }
    let told = |line| string(serde_json::from_str::<Line<'_>>(line).ok()?.cwd);
    front.lines().find_map(told)
}
