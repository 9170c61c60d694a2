//! When branches were worked on last. Their list goes by it, so it is kept beside each: a page of a list costs the same,
//! however many there are.

use std::cmp::{Ordering, Reverse};

use super::{Objects, Paths};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Millis, RefName};

/// How many commits back a time is looked for.
const SEARCH: usize = 64;

/// What is kept of a branch on which none of these has a time.
pub(super) const NEVER: i64 = i64::MIN;

/// A branch, by when it was worked on last. What is newer comes first, and of what is as old the name that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The time of its newest commit that has one.
    pub last: Option<Millis>,
    /// Its full name.
    pub name: RefName,
}

impl Activity {
    /// What is known of the branch `name` by what is kept of it.
    pub(super) fn kept(kept: i64, name: RefName) -> Self {
        let last = (kept != NEVER).then_some(Millis(kept));
        Self { last, name }
    }

    /// What is kept of it.
    pub(super) fn number(&self) -> i64 {
        self.last.map_or(NEVER, |last| last.0)
    }

    /// That of a branch at `tip`.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn at<V: Objects + Paths + ?Sized>(
        view: &V,
        name: RefName,
        tip: &CommitHash,
    ) -> Result<Self> {
        let own = view.commits(&[*tip])?.pop().flatten();
        let mut last = own.and_then(|row| row.commit.time);
        if last.is_none() {
            let newest = view.ancestors(tip, None, SEARCH)?;
            last = newest.iter().find_map(|row| row.commit.time);
        }
        Ok(Self::kept(last.map_or(NEVER, |last| last.0), name))
    }

    /// Holds it against the commits of a branch that is at `tip`.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] where these say otherwise; the store's.
    pub fn held<V: Objects + Paths + ?Sized>(self, view: &V, tip: &CommitHash) -> Result<Self> {
        let told = Self::at(view, self.name.clone(), tip)?;
        if told == self {
            return Ok(self);
        }
        let name = self.name;
        Err(Error::Damaged {
            detail: format!("when {name} was worked on last is not as it was written"),
        })
    }
}

impl Ord for Activity {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |one: &Self| Reverse(one.last);
        key(self)
            .cmp(&key(other))
            .then_with(|| self.name.cmp(&other.name))
    }
}

impl PartialOrd for Activity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
