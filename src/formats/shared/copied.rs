//! What a session's first records say of whose copy it is, of when it began, and where.
//!
//! Deliberately absent: which of two sessions made what both hold; that takes both of them.

use crate::formats::Format;
use crate::formats::shared::parts::time;
use crate::model::Millis;
use crate::wire::json::string;

/// How much of a source is looked at for what its first records say.
pub const FRONT_BYTES: u64 = 64 << 10;

/// What a session's first records say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstRecords {
    /// The first time that a record tells, in the order of the records.
    pub began: Option<Millis>,
    /// The session of which its first messages are copies, by its id.
    pub copied_from: Option<String>,
}

impl FirstRecords {
    /// Of a source of `format` that begins so; its last line may be cut.
    pub fn of(format: &Format, front: &str) -> Self {
        lazy! { struct Line { timestamp } }
        let mut found = Self::default();
        for line in front.lines() {
            if found.began.is_none()
                && let Ok(line) = serde_json::from_str::<Line<'_>>(line)
            {
                found.began = time(line.timestamp);
            }
            found.copied_from = (format.copied_from)(line);
            if found.copied_from.is_some() {
                break;
            }
        }
        found
    }
}

/// The sessions that the records at the beginning of a source name as those that it is a copy of: the nearest first, for
/// a copy of a copy has the records of both.
pub fn originals(format: &Format, front: &str) -> Vec<String> {
    let mut named = Vec::new();
    for id in front.lines().filter_map(format.copied_from) {
        if !named.contains(&id) {
            named.push(id);
        }
    }
    named
}

/// The first working directory that the records at the beginning of a source tell, where they do so by the usual key.
pub fn cwd(front: &str) -> Option<String> {
    lazy! { struct Line { cwd } }
    let told = |line| string(serde_json::from_str::<Line<'_>>(line).ok()?.cwd);
    front.lines().find_map(told)
}
