//! A stream taken in while it comes: committed message by message, and drawn.
//!
//! Where the stream comes from is the caller's: a pipe, or a program that was started.

use std::time::{Duration, Instant};

use tract::Error;
use tract::formats::{Format, registry, sniff};
use tract::ingest::{Due, Recorder};
use tract::tree::Tree;

use super::live::Live;
use super::machine::byte_stream::{Came, Incoming};
use super::machine::pause::Pause;
use super::machine::private;
use super::{App, Exit, Failure, Result, failure};

/// How long it is waited at most until something else is looked after.
const TICK: Duration = Duration::from_millis(50);
/// After how long a silence what may be complete is committed.
const IDLE: Duration = Duration::from_millis(300);
/// After how long it is committed though more comes all the time.
const PATIENCE: Duration = Duration::from_secs(2);
/// How much of the time is spent on commits at most where they take long: a half.
const QUICK: Duration = Duration::from_millis(50);
/// How long after a commit that failed the next is tried.
const RETRY: Duration = Duration::from_secs(1);
/// How long after a signal what its receivers still say is taken in.
const GRACE: Duration = Duration::from_secs(2);
/// How many lines, and bytes, may come before the format shows.
const HEAD_LINES: usize = 200;
const HEAD_BYTES: usize = 4 << 20;

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Itself,
    /// A signal asked for it.
    Asked(i32),
    /// Whoever takes it in wanted no more.
    Cancelled,
}

/// The beginning of a stream: what came until its format was known.
pub struct Opening {
    /// What came.
    pub bytes: Vec<u8>,
    /// The format; none if it shows none, or nothing came.
    pub format: Option<&'static Format>,
    /// How the stream ended, if it has.
    pub ended: Option<Ended>,
}

impl Opening {
    /// Reads on until the format shows.
    pub fn read(incoming: &Incoming, pause: &Pause) -> Result<Self> {
        let mut opening = Self {
            bytes: Vec::new(),
            format: None,
            ended: None,
        };
        let mut asked = None;
        while opening.ended.is_none() {
            let seen = opening.bytes.len();
            match incoming.next(TICK) {
                Came::Bytes(bytes) => opening.bytes.extend_from_slice(&bytes),
                Came::Nothing => {}
                Came::End => opening.ended = Some(Ended::Itself),
                Came::Failed(error) => return Err(Error::io("standard input")(error).into()),
            }
            if let Some(signal) = pause.signal() {
                let since: Instant = *asked.get_or_insert_with(Instant::now);
                if since.elapsed() >= GRACE || opening.ended.is_some() {
                    opening.ended = Some(Ended::Asked(signal));
                }
            }
            let bytes = &opening.bytes;
            let is_feed = |byte: &u8| *byte == b'\n';
            let end = match opening.ended {
                Some(_) => bytes.len(),
                None if !bytes[seen..].iter().any(is_feed) => continue,
                None => bytes.iter().rposition(is_feed).map_or(0, |at| at + 1),
            };
            opening.format = sniff::sniff(&&bytes[..end])?;
            let lines = bytes.iter().filter(|byte| is_feed(byte)).count();
            if opening.format.is_some() || lines >= HEAD_LINES || bytes.len() >= HEAD_BYTES {
                break;
            }
        }
        Ok(opening)
    }

    /// The format to read it in: the one that was asked for, if it is not another.
    pub fn stream(&self, asked: Option<&'static Format>) -> Result<&'static Format> {
        let names = registry::stream_names();
        match (asked, self.format) {
            (Some(asked), Some(found)) if asked != found => {
                let why = format!("the content is {found}, not {asked}");
                Err(Error::input("standard input", why).into())
            }
            (Some(format), _) | (None, Some(format)) if format.events.is_some() => Ok(format),
            (_, Some(format)) => {
                let what = format!("standard input is {format}, a session and not a stream");
                Err(Failure::refused(what).with_hint("tract import FILE takes in what is whole"))
            }
            (_, None) if self.bytes.trim_ascii().is_empty() => {
                Err(Failure::refused("standard input is empty")
                    .with_hint(format!("known streams: {names}")))
            }
            (_, None) => Err(
                Failure::refused("standard input is not a stream in a known format")
                    .with_hint(format!("known streams: {names}")),
            ),
        }
    }
}

/// Takes a stream in to its end, or until `cancelled`.
pub struct Recording<'a, 'r> {
    /// What commits it.
    pub recorder: &'a mut Recorder<'r>,
    /// What draws it.
    pub live: &'a mut Live,
    /// When something was committed last, or when it began.
    committed: Instant,
    spent: Duration,
    failed: Option<Instant>,
}

impl<'a, 'r> Recording<'a, 'r> {
    /// Of a stream that begins.
    pub fn of(recorder: &'a mut Recorder<'r>, live: &'a mut Live) -> Self {
        Self {
            recorder,
            live,
            committed: Instant::now(),
            spent: Duration::ZERO,
            failed: None,
        }
    }

    /// Takes in what comes. What cannot be committed yet is tried again later.
    pub fn take(
        &mut self,
        opening: Opening,
        incoming: &Incoming,
        pause: &Pause,
        cancelled: &mut dyn FnMut() -> bool,
        app: &mut App,
    ) -> Result<Ended> {
        let mut ended = opening.ended;
        let mut changed = self.recorder.push(&opening.bytes)?;
        let mut quiet = Instant::now();
        let mut asked = None;
        loop {
            let silent = ended.is_none() && quiet.elapsed() >= IDLE;
            self.commit(silent, app);
            self.recorder.stay_open(app.now());
            if changed && self.live.wait().is_zero() {
                self.live.draw(self.recorder.tree(), &mut app.ui);
                changed = false;
            }
            if let Some(ended) = ended {
                return Ok(ended);
            }
            let wait = if changed { self.live.wait() } else { TICK };
            match incoming.next(wait.min(TICK)) {
                Came::Bytes(bytes) => {
                    changed |= self.recorder.push(&bytes)?;
                    quiet = Instant::now();
                }
                Came::Nothing => {}
                Came::End => ended = Some(Ended::Itself),
                Came::Failed(error) => return Err(Error::io("standard input")(error).into()),
            }
            if cancelled() {
                ended = Some(Ended::Cancelled);
            }
            if let Some(signal) = pause.signal() {
                let since: Instant = *asked.get_or_insert_with(Instant::now);
                if since.elapsed() >= GRACE || ended.is_some() {
                    ended = Some(Ended::Asked(signal));
                }
            }
        }
    }

    fn commit(&mut self, silent: bool, app: &App) {
        let since = self.committed.elapsed();
        let wanted = match self.recorder.due() {
            Due::No => false,
            Due::Idle => silent || since >= PATIENCE.max(self.spent),
            Due::Now => silent || self.spent < QUICK || since >= self.spent,
        };
        let waits = self.failed.is_some_and(|failed| failed.elapsed() < RETRY);
        if !wanted || waits {
            return;
        }
        let start = Instant::now();
        let done = self.recorder.commit(app.now());
        self.failed = done.is_err().then(Instant::now);
        (self.spent, self.committed) = (start.elapsed(), Instant::now());
    }

    /// Commits the rest, draws it as it stays, and gives the tree.
    pub fn finish(self, app: &mut App) -> Result<Tree> {
        let done = self.recorder.finish(app.now()).map(|_| ());
        let tree = self.recorder.settled();
        let drawn = self.live.finish(&tree, &|_| None, &mut app.ui);
        if let Err(error) = done {
            return Err(match save(self.recorder.bytes(), app) {
                Ok(()) => error.into(),
                Err(why) => lost(&error, &why),
            });
        }
        drawn?;
        Ok(tree)
    }
}

/// Keeps what came and could not be committed: nobody can say it again.
fn save(bytes: &[u8], app: &mut App) -> Result<()> {
    let name = format!("recorded-{}.jsonl", private::random_name::<4>()?);
    let path = app.cwd()?.join(name);
    private::write(&path, false, |file| {
        Ok(file.write_all(bytes).map_err(Error::io(&path))?)
    })?;
    let path = app.short_path(&path);
    app.ui.notice(format!(
        "what came is in {path}; tract import {path} brings it in"
    ));
    Ok(())
}

/// That what came is neither committed nor kept in a file.
fn lost(error: &Error, why: &Failure) -> Failure {
    let (error, why) = (failure::sentence(error), why.what());
    let what = format!("{error}; and what came since the last commit is lost: {why}");
    Failure::refused(what).with_hint("what was committed stays; make room, and ask again")
}

/// What a recording with so much wrong in it ends with.
pub fn verdict(problems: u64, ended: Ended) -> Result<()> {
    match ended {
        Ended::Asked(signal) => Err(Failure::Stopped(signal)),
        _ if problems > 0 => Err(Failure::Quiet(Exit::Damaged)),
        _ => Ok(()),
    }
}
