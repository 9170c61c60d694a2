//! The tokens along a path: summed up once at its beginning, then only added to and taken from.

use crate::context::Context;
use crate::error::Result;
use crate::history::change::Change;
use crate::history::counts::Counts;
use crate::history::load;
use crate::model::tokens::context_total;
use crate::model::{Operation, TokenCount};
use crate::store::{CommitRow, View};

/// From how many commits on it is quicker to begin at a checkpoint than to go on.
const LEAP: u64 = 256;

/// The context on the way along a path, forward.
#[derive(Default)]
pub(crate) struct Along {
    /// How many commits lie behind.
    depth: u64,
    pub(crate) context: Context,
}

impl Along {
    /// Goes on, or leaps, to where the next commit is `row`.
    pub(crate) fn advance_to(&mut self, view: &dyn View, row: &CommitRow) -> Result<()> {
        let Some(parent) = row.commit.parent.filter(|_| self.depth < row.depth) else {
            return Ok(());
        };
        if row.depth - self.depth > LEAP || self.depth == 0 {
            self.context = load::context(view, &parent)?;
        } else {
            let steps = (row.depth - self.depth) as usize;
            for row in view.ancestors(&parent, None, steps)?.iter().rev() {
                self.take(view, row)?;
            }
        }
        self.depth = row.depth;
        Ok(())
    }

    /// Takes the next commit in and says what it changed.
    pub(crate) fn step(&mut self, view: &dyn View, row: &CommitRow) -> Result<Change> {
        let before = self.context.clone();
        self.take(view, row)?;
        Ok(match &row.commit.operation {
            Operation::Append { .. } => Change::appended(&self.context),
            _ => Change::between(&before, &self.context),
        })
    }

    fn take(&mut self, view: &dyn View, row: &CommitRow) -> Result<()> {
        self.context = load::next(view, &self.context, row.hash, &row.commit)?;
        self.depth = row.depth + 1;
        Ok(())
    }
}

/// A sum that entries can be taken from again.
#[derive(Default)]
pub(crate) struct RunningTotal {
    tokens: u64,
    messages: u64,
    estimates: u64,
}

impl RunningTotal {
    pub(crate) fn add(&mut self, count: TokenCount) {
        self.tokens += count.tokens;
        self.messages += 1;
        self.estimates += u64::from(count.estimated);
    }

    fn remove(&mut self, count: TokenCount) {
        self.tokens -= count.tokens;
        self.messages -= 1;
        self.estimates -= u64::from(count.estimated);
    }

    /// Follows a change.
    pub(crate) fn apply(&mut self, change: &Change, counts: &Counts) {
        for (_, entry) in &change.gained {
            self.add(counts.get(entry));
        }
        for (_, entry) in &change.lost {
            self.remove(counts.get(entry));
        }
    }

    /// The tokens of a context of these entries.
    pub(crate) fn total(&self) -> TokenCount {
        let sum = TokenCount {
            tokens: self.tokens,
            estimated: self.estimates > 0,
        };
        context_total((self.messages > 0).then_some(sum))
    }
}
