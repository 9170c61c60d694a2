//! Branches: made, renamed, deleted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Deed, Method, Position};
use crate::hash::CommitHash;
use crate::model::{Head, RefName};
use crate::repo::{Call, Made, On};

/// Start, rename or delete a branch
///
/// A branch starts at `rev`; HEAD stays (checkout with a new branch switches to it, too).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct BranchParams {
    /// The branch
    // A command line without one lists all.
    #[cfg_attr(feature = "cli", arg(required = false))]
    pub name: String,
    /// Where the branch starts, instead of HEAD; with `rename` its new name
    #[serde(default)]
    pub rev: Option<String>,
    /// More branches to delete
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(value_name = "NAME", hide = true))]
    pub others: Vec<String>,
    /// Delete the branch `name`, and all others that are named
    #[serde(default)]
    #[cfg_attr(
        feature = "cli",
        arg(
            short,
            short_alias = 'D',
            long,
            requires = "name",
            conflicts_with = "rename"
        )
    )]
    pub delete: bool,
    /// Rename the branch `name` to `rev`, or the one that HEAD is on to `name`
    #[serde(default)]
    #[cfg_attr(
        feature = "cli",
        arg(short = 'm', long, visible_alias = "move", requires = "name")
    )]
    pub rename: bool,
}

/// What was done to a branch.
pub enum Branched {
    /// It was made.
    Made(Made),
    /// They were deleted; where each was.
    Deleted(Vec<(RefName, CommitHash)>),
    /// It is called otherwise: before, and now.
    Renamed(RefName, RefName),
}

impl BranchParams {
    /// Does it.
    ///
    /// # Errors
    ///
    /// Where options contradict each other; as [`crate::repo::Repo::create_branch`],
    /// [`crate::repo::Repo::rename_branch`] and [`crate::repo::Repo::delete_reference`].
    pub fn carry_out(&self, at: &At<'_>, call: Call<'_>) -> Result<Branched, ApiError> {
        let name = self.name.as_str();
        self.check()?;
        match (self.delete, self.rename) {
            (true, true) => Err(ApiError::params("'delete' or 'rename', not both")),
            (true, false) => {
                let names = [name].into_iter().chain(self.rev.as_deref());
                let names = names.chain(self.others.iter().map(String::as_str));
                let mut branches = Vec::new();
                for name in names {
                    let branch = RefName::branch(name)?;
                    if !branches.contains(&branch) {
                        branches.push(branch);
                    }
                }
                let was = at.repo.delete_references(call, &branches)?;
                Ok(Branched::Deleted(branches.into_iter().zip(was).collect()))
            }
            (false, true) => {
                let (from, to) = match &self.rev {
                    Some(new) => (RefName::branch(name)?, new.as_str()),
                    None => (self.here(at)?, name),
                };
                let to = RefName::branch(to)?;
                at.repo.rename_branch(call, &from, &to)?;
                Ok(Branched::Renamed(from, to))
            }
            (false, false) => {
                let rev = self.rev.as_deref().unwrap_or("HEAD");
                let branch = RefName::branch(name)?;
                Ok(Branched::Made(at.repo.create_branch(call, &branch, rev)?))
            }
        }
    }

    /// The branch that HEAD is on.
    fn here(&self, at: &At<'_>) -> Result<RefName, ApiError> {
        match at.repo.head(&at.on)? {
            Head::Attached { branch, .. } => Ok(branch),
            Head::Detached(_) => {
                let fault = ApiError::refused("HEAD is on no branch");
                Err(fault.with_hint("`tract branch -m OLD NEW`"))
            }
        }
    }
}

impl Method for BranchParams {
    const NAME: &'static str = "branch";
    const CHANGES: bool = true;
    type Answer = Position;

    fn check(&self) -> Result<(), ApiError> {
        if self.delete || self.others.is_empty() {
            return Ok(());
        }
        Err(ApiError::params("'delete' alone takes several names"))
    }

    fn act(self, at: &mut At<'_>) -> Result<Position, ApiError> {
        let line = self.line();
        let (name, commit) = match self.carry_out(at, at.call(&line))? {
            Branched::Made(made) => (made.name, Some(made.commit)),
            Branched::Deleted(deleted) => {
                let (name, was) = deleted.into_iter().next().expect("one is named");
                (name, Some(was))
            }
            Branched::Renamed(_, name) => {
                let tip = at.repo.head(&On::Branch(name.clone()))?.commit();
                (name, tip)
            }
        };
        Ok(Position {
            branch: Some(name.short().to_owned()),
            commit: commit.map(|commit| commit.to_string()),
        })
    }
}

impl Deed for BranchParams {
    const OPTIONS_FIRST: bool = true;
    const PLACES: &'static [&'static str] = &["name", "rev", "others"];
    const SHORT: &'static [(&'static str, &'static str)] = &[("delete", "-d"), ("rename", "-m")];
    const REVISIONS: &'static [&'static str] = &["rev"];

    fn into_typed(mut self) -> Self {
        if self.rev.is_none() && !self.others.is_empty() {
            self.rev = Some(self.others.remove(0));
        }
        self
    }
}
