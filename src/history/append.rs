//! Drafts become commits at the end of a branch; checkpoints and counts on the way.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::history::call::{Call, On};
use crate::history::repo::{self, Repo};
use crate::history::{counts, load};
use crate::model::tokens::Counter;
use crate::model::{Commit, Draft, Head, Message, Millis, Operation, RefName, RefValue, Sealed};
use crate::store::{CountKey, Tx, View};

/// Commits since the last checkpoint before another is worth writing, at least.
const CHECKPOINT_COMMITS: u64 = 256;

/// Where the caller expects the branch to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// It has no commit yet.
    Nothing,
    /// At this commit.
    At(CommitHash),
}

/// How to commit.
#[derive(Default)]
pub struct CommitOptions<'a> {
    /// Refuse if the branch is elsewhere.
    pub expect: Option<Expect>,
    /// Counts tokens, if its vocabulary is loaded anyway.
    pub counter: Option<&'a Counter>,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its hash.
    pub hash: CommitHash,
    /// The commit.
    pub commit: Commit,
    /// The branch that it is on.
    pub branch: RefName,
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
    /// use tract::history::{Call, CommitOptions, Expect, On, Repo};
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
        let (commits, ()) = self.make(call, drafts, options, |_| Ok(()))?;
        Ok(commits)
    }

    /// Makes the commits of `drafts` and whatever `then` adds to them, in one transaction.
    pub(super) fn make<T>(
        &self,
        call: Call<'_>,
        drafts: &[Draft],
        options: &CommitOptions<'_>,
        then: impl FnOnce(&mut Making<'_>) -> Result<T>,
    ) -> Result<(Vec<Committed>, T)> {
        let tx = self.store.write()?;
        let (branch, tip) = match repo::head(&*tx, call.on)? {
            Head::Attached { branch, tip } => (branch, tip),
            Head::Detached(_) => {
                let branch = repo::last_branch(&*tx)?;
                return Err(Error::DetachedHead { branch });
            }
        };
        if let Some(expect) = options.expect {
            let expected = match expect {
                Expect::Nothing => None,
                Expect::At(commit) => Some(commit),
            };
            if expected != tip {
                let word = |tip: Option<CommitHash>| tip.map_or("none".into(), |t| t.short());
                return Err(Error::RefMoved {
                    name: branch.short().to_owned(),
                    expected: word(expected),
                    found: word(tip),
                });
            }
        }
        tx.begin_operation(call.now, call.what)?;
        let mut making = Making {
            tx: &*tx,
            chain: Chain::at(tip),
            branch: &branch,
            now: call.now,
            counter: options.counter,
            done: Vec::with_capacity(drafts.len()),
        };
        for draft in drafts {
            making.push(draft)?;
        }
        let told = then(&mut making)?;
        let done = making.done;
        if let Some(last) = done.last() {
            tx.set_reference(&branch, Some(&RefValue::Commit(last.hash)))?;
        }
        tx.commit()?;
        Ok((done, told))
    }

    /// Refuses to commit where HEAD is on no branch.
    ///
    /// # Errors
    ///
    /// [`Error::DetachedHead`], which names the branch that HEAD was last on.
    pub(crate) fn refuse_detached(&self, on: &On) -> Result<()> {
        let view = self.store.read()?;
        match repo::head(&*view, on)? {
            Head::Attached { .. } => Ok(()),
            Head::Detached(_) => Err(Error::DetachedHead {
                branch: repo::last_branch(&*view)?,
            }),
        }
    }

    /// The tokens of contents that have been counted already; nothing is counted for this.
    pub fn known_counts(
        &self,
        contents: &[crate::hash::ContentHash],
        encoding: crate::model::Encoding,
    ) -> Result<Vec<Option<crate::model::TokenCount>>> {
        let key = |content: &crate::hash::ContentHash| CountKey {
            content: *content,
            mask: None,
        };
        let keys: Vec<CountKey> = contents.iter().map(key).collect();
        self.store.read()?.counts(&keys, encoding)
    }

    /// The tokens of one context, by entry, filling what is missing.
    pub fn counts(
        &self,
        context: &Context,
        encoding: crate::model::Encoding,
    ) -> Result<Vec<crate::model::TokenCount>> {
        counts::of_context(&*self.store, context, encoding)
    }
}

/// Commits on their way into one transaction.
pub(super) struct Making<'a> {
    pub(super) tx: &'a dyn Tx,
    pub(super) chain: Chain,
    branch: &'a RefName,
    now: Millis,
    pub(super) counter: Option<&'a Counter>,
    /// Those that are made.
    pub(super) done: Vec<Committed>,
}

impl Making<'_> {
    /// Makes one more.
    pub(super) fn push(&mut self, draft: &Draft) -> Result<()> {
        let commit = self.chain.push(self.tx, draft, Some(self.now))?;
        if let Some(counter) = self.counter {
            for message in &draft.messages {
                let key = CountKey {
                    content: message.hash(),
                    mask: None,
                };
                let count = counter.message(message);
                self.tx.put_count(key, counter.encoding(), count)?;
            }
        }
        self.done.push(Committed {
            hash: commit.hash(),
            commit: commit.into_inner(),
            branch: self.branch.clone(),
        });
        Ok(())
    }
}

/// The end of a path while commits are added to it.
pub(crate) struct Chain {
    tip: Option<CommitHash>,
    /// The context at the tip, once something needed it.
    context: Option<Context>,
    /// Commits since a checkpoint, once known.
    since: Option<u64>,
}

impl Chain {
    /// At `tip`; nothing is read yet.
    pub(crate) fn at(tip: Option<CommitHash>) -> Self {
        let empty = tip.is_none();
        Self {
            tip,
            context: empty.then(Context::default),
            since: empty.then_some(0),
        }
    }

    /// The last commit.
    pub(crate) fn tip(&self) -> Option<CommitHash> {
        self.tip
    }

    /// The context at the tip.
    pub(crate) fn context(&mut self, view: &dyn View) -> Result<&Context> {
        if self.context.is_none() {
            let tip = self
                .tip
                .expect("an empty chain has its context from the start");
            self.context = Some(load::context(view, &tip)?);
        }
        Ok(self.context.as_ref().expect("filled above"))
    }

    /// Moves on to a commit that is stored already.
    pub(crate) fn follow(
        &mut self,
        view: &dyn View,
        hash: CommitHash,
        commit: &Commit,
    ) -> Result<()> {
        if let Some(context) = self.context.take() {
            self.context = match context.step(hash, commit) {
                Some(next) => Some(next),
                None => Some(load::context(view, &hash)?),
            };
        }
        self.since = self.since.map(|since| since + 1);
        self.tip = Some(hash);
        Ok(())
    }

    /// The commit that `draft` would be here.
    pub(crate) fn commit_of(&self, draft: &Draft, time: Option<Millis>) -> Sealed<Commit> {
        Sealed::new(Commit {
            parent: self.tip,
            operation: draft.operation.clone(),
            time,
            settings: draft.settings.clone(),
            note: draft.note.clone(),
        })
    }

    /// Adds the commit of a draft.
    pub(crate) fn push(
        &mut self,
        tx: &dyn Tx,
        draft: &Draft,
        time: Option<Millis>,
    ) -> Result<Sealed<Commit>> {
        let commit = self.commit_of(draft, time);
        self.add(tx, &draft.messages, &commit)?;
        Ok(commit)
    }

    /// Adds a commit with the messages that it names. An append reads nothing of what stands before
    /// it; every other operation is folded first, and so refused if it names what is not on this
    /// path.
    pub(crate) fn add(
        &mut self,
        tx: &dyn Tx,
        messages: &[Sealed<Message>],
        commit: &Sealed<Commit>,
    ) -> Result<()> {
        for message in messages {
            tx.put_content(message)?;
        }
        let hash = commit.hash();
        let mut from_root = false;
        let append = matches!(commit.operation, Operation::Append { .. });
        if !append || self.context.is_some() {
            let tip = self.tip;
            match self.context(tx)?.step(hash, commit) {
                Some(next) => self.context = Some(next),
                None => {
                    let mut order = match tip {
                        Some(tip) => load::order(tx, &tip)?,
                        None => crate::context::Order::default(),
                    };
                    order.apply(hash, commit)?;
                    self.context = Some(order.context());
                    from_root = true;
                }
            }
        }
        tx.put_commit(commit)?;
        self.tip = Some(hash);
        let since = match self.since {
            Some(since) => since + 1,
            None => tx.commits_since_checkpoint(&hash)?,
        };
        self.since = Some(since);
        // Looked at now and then only: whether a checkpoint is due depends on how much is visible,
        // and to know that costs reading what is visible.
        let due = from_root
            || (since % CHECKPOINT_COMMITS == 0 && {
                let visible = self.context(tx)?.entries.len() as u64;
                since >= visible.max(CHECKPOINT_COMMITS)
            });
        if due {
            let context = self.context(tx)?;
            tx.put_checkpoint(&hash, context)?;
            self.since = Some(0);
        }
        Ok(())
    }
}
