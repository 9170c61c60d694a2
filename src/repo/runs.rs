//! Runs: continuations of one commit, each on a branch below `run/NAME/`, by their numbers.
//!
//! Deliberately absent: what makes a continuation.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Operation, RefName};
use crate::repo::load;
use crate::repo::repository::Repo;

/// What the reason of an annotation begins with that holds a verdict.
pub const JUDGED: &str = "judged ";

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

    /// The names by which there are runs, in their order.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn run_names(&self) -> Result<Vec<String>> {
        let prefix = format!("{}run/", RefName::HEADS);
        let tips = load::tips(&*self.store.read()?, &prefix)?.into_iter();
        let mut names: Vec<String> = tips
            .filter_map(|(branch, _)| {
                let (name, number) = branch.as_str().strip_prefix(&prefix)?.rsplit_once('/')?;
                number.parse::<usize>().ok()?;
                Some(name.to_owned())
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// What a judge said of a branch that ends there: `good`, `bad` or `unknown`, perhaps with the reason. None where
    /// none was asked.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn verdict_at(&self, tip: &CommitHash) -> Result<Option<String>> {
        Ok(match self.commit_at(tip)?.operation {
            Operation::Annotate {
                reason: Some(reason),
                ..
            } => reason.strip_prefix(JUDGED).map(str::to_owned),
            _ => None,
        })
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
