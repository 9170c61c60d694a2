//! Everything checked: what the store keeps, what was derived from it, and whether each branch, tag and
//! session still compiles.

mod derived;

use std::collections::{HashMap, HashSet};

use crate::context::Mask;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Encoding, Millis, RefName, RefValue, TokenCount};
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::{Checked, CountKey, Fault, SetAside, View};

/// How many bodies are held at once.
const BODIES: usize = 64;

/// What a check found.
#[derive(Debug, Default)]
pub struct Fsck {
    /// How much there was to check.
    pub checked: Checked,
    /// What is not as it was written.
    pub faults: Vec<Fault>,
    /// Each ref with what is wrong with its context; none: it compiles.
    pub refs: Vec<(RefName, Option<Error>)>,
    /// What is wrong with the log of operations.
    pub log: Option<Error>,
    /// How many counts of tokens were not made again to be compared.
    pub uncounted: u64,
    /// Counts that are wrong, as they should be.
    miscounted: Vec<(CountKey, Encoding, TokenCount)>,
    /// The newest purge that they know of.
    purge: Option<u64>,
}

impl Fsck {
    /// Whether there is damage of any kind.
    pub fn is_damaged(&self) -> bool {
        !self.faults.is_empty()
            || self.log.is_some()
            || self.refs.iter().any(|(_, lost)| lost.is_some())
    }

    /// Whether [`Repo::repair`] helps with any of it. Where pages are damaged it is not safe to write.
    pub fn is_repairable(&self) -> bool {
        self.faults.iter().any(Fault::mends) && !self.is_of_pages()
    }

    /// Whether pages of the file are damaged.
    pub fn is_of_pages(&self) -> bool {
        self.faults.iter().any(Fault::is_of_pages)
    }
}

impl Repo {
    /// Checks every page, row, message, commit and kept file, each against its name, its seal, its log
    /// or its fingerprint; folds and reads the context of each ref; and holds checkpoints and totals
    /// against a fold from the root. With `counts`, the tokens of every message are counted again, which
    /// takes most of the time. Damage is no error, it is what is returned.
    ///
    /// ```
    /// use tract::repo::Repo;
    ///
    /// let repo = Repo::ephemeral()?;
    /// assert!(!repo.fsck(true, &mut |_| Ok(()))?.is_damaged());
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Store`] where the engine cannot read at all.
    pub fn fsck(
        &self,
        counts: bool,
        progress: &mut dyn FnMut(Checked) -> Result<()>,
    ) -> Result<Fsck> {
        let mut found = Fsck::default();
        found.checked = self.store.verify(&mut |checked, fault| {
            found.faults.extend(fault);
            progress(checked)
        })?;
        let view = self.store.read()?;
        found.purge = view.last_purge()?;
        found.log = view.operations(None, usize::MAX).err();
        let derived = derived::check(&*view, counts, &mut || progress(found.checked))?;
        found.faults.extend(derived.faults);
        (found.uncounted, found.miscounted) = (derived.uncounted, derived.miscounted);
        found.refs = refs(&*view)?;
        Ok(found)
    }

    /// Makes again what can be made from the rest, puts wrong counts right, and sets aside what nothing
    /// vouches for: rows that are in nobody's way then, and not lost. Objects whose bytes are those of
    /// their names are not touched.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`], [`Error::ReadOnly`], and [`Error::Damaged`] where the file is too broken for it.
    pub fn repair(&self, found: &Fsck) -> Result<Vec<SetAside>> {
        let aside = self.store.rebuild()?;
        if !found.miscounted.is_empty() {
            let tx = self.store.write()?;
            // What was erased meanwhile has another text.
            if tx.last_purge()? == found.purge {
                for (key, encoding, count) in &found.miscounted {
                    tx.put_count(*key, *encoding, *count)?;
                }
            }
            tx.commit()?;
        }
        Ok(aside)
    }

    /// Remembers that everything was checked now and found whole.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`], [`Error::ReadOnly`].
    pub fn remember_check(&self, now: Millis) -> Result<()> {
        self.store.checked(now)
    }

    /// When everything was checked last and found whole, and when the first operation was: none where
    /// there was none.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn last_check(&self) -> Result<(Option<Millis>, Option<Millis>)> {
        let view = self.store.read()?;
        let upkeep = view.upkeep()?;
        let first = view.operations(Some(upkeep.oldest() + 1), 1)?.pop();
        Ok((upkeep.last_check, first.map(|row| row.time)))
    }
}

/// Each ref whose row is whole, with what is wrong with its context.
fn refs(view: &dyn View) -> Result<Vec<(RefName, Option<Error>)>> {
    let mut known: HashMap<CommitHash, Option<String>> = HashMap::new();
    let mut read: HashSet<ContentHash> = HashSet::new();
    let mut checked = Vec::new();
    for name in view.sound_references()? {
        let lost = match view.reference(&name) {
            Ok(Some(RefValue::Commit(tip))) => {
                let why = known.entry(tip).or_insert_with(|| {
                    let lost = compiles(view, &tip, &mut read).err();
                    lost.map(|error| match error {
                        Error::Damaged { detail } => detail,
                        other => other.to_string(),
                    })
                });
                why.clone().map(|detail| Error::Damaged { detail })
            }
            Ok(_) => None,
            Err(error) => Some(error),
        };
        checked.push((name, lost));
    }
    Ok(checked)
}

/// Whether the context at `tip` folds and can be read; `read` are the contents that were, and need not
/// be again.
fn compiles(view: &dyn View, tip: &CommitHash, read: &mut HashSet<ContentHash>) -> Result<()> {
    let context = load::order(view, tip)?.context();
    let masks = context.entries.iter().map(|entry| &entry.mask);
    let stubs = masks.flat_map(Mask::parts).filter_map(|part| part.stub);
    let contents = context.entries.iter().map(|entry| entry.content);
    let unread = contents.chain(stubs).filter(|name| !read.contains(name));
    let unread: Vec<ContentHash> = unread.collect();
    for some in unread.chunks(BODIES) {
        load::contents(view, some)?;
        read.extend(some);
    }
    Ok(())
}
