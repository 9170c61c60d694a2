//! What was done through a handle: how often its engine was asked, and which refs were moved. For whoever keeps a log.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::{RefName, RefValue};

/// How many moves are kept; of more, how many.
const MOST: usize = 64;

/// What was done through a handle so far. It goes on while whoever has it holds it, also after the handle is closed.
#[derive(Debug, Default)]
pub struct Ledger {
    /// How often the engine was asked.
    asked: Arc<AtomicU64>,
    moves: Mutex<Moves>,
}

#[derive(Debug, Default)]
struct Moves {
    /// In the transaction that is open.
    open: RefMoves,
    committed: RefMoves,
}

/// Refs with what they hold since; the first of them, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefMoves {
    /// The first of them.
    pub first: Vec<(RefName, Option<RefValue>)>,
    /// How many there are.
    pub count: u64,
}

impl RefMoves {
    /// Adds others.
    pub fn append(&mut self, others: Self) {
        let room = MOST.saturating_sub(self.first.len());
        self.first.extend(others.first.into_iter().take(room));
        self.count += others.count;
    }
}

impl Ledger {
    /// One whose engine counts by itself how often it is asked.
    pub(super) fn counting(asked: Arc<AtomicU64>) -> Arc<Self> {
        Arc::new(Self {
            asked,
            moves: Mutex::default(),
        })
    }

    /// How often the engine was asked: statements of a file, round trips to a server.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// The moves that were committed since this was asked last.
    pub fn take_moves(&self) -> RefMoves {
        self.with(|moves| mem::take(&mut moves.committed))
    }

    /// A transaction has begun.
    pub(super) fn begin(&self) {
        self.with(|moves| moves.open = RefMoves::default());
    }

    /// A ref was moved in it.
    pub(super) fn moved(&self, name: &RefName, to: Option<&RefValue>) {
        self.with(|moves| {
            moves.open.count += 1;
            if moves.open.first.len() < MOST {
                moves.open.first.push((name.clone(), to.cloned()));
            }
        });
    }

    /// It was committed.
    pub(super) fn commit(&self) {
        self.with(|moves| {
            let open = mem::take(&mut moves.open);
            moves.committed.append(open);
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut Moves) -> T) -> T {
        act(&mut self.moves.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
