//! The branch goes on where another repository has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CarriedAnswer, Elsewhere, Fetching, LandedFacts, at_peer};
use crate::deeds::advice::Exit;
use crate::deeds::{ApiError, At, Deed, MergeOutcome, MergeParams, Method};
use crate::error::Result;
use crate::model::RefName;
use crate::repo::{Call, Repo};
use crate::rewrite::{Merge, SurgeryOptions};
use crate::sync::{FetchOptions, Fetched, Follow, Landed, Parted, Peer};

/// Fetch, and move your branch and sessions forward
///
/// Does what fetch does. Then the branch that HEAD is on moves forward to the other side's branch of that name, and
/// so do sessions. If they replaced commits and you added none, yours are replaced too. A branch with
/// commits of its own stays, and is reported. With `merge`, or where pull.merge is set
/// to true, such a branch is merged with theirs, as merge does it. The pull is one operation, and a merge another:
/// undo takes each back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract pull                                from origin, or the only remote there is
  tract pull laptop && tract resume         go on with a session that began there
  tract pull laptop idea                    your branch goes on where idea did there
  tract pull --merge                        where both have new commits: theirs come at the end
  tract checkout -b theirs origin/main      if both have new commits: theirs, beside yours")
)]
pub struct PullParams {
    /// The remote; by default that of the branch, origin, or the only one
    #[cfg_attr(feature = "cli", arg(value_name = "REMOTE"))]
    pub remote: Option<String>,
    /// The branch there, instead of the one with the name of yours
    #[cfg_attr(feature = "cli", arg(value_name = "BRANCH"))]
    pub branch: Option<String>,
    /// Also the session files that are kept there
    #[cfg_attr(feature = "cli", arg(long))]
    pub sources: bool,
    /// Merge where both have new commits
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "no_merge"))]
    pub merge: bool,
    /// Do not, whatever pull.merge says
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_merge: bool,
    /// Do not ask the command of hook.merge
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_verify: bool,
}

impl PullParams {
    /// Whether a branch is merged where both have new commits.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn merges(&self, repo: &Repo) -> Result<bool, ApiError> {
        match self.merge || self.no_merge {
            true => Ok(self.merge),
            false => Ok(repo.config()?.pull_merges()?),
        }
    }
}

/// Merges what a pull has brought of a branch, as an operation of its own.
///
/// # Errors
///
/// As [`Repo::merge`].
pub fn merge_what_came(
    parted: &Parted,
    at: &At<'_>,
    no_verify: bool,
    surgery: SurgeryOptions,
) -> Result<MergeOutcome, ApiError> {
    let merge = MergeParams {
        rev: Some(parted.seen.short().to_owned()),
        no_verify,
        ..MergeParams::default()
    };
    merge.carry_out(at, at.call(&merge.line()), surgery, None)
}

impl Fetching for PullParams {
    fn remote(&self) -> Option<&str> {
        self.remote.as_deref()
    }

    fn carry_out(
        &self,
        repo: &Repo,
        call: Call<'_>,
        (there, peer): (&Elsewhere, &mut dyn Peer),
        told: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<Fetched> {
        let branch = self.branch.as_deref().map(RefName::branch).transpose()?;
        let options = FetchOptions {
            names: branch.as_slice(),
            branch: branch.as_ref(),
            ..there.asked(self.sources, Follow::Head)
        };
        repo.fetch(call, peer, &options, told)
    }
}

impl Method for PullParams {
    const NAME: &'static str = "pull";
    const CHANGES: bool = true;
    type Answer = CarriedAnswer;

    /// A branch that went on here and there stays where it was, unless it is merged.
    fn exit(answer: &CarriedAnswer) -> Option<Exit> {
        let is_refused = |row: &LandedFacts| match row.landed {
            "parted" => row.name.starts_with(RefName::HEADS),
            landed => landed == "conflicts",
        };
        answer
            .refs
            .iter()
            .any(is_refused)
            .then_some(Exit::NotAllowed)
    }

    fn check(&self) -> Result<(), ApiError> {
        match (self.merge && self.no_merge, &self.remote, &self.branch) {
            (true, ..) => Err(ApiError::params("'merge' or 'no_merge', not both")),
            (_, None, Some(_)) => Err(ApiError::params("with 'branch', 'remote' says of whom")),
            _ => Ok(()),
        }
    }

    fn act(self, at: &mut At<'_>) -> Result<CarriedAnswer, ApiError> {
        let (repo, line) = (at.repo, self.line());
        let there = Elsewhere::of(self.remote.as_deref(), at)?;
        there.named()?;
        let merges = self.merges(repo)?;
        let done = at_peer(at, &there.url, &line, |call, peer, told| {
            Ok(self.carry_out(repo, call, (&there, peer), told)?)
        })?;
        let mut answer = CarriedAnswer::from(&done);
        for parted in &done.parted {
            let mut landed = Landed::Parted.as_str();
            if merges && parted.name.is_branch() {
                let done = merge_what_came(parted, at, self.no_verify, at.surgery(false, None)?)?;
                landed = match done.made {
                    Merge::Conflicts(_) => "conflicts",
                    _ => "merged",
                };
            }
            answer.refs.push(LandedFacts {
                name: parted.name.to_string(),
                landed,
                old: None,
                new: None,
            });
        }
        Ok(answer)
    }
}

impl Deed for PullParams {
    const PLACES: &'static [&'static str] = &["remote", "branch"];
    const REMOTES: &'static [&'static str] = &["remote"];
}
