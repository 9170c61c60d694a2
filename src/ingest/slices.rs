//! Much work in short write transactions, so that nobody waits long for the lock.
//!
//! Between two of them anybody may write: what a slice builds on is compared in the slice.

use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::model::RefName;
use crate::store::{Store, Tx};

#[cfg(test)]
thread_local! {
    /// What happens wherever another process may come in between.
    pub(super) static GAP: std::cell::RefCell<Option<Box<dyn FnMut()>>> =
        const { std::cell::RefCell::new(None) };
    /// A share of work for all slices, so that a test has many of them.
    pub(super) static SHARE: std::cell::Cell<Option<usize>> = const { std::cell::Cell::new(None) };
}

/// A write transaction that ends when it has done its share; the next work opens another.
pub(super) struct Slices<'a> {
    store: &'a dyn Store,
    share: usize,
    /// The ref that they are about: others may write to all else beside them. None: to nothing.
    on: Option<RefName>,
    /// Who waits for all of it.
    waiting: Waiting<'a>,
    open: Option<Box<dyn Tx + 'a>>,
    work: usize,
}

/// Who waits for much work.
#[derive(Clone, Copy)]
pub struct Waiting<'a> {
    /// Whether nobody waits any more. It is asked within transactions too, so it may neither wait nor write.
    pub is_stopped: Option<&'a dyn Fn() -> bool>,
    /// Called between two transactions, for whoever tells that it goes on.
    pub between: Option<&'a dyn Fn()>,
}

impl Waiting<'_> {
    /// Somebody who is told nothing, and waits to the end.
    pub const TO_THE_END: Self = Self {
        is_stopped: None,
        between: None,
    };

    /// Ends the work if nobody waits for it.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`].
    pub(super) fn go_on(&self) -> Result<()> {
        match self.is_stopped {
            Some(is_stopped) if is_stopped() => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }
}

impl<'a> Slices<'a> {
    pub(super) fn of(store: &'a dyn Store, share: usize) -> Self {
        #[cfg(test)]
        let share = SHARE.get().filter(|_| share != usize::MAX).unwrap_or(share);
        Self {
            store,
            share,
            on: None,
            waiting: Waiting::TO_THE_END,
            open: None,
            work: 0,
        }
    }

    /// The same for whoever waits.
    pub(super) fn for_whom(self, waiting: Waiting<'a>) -> Self {
        Self { waiting, ..self }
    }

    /// The same about a ref, from the next one on.
    pub(super) fn on(self, on: Option<RefName>) -> Self {
        Self { on, ..self }
    }

    /// What is written to.
    pub(super) fn store(&self) -> &'a dyn Store {
        self.store
    }

    /// The open slice.
    pub(super) fn tx(&mut self) -> Result<&dyn Tx> {
        self.about(&mut Vec::new)
    }

    /// The same for whoever is about to put these.
    pub(super) fn about(
        &mut self,
        contents: &mut dyn FnMut() -> Vec<ContentHash>,
    ) -> Result<&dyn Tx> {
        let tx = match self.open.take() {
            Some(tx) => tx,
            None => self.begin(contents)?,
        };
        Ok(&**self.open.insert(tx))
    }

    fn begin(&self, contents: &mut dyn FnMut() -> Vec<ContentHash>) -> Result<Box<dyn Tx + 'a>> {
        #[cfg(test)]
        if let Some(mut happens) = GAP.take() {
            happens();
            GAP.set(Some(happens));
        }
        match &self.on {
            Some(name) => self.store.begin_on(Some(name), contents),
            None => self.store.write(),
        }
    }

    /// Whether nobody else may write now.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Ends the slice if with this work it has done its share.
    pub(super) fn worked(&mut self, work: usize) -> Result<()> {
        self.waiting.go_on()?;
        self.work = self.work.saturating_add(work);
        if self.work >= self.share {
            self.end()?;
        }
        Ok(())
    }

    /// Ends the slice.
    pub(super) fn end(&mut self) -> Result<()> {
        self.work = 0;
        let Some(tx) = self.open.take() else {
            return Ok(());
        };
        tx.commit()?;
        if let Some(between) = self.waiting.between {
            between();
        }
        Ok(())
    }

    /// The open slice, to be ended by hand.
    pub(super) fn last(mut self) -> Result<Box<dyn Tx + 'a>> {
        match self.open.take() {
            Some(tx) => Ok(tx),
            None => self.begin(&mut Vec::new),
        }
    }
}
