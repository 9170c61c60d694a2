//! Commits on their way into a transaction, with what is kept of them beside.
//!
//! Deliberately absent: which branch moves to them.

use std::borrow::Cow;

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::tokens::Counter;
use crate::model::{Commit, Draft, Encoding, Millis, Operation, RefName, TokenCount, UsageRecord};
use crate::repo::batch::{Readied, each_readied};
use crate::repo::call::Call;
use crate::repo::chain::Chain;
use crate::repo::counts;
use crate::repo::pictures;
use crate::repo::repository::Repo;
use crate::repo::totals::Running;
use crate::store::{Prepare, Tx};

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its hash.
    pub hash: CommitHash,
    /// The commit.
    pub commit: Commit,
    /// The branch that it is on.
    pub branch: RefName,
    /// What its messages count, where that was asked for.
    pub tokens: Option<TokenCount>,
}

impl Repo {
    /// What makes commits of a branch behind a commit, wherever the branch is.
    pub(crate) fn making_behind<'a>(
        &self,
        tx: &'a dyn Tx,
        call: Call<'_>,
        branch: &'a RefName,
        after: Option<CommitHash>,
        counter: Option<Counter>,
    ) -> Making<'a> {
        Making {
            tx,
            chain: Chain::at(after).signed_by(self.signature()),
            branch,
            now: call.now,
            counter,
            done: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// Makes commits of a branch behind a commit, within a transaction.
    pub(crate) fn make_behind(
        &self,
        tx: &dyn Tx,
        call: Call<'_>,
        (branch, after): (&RefName, Option<CommitHash>),
        (drafts, usages): (&[Draft], &[Option<UsageRecord>]),
        counter: Option<Counter>,
    ) -> Result<Vec<Committed>> {
        let mut making = self.making_behind(tx, call, branch, after, counter);
        making.push_all(drafts, usages, None)?;
        Ok(making.done)
    }
}

/// Commits on their way into one transaction.
pub(crate) struct Making<'a> {
    pub(crate) tx: &'a dyn Tx,
    pub(crate) chain: Chain<'a>,
    pub(crate) branch: &'a RefName,
    pub(crate) now: Millis,
    pub(crate) counter: Option<Counter>,
    /// Those that are made.
    pub(crate) done: Vec<Committed>,
    /// Those that were made of other branches, which move along.
    pub(crate) moved: Vec<Committed>,
}

impl Making<'_> {
    /// Makes these, with what the provider counted for them. Of many the totals are kept as well.
    pub(crate) fn push_all(
        &mut self,
        drafts: &[Draft],
        usages: &[Option<UsageRecord>],
        prepare: Option<&Prepare>,
    ) -> Result<()> {
        let (behind, counter, first) = (self.chain.tip(), self.counter, self.done.len());
        let mut push = |at: usize, readied: Readied| -> Result<()> {
            self.push_readied(&drafts[at], readied)?;
            let record = usages.get(at).and_then(Option::as_ref);
            if let (Some(record), Some(made)) = (record, self.done.last()) {
                self.tx.put_usage_record(&made.hash, record)?;
            }
            Ok(())
        };
        match prepare {
            Some(prepare) => each_readied(drafts, counter, prepare, &mut push)?,
            None => (0..drafts.len()).try_for_each(|at| push(at, Readied::default()))?,
        }
        if let Some(counter) = counter {
            if drafts.len() > 1 {
                self.keep_totals(behind, counter.encoding())?;
            }
            self.count_pictures(first, drafts, counter.encoding())?;
        }
        Ok(())
    }

    /// Counts what is estimated by the rule of the model in force, as whoever looks at it next does.
    fn count_pictures(&mut self, first: usize, drafts: &[Draft], encoding: Encoding) -> Result<()> {
        for (made, draft) in self.done[first..].iter_mut().zip(drafts) {
            let is_estimated = made.tokens.is_some_and(|count| count.estimated);
            let by_rule = pictures::other(self.tx, &made.hash, encoding, is_estimated)?;
            if let Some(counter) = by_rule.map(Counter::of) {
                let counts = draft.messages.iter();
                let counts = counts.map(|message| counter.message(message));
                made.tokens = Some(counts.sum());
            }
        }
        Ok(())
    }

    fn keep_totals(&self, behind: Option<CommitHash>, encoding: Encoding) -> Result<()> {
        let mut running = Running::behind(self.tx, behind, encoding)?;
        for made in &self.done {
            match made.tokens {
                Some(count) if matches!(made.commit.operation, Operation::Append { .. }) => {
                    running.append(self.tx, made.hash, count)?;
                }
                _ => {
                    running.keep(self.tx)?;
                    running = Running::behind(self.tx, Some(made.hash), encoding)?;
                }
            }
        }
        running.keep(self.tx)
    }

    /// Makes one more.
    pub(crate) fn push(&mut self, draft: &Draft) -> Result<()> {
        self.push_readied(draft, Readied::default())
    }

    fn push_readied(&mut self, draft: &Draft, readied: Readied) -> Result<()> {
        let Readied { prepared, counts } = readied;
        let (tx, now) = (self.tx, Some(self.now));
        let (commit, draft) = self.chain.push_prepared(tx, draft, prepared, now)?;
        // What was counted is not what a message is called that was erased once.
        let is_as_counted = matches!(draft, Cow::Borrowed(_));
        let mut counts = counts.into_iter().filter(|_| is_as_counted);
        let mut tokens = None;
        if let Some(counter) = self.counter {
            for message in &draft.messages {
                let key = counts::key_of(message.hash());
                let count = counts.next();
                let count = count.unwrap_or_else(|| counter.message(message));
                self.tx.put_count(key, counter.encoding(), count)?;
                tokens = Some(tokens.unwrap_or_default() + count);
            }
        }
        self.done.push(Committed {
            tokens,
            hash: commit.hash(),
            commit: commit.into_inner(),
            branch: self.branch.clone(),
        });
        Ok(())
    }
}
