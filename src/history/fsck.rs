//! Everything checked: what the store keeps, and whether each branch, tag and session still compiles.

use std::collections::HashMap;

use crate::context::Mask;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::history::load;
use crate::history::repo::Repo;
use crate::model::{RefName, RefValue};
use crate::store::{Checked, Fault, View};

/// How many bodies are held at once.
const BODIES: usize = 64;

/// What a check found.
#[derive(Debug, Default)]
pub struct Fsck {
    /// How much there was to check.
    pub checked: Checked,
    /// What is not as it was written.
    pub faults: Vec<Fault>,
    /// Each ref with what is wrong with its context or its log; none: it compiles.
    pub refs: Vec<(RefName, Option<Error>)>,
    /// What is wrong with the refs as a whole, or with the log of operations.
    pub log: Option<Error>,
}

impl Fsck {
    /// Whether there is damage of any kind.
    pub fn is_damaged(&self) -> bool {
        !self.faults.is_empty()
            || self.log.is_some()
            || self.refs.iter().any(|(_, lost)| lost.is_some())
    }

    /// Whether something is wrong that [`Repo::rebuild`] makes again from the rest.
    pub fn is_repairable(&self) -> bool {
        let in_pages = |fault: &Fault| matches!(fault, Fault::File { .. });
        self.faults.iter().any(Fault::is_derived) && !self.faults.iter().any(in_pages)
    }
}

impl Repo {
    /// Checks every page, row, message, commit and kept file, each against its name, its seal or its
    /// fingerprint, and folds and reads the context of each ref. Damage is no error, it is what is
    /// returned.
    ///
    /// ```
    /// use tract::history::Repo;
    ///
    /// let repo = Repo::ephemeral()?;
    /// assert!(!repo.fsck(&mut |_| {})?.is_damaged());
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Store`] where the engine cannot read at all.
    pub fn fsck(&self, progress: &mut dyn FnMut(Checked)) -> Result<Fsck> {
        let mut found = Fsck::default();
        found.checked = self.store.verify(&mut |checked, fault| {
            progress(checked);
            found.faults.extend(fault);
        })?;
        let view = self.store.read()?;
        match refs(&*view) {
            Ok(refs) => found.refs = refs,
            Err(error) => found.log = Some(error),
        }
        Ok(found)
    }

    /// Makes again what can be made from the rest: indexes, checkpoints, damaged counts, what
    /// listings show of whole messages, and the search index. Nothing else changes.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`], [`Error::ReadOnly`], and [`Error::Damaged`] where the file is too broken for it.
    pub fn rebuild(&self) -> Result<()> {
        self.store.rebuild()
    }
}

fn refs(view: &dyn View) -> Result<Vec<(RefName, Option<Error>)>> {
    view.operations(None, usize::MAX)?;
    let mut known: HashMap<CommitHash, Option<String>> = HashMap::new();
    let mut checked = Vec::new();
    for (name, value) in view.references("")? {
        let mut lost = view.reflog(&name, usize::MAX).err();
        if let (RefValue::Commit(tip), None) = (value, &lost) {
            let why = known.entry(tip).or_insert_with(|| {
                let lost = compiles(view, &tip).err();
                lost.map(|error| match error {
                    Error::Damaged { detail } => detail,
                    other => other.to_string(),
                })
            });
            lost = why.clone().map(|detail| Error::Damaged { detail });
        }
        checked.push((name, lost));
    }
    Ok(checked)
}

/// Whether the context at `tip` folds, from the root as from its checkpoint, and can be read.
fn compiles(view: &dyn View, tip: &CommitHash) -> Result<()> {
    let context = load::context(view, tip)?;
    if load::order(view, tip)?.context() != context {
        let detail = format!("a checkpoint before {tip:.10} is another context's");
        return Err(Error::Damaged { detail });
    }
    let masks = context.entries.iter().map(|entry| &entry.mask);
    let stubs = masks.flat_map(Mask::parts).filter_map(|part| part.stub);
    let contents = context.entries.iter().map(|entry| entry.content);
    let contents: Vec<ContentHash> = contents.chain(stubs).collect();
    for some in contents.chunks(BODIES) {
        load::contents(view, some)?;
    }
    Ok(())
}
