//! A store in which nothing is written unless something holds: it is looked at inside of the transaction, so that
//! nobody comes in between.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{
    BlockText, Checked, Fault, Health, Ledger, Prepare, PressedBlock, Room, Seat, SetAside, Store,
    Tx, View,
};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::model::{Author, Millis, RefName};

/// What is to hold before anything is written.
pub type Condition = dyn Fn(&dyn Tx) -> Result<()> + Send;

/// A store that asks before it lets write.
pub struct Guarded {
    store: Box<dyn Store>,
    condition: Box<Condition>,
    /// What was committed through the store, and how much of that before it was guarded.
    operations: Arc<AtomicU64>,
    before: u64,
}

impl Guarded {
    /// The store, with a condition on all that is written through it up to the first operation.
    pub fn new(store: Box<dyn Store>, condition: Box<Condition>) -> Self {
        let operations = store.operations_committed();
        let before = operations.load(Ordering::Relaxed);
        Self {
            store,
            condition,
            operations,
            before,
        }
    }
}

impl Guarded {
    /// What was done itself may go on.
    fn is_guarded(&self) -> bool {
        self.operations.load(Ordering::Relaxed) == self.before
    }
}

impl Store for Guarded {
    fn read(&self) -> Result<Box<dyn View + '_>> {
        self.store.read()
    }

    fn config(&self) -> Result<Vec<(String, String)>> {
        self.store.config()
    }

    fn hold(&self, holds: bool) {
        self.store.hold(holds);
    }

    fn begin(&self, waits: bool) -> Result<Box<dyn Tx + '_>> {
        let tx = self.store.begin(waits)?;
        if self.is_guarded() {
            (self.condition)(&*tx)?;
        }
        Ok(tx)
    }

    /// What is to hold may be about any branch, so nobody else writes as long as it is.
    fn begin_on(
        &self,
        branch: Option<&RefName>,
        contents: &mut dyn FnMut() -> Vec<ContentHash>,
    ) -> Result<Box<dyn Tx + '_>> {
        if self.is_guarded() {
            return self.begin(true);
        }
        self.store.begin_on(branch, contents)
    }

    fn press(&self) -> fn(&[u8], &BlockText) -> Option<PressedBlock> {
        self.store.press()
    }

    fn preparing(&self, weighs: bool) -> Result<Box<Prepare>> {
        self.store.preparing(weighs)
    }

    fn sit(&mut self, seat: Option<Seat>) {
        self.store.sit(seat);
    }

    fn seat(&self) -> Option<&Seat> {
        self.store.seat()
    }

    fn work_as(&mut self, who: Option<Author>) {
        self.store.work_as(who);
    }

    fn worker(&self) -> Option<&Author> {
        self.store.worker()
    }

    fn operations_committed(&self) -> Arc<AtomicU64> {
        self.store.operations_committed()
    }

    fn ledger(&self) -> Arc<Ledger> {
        self.store.ledger()
    }

    fn version(&self) -> Result<u64> {
        self.store.version()
    }

    fn verify(
        &self,
        tell: &mut dyn FnMut(Checked, Option<Fault>) -> Result<()>,
    ) -> Result<Checked> {
        self.store.verify(tell)
    }

    fn recompress(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        self.store.recompress(progress)
    }

    fn has_free_room(&self) -> Result<bool> {
        self.store.has_free_room()
    }

    fn room(&self) -> Result<Room> {
        self.store.room()
    }

    fn health(&self, now: Millis) -> Result<Health> {
        self.store.health(now)
    }

    fn rebuild(&self) -> Result<Vec<SetAside>> {
        self.store.rebuild()
    }

    fn backup(&self, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        self.store.backup(to, progress)
    }

    fn checked(&self, now: Millis) -> Result<()> {
        self.store.checked(now)
    }

    fn scrub(&self) -> Result<()> {
        self.store.scrub()
    }
}
