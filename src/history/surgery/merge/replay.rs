//! What the other path did, done here: one commit after the other, in a transaction that is never committed, so that
//! each is planned from what the ones before it have made.

use crate::context::Order;
use crate::context::plan::carry::{Carry, Carryover, Clash, Counterparts, Whose};
use crate::error::{Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::history::chain::Chain;
use crate::history::load;
use crate::history::surgery::merge::other::Other;
use crate::history::surgery::{self, Needs};
use crate::model::{Draft, Millis};
use crate::store::{CommitRow, Tx};

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    /// The commits to make.
    pub(super) drafts: Vec<Draft>,
    /// How many commits change what both paths have.
    pub(super) changes: usize,
    /// What both paths changed differently, and nobody has settled.
    pub(super) clashes: Vec<Clash>,
    /// What cannot be done here.
    pub(super) left_out: Vec<(CommitHash, Refusal)>,
    /// Messages that cannot come.
    pub(super) incomplete: usize,
    /// The other path's own visible messages.
    pub(super) said: usize,
}

pub(super) struct Replay<'a> {
    tx: &'a dyn Tx,
    chain: Chain<'a>,
    here: Order,
    there: Order,
    counterparts: Counterparts,
    rows: &'a [(CommitRow, bool)],
    other: &'a Other,
    now: Millis,
    settle: &'a dyn Fn(&Clash) -> Option<Whose>,
    pub(super) done: Replayed,
}

impl<'a> Replay<'a> {
    /// Behind `tip`.
    pub(super) fn new(
        tx: &'a dyn Tx,
        tip: CommitHash,
        other: &'a Other,
        now: Millis,
        settle: &'a dyn Fn(&Clash) -> Option<Whose>,
    ) -> Result<Self> {
        Ok(Self {
            tx,
            chain: Chain::at(Some(tip)),
            here: load::order(tx, &tip)?,
            there: other.before.clone(),
            counterparts: other.counterparts.clone(),
            rows: &other.rows,
            other,
            now,
            settle,
            done: Replayed::default(),
        })
    }

    /// All that is not here yet; messages only if these are wanted.
    pub(super) fn all(&mut self, with_messages: bool) -> Result<()> {
        for (row, is_here) in self.rows {
            if !is_here {
                self.one(row, with_messages)?;
            }
            self.there.apply(row.hash, &row.commit)?;
        }
        Ok(())
    }

    fn one(&mut self, row: &CommitRow, with_messages: bool) -> Result<()> {
        if row.appended().is_some() {
            if self.other.incomplete.contains(&row.hash) {
                self.done.incomplete += usize::from(with_messages);
            } else if with_messages {
                let draft = Draft::new(row.commit.operation.clone(), Vec::new());
                let made = self.push(row, draft)?;
                self.counterparts.insert(row.hash, made);
            }
            return Ok(());
        }
        let tip = self.chain.tip().ok_or_else(|| Error::EmptyBranch {
            branch: String::new(),
        })?;
        let needs = Needs {
            hidden_links: true,
            plain_parts: true,
            ..Needs::default()
        };
        let input = surgery::input(self.tx, &tip, &[], &needs)?;
        let carry = Carry {
            there: &self.there,
            here: &self.here,
            input: &input,
            counterparts: &self.counterparts,
        };
        match carry.operation(&row.hash, &row.commit.operation, self.settle)? {
            Carryover::Fits(fit) => {
                self.done.changes += 1;
                for draft in fit.drafts {
                    let made = self.push(row, draft)?;
                    self.counterparts.insert(row.hash, made);
                }
            }
            Carryover::Already => {}
            // It is about the other path's own messages alone.
            Carryover::Misfit(Refusal::NotHere { .. }) => {}
            Carryover::Misfit(why) => self.done.left_out.push((row.hash, why)),
            Carryover::Conflict(clashes) => {
                for clash in clashes {
                    let mut known = self.done.clashes.iter();
                    if !known.any(|it| it.here == clash.here) {
                        self.done.clashes.push(clash);
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes one more commit, a copy of one of the other path.
    fn push(&mut self, row: &CommitRow, draft: Draft) -> Result<CommitHash> {
        let draft = Draft {
            note: row.commit.note.clone(),
            author: row.commit.author.clone(),
            origin: Some(row.hash),
            ..draft
        };
        let (commit, _) = self.chain.push(self.tx, &draft, Some(self.now))?;
        self.here.apply(commit.hash(), &commit)?;
        self.done.drafts.push(draft);
        Ok(commit.hash())
    }
}
