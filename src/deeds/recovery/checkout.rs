//! HEAD goes elsewhere, branches stay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::advice::command;
use crate::deeds::{ApiError, At, Deed, Method, MoveAnswer};
use crate::error::Error;
use crate::model::RefName;
use crate::repo::{Call, Checkout, On, Repo, Target};

/// Switch to a branch, or look at an earlier commit
///
/// A branch's name attaches HEAD to that branch. Any other revision detaches HEAD: you can look at
/// everything from there but commit nothing; `new_branch` starts a branch there, to continue on. - goes back
/// to where HEAD was before. The name of a branch that was seen at one remote alone starts a branch of that
/// name here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract checkout :12           look at then
  tract checkout -             and back
  tract checkout -b other :12  go on from there, keep both
  tract checkout main          to a branch
  tract checkout idea          to origin/idea, as a branch here")
)]
pub struct CheckoutParams {
    /// A branch, any other revision, or - for where HEAD was before
    #[cfg_attr(
        feature = "cli",
        arg(value_name = "REV|BRANCH|-", required_unless_present = "new_branch")
    )]
    pub rev: Option<String>,
    /// Start a branch of this name, at REV or where HEAD is
    #[cfg_attr(feature = "cli", arg(short = 'b', long, value_name = "NAME"))]
    pub new_branch: Option<String>,
}

/// What a checkout did.
pub struct CheckedOut {
    /// The move.
    pub done: Checkout,
    /// Whether a branch was made.
    pub is_new: bool,
    /// Whether it went to where HEAD was before.
    pub is_back: bool,
}

impl CheckoutParams {
    /// Does it.
    ///
    /// # Errors
    ///
    /// Where nothing says where to, or the branch was seen at several remotes; as [`Repo::checkout`].
    pub fn carry_out(&self, at: &At<'_>, call: Call<'_>) -> Result<CheckedOut, ApiError> {
        let seen = self.elsewhere(at.repo)?;
        if let Some(rev) = self.rev.as_ref().filter(|_| seen.is_none()) {
            At::new(at.repo, On::Head, at.host).must_be_whole(rev)?;
        }
        let target = match (&self.new_branch, self.rev.as_deref()) {
            (Some(name), rev) => Target::NewBranch(RefName::branch(name)?, rev.map(str::to_owned)),
            (None, Some("-")) => Target::Previous,
            (None, Some(name)) => match &seen {
                Some(seen) => {
                    let start = seen.short().to_owned();
                    Target::NewBranch(RefName::branch(name)?, Some(start))
                }
                None => Target::Named(name.to_owned()),
            },
            (None, None) => return Err(ApiError::params("'rev' or 'new_branch' says where to")),
        };
        let done = at.repo.checkout(call, &target)?;
        if let (Some(seen), Some(branch)) = (&seen, done.to.branch())
            && let Some((remote, _)) = seen.short().split_once('/')
        {
            let branches = std::slice::from_ref(branch);
            at.repo.set_remote_of(branches, remote)?;
        }
        Ok(CheckedOut {
            done,
            is_new: self.new_branch.is_some() || seen.is_some(),
            is_back: target == Target::Previous,
        })
    }

    /// Where a branch was seen that is not here by that name, if it was at one remote alone.
    fn elsewhere(&self, repo: &Repo) -> Result<Option<RefName>, ApiError> {
        let (None, Some(name)) = (&self.new_branch, self.rev.as_deref()) else {
            return Ok(None);
        };
        let unknown = repo.resolve(&On::Head, name);
        let Err(Error::UnknownRevision { .. }) = unknown else {
            return Ok(None);
        };
        let Ok(branch) = RefName::branch(name) else {
            return Ok(None);
        };
        let mut seen = repo.seen_elsewhere(&branch)?;
        match seen.len() {
            0 | 1 => Ok(seen.pop()),
            count => {
                let what = format!("{name} was seen at {count} remotes");
                let first = seen[0].short();
                let hint = command(&format!("checkout -b {name} {first}"));
                Err(ApiError::refused(what).with_hint(hint))
            }
        }
    }
}

impl Method for CheckoutParams {
    const NAME: &'static str = "checkout";
    const CHANGES: bool = true;
    type Answer = MoveAnswer;

    fn act(self, at: &mut At<'_>) -> Result<MoveAnswer, ApiError> {
        let line = self.line();
        let Checkout { from, to, .. } = self.carry_out(at, at.call(&line))?.done;
        Ok(MoveAnswer {
            from: (&from).into(),
            to: (&to).into(),
        })
    }
}

impl Deed for CheckoutParams {
    const OPTIONS_FIRST: bool = true;
    const PLACES: &'static [&'static str] = &["rev"];
    const SHORT: &'static [(&'static str, &'static str)] = &[("new_branch", "-b")];
    const REVISIONS: &'static [&'static str] = &["rev"];
}
