//! A stream that is kept while it grows: what was read of it is not read again, and no message is told again but
//! those that what has come may have changed.
//!
//! What is told is what an import of all of it tells from there on: both read records, make a tree and tell its
//! messages in the same functions. Deliberately absent: what became of the messages.

use super::import::{Line, Records, steps};
use super::messages::{Said, messages};
use crate::error::Result;
use crate::formats::{Format, Input, Problem, SessionEnd, SessionStart, Sink, Step};
use crate::model::depth;
use crate::tree::{Fold, NodeId};

/// A stream of which more and more is read.
pub struct GrowingStream {
    records: Records,
    fold: Fold,
    /// How much of it was read.
    size_bytes: u64,
    /// The messages that were told.
    told: Vec<Place>,
    /// The first of them of which more may come.
    open: Option<usize>,
    /// The oldest node that has changed since.
    changed: Option<NodeId>,
    /// Whether an import reads it in the order in which it came, and finds nothing wrong.
    is_plain: bool,
}

/// Where a message stands in the order of nodes: the first that it holds, and the oldest that it is made of; and
/// whether more of it may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    first: NodeId,
    oldest: NodeId,
    is_open: bool,
}

impl Place {
    fn of(said: &Said) -> Self {
        Self {
            first: said.first,
            oldest: said.oldest,
            is_open: said.is_open,
        }
    }
}

/// The end of a stream, as its messages from the first on that may be another one now.
pub struct StreamEnd {
    /// How many messages stand before it.
    pub before: usize,
    /// The messages.
    pub steps: Vec<Step>,
    places: Vec<Place>,
}

/// Sees whether anything is wrong.
struct Wrong(bool);

impl Sink for Wrong {
    fn problem(&mut self, _: Problem) -> Result<()> {
        self.0 = true;
        Ok(())
    }
}

impl GrowingStream {
    /// One of a format whose records are events, of which nothing was read; none of any other.
    pub fn of(format: &Format) -> Option<Self> {
        Some(Self {
            records: Records::of(format.events?()),
            fold: Fold::default(),
            size_bytes: 0,
            told: Vec::new(),
            open: None,
            changed: None,
            is_plain: true,
        })
    }

    /// How much of it was read.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Whether its end can be told: not where events come out of order or wait for others, nor once anything is
    /// wrong in it.
    pub fn is_plain(&self) -> bool {
        self.is_plain && !self.fold.tree().waits()
    }

    /// Reads what has come, up to the end of a line.
    ///
    /// # Errors
    ///
    /// Failure to read.
    pub fn read(&mut self, input: &dyn Input) -> Result<()> {
        let mut wrong = Wrong(false);
        let events = self.records.read(input, self.size_bytes, &mut wrong)?;
        self.size_bytes = input.size_bytes();
        for (line, event) in events {
            let before = self.fold.last();
            let touched = self.fold.feed(event);
            self.is_plain &= !touched.anew && !self.fold.waits();
            let oldest = touched.nodes.into_iter().min();
            self.changed = self.changed.into_iter().chain(oldest).min();
            let gave = &mut self.records.lines[line].gave;
            gave.push((before, self.fold.last()));
        }
        self.is_plain &= !wrong.0;
        Ok(())
    }

    /// The session, which is called `stem` where the stream tells no id.
    pub fn session(&self, stem: &str) -> SessionStart {
        self.records.start(stem)
    }

    /// What is known of the session so far.
    pub fn known(&self) -> &SessionEnd {
        &self.records.end
    }

    /// How many messages were told.
    pub fn messages(&self) -> usize {
        self.told.len()
    }

    /// Takes all of its messages for told.
    pub fn tell_all(&mut self) {
        let said = messages(self.fold.tree(), NodeId::default());
        self.told = said.iter().map(Place::of).collect();
        self.open = self.told.iter().position(|place| place.is_open);
        self.changed = None;
    }

    /// Its end, from the first message on that may be another one than when it was told; none where that is the
    /// first of all, or where it is not for the end to say.
    pub fn end(&mut self) -> Option<StreamEnd> {
        let last = self.told.last()?.first;
        let open = self.open.map_or(last, |open| self.told[open].first);
        let changed = self.changed.unwrap_or(last).min(last).min(open);
        let mut before = self.place_of(changed)?;
        // A result is told with its call.
        while let Some(oldest) = self.told[before..].iter().map(|place| place.oldest).min()
            && oldest < self.told[before].first
        {
            before = self.place_of(oldest)?;
        }
        let first = self.told[before].first;
        let said = messages(self.fold.tree(), first);
        let is_plain =
            |said: &Said| said.hides.is_none() && depth::check_message(&said.message).is_ok();
        let goes_on = said.first().is_some_and(|said| said.first == first)
            && said.len() >= self.told.len() - before
            && said.iter().all(is_plain);
        if before == 0 || !goes_on {
            return None;
        }
        let places = said.iter().map(Place::of).collect();
        Some(StreamEnd {
            before,
            steps: steps(said, before, self.lines_from(first)),
            places,
        })
    }

    /// Takes its end for told.
    pub fn tell(&mut self, end: StreamEnd) {
        self.told.truncate(end.before);
        // None before it is open: it begins there.
        let open = end.places.iter().position(|place| place.is_open);
        self.open = open.map(|at| end.before + at);
        self.told.extend(end.places);
        self.changed = None;
    }

    /// The lines from the one on that made a node.
    fn lines_from(&self, first: NodeId) -> &[Line] {
        let lines = &self.records.lines;
        let is_before = |line: &Line| line.gave.last().is_some_and(|(_, last)| *last < first);
        let before = lines.iter().rposition(is_before).map_or(0, |at| at + 1);
        let beside = lines[before..].iter();
        let beside = beside.take_while(|line| line.gave.is_empty()).count();
        &lines[before + beside..]
    }

    /// The message that a node is of, or the last before it.
    fn place_of(&self, node: NodeId) -> Option<usize> {
        self.told
            .partition_point(|place| place.first <= node)
            .checked_sub(1)
    }
}
