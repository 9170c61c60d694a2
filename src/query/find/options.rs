//! What is searched for, and where.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::hash::CommitHash;
use crate::model::pattern::Pattern;
use crate::model::query::Query;
use crate::model::{Millis, RefName, Speaker};
use crate::query::log::{notes, sets, wanted};
use crate::store::CommitRow;

/// How many lines of a message a ranked search tells.
const LINES: usize = 5;

/// What to find, and where.
#[derive(Clone, Debug)]
pub struct SearchOptions<T> {
    /// What is asked for.
    pub asked: T,
    /// Only in the history of this commit; none: in that of every branch, tag and session.
    pub within: Option<CommitHash>,
    /// Only in this session and its sub-agents, and on branches that came from them.
    pub session: Option<RefName>,
    /// Only on branches, tags and sessions whose session ran in this directory or below it.
    pub directory: Option<PathBuf>,
    /// Only messages of whoever this is.
    pub role: Option<Speaker>,
    /// Only what these operations brought, by the words of [`crate::query::LogOptions`]; empty:
    /// all.
    pub operations: Vec<String>,
    /// Only calls of this tool and their results.
    pub tool: Option<String>,
    /// Only calls of tools that name this file or directory, or the end of its path, and their results.
    pub path: Option<String>,
    /// Only from this time on; what bears no time is left out.
    pub since: Option<Millis>,
    /// Only up to this time; likewise.
    pub until: Option<Millis>,
    /// Only what commits brought with a note that has this in it, whatever its case.
    pub note: Option<String>,
    /// Only what commits brought that give this request setting a value: any, or this one.
    pub setting: Option<(String, Option<String>)>,
    /// Only what these commits brought; none: whatever commit.
    pub commits: Option<Arc<HashSet<CommitHash>>>,
    /// Only what is in no context any more where it stands.
    pub hidden: bool,
    /// At most so many messages; 0: all.
    pub limit: usize,
    /// How many neighbours to give on each side of a message.
    pub neighbours: usize,
}

/// A text or a regular expression, and where to find it.
pub type FindOptions = SearchOptions<Pattern>;

/// Words, and where to find what they are about.
pub type RankedOptions = SearchOptions<RankedQuery>;

/// Words, and how much is told of what they are about.
#[derive(Clone, Debug)]
pub struct RankedQuery {
    /// The words.
    pub query: Query,
    /// How many of the best messages to pass over.
    pub offset: usize,
    /// At most so many lines of each message, the best ones; 0: all with a word in them.
    pub lines: usize,
}

impl RankedQuery {
    /// The best messages, from the first on.
    pub fn new(query: Query) -> Self {
        Self {
            query,
            offset: 0,
            lines: LINES,
        }
    }
}

impl<T> SearchOptions<T> {
    /// All messages, everywhere.
    pub fn of(asked: T) -> Self {
        Self {
            asked,
            within: None,
            session: None,
            directory: None,
            role: None,
            operations: Vec::new(),
            tool: None,
            path: None,
            since: None,
            until: None,
            note: None,
            setting: None,
            commits: None,
            hidden: false,
            limit: 0,
            neighbours: 0,
        }
    }

    /// The same places, for something else.
    pub fn asking<U>(self, asked: U) -> SearchOptions<U> {
        SearchOptions {
            asked,
            within: self.within,
            session: self.session,
            directory: self.directory,
            role: self.role,
            operations: self.operations,
            tool: self.tool,
            path: self.path,
            since: self.since,
            until: self.until,
            note: self.note,
            setting: self.setting,
            commits: self.commits,
            hidden: self.hidden,
            limit: self.limit,
            neighbours: self.neighbours,
        }
    }

    /// Whether a commit is of the time and the operations that are asked for.
    pub(super) fn takes(&self, row: &CommitRow) -> bool {
        if self
            .commits
            .as_ref()
            .is_some_and(|them| !them.contains(&row.hash))
        {
            return false;
        }
        let commit = &row.commit;
        let time = commit.time;
        let is_early = self.since.is_some_and(|since| time < Some(since));
        let is_late = |until| time.is_none_or(|time| time > until);
        !is_early
            && !self.until.is_some_and(is_late)
            && wanted(&commit.operation, &self.operations)
            && self.note.as_ref().is_none_or(|text| notes(commit, text))
            && self
                .setting
                .as_ref()
                .is_none_or(|(key, value)| sets(commit, key, value.as_deref()))
    }
}

impl FindOptions {
    /// All messages with the pattern in them.
    pub fn new(pattern: Pattern) -> Self {
        Self::of(pattern)
    }
}

impl RankedOptions {
    /// The best 20 messages for what is asked for.
    pub fn new(query: Query) -> Self {
        Self {
            limit: 20,
            ..Self::of(RankedQuery::new(query))
        }
    }
}
