//! Sessions that tools keep, by their ids.

use std::collections::BTreeSet;

use super::database;
use super::inspect::inspect;
use super::tool_dirs::{SessionFile, stem};

/// How little of a session's id may be typed.
const LEAST_CHARS: usize = 4;

impl SessionFile {
    /// The id of the session, by its file's name, or, where that tells none, by what is in it.
    pub fn id(&self) -> Option<String> {
        let named = self.named_id();
        named.or_else(|| inspect(&self.path).ok().map(|found| found.id))
    }

    /// The id of the session as far as its file's name tells it: nothing is read.
    pub fn named_id(&self) -> Option<String> {
        if let Some((_, id)) = database::place(&self.path) {
            return Some(id);
        }
        let stem = stem(&self.path);
        let uuid = |stem: &str| {
            let tail = stem.get(stem.len().checked_sub(36)?..)?;
            let is_uuid = tail.bytes().filter(|byte| *byte == b'-').count() == 4;
            is_uuid.then(|| tail.to_owned())
        };
        // A session that goes on in another file bears that file's own id behind its own.
        let first = stem.rsplit_once('_').and_then(|(first, _)| uuid(first));
        first.or_else(|| uuid(&stem))
    }
}

/// Those of these sessions whose id begins as it was typed, `TOOL/` before it or not. Of copies of one session the one
/// that stands first is meant.
pub fn called(typed: &str, mut found: Vec<SessionFile>) -> Vec<SessionFile> {
    let typed = typed.strip_prefix("sessions/").unwrap_or(typed);
    let (tool, id) = match typed.split_once('/') {
        Some((tool, id)) => (Some(tool), id),
        None => (None, typed),
    };
    if id.len() < LEAST_CHARS || id.contains('.') {
        return Vec::new();
    }
    let mut ids = BTreeSet::new();
    found.retain(|session| {
        let is_of = tool.is_none_or(|tool| session.format.name == tool);
        let own = is_of.then(|| session.id()).flatten();
        own.is_some_and(|own| own.starts_with(id) && ids.insert(own))
    });
    found
}

/// How many of these sessions bear the id of this one and are another conversation: a tool may give all of its own one id.
/// What a file's name tells is an id that does not repeat.
pub fn namesakes(of: &SessionFile, found: &[SessionFile]) -> usize {
    if of.named_id().is_some() {
        return 0;
    }
    let Ok(own) = inspect(&of.path) else { return 0 };
    let is_other = |other: &&SessionFile| {
        let is_near = other.path != of.path && other.format.name == of.format.name;
        let found = (is_near && other.named_id().is_none()).then(|| inspect(&other.path).ok());
        let found = found.flatten();
        found.is_some_and(|found| found.id == own.id && found.prompt != own.prompt)
    };
    found.iter().filter(is_other).count()
}
