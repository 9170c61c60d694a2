//! Own commits on another base.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::merge::side;
use crate::deeds::{ApiError, At, Deed, Method, Tokens};
use crate::repo::Call;
use crate::rewrite::{Rebase, RebaseFate, RebaseStep, Rebased};

/// Put the branch's own commits on another base
///
/// Takes the commits since the branch parted from `onto`, or those after `from`, and makes each of them
/// again on `onto`. Messages, edits, compactions and other hides, restores and pins keep their settings,
/// notes, authors and times. Nothing is lost: undo puts the branch back, and ORIG_HEAD keeps where
/// it was. Where a commit does not fit, or both sides changed a message differently, nothing is
/// written and each is named; `skip`, `ours` and `theirs` settle it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract rebase main                            this branch's own commits onto main as it is now
  tract rebase a1b2c3d^ --from a1b2c3d         a1b2c3d is a compaction: what came after it, on the
                                               state before it
  tract rebase main --dry-run                  say what would become of each commit
  tract rebase main --skip 9f8e7d6 --theirs    without that one; where both changed a message, as here")
)]
pub struct RebaseParams {
    /// The new base: a branch or a commit
    #[cfg_attr(feature = "cli", arg(value_name = "ONTO"))]
    pub onto: String,
    /// Take the commits after this one
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "REV"))]
    pub from: Option<String>,
    /// Leave this commit behind; may be given several times
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "REV"))]
    pub skip: Vec<String>,
    /// Where both sides changed a message, leave it as `onto` has it
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub ours: bool,
    /// Where both sides changed a message, make it as this branch has it
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "ours"))]
    pub theirs: bool,
    /// Say what would become of each commit, and change nothing
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
}

impl RebaseParams {
    /// Does it, or foretells it.
    ///
    /// # Errors
    ///
    /// As [`crate::Repo::rebase`].
    pub fn carry_out(&self, at: &At<'_>, call: Call<'_>) -> Result<Rebased, ApiError> {
        let from = self.from.as_deref().map(|rev| at.resolve(Some(rev)));
        let skip = self.skip.iter().map(|rev| at.resolve(Some(rev)));
        let rebase = Rebase {
            from: from.transpose()?,
            skip: skip.collect::<Result<_, _>>()?,
            whose: side(self.ours, self.theirs)?,
            dry_run: self.dry_run,
            ..Rebase::onto(at.resolve(Some(&self.onto))?, at.encoding()?)
        };
        Ok(at.repo.rebase(call, &rebase)?)
    }
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
    const CHANGES: bool = true;
    type Answer = RebaseAnswer;

    fn act(self, at: &mut At<'_>) -> Result<RebaseAnswer, ApiError> {
        let done = self.carry_out(at, at.call(&self.line()))?;
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

impl Deed for RebaseParams {
    const PLACES: &'static [&'static str] = &["onto"];
    const REVISIONS: &'static [&'static str] = &["onto", "from", "skip"];
}
