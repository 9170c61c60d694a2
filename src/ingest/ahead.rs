//! Steps on their way from an importer to their session: what needs neither the database nor their
//! order is worked out ahead, on other threads.
//!
//! Canonical bytes, hashes, counts, secrets and compression are two thirds of what a message costs beside its
//! rows. The importer goes on reading meanwhile, on a thread of its own where it reads a plain file, and the
//! session takes the steps in their order, so that what is written is the same however many threads there
//! are. Deliberately absent: parsing, which is the importer's, and all that is written.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, TryRecvError};
use std::thread;

use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::interop::{BranchStart, Problem, SessionEnd, SessionStart, Sink, Step};
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
/// The stack of a thread that reads, as much as that of a program's first thread.
const STACK_BYTES: usize = 8 << 20;
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
        let mut ahead = Ahead::new(crew, taker);
        ahead.read(read)?;
        ahead.finish()
    })
}

/// The same where it can be read on a thread of its own, while another writes what was read before.
pub(super) fn read_apart(
    size_bytes: u64,
    making: Making<'_>,
    taker: &mut dyn Taker,
    read: impl FnOnce(&mut dyn Sink) -> Result<()> + Send,
) -> Result<()> {
    let workers = workers();
    if size_bytes < WORTH_THREADS_BYTES || workers == 0 {
        return read_ahead(size_bytes, making, taker, read);
    }
    let ready = |batch: Vec<Told>| batch.into_iter().map(|told| making.told(told)).collect();
    with_crew(workers, &ready, |crew| {
        let mut ahead = Ahead::new(crew, taker);
        let mut open = Some(read);
        thread::scope(|scope| {
            let (says, heard) = mpsc::sync_channel(AHEAD_BATCHES);
            let open = &mut open;
            let tell = move || match open.take() {
                Some(read) => Teller::to(&mut Apart(says)).read(read),
                None => Ok(()),
            };
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            let Ok(reader) = thread.spawn_scoped(scope, tell) else {
                return Ok(());
            };
            let heard = ahead.hear(&heard).inspect_err(|_| drop(heard));
            let read = reader.join().unwrap_or_else(|lost| resume_unwind(lost));
            // Whoever reads ends early where nobody listens any more.
            heard.and(read)
        })?;
        // There was no thread to be had.
        if let Some(read) = open {
            ahead.read(read)?;
        }
        ahead.finish()
    })
}

/// Who is told what comes, some of it at once.
trait Hears {
    fn batch(&mut self, batch: Batch) -> Result<()>;
    fn problem(&mut self, problem: Problem) -> Result<()>;
    fn progress(&mut self, bytes: u64, records: u64);
}

/// Some of what is told, and how many bytes of the file that is.
#[derive(Default)]
struct Batch {
    told: Vec<Told>,
    size_bytes: u64,
}

/// Puts what an importer tells into batches.
struct Teller<'a, H> {
    hears: &'a mut H,
    batch: Batch,
}

impl<'a, H: Hears> Teller<'a, H> {
    fn to(hears: &'a mut H) -> Self {
        let batch = Batch::default();
        Self { hears, batch }
    }

    fn read(mut self, read: impl FnOnce(&mut dyn Sink) -> Result<()>) -> Result<()> {
        read(&mut self)?;
        self.hears.batch(self.batch)
    }

    fn told(&mut self, told: Told, size_bytes: u64) -> Result<()> {
        self.batch.told.push(told);
        self.batch.size_bytes += size_bytes;
        if self.batch.told.len() < BATCH_STEPS && self.batch.size_bytes < BATCH_BYTES {
            return Ok(());
        }
        self.hears.batch(std::mem::take(&mut self.batch))
    }
}

impl<H: Hears> Sink for Teller<'_, H> {
    fn session(&mut self, start: SessionStart) -> Result<()> {
        self.told(Told::Session(start), 0)
    }

    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        self.told(Told::Branch(branch), 0)
    }

    fn step(&mut self, step: Step) -> Result<()> {
        let size_bytes = step.records.iter().map(|span| span.len).sum();
        self.told(Told::Step(step), size_bytes)
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.told(Told::End(end), 0)
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.hears.problem(problem)
    }

    fn progress(&mut self, bytes: u64, records: u64) {
        self.hears.progress(bytes, records);
    }
}

/// What is told on another thread than it is taken on.
enum Said {
    Batch(Batch),
    Problem(Problem),
    Progress(u64, u64),
}

struct Apart(mpsc::SyncSender<Said>);

impl Apart {
    fn say(&self, said: Said) -> Result<()> {
        self.0.send(said).map_err(|_| Error::Cancelled)
    }
}

impl Hears for Apart {
    fn batch(&mut self, batch: Batch) -> Result<()> {
        self.say(Said::Batch(batch))
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.say(Said::Problem(problem))
    }

    fn progress(&mut self, bytes: u64, records: u64) {
        // If nobody listens, the next step says so.
        let _ = self.say(Said::Progress(bytes, records));
    }
}

/// Hands batches to the crew, and takes them out again.
struct Ahead<'a> {
    crew: &'a Crew<'a, Vec<Told>, Vec<Told<Ready>>>,
    taker: &'a mut dyn Taker,
    /// The bytes of each batch that is under way.
    sizes: VecDeque<u64>,
}

impl<'a> Ahead<'a> {
    fn new(crew: &'a Crew<'a, Vec<Told>, Vec<Told<Ready>>>, taker: &'a mut dyn Taker) -> Self {
        let sizes = VecDeque::new();
        Self { crew, taker, sizes }
    }

    fn read(&mut self, read: impl FnOnce(&mut dyn Sink) -> Result<()>) -> Result<()> {
        Teller::to(self).read(read)
    }

    /// Takes what is said elsewhere, until nobody says anything any more.
    fn hear(&mut self, heard: &mpsc::Receiver<Said>) -> Result<()> {
        loop {
            let said = match heard.try_recv() {
                Ok(said) => said,
                // What was said before is taken meanwhile.
                Err(TryRecvError::Empty) if self.next()? => continue,
                Err(_) => match heard.recv() {
                    Ok(said) => said,
                    Err(_) => return Ok(()),
                },
            };
            match said {
                Said::Batch(batch) => self.batch(batch)?,
                Said::Problem(problem) => self.problem(problem)?,
                Said::Progress(bytes, records) => self.progress(bytes, records),
            }
        }
    }

    /// Takes what is still under way.
    fn finish(&mut self) -> Result<()> {
        while self.next()? {}
        Ok(())
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

impl Hears for Ahead<'_> {
    fn batch(&mut self, batch: Batch) -> Result<()> {
        self.crew.push(batch.told);
        self.sizes.push_back(batch.size_bytes);
        while self.sizes.len() > AHEAD_BATCHES || self.sizes.iter().sum::<u64>() > AHEAD_BYTES {
            self.next()?;
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.taker.problem(problem)
    }

    fn progress(&mut self, bytes: u64, records: u64) {
        self.taker.progress(bytes, records);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::history::Repo;
    use crate::interop::Action;
    use crate::model::{Role, Span};

    /// What was taken, in its order; gives up at one of them.
    #[derive(Default)]
    struct Taken {
        said: Vec<String>,
        most: Option<usize>,
        problems: u64,
        records: u64,
    }

    impl Taker for Taken {
        fn foresee(&mut self, _: &[Told<Ready>]) -> Result<()> {
            Ok(())
        }

        fn take(&mut self, told: Told<Ready>) -> Result<()> {
            let Told::Step(step) = told else {
                return Ok(());
            };
            if self.most == Some(self.said.len()) {
                return Err(Error::EmptyMessage);
            }
            if let Action::Append(ready) = step.action {
                self.said.push(ready.message.canonical().to_owned());
            }
            Ok(())
        }

        fn problem(&mut self, _: Problem) -> Result<()> {
            self.problems += 1;
            Ok(())
        }

        fn progress(&mut self, _: u64, records: u64) {
            self.records = records;
        }
    }

    fn message(number: u64) -> Message {
        Message::text(Role::User, format!("{number} and so on"))
    }

    /// Tells so many messages, and counts them as it goes.
    fn tell(count: u64, told: &AtomicU64, sink: &mut dyn Sink) -> Result<()> {
        for number in 0..count {
            told.store(number, Ordering::Relaxed);
            let record = Span {
                offset: number,
                len: 1,
            };
            sink.step(Step::new(Action::Append(message(number)), record))?;
            sink.progress(number, number + 1);
        }
        Ok(())
    }

    fn taken(
        most: Option<usize>,
        read: impl FnOnce(&mut dyn Sink) -> Result<()> + Send,
    ) -> (Taken, Result<()>) {
        let repo = Repo::ephemeral().expect("a repository");
        let prepare = repo.store.preparing().expect("a way");
        let making = Making {
            counter: None,
            secrets: None,
            redacts: false,
            prepare: &*prepare,
        };
        let mut taken = Taken {
            most,
            ..Taken::default()
        };
        let done = read_apart(WORTH_THREADS_BYTES, making, &mut taken, read);
        (taken, done)
    }

    #[test]
    fn what_is_read_on_another_thread_is_taken_whole_and_in_its_order() {
        let told = AtomicU64::new(0);
        let (taken, done) = taken(None, |sink| tell(5_000, &told, sink));
        done.expect("taken");
        let said: Vec<String> = (0..5_000)
            .map(|number| Sealed::new(message(number)).canonical().to_owned())
            .collect();
        assert!(taken.said == said);
        assert_eq!(taken.records, 5_000);
    }

    #[test]
    fn nobody_reads_on_for_a_taker_that_gave_up() {
        let told = AtomicU64::new(0);
        let (taken, done) = taken(Some(100), |sink| tell(u64::MAX, &told, sink));
        assert!(matches!(done, Err(Error::EmptyMessage)), "{done:?}");
        assert_eq!(taken.said.len(), 100);
        // What was on its way, and no more.
        let most = 100 + 4 * (AHEAD_BATCHES + 2) * BATCH_STEPS;
        assert!(told.load(Ordering::Relaxed) < most as u64);
    }

    #[test]
    fn what_keeps_a_reader_from_reading_on_is_said() {
        let told = AtomicU64::new(0);
        let (taken, done) = taken(None, |sink| {
            tell(70, &told, sink)?;
            Err(Error::EmptyMessage)
        });
        assert!(matches!(done, Err(Error::EmptyMessage)), "{done:?}");
        // No more than was told.
        assert!(taken.said.len() <= 70);
    }

    #[test]
    #[should_panic(expected = "a reader that is wrong")]
    fn a_reader_that_panics_is_no_end_of_a_file() {
        let _ = taken(None, |_| panic!("a reader that is wrong"));
    }
}
