//! Branches that meet again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::Changed;
use super::{ApiError, At, Method};
use crate::model::{EntryId, Message};
use crate::repo::MergeForm;
use crate::rewrite::{Merge, MergeConflict, MergeOptions, MergeSummary, Merged, Whose};

/// What of the other branch's own messages is brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MergedAs {
    /// One message: a summary of them, or the last answer among them.
    #[default]
    Message,
    /// All of them.
    Messages,
    /// What a user typed.
    Prompts,
}

/// Whose change of a message holds that both branches changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wins {
    /// Of the branch that is merged into.
    Ours,
    /// Of the branch that is merged.
    Theirs,
}

impl From<Wins> for Whose {
    fn from(wins: Wins) -> Self {
        match wins {
            Wins::Ours => Self::Ours,
            Wins::Theirs => Self::Theirs,
        }
    }
}

/// What, and how. Without `rev`: the merge that is under way goes on.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MergeParams {
    /// The branch, session or commit that is merged.
    pub rev: Option<String>,
    /// What of its own messages is brought: one message, all messages, or the prompts.
    pub form: MergedAs,
    /// A summary of its messages, in place of its last answer.
    pub summary: Option<String>,
    /// Whose change holds of every message that both changed; a conflict unless given.
    pub settle: Option<Wins>,
    /// Of the merge that is under way: settle these messages by `settle`, and no more.
    pub resolve: Vec<String>,
    /// Give up the merge that is under way.
    pub abort: bool,
    /// Also where both branches have nothing in common.
    pub unrelated: bool,
    /// Say what would change, and change nothing.
    pub dry_run: bool,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergeAnswer {
    /// here: there was nothing to do; forward: the branch went on to the other's end; made; conflicts: nothing was
    /// written, and the merge is under way; resolved; aborted.
    pub state: &'static str,
    /// The other branch's own visible messages.
    pub messages: usize,
    /// How many changes of shared messages were made here as well.
    pub changes: usize,
    /// Changes of the other branch that could not be made here, by their commits.
    pub left_out: Vec<String>,
    /// What it changed in the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changed>,
    /// The messages that both branches changed differently, as far as that is not settled.
    pub conflicts: Vec<ConflictFacts>,
}

/// A message that both branches changed differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConflictFacts {
    /// Its name.
    pub id: String,
    /// Its number among the visible ones, from 1; none if it is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// What both did, in a few words.
    pub kind: &'static str,
    /// One line of it. What somebody else wrote: escape it before it is shown.
    pub preview: String,
}

impl ConflictFacts {
    fn all(conflicts: &[MergeConflict]) -> Vec<Self> {
        let one = |conflict: &MergeConflict| Self {
            id: conflict.clash.here.to_string(),
            number: conflict.number,
            kind: conflict.clash.kind.as_str(),
            preview: conflict.preview.clone(),
        };
        conflicts.iter().map(one).collect()
    }
}

impl MergeAnswer {
    fn of(state: &'static str) -> Self {
        Self {
            state,
            messages: 0,
            changes: 0,
            left_out: Vec::new(),
            changed: None,
            conflicts: Vec::new(),
        }
    }

    fn made(made: &Merged) -> Self {
        let left_out = made.left_out.iter();
        Self {
            messages: made.said,
            changes: made.changes,
            left_out: left_out.map(|(commit, _)| commit.to_string()).collect(),
            changed: Some(Changed::of(&made.surgery)),
            ..Self::of("made")
        }
    }
}

impl Method for MergeParams {
    const NAME: &'static str = "merge";
    const ABOUT: &'static str = "Brings another branch into this one: its messages at the end, its changes of shared messages.";
    const CHANGES: bool = true;
    type Answer = MergeAnswer;

    fn call(self, at: &mut At<'_>) -> Result<MergeAnswer, ApiError> {
        if self.abort {
            at.repo.merge_abort(&at.on)?;
            return Ok(MergeAnswer::of("aborted"));
        }
        if !self.resolve.is_empty() {
            let Some(wins) = self.settle else {
                return Err(ApiError::params("'settle' says whose change holds"));
            };
            let entries = self
                .resolve
                .iter()
                .map(|rev| at.repo.resolve_entry(&at.on, rev));
            let entries: Vec<EntryId> = entries.collect::<Result<_, _>>()?;
            let left = at
                .repo
                .merge_resolve(at.call("resolve"), &entries, wins.into())?;
            return Ok(MergeAnswer {
                conflicts: ConflictFacts::all(&left),
                ..MergeAnswer::of("resolved")
            });
        }
        let options = MergeOptions {
            form: match self.form {
                MergedAs::Message => MergeForm::Message,
                MergedAs::Messages => MergeForm::Messages,
                MergedAs::Prompts => MergeForm::Prompts,
            },
            settle: self.settle.map(Whose::from),
            unrelated: self.unrelated,
            surgery: at.surgery(self.dry_run)?,
        };
        let mut given = |_: &[Message]| Ok(self.summary.clone().unwrap_or_default());
        let summary = self
            .summary
            .is_some()
            .then_some(&mut given as MergeSummary<'_>);
        let made = match &self.rev {
            Some(rev) => {
                let theirs = at.resolve(Some(rev))?;
                let what = format!("merge {rev}");
                at.repo
                    .merge(at.call(&what), &theirs, rev, &options, summary)?
            }
            None => at
                .repo
                .merge_on(at.call("merge --continue"), &options, summary)?,
        };
        Ok(match &made {
            Merge::Here => MergeAnswer::of("here"),
            Merge::Forward { .. } => MergeAnswer::of("forward"),
            Merge::Made(made) => MergeAnswer::made(made),
            Merge::Conflicts(conflicts) => MergeAnswer {
                conflicts: ConflictFacts::all(conflicts),
                ..MergeAnswer::of("conflicts")
            },
        })
    }
}
