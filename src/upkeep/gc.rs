//! Taking out what nothing leads to any more, and making what stays smaller.
//!
//! A ref, a move in the log, a resume, and what a branch has taken over of a session keep their whole
//! paths, and so do hidden messages, for a hide is on a path. What is older than the log is to be goes
//! from its end, as far as no later undo or redo names it. Deliberately absent: doing any of it unasked,
//! and erasing; what must not be read again is a purge's.

use crate::error::Result;
use crate::model::Millis;
use crate::model::retention::Expire;
use crate::repo::folder::FolderEntry;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::{Dropped, OperationRow, Reversal, Tx, View};
use crate::upkeep::purge::{Unfinished, scrubbed};

pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1000;

impl Expire {
    fn is_over(self, row: &OperationRow, now: Millis) -> bool {
        match self {
            Self::Never => false,
            Self::Now => true,
            Self::Days(days) => {
                let days = i64::try_from(days).unwrap_or(i64::MAX);
                row.time.0 < now.0.saturating_sub(days.saturating_mul(DAY_MS))
            }
        }
    }
}

/// How far a collection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcStep {
    /// It looks for what nothing leads to, and takes it out.
    Collecting,
    /// It makes smaller what stays: so much of a whole is done.
    Compressing(u64, u64),
    /// It rewrites the files.
    Rewriting,
}

/// What a collection took out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Commits and messages.
    pub dropped: Dropped,
    /// Kept session files.
    pub sources: u64,
    /// What was kept of them, in bytes.
    pub source_bytes: u64,
    /// Operations that can be undone no more.
    pub operations: u64,
    /// The oldest operation that is left, where some are forgotten; none: nothing is left to undo.
    pub oldest: Option<OperationRow>,
    /// Damaged rows that a repair has set aside: while there are any, nothing is taken out, for they
    /// may name it.
    pub aside: u64,
    /// The size of the files, in bytes, before it and since.
    pub size_bytes: (u64, u64),
    /// Why the files could not be rewritten, and so are as large as they were.
    pub unfinished: Option<Unfinished>,
    /// Copies that backups had left that were killed, which are deleted.
    pub killed_backups: Vec<FolderEntry>,
}

impl Collected {
    /// Whether nothing was taken out.
    pub fn is_nothing(&self) -> bool {
        self.dropped == Dropped::default() && self.sources == 0 && self.operations == 0
    }
}

impl Repo {
    /// Takes out what no ref, no move in the log, no resume and no take-over leads to; the log before it
    /// as `expire` says; older copies of session files that nothing reads; then makes smaller what stays
    /// and rewrites the files. What any ref's path holds, and what is made of it, is as it was.
    ///
    /// All that is taken out goes in one transaction; an import that goes on meanwhile begins anew.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, Repo};
    /// use tract::model::retention::Expire;
    /// use tract::model::{Draft, Message, Millis, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// repo.undo(None, Millis(0))?;
    /// assert!(repo.gc(Expire::default(), Millis(0), &mut |_| {})?.is_nothing());
    /// let collected = repo.gc(Expire::Now, Millis(0), &mut |_| {})?;
    /// assert_eq!((collected.dropped.commits, collected.operations), (1, 2));
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Busy`](crate::Error::Busy), [`Error::ReadOnly`](crate::Error::ReadOnly); [`Error::Damaged`](crate::Error::Damaged) where a page or an index is: what is lost
    /// there would seem to be named by nothing.
    pub fn gc(
        &self,
        expire: Expire,
        now: Millis,
        progress: &mut dyn FnMut(GcStep),
    ) -> Result<Collected> {
        progress(GcStep::Collecting);
        let before = self.store.size_bytes()?;
        let tx = self.store.write()?;
        let mut collected = collect(&*tx, expire, now)?;
        if collected.is_nothing() {
            drop(tx)
        } else {
            tx.count_collection()?;
            tx.commit()?;
            self.forget_vectors()?;
        }
        self.store
            .recompress(&mut |done, all| progress(GcStep::Compressing(done, all)))?;
        if self.store.has_free_room()? {
            progress(GcStep::Rewriting);
            collected.unfinished = scrubbed(&*self.store);
        }
        self.sweep_drafts();
        collected.killed_backups = self.sweep_backups();
        collected.size_bytes = (before, self.store.size_bytes()?);
        Ok(collected)
    }

    /// What [`Repo::gc`] would take out. Nothing changes.
    ///
    /// # Errors
    ///
    /// As [`Repo::gc`].
    pub fn gc_forecast(&self, expire: Expire, now: Millis) -> Result<Collected> {
        self.gc_forecast_after(|_| Ok(()), expire, now)
    }

    /// What it would take out once something else was done in the same transaction.
    pub(crate) fn gc_forecast_after(
        &self,
        first: impl FnOnce(&dyn Tx) -> Result<()>,
        expire: Expire,
        now: Millis,
    ) -> Result<Collected> {
        let size_bytes = self.store.size_bytes()?;
        // It is never committed.
        let tx = self.store.write()?;
        first(&*tx)?;
        Ok(Collected {
            size_bytes: (size_bytes, size_bytes),
            ..collect(&*tx, expire, now)?
        })
    }
}

fn collect(tx: &dyn Tx, expire: Expire, now: Millis) -> Result<Collected> {
    let aside = tx.upkeep()?.rows_aside;
    if aside > 0 {
        return Ok(Collected {
            aside,
            ..Collected::default()
        });
    }
    let mut collected = Collected::default();
    if let Some(last) = last_to_forget(tx, expire, now)? {
        let before = tx.collections()?.forgotten.unwrap_or(0);
        tx.forget_operations(last)?;
        collected.operations = last - before;
        collected.oldest = tx.operations(Some(last + 2), 1)?.pop();
        collected.oldest = collected.oldest.filter(|row| row.id > last);
    }
    tx.forget_unreached()?;
    collected.dropped = tx.drop_unreached()?;
    (collected.sources, collected.source_bytes) = tx.drop_older_sources()?;
    for (name, _) in tx.sessions()? {
        if load::tip(tx, &name)?.is_none() && tx.reflog(&name, 1)?.is_empty() {
            tx.forget_session(&name)?;
        }
    }
    Ok(collected)
}

/// The newest operation that is to be forgotten with all before it: none after it is younger, and no
/// undo or redo that stays is of one that goes.
fn last_to_forget(view: &dyn View, expire: Expire, now: Millis) -> Result<Option<u64>> {
    let operations = view.operations(None, usize::MAX)?;
    let oldest_first = operations.iter().rev();
    let over = oldest_first.take_while(|row| expire.is_over(row, now));
    let mut last = over.last().map_or(0, |row| row.id);
    // Newest first: whatever one names was before it.
    for row in &operations {
        if row.id <= last {
            break;
        }
        if let Reversal::Undo(of) | Reversal::Redo(of) = row.reversal {
            last = last.min(of.saturating_sub(1));
        }
    }
    let forgotten = view.collections()?.forgotten.unwrap_or(0);
    Ok((last > forgotten).then_some(last))
}
