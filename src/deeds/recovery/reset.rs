//! The branch goes back to then.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Deed, Method, Position};
use crate::hash::CommitHash;
use crate::repo::{Call, Reset, ResetMode};

/// Move the branch back to a commit; what came later leaves it
///
/// Nothing is lost. ORIG_HEAD keeps what came later; with `hard`, the reflog alone does. The answer says how to get
/// back. To look at an earlier commit and leave the branch where it is: checkout.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract reset :12          to where the 12th message was the last
  tract reset HEAD~3       three commits back
  tract reset ORIG_HEAD    and forward again
  tract reset --root       to before the first message, to start over from another prompt
  tract reset --hard v1    to the tag v1, with nothing kept but in the reflog
  tract reset HEAD~3 --dry-run     where to, and how many commits leave the branch")
)]
pub struct ResetParams {
    /// The commit to move to
    #[cfg_attr(
        feature = "cli",
        arg(value_name = "REV", required_unless_present = "root")
    )]
    pub rev: Option<String>,
    /// Keep what came later under ORIG_HEAD (the default)
    #[cfg_attr(feature = "cli", arg(long))]
    pub soft: bool,
    /// Keep it in the reflog alone
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "soft"))]
    pub hard: bool,
    /// Move to before the first commit
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "rev"))]
    pub root: bool,
    /// Refuse (exit 4) unless the branch is at REV; none: unless it has no commit
    #[cfg_attr(feature = "cli", arg(long, value_name = "REV|none"))]
    pub expect: Option<String>,
    /// Say where the branch would be, and change nothing
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
}

impl ResetParams {
    /// What keeps what comes later.
    pub fn mode(&self) -> ResetMode {
        if self.hard {
            ResetMode::Hard
        } else {
            ResetMode::Soft
        }
    }

    /// Does it.
    ///
    /// # Errors
    ///
    /// Where it is not said where to, or twice; as [`crate::repo::Repo::reset_from`].
    pub fn carry_out(&self, at: &At<'_>, call: Call<'_>) -> Result<Reset, ApiError> {
        if self.soft && self.hard {
            return Err(ApiError::params("'soft' or 'hard', not both"));
        }
        match (&self.rev, self.root) {
            (Some(_), true) => return Err(ApiError::params("'rev' or 'root', not both")),
            (None, false) => {
                let what = "'rev' says where to, or 'root': before the first commit";
                return Err(ApiError::params(what));
            }
            (Some(rev), false) => at.must_be_whole(rev)?,
            (None, true) => {}
        }
        let expect = at.expected(self.expect.as_deref())?;
        let (rev, mode) = (self.rev.as_deref(), self.mode());
        Ok(match self.dry_run {
            true => at.repo.reset_forecast(call, rev, mode, expect)?,
            false => at.repo.reset_from(call, rev, mode, expect)?,
        })
    }
}

/// A move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MoveAnswer {
    /// Where HEAD, or the branch, was.
    pub from: Position,
    /// Where it is.
    pub to: Position,
}

impl Method for ResetParams {
    const NAME: &'static str = "reset";
    const CHANGES: bool = true;
    type Answer = MoveAnswer;

    fn act(self, at: &mut At<'_>) -> Result<MoveAnswer, ApiError> {
        let line = self.line();
        let done = self.carry_out(at, at.call(&line))?;
        let branch = done.branch.map(|name| name.short().to_owned());
        let place = |commit: Option<CommitHash>| Position {
            branch: branch.clone(),
            commit: commit.map(|commit| commit.to_string()),
        };
        Ok(MoveAnswer {
            from: place(done.from),
            to: place(done.to),
        })
    }
}

impl Deed for ResetParams {
    const OPTIONS_FIRST: bool = true;
    const PLACES: &'static [&'static str] = &["rev"];
    const REVISIONS: &'static [&'static str] = &["rev", "expect"];
}
