//! `tract watch`: what grows in the tools' folders comes in.
//!
//! Deliberately absent: how a file that has grown is gone on with; that is the library's
//! ([`tract::ingest::Reading`]).

mod databases;
mod intake;
pub mod lock;
mod wake;

use std::rc::Rc;
use std::time::{Duration, Instant};

use tract::Error;
use tract::ingest::Reading;
use tract::repo::Repo;

use self::intake::Taking;
use self::lock::Lock;
use self::wake::{Wake, Woken};
use super::machine::pause::Pause;
use super::{App, Failure, Result};

/// How often it is asked whether to end, and whether a tool has made its folder.
const TICK: Duration = Duration::from_millis(250);
/// How often every file is looked at, whatever the system says; and where it says nothing.
const LOOK: Duration = Duration::from_secs(30);
const LOOK_DEAF: Duration = Duration::from_secs(1);

/// How long after a server was away it is asked again.
const AWAY: Duration = Duration::from_secs(2);

/// How often a single look tries a file again that was changing.
const AGAIN: u32 = 8;

/// How to watch.
pub struct Options {
    /// Whether to end after having looked at everything once.
    pub is_once: bool,
    /// How much is read of what is here already.
    pub reading: Reading,
    /// Whether to say each file that brought something.
    pub is_verbose: bool,
}

/// Takes in what grows, until a signal asks for the end.
pub fn watch(repo: Rc<Repo>, options: &Options, app: &mut App) -> Result<()> {
    let Some(lock) = lock::path(&repo, app) else {
        let failure = match repo.place() {
            None => Failure::usage("a repository in memory would be gone when the watch ends")
                .with_hint("tract init makes one that stays"),
            Some(_) => Failure::refused("there is no directory for the lock of a watch")
                .with_hint("set HOME or XDG_STATE_HOME"),
        };
        return Err(failure);
    };
    let _lock = Lock::take(&lock)?;
    let pause = Pause::begin()?;
    let is_over = || pause.is_over();
    let mut taking = Taking::of(repo, options.is_verbose, app)?;
    if options.is_once {
        let tally = taking.take_all(options.reading, &is_over, app)?;
        // What was changing a moment ago may be whole now.
        for _ in 0..AGAIN {
            let again = taking.again();
            if again.is_empty() || is_over() {
                break;
            }
            pause.wait(TICK);
            taking.take(&again, options.reading, &is_over, app)?;
        }
        return tally.end(app);
    }
    app.ui
        .status("Takes in the sessions of every directory and every tool");
    app.ui
        .hint("for this directory alone: tract import, or the hooks that tract setup sets");
    let mut wake = Wake::begin();
    let mut woken = Woken::All;
    let mut looked = Instant::now();
    let mut reading = options.reading;
    let (mut is_first, mut is_away) = (true, false);
    while !pause.is_over() {
        if wake.listen(&taking.folders()) {
            woken = Woken::All;
        }
        let look = if wake.hears() { LOOK } else { LOOK_DEAF };
        if looked.elapsed() >= look {
            woken = Woken::All;
        }
        let is_all = woken == Woken::All;
        match taking.take_woken(woken, reading, &is_over, app) {
            Ok(()) => {}
            // What grows meanwhile is found by looking at everything.
            Err(Failure::Tract(error)) if is_of_a_server(&error) => {
                if !std::mem::replace(&mut is_away, true) {
                    app.ui.warn(format!("{error}; it is tried again"));
                }
                pause.wait(AWAY);
                woken = Woken::All;
                continue;
            }
            Err(failure) => return Err(failure),
        }
        if std::mem::take(&mut is_away) {
            app.ui.status("The server is there again");
        }
        if is_all {
            looked = Instant::now();
        }
        // Read whole once, and then what is new.
        reading = Reading::New;
        if std::mem::take(&mut is_first) && !pause.is_over() {
            app.ui.status("Watching; Ctrl-C ends it");
        }
        woken = wake.wait(TICK);
    }
    Ok(())
}

/// Whether it tells that the repository's server is away, which ends no watch.
fn is_of_a_server(error: &Error) -> bool {
    matches!(
        error,
        Error::Unreachable { .. } | Error::Server { .. } | Error::Disconnected { .. }
    )
}
