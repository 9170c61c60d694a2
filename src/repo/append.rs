//! Drafts become commits at the end of a branch, and counts are kept on the way.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::tokens::Counter;
use crate::model::{
    Author, Draft, Head, Message, Operation, Part, RefName, RefValue, Sealed, UsageRecord,
};
use crate::repo::ancestry::leads_to;
use crate::repo::batch::preparing;
use crate::repo::branch_moves::{self, BranchMove};
use crate::repo::call::{Call, On};
use crate::repo::chain::Chain;
use crate::repo::commit_rows::{Committed, Making};
use crate::repo::expect::{Expect, retried};
use crate::repo::repository::{self, Repo};
use crate::store::{Tx, View};

/// Whose the blocks are that name commits.
const OWN: &str = "tract";

/// How to commit.
#[derive(Default)]
pub struct CommitOptions<'a> {
    /// Refuse if the branch is elsewhere.
    pub expect: Option<Expect>,
    /// Counts the tokens of each message; without one, who asks for them first does.
    pub counter: Option<Counter>,
    /// What the provider counted for each of the messages; those behind the last of these are no replies.
    pub usages: &'a [Option<UsageRecord>],
    /// Other branches that move in the same operation.
    pub moves: &'a [BranchMove],
    /// The type of a block that the last message gets behind its own: it names the commits that `moves` make. None: it gets
    /// none.
    pub made_block: Option<&'a str>,
}

impl Repo {
    /// Appends commits to the branch that the call is on, all or none.
    ///
    /// # Errors
    ///
    /// [`Error::DetachedHead`] off every branch, [`Error::RefMoved`] when `expect` is lost,
    /// [`Error::NotOnPath`] and [`Error::NotRestorable`] by the rules of the fold,
    /// [`Error::Busy`]. Nothing remains of a call that fails.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, Expect, On, Repo};
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = || Draft::append(Message::text(Role::User, "hello"));
    /// let options = CommitOptions {
    ///     expect: Some(Expect::Nothing),
    ///     ..CommitOptions::default()
    /// };
    /// repo.commit(Call::default(), &[draft()], &options)?;
    /// assert!(repo.commit(Call::default(), &[draft()], &options).is_err());
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn commit(
        &self,
        call: Call<'_>,
        drafts: &[Draft],
        options: &CommitOptions<'_>,
    ) -> Result<Vec<Committed>> {
        Ok(self.commit_moving(call, drafts, options)?.0)
    }

    /// The same, and the commits that `options.moves` make, in their order.
    ///
    /// # Errors
    ///
    /// As [`Repo::commit`].
    pub fn commit_moving(
        &self,
        call: Call<'_>,
        drafts: &[Draft],
        options: &CommitOptions<'_>,
    ) -> Result<(Vec<Committed>, Vec<Committed>)> {
        self.make(call, drafts, options, Chain::at, |making| {
            Ok(std::mem::take(&mut making.moved))
        })
    }

    /// Makes the commits of `drafts` and whatever `then` adds to them, in one transaction.
    /// `chain` is what is known of the path to the branch's tip. Both are asked once more where others have put the same at
    /// the same moment.
    pub(crate) fn make<'a, T>(
        &self,
        call: Call<'_>,
        drafts: &[Draft],
        options: &CommitOptions<'_>,
        chain: impl Fn(Option<CommitHash>) -> Chain<'a>,
        then: impl Fn(&mut Making<'_>) -> Result<T>,
    ) -> Result<(Vec<Committed>, T)> {
        retried(|| self.try_to_make(call, drafts, options, &chain, &then))
    }

    fn try_to_make<'a, T>(
        &self,
        call: Call<'_>,
        drafts: &[Draft],
        options: &CommitOptions<'_>,
        chain: &impl Fn(Option<CommitHash>) -> Chain<'a>,
        then: &impl Fn(&mut Making<'_>) -> Result<T>,
    ) -> Result<(Vec<Committed>, T)> {
        let prepare = preparing(&*self.store, drafts)?;
        let tx = match options.moves {
            [] => self.begin_on(call.on, drafts)?,
            _ => self.store.write()?,
        };
        let (branch, tip) = attached(&*tx, call.on)?;
        if tip.is_none() {
            // The first commit makes the branch.
            branch.refuse_hash()?;
        }
        if let Some(expect) = options.expect {
            expect.hold(&branch, tip)?;
        }
        let by = doer(&*tx, drafts);
        tx.begin_moves_by(call.now, call.what, by.as_ref())?;
        let along = branch_moves::make(self, &*tx, call, options.moves, options.counter)?;
        let ends: Vec<Option<CommitHash>> = along.iter().map(|of| Some(of.last()?.hash)).collect();
        let moved: Vec<Committed> = along.into_iter().flatten().collect();
        let drafts = &*match options.made_block {
            Some(kind) => Cow::Owned(naming(drafts, kind, &moved)),
            None => Cow::Borrowed(drafts),
        };
        let mut making = Making {
            tx: &*tx,
            chain: chain(tip).signed_by(self.signature()),
            branch: &branch,
            now: call.now,
            counter: options.counter,
            done: Vec::with_capacity(drafts.len()),
            moved,
        };
        if drafts.len() > 1 {
            let messages = drafts.iter().flat_map(|draft| &draft.messages);
            tx.foresee(&mut || messages.clone().map(Sealed::hash).collect())?;
        }
        making.push_all(drafts, options.usages, prepare.as_deref())?;
        let told = then(&mut making)?;
        let done = making.done;
        // What makes no commit is no operation.
        if let Some(last) = done.last() {
            begin(&*tx, call.on, &branch, tip)?;
            tx.set_reference(&branch, Some(&RefValue::Commit(last.hash)))?;
            branch_moves::carry(self, &*tx, call.on, options.moves, &ends)?;
            tx.commit()?;
        }
        Ok((done, told))
    }

    /// A transaction on the branch that a call is on, which puts the messages of these at most.
    pub(crate) fn begin_on(&self, on: &On, drafts: &[Draft]) -> Result<Box<dyn Tx + '_>> {
        let named = match on {
            On::Branch(branch) => Some(branch),
            On::Head => None,
        };
        self.store.begin_on(named, &mut || contents_of(drafts))
    }

    /// Makes commits behind `after`, as a first one where that is none. No branch moves, so nobody sees them who does not
    /// know their hashes, and a collection may take them out: see [`Repo::advance`].
    ///
    /// # Errors
    ///
    /// As [`Repo::commit`].
    pub fn commit_after(
        &self,
        call: Call<'_>,
        after: Option<CommitHash>,
        drafts: &[Draft],
        options: &CommitOptions<'_>,
    ) -> Result<Vec<Committed>> {
        retried(|| self.try_to_commit_after(call, after, drafts, options))
    }

    fn try_to_commit_after(
        &self,
        call: Call<'_>,
        after: Option<CommitHash>,
        drafts: &[Draft],
        options: &CommitOptions<'_>,
    ) -> Result<Vec<Committed>> {
        let prepare = preparing(&*self.store, drafts)?;
        let named = match call.on {
            On::Branch(branch) => Some(branch),
            On::Head => None,
        };
        // Whoever moves a branch to them has them on the disk with that.
        let tx = self.store.begin_loose(named, &mut || contents_of(drafts))?;
        let (branch, _) = attached(&*tx, call.on)?;
        let mut making = self.making_behind(&*tx, call, &branch, after, options.counter);
        making.push_all(drafts, options.usages, prepare.as_deref())?;
        let done = making.done;
        tx.commit()?;
        Ok(done)
    }

    /// Moves the branch that the call is on to a commit behind the one where it is expected, as one operation.
    ///
    /// # Errors
    ///
    /// [`Error::RefMoved`] where it is elsewhere, [`Error::NotForward`] where `to` does not stand behind it,
    /// [`Error::DetachedHead`].
    pub fn advance(&self, call: Call<'_>, to: CommitHash, expect: Expect) -> Result<RefName> {
        retried(|| self.try_to_advance(call, to, expect))
    }

    fn try_to_advance(&self, call: Call<'_>, to: CommitHash, expect: Expect) -> Result<RefName> {
        let tx = self.begin_on(call.on, &[])?;
        let (branch, tip) = attached(&*tx, call.on)?;
        expect.hold(&branch, tip)?;
        match tip {
            None => branch.refuse_hash()?,
            Some(tip) if leads_to(&*tx, &tip, &to)? => {}
            Some(_) => {
                return Err(Error::NotForward {
                    name: branch.short().to_owned(),
                });
            }
        }
        tx.begin_moves(call.now, call.what)?;
        begin(&*tx, call.on, &branch, tip)?;
        tx.set_reference(&branch, Some(&RefValue::Commit(to)))?;
        tx.commit()?;
        Ok(branch)
    }

    /// Where a caller takes the branch to be, as a text says it: at a revision, or at `none`, without a commit.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`].
    pub fn expected(&self, on: &On, rev: &str) -> Result<Expect> {
        match rev {
            "none" => Ok(Expect::Nothing),
            rev => self.resolve(on, rev).map(Expect::At),
        }
    }

    /// Refuses to commit where HEAD is on no branch.
    ///
    /// # Errors
    ///
    /// [`Error::DetachedHead`], which names the branch that HEAD was last on.
    pub(crate) fn refuse_detached(&self, on: &On) -> Result<()> {
        attached(&*self.store.read()?, on).map(|_| ())
    }
}

/// The branch that `on` is, with its tip.
fn attached(view: &dyn View, on: &On) -> Result<(RefName, Option<CommitHash>)> {
    match repository::head(view, on)? {
        Head::Attached { branch, tip } => Ok((branch, tip)),
        Head::Detached(_) => Err(Error::DetachedHead {
            branch: repository::last_branch(view)?,
        }),
    }
}

/// Who does it: whoever is at work, by the program and the run that the first of these commits names.
fn doer(tx: &dyn Tx, drafts: &[Draft]) -> Option<Author> {
    let mut by = tx.worker().cloned().unwrap_or_default();
    if let Some(said) = drafts.first().and_then(|draft| draft.author.as_ref()) {
        by.client = said.client.clone().or(by.client);
        by.run = said.run.clone().or(by.run);
    }
    by.known()
}

/// Before the first commit of a branch: a directory's HEAD, which was on it for its name alone, stays there.
fn begin(tx: &dyn Tx, on: &On, branch: &RefName, tip: Option<CommitHash>) -> Result<()> {
    if tip.is_some() || *on != On::Head || !repository::is_of_directory(tx) {
        return Ok(());
    }
    tx.set_reference(&RefName::head(), Some(&RefValue::Symbolic(branch.clone())))
}

/// These drafts; the last message has a block of this type behind its own, which names commits.
fn naming(drafts: &[Draft], kind: &str, commits: &[Committed]) -> Vec<Draft> {
    let mut drafts = drafts.to_vec();
    let last = drafts.iter_mut().rev().find(|draft| {
        matches!(draft.operation, Operation::Append { .. }) && !draft.messages.is_empty()
    });
    if let (Some(draft), false) = (last, commits.is_empty()) {
        let names: Vec<String> = commits.iter().map(|made| made.hash.to_string()).collect();
        let block = serde_json::json!({ "type": kind, "commits": names });
        let mut message = Message::clone(&draft.messages[0]);
        message.parts.push(Part::opaque(OWN, block.to_string()));
        *draft = Draft {
            author: draft.author.clone(),
            settings: draft.settings.clone(),
            note: draft.note.clone(),
            ..Draft::append(message)
        };
    }
    drafts
}

/// The contents that drafts put at most.
fn contents_of(drafts: &[Draft]) -> Vec<ContentHash> {
    let messages = drafts.iter().flat_map(|draft| &draft.messages);
    messages.map(Sealed::hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Message, Role};

    /// Each page that a commit changes is written and waited for: of a short message, one of each table
    /// and index that has a row for it, and now and then one that is full and becomes two.
    #[test]
    fn one_message_is_written_in_few_pages() {
        let folder = tempfile::tempdir().expect("a folder");
        let say = |repo: &Repo, at: usize| {
            let draft = Draft::append(Message::text(Role::User, format!("{at} as above")));
            let done = repo.commit(Call::default(), &[draft], &CommitOptions::default());
            done.expect("commits");
        };
        let (repo, _) = Repo::init(folder.path()).expect("a repository");
        let talk: Vec<Draft> = (0..5_000)
            .map(|at| Draft::append(Message::text(Role::User, format!("{at} and so on"))))
            .collect();
        let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
        done.expect("commits");
        // What was written in bulk is in the file by then, and the journal is empty.
        drop(repo);
        let repo = Repo::open(folder.path()).expect("opens");
        let pages = || {
            let journal = folder.path().join(".tract/tract.db-wal");
            let bytes = std::fs::metadata(journal).map_or(0, |journal| journal.len());
            bytes / (4096 + 24)
        };
        assert_eq!(pages(), 0);
        let mut written = Vec::new();
        // Fewer than what folds the journal in.
        for at in 5_000..5_009 {
            let before = pages();
            say(&repo, at);
            written.push(pages() - before);
        }
        written.sort_unstable();
        assert!(written[0] > 0 && written[4] <= 14, "{written:?}");
        assert!(written[8] <= 20, "{written:?}");
    }
}
