//! Runs: continuations of one commit, each on a branch below `run/NAME/`, by their numbers.
//!
//! Deliberately absent: what makes a continuation.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::repo::load;
use crate::repo::repository::Repo;

/// A run that is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunBranch {
    /// Its number, from 1.
    pub number: usize,
    /// Its branch.
    pub branch: RefName,
    /// Where that is.
    pub tip: CommitHash,
}

impl Repo {
    /// The runs by a name that are here, by number.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn runs(&self, name: &str) -> Result<Vec<RunBranch>> {
        let prefix = format!("{}run/{name}/", RefName::HEADS);
        let tips = load::tips(&*self.store.read()?, &prefix)?.into_iter();
        let mut runs: Vec<RunBranch> = tips
            .filter_map(|(branch, tip)| {
                let number = branch.as_str().strip_prefix(&prefix)?.parse().ok()?;
                Some(RunBranch {
                    number,
                    branch,
                    tip,
                })
            })
            .collect();
        runs.sort_by_key(|run| run.number);
        Ok(runs)
    }

    /// Whether a commit is on the path to another, or is that.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn is_on_path(&self, commit: &CommitHash, tip: &CommitHash) -> Result<bool> {
        self.store.read()?.is_ancestor(commit, tip)
    }

    /// What was recorded after a commit: the end of `first` where it goes on from there, else of the first branch, by
    /// name, that does and is no run; with its name.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn recorded_after(
        &self,
        commit: &CommitHash,
        first: Option<(RefName, CommitHash)>,
    ) -> Result<Option<(RefName, CommitHash)>> {
        let view = self.store.read()?;
        let tips = load::tips(&*view, "refs/")?.into_iter();
        let made = |name: &RefName| {
            let name = name.short();
            name.starts_with("run/") || name.starts_with("bisect")
        };
        let tips = tips.filter(|(name, _)| !made(name));
        for (name, tip) in first.into_iter().chain(tips) {
            if tip != *commit && view.is_ancestor(commit, &tip)? {
                return Ok(Some((name, tip)));
            }
        }
        Ok(None)
    }
}
