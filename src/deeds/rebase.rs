//! Own commits on another base, and single ones taken back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::Tokens;
use super::{ApiError, At, Method};
use crate::context::plan::carry::Whose;
use crate::rewrite::{Rebase, RebaseFate, RebaseStep};

/// Where to, and from where.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RebaseParams {
    /// The new base.
    pub onto: String,
    /// The commit behind which the branch's own ones begin; where it parted from the new base, unless given.
    #[serde(default)]
    pub from: Option<String>,
    /// Commits that stay behind.
    #[serde(default)]
    pub skip: Vec<String>,
    /// Where both changed a message: `ours`, as the new base has it, or `theirs`, as the branch has it.
    #[serde(default)]
    pub conflicts: Option<String>,
    /// Say what would become of each commit, and change nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// What a rebase did, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RebaseAnswer {
    /// Whether the branch moved, or would: not where nothing is to be done, or something stands in the way.
    pub moves: bool,
    /// Where the branch was.
    pub from: String,
    /// Where it is.
    pub to: String,
    /// The branch's own commits, oldest first.
    pub steps: Vec<RebasedCommit>,
    /// The tokens of the context before.
    pub tokens_before: Tokens,
    /// The tokens of the context after.
    pub tokens_after: Tokens,
    /// How many messages at the beginning stay as they are.
    pub kept: usize,
}

/// One of the branch's own commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RebasedCommit {
    /// Its hash.
    pub commit: String,
    /// The word of its operation.
    pub what: &'static str,
    /// What became of it: put, already, skipped, misfit, conflict.
    pub fate: &'static str,
    /// What it is now, if it was put.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Why it does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The messages that both changed, by their names on the new base.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
}

impl RebasedCommit {
    fn of(step: &RebaseStep) -> Self {
        let (mut now, mut reason, mut conflicts) = (None, None, Vec::new());
        let fate = match &step.fate {
            RebaseFate::Put(commit) => {
                now = Some(commit.to_string());
                "put"
            }
            RebaseFate::Already => "already",
            RebaseFate::Skipped => "skipped",
            RebaseFate::Misfit(why) => {
                reason = Some(why.to_string());
                "misfit"
            }
            RebaseFate::Conflict(all) => {
                conflicts.extend(all.iter().map(|it| it.message.clone()));
                "conflict"
            }
        };
        Self {
            commit: step.commit.to_string(),
            what: step.what,
            fate,
            now,
            reason,
            conflicts,
        }
    }
}

impl Method for RebaseParams {
    const NAME: &'static str = "rebase";
    const ABOUT: &'static str = "Puts the branch's own commits on another base, all or none.";
    const CHANGES: bool = true;
    type Answer = RebaseAnswer;

    fn call(self, at: &mut At<'_>) -> Result<RebaseAnswer, ApiError> {
        let from = self.from.as_deref().map(|rev| at.resolve(Some(rev)));
        let skip = self.skip.iter().map(|rev| at.resolve(Some(rev)));
        let rebase = Rebase {
            from: from.transpose()?,
            skip: skip.collect::<Result<_, _>>()?,
            whose: match self.conflicts.as_deref() {
                None => None,
                Some("ours") => Some(Whose::Ours),
                Some("theirs") => Some(Whose::Theirs),
                Some(_) => return Err(ApiError::params("'conflicts' is ours or theirs")),
            },
            dry_run: self.dry_run,
            ..Rebase::onto(at.resolve(Some(&self.onto))?, at.encoding()?)
        };
        let what = format!("rebase {}", self.onto);
        let done = at.repo.rebase(at.call(&what), &rebase)?;
        if !self.dry_run {
            done.refuse_blocked()?;
        }
        Ok(RebaseAnswer {
            moves: !done.is_nothing(),
            from: done.before.to_string(),
            to: done.after.to_string(),
            steps: done.steps.iter().map(RebasedCommit::of).collect(),
            tokens_before: done.was.tokens.into(),
            tokens_after: done.is.tokens.into(),
            kept: done.kept.messages,
        })
    }
}
