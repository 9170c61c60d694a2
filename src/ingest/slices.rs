//! Much work in short write transactions, so that nobody waits long for the lock.

use crate::error::Result;
use crate::store::{Store, Tx};

/// A write transaction that ends when it has done its share; the next work opens another.
pub(super) struct Slices<'a> {
    store: &'a dyn Store,
    share: usize,
    open: Option<Box<dyn Tx + 'a>>,
    work: usize,
}

impl<'a> Slices<'a> {
    pub(super) fn of(store: &'a dyn Store, share: usize) -> Self {
        Self {
            store,
            share,
            open: None,
            work: 0,
        }
    }

    /// The open slice.
    pub(super) fn tx(&mut self) -> Result<&dyn Tx> {
        let tx = match self.open.take() {
            Some(tx) => tx,
            None => self.store.write()?,
        };
        Ok(&**self.open.insert(tx))
    }

    /// Ends the slice if with this work it has done its share.
    pub(super) fn worked(&mut self, work: usize) -> Result<()> {
        self.work += work;
        if self.work >= self.share {
            self.end()?;
        }
        Ok(())
    }

    /// Ends the slice.
    pub(super) fn end(&mut self) -> Result<()> {
        self.work = 0;
        self.open.take().map_or(Ok(()), |tx| tx.commit())
    }
}
