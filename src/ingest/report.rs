//! What an import says of what it found and did.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::formats::{Format, Problem, SessionEnd};
use crate::hash::CommitHash;
use crate::model::secret::SecretCounts;
use crate::model::{HideKind, RefName};

/// What stands among what a session's file lacks if its secrets were left out.
pub(super) const REDACTED: &str = "secrets (redacted)";

/// What an import found and did.
#[derive(Clone, Debug)]
pub struct ImportReport {
    /// The format.
    pub format: &'static Format,
    /// The sessions in the file.
    pub sessions: Vec<ImportedSession>,
    /// The secrets that were left out of the file.
    pub redacted: SecretCounts,
    /// The first problems, in order.
    pub problems: Vec<Problem>,
    /// How many problems there are in all, by reason, harmless ones aside.
    pub problem_count: u64,
    /// Harmless oddities: a torn last line.
    pub notes: Vec<Problem>,
}

/// One imported session.
#[derive(Clone, Debug)]
pub struct ImportedSession {
    /// Its ref.
    pub name: RefName,
    /// The session whose agent started it, if one did.
    pub parent: Option<RefName>,
    /// How it relates to what was here.
    pub outcome: Outcome,
    /// Of one whose file was rewritten, or that went on elsewhere: how many commits of what was here are not in it.
    pub kept: u64,
    /// Whether only the end of its file was read: how many messages there are, the hides, and what the importer
    /// said are those of that end, but for its title and what is absent.
    pub is_of_end: bool,
    /// Messages on its main path, hidden ones included.
    pub messages: u64,
    /// Commits that were not here before, on all paths.
    pub new_commits: u64,
    /// The end of its main path.
    pub tip: Option<CommitHash>,
    /// The secrets in the messages that were not here before, if they were looked for.
    pub secrets: SecretCounts,
    /// The vendor's own hides on the main path: kind, commit, and the commit before.
    pub hides: Vec<(HideKind, CommitHash, Option<CommitHash>)>,
    /// The branch that follows it.
    pub branch: BranchOutcome,
    /// Its further paths: sub-agents and abandoned leaves.
    pub further: Vec<RefName>,
    /// What the importer said at its end: title, what was kept and is no message, what is absent.
    pub end: Arc<SessionEnd>,
}

impl ImportedSession {
    /// How many hides there are of each kind that it has.
    pub fn hide_counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for (kind, ..) in &self.hides {
            *counts.entry(kind.as_str()).or_default() += 1;
        }
        counts
    }
}

/// How a session relates to what was here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Not seen before.
    New,
    /// Known; the file has grown.
    Grown,
    /// Known; nothing new.
    Unchanged,
    /// Known, but its history was rewritten: the session has a new ref.
    Rewritten,
    /// Known, but this file goes on otherwise than what is here, as on another machine: the session has a new ref.
    Elsewhere,
}

/// What became of the branch that follows a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchOutcome {
    /// It is where the session is.
    Follows(RefName),
    /// It has commits of its own and stays.
    Stays(RefName),
    /// The session has no messages, so there is none.
    None,
}

impl BranchOutcome {
    /// The branch, if there is one.
    pub fn name(&self) -> Option<&RefName> {
        match self {
            Self::Follows(name) | Self::Stays(name) => Some(name),
            Self::None => None,
        }
    }
}
