//! Waiting that ends early: by a signal that asks the program to end, or when nobody reads its output
//! any more.

#[cfg(unix)]
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level::unregister;
use signal_hook::{SigId, flag};

use crate::cli::{Failure, Result};

/// From when it is made until it is dropped, signals that ask for the end are noted, not obeyed.
pub struct Pause {
    /// The signal that came, 0 before.
    asked: Arc<AtomicUsize>,
    handlers: Vec<SigId>,
}

/// Why there is nothing more to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// A signal asks for the end.
    Asked,
    /// Nobody reads standard output any more.
    Closed,
}

impl Pause {
    /// Begins to listen.
    pub fn begin() -> std::io::Result<Self> {
        let mut pause = Self {
            asked: Arc::default(),
            handlers: Vec::new(),
        };
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            let asked = Arc::clone(&pause.asked);
            let handler = flag::register_usize(signal, asked, signal as usize)?;
            pause.handlers.push(handler);
        }
        Ok(pause)
    }

    /// Whether a signal asks for the end.
    pub fn is_over(&self) -> bool {
        self.signal().is_some()
    }

    /// The signal that asks for the end.
    pub fn signal(&self) -> Option<i32> {
        let signal = self.asked.load(Ordering::Relaxed);
        (signal != 0).then_some(signal as i32)
    }

    /// Ends the program by the signal that asks for it, if one does.
    pub fn obey(&self) -> Result<()> {
        self.signal()
            .map_or(Ok(()), |signal| Err(Failure::Stopped(signal)))
    }

    /// What was asked for was meant for something else.
    pub fn forget(&self) {
        self.asked.store(0, Ordering::Relaxed);
    }

    /// Waits so long, and not a moment longer than it has to.
    pub fn wait(&self, time: Duration) -> Option<Over> {
        let closed = !self.is_over() && closed_within(time);
        match (self.is_over(), closed) {
            (true, _) => Some(Over::Asked),
            (_, true) => Some(Over::Closed),
            _ => None,
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.handlers.drain(..).for_each(|handler| {
            unregister(handler);
        });
    }
}

/// Waits for standard output to lose its reader; a signal ends the wait.
#[cfg(unix)]
fn closed_within(time: Duration) -> bool {
    // What is asked for is only what is told unasked: errors and hang-ups.
    let told = told(&std::io::stdout(), PollFlags::empty(), time);
    let is_over = told.intersects(PollFlags::ERR | PollFlags::HUP);
    if !told.is_empty() && !is_over {
        // Something else is told: it would be told at once again.
        std::thread::sleep(time);
    }
    is_over
}

/// What the system tells of a stream within this time: what is asked for, or that it is gone.
#[cfg(unix)]
pub fn told(stream: &impl AsFd, asked: PollFlags, time: Duration) -> PollFlags {
    let mut polled = [PollFd::new(stream, asked)];
    let timeout = Timespec {
        tv_sec: time.as_secs().cast_signed(),
        tv_nsec: time.subsec_nanos().into(),
    };
    match poll(&mut polled, Some(&timeout)) {
        Ok(1..) => polled[0].revents(),
        _ => PollFlags::empty(),
    }
}

#[cfg(not(unix))]
fn closed_within(time: Duration) -> bool {
    std::thread::sleep(time);
    false
}
