//! Reset and checkout: HEAD and branches go elsewhere, and the way back is kept.
//!
//! Every move is one operation, all refs at once: a failed one changes none. Deliberately absent:
//! questions. Nothing that a move leaves behind is lost before a `gc` lets it go.

use crate::error::{Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::model::{Head, RefName, RefValue};
use crate::repo::by_branch;
use crate::repo::call::{Call, On};
use crate::repo::expect::{Expect, retried};
use crate::repo::load;
use crate::repo::open_call::{OpenCall, open_call};
use crate::repo::repository::{self, Repo};
use crate::repo::revision;
use crate::store::{ReflogRow, View};

/// What becomes of the commits that a reset leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetMode {
    /// `ORIG_HEAD` keeps them.
    #[default]
    Soft,
    /// Nothing but the reflog keeps them; `ORIG_HEAD` stays as it was.
    Hard,
}

/// A reset that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reset {
    /// The branch that moved; none: HEAD alone.
    pub branch: Option<RefName>,
    /// Where it was; none: before the first commit.
    pub from: Option<CommitHash>,
    /// Where it is; the same as `from` if nothing moved.
    pub to: Option<CommitHash>,
    /// How many commits no branch, tag or session reaches any more.
    pub orphaned: u64,
    /// The calls that wait for a result there.
    pub open: Option<OpenCall>,
}

/// Where to check out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A branch by its name, else the commit that a revision names.
    Named(String),
    /// What `PREV_HEAD` holds.
    Previous,
    /// A new branch, at this revision, or where HEAD is.
    NewBranch(RefName, Option<String>),
}

/// A checkout that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Where HEAD was.
    pub from: Head,
    /// Where it is; the same as `from` if nothing moved.
    pub to: Head,
    /// The calls that wait for a result at the start of a new branch.
    pub open: Option<OpenCall>,
}

impl Repo {
    /// Moves the branch that the call is on, or HEAD alone while it is detached, to `target`.
    /// `PREV_HEAD` keeps the old commit where HEAD moved along; where nothing moves, no ref
    /// changes. One step before the first commit is before all of them.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`] and [`Repo::reset_from`], and [`Error::Busy`].
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo, ResetMode};
    /// use tract::model::{Draft, Message, Millis, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// for text in ["one", "two"] {
    ///     let draft = Draft::append(Message::text(Role::User, text));
    ///     repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// }
    /// let back = repo.reset(Call::at(Millis(0), "reset HEAD^"), "HEAD^", ResetMode::Soft)?;
    /// assert_eq!(Some(repo.resolve(&On::Head, "ORIG_HEAD")?), back.from);
    /// assert_eq!(Some(repo.resolve(&On::Head, "HEAD")?), back.to);
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn reset(&self, call: Call<'_>, target: &str, mode: ResetMode) -> Result<Reset> {
        self.reset_from(call, Some(target), mode, None)
    }

    /// Does what [`Repo::reset`] does if the branch is where it is expected. Without a target it goes before the first commit,
    /// to start over from there.
    ///
    /// # Errors
    ///
    /// [`Error::RefMoved`] where it is elsewhere, [`Error::Refused`] without a target while HEAD is detached, and those of
    /// [`Repo::reset`].
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo, ResetMode};
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "one"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// repo.reset_from(Call::default(), None, ResetMode::Soft, None)?;
    /// assert_eq!(repo.head(&On::Head)?.commit(), None);
    /// repo.reset(Call::default(), "ORIG_HEAD", ResetMode::Soft)?;
    /// assert!(repo.head(&On::Head)?.commit().is_some());
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn reset_from(
        &self,
        call: Call<'_>,
        target: Option<&str>,
        mode: ResetMode,
        expect: Option<Expect>,
    ) -> Result<Reset> {
        retried(|| self.try_to_reset(call, target, mode, expect, false))
    }

    /// What [`Repo::reset_from`] would do; nothing is changed.
    ///
    /// # Errors
    ///
    /// As [`Repo::reset_from`].
    pub fn reset_forecast(
        &self,
        call: Call<'_>,
        target: Option<&str>,
        mode: ResetMode,
        expect: Option<Expect>,
    ) -> Result<Reset> {
        self.try_to_reset(call, target, mode, expect, true)
    }

    fn try_to_reset(
        &self,
        call: Call<'_>,
        target: Option<&str>,
        mode: ResetMode,
        expect: Option<Expect>,
        dry_run: bool,
    ) -> Result<Reset> {
        let tx = self.begin_on(call.on, &[])?;
        let to = match target {
            Some(target) => self.with_moments(target, |target| {
                revision::resolve_or_root(&*tx, call.on, target)
            })?,
            None => None,
        };
        let head = repository::head(&*tx, call.on)?;
        let (branch, from) = (head.branch().cloned(), head.commit());
        if let (Some(target), Some(branch)) = (target, &branch) {
            refuse_orig_head_of_other(&*tx, target, branch)?;
        }
        if let Some(expect) = expect {
            expect.hold(branch.as_ref().unwrap_or(&RefName::head()), from)?;
        }
        if to.is_none() && branch.is_none() {
            return Err(Error::Refused(Refusal::DetachedRoot));
        }
        let open = match &to {
            Some(to) => open_call(&*tx, to, from.as_ref())?,
            None => None,
        };
        let done = Reset {
            from,
            to,
            // An empty branch may be reset to a commit of another one: there is nothing to go back to.
            orphaned: match (&branch, from) {
                (Some(branch), Some(from)) => orphaned(&*tx, &from, to.as_ref(), branch)?,
                _ => 0,
            },
            open,
            branch,
        };
        if from == to || dry_run {
            return Ok(done);
        }
        tx.hold_read()?;
        tx.begin_moves(call.now, call.what)?;
        if let Some(from) = from {
            if mode == ResetMode::Soft {
                tx.set_reference(&RefName::orig_head(), Some(&RefValue::Commit(from)))?;
            }
            if repository::head(&*tx, &On::Head)?.commit() == Some(from) {
                tx.set_reference(&RefName::prev_head(), Some(&RefValue::Commit(from)))?;
            }
        }
        let moved = done.branch.clone().unwrap_or_else(RefName::head);
        tx.set_reference(&moved, to.map(RefValue::Commit).as_ref())?;
        tx.commit()?;
        Ok(done)
    }

    /// Moves HEAD: onto a branch, or off every branch to a commit. `PREV_HEAD` keeps what HEAD
    /// held; where HEAD is there already, no ref changes.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`]; [`Error::NoPreviousPosition`] for [`Target::Previous`] before any
    /// move; [`Error::RefExists`] for a new branch whose name is taken.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo, Target};
    /// use tract::model::{Draft, Head, Message, Millis, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "one"));
    /// let one = repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// repo.checkout(Call::default(), &Target::Named(one[0].hash.to_string()))?;
    /// assert_eq!(repo.head(&On::Head)?, Head::Detached(one[0].hash));
    /// let back = repo.checkout(Call::default(), &Target::Previous)?;
    /// assert!(matches!(back.to, Head::Attached { .. }));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn checkout(&self, call: Call<'_>, target: &Target) -> Result<Checkout> {
        let tx = self.store.write()?;
        let from = repository::head(&*tx, &On::Head)?;
        let held = match &from {
            Head::Attached { branch, .. } => RefValue::Symbolic(branch.clone()),
            Head::Detached(commit) => RefValue::Commit(*commit),
        };
        // A branch that HEAD is on may have no commit yet, and so be no ref.
        let is_on = |name: &str| {
            let unborn = from.branch().filter(|_| from.commit().is_none());
            unborn.is_some_and(|branch| [branch.short(), branch.as_str()].contains(&name))
        };
        let mut open = None;
        tx.begin_operation(call.now, call.what)?;
        let to = match target {
            Target::Previous => {
                let previous = tx.reference(&RefName::prev_head())?;
                previous.ok_or(Error::NoPreviousPosition)?
            }
            Target::Named(name) if is_on(name) => held.clone(),
            Target::Named(name) => match revision::branch(&*tx, name)? {
                Some(branch) => RefValue::Symbolic(branch),
                None => RefValue::Commit(
                    self.with_moments(name, |name| revision::resolve(&*tx, &On::Head, name))?,
                ),
            },
            Target::NewBranch(branch, start) => {
                let start = match start {
                    Some(start) => self.with_moments(start, |start| {
                        revision::resolve_or_root(&*tx, &On::Head, start)
                    })?,
                    None => from.commit(),
                };
                repository::refuse_name(&*tx, branch)?;
                if let Some(start) = start {
                    tx.set_reference(branch, Some(&RefValue::Commit(start)))?;
                    by_branch::forget(&*tx, branch)?;
                    open = open_call(&*tx, &start, from.commit().as_ref())?;
                }
                RefValue::Symbolic(branch.clone())
            }
        };
        if to == held {
            // A directory's HEAD that was there for want of another stays there from now on. Else the
            // operation is dropped.
            if repository::is_of_directory(&*tx) && tx.reference(&RefName::head())?.is_none() {
                tx.set_reference(&RefName::head(), Some(&to))?;
                tx.commit()?;
            }
            return Ok(Checkout {
                to: from.clone(),
                from,
                open,
            });
        }
        tx.set_reference(&RefName::prev_head(), Some(&held))?;
        tx.set_reference(&RefName::head(), Some(&to))?;
        let to = repository::head(&*tx, &On::Head)?;
        tx.commit()?;
        Ok(Checkout { from, to, open })
    }

    /// The short name of the branch that HEAD is on, or was on last.
    pub fn last_branch(&self) -> Result<String> {
        let view = self.store.read()?;
        match repository::head(&*view, &On::Head)?.branch() {
            Some(branch) => Ok(branch.short().to_owned()),
            None => repository::last_branch(&*view),
        }
    }
}

/// How many commits on the path to `from` neither `to` nor any branch (but `moved`, which goes
/// away from them), tag or session reaches.
fn orphaned(
    view: &dyn View,
    from: &CommitHash,
    to: Option<&CommitHash>,
    moved: &RefName,
) -> Result<u64> {
    let count = load::commit(view, from)?.depth + 1;
    let mut reached = match to {
        Some(to) => view.shared(from, to)?,
        None => 0,
    };
    for (name, commit) in load::tips(view, "refs/")? {
        if name == *moved || reached == count {
            continue;
        }
        // Most refs share nothing beyond what is shared already: one question tells.
        let next = view.ancestor_at(from, reached)?;
        if let Some(next) = next
            && view.is_ancestor(&next, &commit)?
        {
            reached = view.shared(from, &commit)?;
        }
    }
    Ok(count - reached)
}
/// How many of the moves of a ref are looked through.
const MOVES: usize = 64;

/// Refuses to take a branch to where another one was before it was reset: there is one `ORIG_HEAD` for all.
fn refuse_orig_head_of_other(view: &dyn View, target: &str, branch: &RefName) -> Result<()> {
    let name = RefName::orig_head();
    let is_meant = target.strip_prefix(name.as_str());
    if !is_meant.is_some_and(|rest| rest.is_empty() || rest.starts_with(['~', '^'])) {
        return Ok(());
    }
    let Some(kept) = view.reference(&name)? else {
        return Ok(());
    };
    let own = view.reflog(branch, MOVES)?;
    if own
        .iter()
        .any(|row| [&row.old, &row.new].contains(&&Some(kept.clone())))
    {
        return Ok(());
    }
    // An undo may have brought it back: whose it is, the move says that left it.
    for row in view.reflog(&name, MOVES)? {
        if row.new.as_ref() != Some(&kept) {
            continue;
        }
        let moves = view.moves(row.operation)?;
        let left = |row: &&ReflogRow| row.name.is_branch() && row.old.as_ref() == Some(&kept);
        let Some(left) = moves.iter().find(left) else {
            continue;
        };
        if left.name != *branch && view.reference(&left.name)?.is_some() {
            return Err(Error::Refused(Refusal::OrigHeadOfOther {
                moved: left.name.short().to_owned(),
                branch: branch.short().to_owned(),
            }));
        }
        return Ok(());
    }
    Ok(())
}
