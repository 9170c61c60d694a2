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
    /// Delete the branch `name`
    #[serde(default)]
    #[cfg_attr(
        feature = "cli",
        arg(short, long, requires = "name", conflicts_with = "rename")
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
    /// It was deleted; where it was.
    Deleted(RefName, CommitHash),
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
        match (self.delete, self.rename) {
            (true, true) => Err(ApiError::params("'delete' or 'rename', not both")),
            (true, false) => {
                let branch = RefName::branch(name)?;
                let was = super::delete(at, call, &branch, self.rev.as_deref())?;
                Ok(Branched::Deleted(branch, was))
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

    fn act(self, at: &mut At<'_>) -> Result<Position, ApiError> {
        let line = self.line();
        let (name, commit) = match self.carry_out(at, at.call(&line))? {
            Branched::Made(made) => (made.name, Some(made.commit)),
            Branched::Deleted(name, was) => (name, Some(was)),
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
    const PLACES: &'static [&'static str] = &["name", "rev"];
    const SHORT: &'static [(&'static str, &'static str)] = &[("delete", "-d"), ("rename", "-m")];
    const REVISIONS: &'static [&'static str] = &["rev"];
}
