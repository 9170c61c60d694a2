//! Several branches moved at once, each from where it is expected: one operation, or nothing.
//!
//! Deliberately absent: `ORIG_HEAD`. What a move leaves behind is in the log of operations alone.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::tokens::Counter;
use crate::model::{Draft, RefName, RefValue, UsageRecord};
use crate::repo::call::{Call, On};
use crate::repo::commit_rows::Committed;
use crate::repo::expect::{Expect, retried};
use crate::repo::repository::Repo;
use crate::repo::{load, revision};
use crate::store::Tx;

/// One branch, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchMove {
    /// The branch. One that is not there yet is made.
    pub branch: RefName,
    /// The revision that it goes to; none: it goes before its first commit, so that it is no ref any more.
    pub to: Option<String>,
    /// Refuse unless it is there; none: wherever it is.
    pub expect: Option<Expect>,
    /// Commits that are made behind `to` first, as a first one where that is none: the branch goes to the last of them.
    pub drafts: Vec<Draft>,
    /// What the provider counted for each of their messages.
    pub usages: Vec<Option<UsageRecord>>,
}

impl BranchMove {
    /// A move to what is there.
    pub fn to(branch: RefName, to: Option<String>, expect: Option<Expect>) -> Self {
        Self {
            branch,
            to,
            expect,
            drafts: Vec::new(),
            usages: Vec::new(),
        }
    }
}

/// A branch that was moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedBranch {
    /// The branch.
    pub branch: RefName,
    /// Where it was.
    pub from: Option<CommitHash>,
    /// Where it is. The same as `from`: it was only looked at.
    pub to: Option<CommitHash>,
}

impl Repo {
    /// Moves these branches, in their order, as one operation. If one of them is not where it is expected, none moves.
    /// HEAD stays on its branch, and `ORIG_HEAD` stays as it was.
    ///
    /// # Errors
    ///
    /// [`Error::RefMoved`](crate::Error::RefMoved), and as [`Repo::resolve`].
    ///
    /// ```
    /// use tract::repo::{BranchMove, Call, CommitOptions, Expect, Repo};
    /// use tract::model::{Draft, Message, RefName, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "one"));
    /// let one = repo.commit(Call::default(), &[draft], &CommitOptions::default())?[0].hash;
    /// let moves = ["main", "kept"].map(|name| (name, RefName::branch(name).expect("a name")));
    /// let moves = moves.map(|(name, branch)| {
    ///     let to = (name == "kept").then(|| one.to_string());
    ///     BranchMove::to(branch, to, (name == "main").then_some(Expect::At(one)))
    /// });
    /// let moved = repo.move_branches(Call::default(), &moves)?;
    /// assert_eq!((moved[0].to, moved[1].to), (None, Some(one)));
    /// assert!(repo.move_branches(Call::default(), &moves).is_err());
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn move_branches(&self, call: Call<'_>, moves: &[BranchMove]) -> Result<Vec<MovedBranch>> {
        self.move_counting(call, moves, None)
    }

    /// The same; the tokens of the messages that moves bring along are counted.
    ///
    /// # Errors
    ///
    /// As [`Repo::move_branches`].
    pub fn move_counting(
        &self,
        call: Call<'_>,
        moves: &[BranchMove],
        counter: Option<Counter>,
    ) -> Result<Vec<MovedBranch>> {
        retried(|| {
            let tx = self.store.write()?;
            tx.begin_moves(call.now, call.what)?;
            let along = make(self, &*tx, call, moves, counter)?;
            let ends: Vec<_> = along.iter().map(|of| Some(of.last()?.hash)).collect();
            let moved = carry(self, &*tx, call.on, moves, &ends)?;
            if moved.iter().any(|it| it.from != it.to) {
                tx.commit()?;
            }
            Ok(moved)
        })
    }
}

/// Makes the commits that moves bring along, within a transaction in which an operation is open: those of each move.
pub(crate) fn make(
    repo: &Repo,
    tx: &dyn Tx,
    call: Call<'_>,
    moves: &[BranchMove],
    counter: Option<Counter>,
) -> Result<Vec<Vec<Committed>>> {
    let made = moves.iter().map(|it| {
        if it.drafts.is_empty() {
            return Ok(Vec::new());
        }
        let after = aim(repo, tx, call.on, it)?;
        let messages = (&*it.drafts, &*it.usages);
        repo.make_behind(tx, call, (&it.branch, after), messages, counter)
    });
    made.collect()
}

/// The commit that a move names.
fn aim(repo: &Repo, tx: &dyn Tx, on: &On, it: &BranchMove) -> Result<Option<CommitHash>> {
    match &it.to {
        Some(rev) => repo.with_moments(rev, |rev| revision::resolve_or_root(tx, on, rev)),
        None => Ok(None),
    }
}

/// Moves branches within a transaction that is alone, in which an operation is open. `ends` has the last commit of those
/// that each brings along.
pub(crate) fn carry(
    repo: &Repo,
    tx: &dyn Tx,
    on: &On,
    moves: &[BranchMove],
    ends: &[Option<CommitHash>],
) -> Result<Vec<MovedBranch>> {
    let carried = moves.iter().zip(ends).map(|(it, end)| {
        let from = load::tip(tx, &it.branch)?;
        if let Some(expect) = it.expect {
            expect.hold(&it.branch, from)?;
        }
        let to = match end {
            Some(end) => Some(*end),
            None => aim(repo, tx, on, it)?,
        };
        if from.is_none() && to.is_some() {
            it.branch.refuse_hash()?;
        }
        tx.set_reference(&it.branch, to.map(RefValue::Commit).as_ref())?;
        let branch = it.branch.clone();
        Ok(MovedBranch { branch, from, to })
    });
    carried.collect()
}
