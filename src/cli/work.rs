//! What is done through the repositories that are opened, and where a log of it goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tract::repo::Repo;
use tract::store::{Ledger, RefMoves};

/// Where lines go.
#[derive(Clone, Debug)]
pub struct Log {
    /// As it was typed.
    pub place: String,
    /// Whether it was said that they cannot be written.
    is_warned: Arc<AtomicBool>,
}

impl Log {
    /// At this place, as it was typed.
    pub fn at(place: String) -> Self {
        let is_warned = Arc::default();
        Self { place, is_warned }
    }

    /// Whether that it cannot be written is still to be said.
    pub fn warns(&self) -> bool {
        !self.is_warned.swap(true, Ordering::Relaxed)
    }
}

/// What is done through the repositories that a command opens.
#[derive(Default)]
pub struct Work {
    /// Of those that may still be open.
    ledgers: Vec<Arc<Ledger>>,
    /// Of those that are closed.
    asked: u64,
    moved: RefMoves,
    /// The repository that was opened last, and who is at work there.
    pub repository: Option<String>,
    pub who: Option<String>,
}

impl Work {
    /// A repository was opened.
    pub fn note(&mut self, repo: &Repo) {
        self.repository = repo.place().map(|place| place.display().to_string());
        self.who = repo.worker().map(str::to_owned);
        self.gather();
        self.ledgers.push(repo.ledger());
    }

    /// Takes what was moved, and lets go of what is closed.
    fn gather(&mut self) {
        let Self {
            ledgers,
            asked,
            moved,
            ..
        } = self;
        ledgers.retain(|ledger| {
            moved.append(ledger.take_moves());
            let is_open = Arc::strong_count(ledger) > 1;
            if !is_open {
                *asked += ledger.asked();
            }
            is_open
        });
    }

    /// How often engines were asked so far, and what was moved since this was asked last.
    pub fn done(&mut self) -> (u64, RefMoves) {
        self.gather();
        let open: u64 = self.ledgers.iter().map(|ledger| ledger.asked()).sum();
        (self.asked + open, std::mem::take(&mut self.moved))
    }
}
