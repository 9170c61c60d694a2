//! Going on with a source from its middle: what a reader must know there, and what it must not meet.
//!
//! Deliberately absent: where that is, and whether what was read before is still as it was; whoever keeps
//! sources knows.

use crate::error::Result;
use crate::formats::{Action, BranchStart, Problem, SessionEnd, SessionStart, Sink, Source, Step};
use crate::model::{Settings, StatedUsage};

/// Where a source is gone on with, and what its reader knew there.
#[derive(Clone, Copy, Debug)]
pub struct Midway<'a> {
    /// Where the first record of a step begins.
    pub offset: u64,
    /// The session's id.
    pub id: &'a str,
    /// The settings in force behind that step, which is told for its place alone.
    pub settings: &'a Settings,
}

/// Reads the end of a source, as [`crate::formats::Importer`] would tell it: the steps from the one at
/// [`Midway::offset`] on, numbered from 0. Nothing before it is read. Gives whether that can be told from the
/// end alone; where anything there reaches further back, or is wrong, what was told counts for nothing.
///
/// What the sink learns of the session as a whole (its title, what it lacks) is that of the end.
pub type Continuer = fn(Source<'_>, Midway<'_>) -> Result<bool>;

/// Passes on what is told from the middle on, and sees whether it may be: damage is told with its line, which
/// only who reads from the beginning knows, and a hide may name anything.
pub(in crate::formats) struct Plain<'a> {
    sink: &'a mut dyn Sink,
    /// Whether nothing else was told.
    pub(in crate::formats) is_plain: bool,
}

impl<'a> Plain<'a> {
    pub(in crate::formats) fn of(sink: &'a mut dyn Sink) -> Self {
        Self {
            sink,
            is_plain: true,
        }
    }
}

impl Sink for Plain<'_> {
    fn session(&mut self, session: SessionStart) -> Result<()> {
        self.sink.session(session)
    }

    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        self.is_plain = false;
        self.sink.branch(branch)
    }

    fn step(&mut self, step: Step) -> Result<()> {
        self.is_plain &= matches!(step.action, Action::Append(_));
        self.sink.step(step)
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        // A sum is of the whole file.
        let has_sum = end.stated.as_ref().is_some_and(StatedUsage::is_summed_up);
        self.is_plain &= !has_sum;
        self.sink.end(end)
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.is_plain &= problem.harmless;
        // Lines are counted from the beginning.
        self.sink.problem(Problem { line: 0, ..problem })
    }

    fn progress(&mut self, bytes: u64, records: u64) {
        self.sink.progress(bytes, records);
    }
}
