//! What the other path did, done here: one commit after the other, each planned from what the ones before it would make.

use crate::context::plan::carry::{Carryover, Clash, Whose};
use crate::error::{Refusal, Result};
use crate::hash::CommitHash;
use crate::model::{Author, Draft, Millis};
use crate::repo::chain::Chain;
use crate::repo::load;
use crate::rewrite::carry::Carrier;
use crate::rewrite::merge::other::Other;
use crate::store::{CommitRow, View};

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

/// The other path's commits, on their way.
pub(super) struct Replay<'a> {
    view: &'a dyn View,
    chain: Chain<'a>,
    carrier: Carrier<'a>,
    other: &'a Other,
    now: Millis,
    settle: &'a dyn Fn(&Clash) -> Option<Whose>,
    pub(super) done: Replayed,
}

impl<'a> Replay<'a> {
    /// Behind `tip`.
    pub(super) fn new(
        view: &'a dyn View,
        tip: CommitHash,
        other: &'a Other,
        now: Millis,
        settle: &'a dyn Fn(&Clash) -> Option<Whose>,
        signature: Option<&Author>,
    ) -> Result<Self> {
        let here = load::order(view, &tip)?;
        let counterparts = other.counterparts.clone();
        Ok(Self {
            view,
            chain: Chain::ended(Some(tip)).signed_by(signature),
            carrier: Carrier::of(view, other.before.clone(), here, counterparts),
            other,
            now,
            settle,
            done: Replayed::default(),
        })
    }

    /// All that is not here yet; messages only if these are wanted.
    pub(super) fn all(&mut self, with_messages: bool) -> Result<()> {
        for (row, is_here) in &self.other.rows {
            if !is_here {
                self.one(row, with_messages)?;
            }
            self.carrier.pass(row.hash, &row.commit)?;
        }
        Ok(())
    }

    fn one(&mut self, row: &CommitRow, with_messages: bool) -> Result<()> {
        if row.appended().is_some() {
            if self.other.incomplete.contains(&row.hash) {
                self.done.incomplete += usize::from(with_messages);
            } else if with_messages {
                self.push(Draft {
                    note: row.commit.note.clone(),
                    author: row.commit.author.clone(),
                    origin: Some(row.hash),
                    ..Draft::new(row.commit.operation.clone(), Vec::new())
                })?;
            }
            return Ok(());
        }
        match self.carrier.carry(&row.hash, &row.commit, self.settle)? {
            Carryover::Fits(fit) => {
                self.done.changes += 1;
                for draft in fit.drafts {
                    self.push(draft)?;
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

    /// One more commit, a copy of one of the other path.
    fn push(&mut self, draft: Draft) -> Result<()> {
        let commit = self.chain.commit_of(&draft, Some(self.now));
        self.chain.follow(self.view, commit.hash(), &commit)?;
        self.carrier.make(commit.hash(), &commit)?;
        self.done.drafts.push(draft);
        Ok(())
    }
}
