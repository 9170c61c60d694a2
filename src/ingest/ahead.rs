//! Steps on their way from an importer to their session: what needs neither the database nor their
//! order is worked out ahead, on other threads.
//!
//! Canonical bytes, hashes, counts, secrets and compression are two thirds of what a message costs beside its
//! rows. The importer goes on reading meanwhile, and the session takes the steps in their order, so
//! that what is written is the same however many threads there are. Deliberately absent: parsing,
//! which is the importer's, and all that is written.

use std::collections::VecDeque;

use crate::error::Result;
use crate::formats::{BranchStart, Problem, SessionEnd, SessionStart, Sink, Step};
use crate::hash::ContentHash;
use crate::model::secret::{SecretCounts, Secrets};
use crate::model::tokens::Counter;
use crate::model::{Message, Sealed, TokenCount};
use crate::store::crew::{Crew, with_crew, workers};
use crate::store::{Prepare, Prepared};

/// A file below this is done before a thread would be of use.
const WORTH_THREADS_BYTES: u64 = 256 << 10;
/// What is handed over at once, in records' bytes and in steps.
const BATCH_BYTES: u64 = 64 << 10;
const BATCH_STEPS: usize = 32;
/// What is under way at most, so that memory does not grow with the file.
const AHEAD_BYTES: u64 = 4 << 20;
const AHEAD_BATCHES: usize = 16;
/// How much of what was worked out is kept for messages that are held back.
const KEPT: usize = 256;

/// What an importer tells, in its order.
pub(super) enum Told<M = Message> {
    Session(SessionStart),
    Branch(BranchStart),
    Step(Step<M>),
    End(SessionEnd),
}

/// A message that is ready to be written.
pub(super) struct Ready {
    pub(super) message: Sealed<Message>,
    /// Whether secrets were left out of it that stand in no record of its own.
    pub(super) in_pieces: bool,
    worked: Worked,
}

/// What was worked out of a message beside its name.
pub(super) struct Worked {
    /// Its tokens, if they are wanted.
    pub(super) count: Option<TokenCount>,
    /// As the store keeps it.
    pub(super) prepared: Prepared,
    /// The secrets in it, if they are looked for.
    pub(super) secrets: SecretCounts,
}

/// What was worked out, by messages that were not written yet. Any of it may be missing.
#[derive(Default)]
pub(super) struct Working(VecDeque<(ContentHash, Worked)>);

impl Working {
    /// The message alone; the rest is kept until somebody asks.
    pub(super) fn keep(&mut self, ready: Ready) -> Sealed<Message> {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back((ready.message.hash(), ready.worked));
        ready.message
    }

    /// What was worked out of a message, if it is still kept.
    pub(super) fn take(&mut self, content: &ContentHash) -> Option<Worked> {
        let at = self.0.iter().position(|(hash, _)| hash == content)?;
        self.0.remove(at).map(|(_, worked)| worked)
    }
}

/// Who takes what is told.
pub(super) trait Taker {
    /// Sees what comes next, all of it together.
    fn foresee(&mut self, next: &[Told<Ready>]) -> Result<()>;
    fn take(&mut self, told: Told<Ready>) -> Result<()>;
    fn problem(&mut self, problem: Problem) -> Result<()>;
    fn progress(&mut self, bytes: u64, records: u64);
}

/// How a message is made ready.
#[derive(Clone, Copy)]
pub(super) struct Making<'a> {
    pub(super) counter: Option<Counter>,
    pub(super) secrets: Option<&'a Secrets>,
    /// Whether secrets are left out; out of the records they are already.
    pub(super) redacts: bool,
    pub(super) prepare: &'a Prepare,
}

impl Making<'_> {
    fn ready(&self, message: Message) -> Ready {
        let redacted = match self.secrets.filter(|_| self.redacts) {
            Some(secrets) => secrets.redact_message(&message, &mut SecretCounts::new()),
            None => None,
        };
        let in_pieces = redacted.is_some();
        let message = Sealed::new(redacted.unwrap_or(message));
        let mut found = SecretCounts::new();
        if let Some(secrets) = self.secrets {
            secrets.count(message.canonical().as_bytes(), &mut found);
        }
        let worked = Worked {
            secrets: found,
            count: self.counter.map(|counter| counter.message(&message)),
            prepared: (self.prepare)(&message),
        };
        Ready {
            message,
            in_pieces,
            worked,
        }
    }

    fn told(&self, told: Told) -> Told<Ready> {
        match told {
            Told::Session(start) => Told::Session(start),
            Told::Branch(branch) => Told::Branch(branch),
            Told::Step(step) => Told::Step(step.with(|message| self.ready(message))),
            Told::End(end) => Told::End(end),
        }
    }
}

/// Has `read` tell a file of so many bytes to `taker`.
pub(super) fn read_ahead(
    size_bytes: u64,
    making: Making<'_>,
    taker: &mut dyn Taker,
    read: impl FnOnce(&mut dyn Sink) -> Result<()>,
) -> Result<()> {
    let workers = if size_bytes < WORTH_THREADS_BYTES {
        0
    } else {
        workers()
    };
    let ready = |batch: Vec<Told>| batch.into_iter().map(|told| making.told(told)).collect();
    with_crew(workers, &ready, |crew| {
        let mut ahead = Ahead {
            crew,
            taker,
            batch: Vec::new(),
            batch_bytes: 0,
            sizes: VecDeque::new(),
        };
        read(&mut ahead)?;
        ahead.hand_over();
        while ahead.next()? {}
        Ok(())
    })
}

/// Hands batches to the crew, and takes them out again.
struct Ahead<'a> {
    crew: &'a Crew<'a, Vec<Told>, Vec<Told<Ready>>>,
    taker: &'a mut dyn Taker,
    batch: Vec<Told>,
    batch_bytes: u64,
    /// The bytes of each batch that is under way.
    sizes: VecDeque<u64>,
}

impl Ahead<'_> {
    fn told(&mut self, told: Told, bytes: u64) -> Result<()> {
        self.batch.push(told);
        self.batch_bytes += bytes;
        if self.batch.len() < BATCH_STEPS && self.batch_bytes < BATCH_BYTES {
            return Ok(());
        }
        self.hand_over();
        while self.sizes.len() > AHEAD_BATCHES || self.sizes.iter().sum::<u64>() > AHEAD_BYTES {
            self.next()?;
        }
        Ok(())
    }

    fn hand_over(&mut self) {
        self.crew.push(std::mem::take(&mut self.batch));
        self.sizes.push_back(std::mem::take(&mut self.batch_bytes));
    }

    /// Passes on the first batch that is under way, if there is one.
    fn next(&mut self) -> Result<bool> {
        let Some(batch) = self.crew.pop() else {
            return Ok(false);
        };
        self.sizes.pop_front();
        self.taker.foresee(&batch)?;
        for told in batch {
            self.taker.take(told)?;
        }
        Ok(true)
    }
}

/// How many bytes of the file a step is.
fn bytes(step: &Step) -> u64 {
    step.records.iter().map(|span| span.len).sum()
}

impl Sink for Ahead<'_> {
    fn session(&mut self, start: SessionStart) -> Result<()> {
        self.told(Told::Session(start), 0)
    }

    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        self.told(Told::Branch(branch), 0)
    }

    fn step(&mut self, step: Step) -> Result<()> {
        let bytes = bytes(&step);
        self.told(Told::Step(step), bytes)
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.told(Told::End(end), 0)
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.taker.problem(problem)
    }

    fn progress(&mut self, bytes: u64, records: u64) {
        self.taker.progress(bytes, records);
    }
}
