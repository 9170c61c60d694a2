//! The texts of a run, each read once and held against its hash.

use std::collections::BTreeSet;

use super::TOGETHER;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, Fingerprint, HashBytes};
use crate::model::{RefName, Span, is_tombstone};
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::{CommitRow, View};

/// How much of a session file is held at once, in bytes.
const BLOCK_BYTES: u64 = 1 << 20;

/// What the texts of a run are, once all were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadRun {
    /// Texts that a purge erased: nobody can hold them against their hashes.
    pub erased: u64,
    /// The commits whose text is not the one that they name, or is missing, oldest first.
    pub changed: Vec<CommitHash>,
    /// The sessions whose kept file is not what it was.
    pub files: Vec<RefName>,
}

impl Repo {
    /// Reads every message on the path to `tip`, hidden ones too, and every session file behind it. Damage is no error,
    /// it is what is returned.
    ///
    /// # Errors
    ///
    /// The store's, where it cannot read at all or a commit is damaged.
    pub fn read_run(&self, tip: &CommitHash) -> Result<ReadRun> {
        let view = self.store.read()?;
        let view = &*view;
        let path = view.ancestors(tip, None, usize::MAX)?;
        let mut read = ReadRun::default();
        let (mut contents, mut known) = (Vec::new(), BTreeSet::new());
        for row in path.iter().rev() {
            let named = row.commit.operation.contents().into_iter();
            let new = named.filter(|content| known.insert(*content));
            contents.extend(new.map(|content| (row, content)));
        }
        for some in contents.chunks(TOGETHER) {
            match bodies(view, some) {
                Err(Error::Damaged { .. }) => {
                    // One of them is; each is asked for by itself.
                    for one in some.chunks(1) {
                        match bodies(view, one) {
                            Err(Error::Damaged { .. }) => read.changed.push(one[0].0.hash),
                            erased => read.erased += erased?,
                        }
                    }
                }
                erased => read.erased += erased?,
            }
        }
        let commits: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
        for id in view.sources_behind(&commits)? {
            let Some(row) = view.source(id)? else {
                continue;
            };
            let is_whole = match fingerprint_of(view, id, row.size_bytes) {
                Err(Error::Damaged { .. }) => false,
                print => print? == row.fingerprint,
            };
            if !is_whole {
                read.files.push(row.session);
            }
        }
        Ok(read)
    }

    /// How many commits lie behind `from` on the path to `tip`; none where that does not lead through it.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn commits_between(&self, from: &CommitHash, tip: &CommitHash) -> Result<Option<u64>> {
        let view = self.store.read()?;
        if !view.is_ancestor(from, tip)? {
            return Ok(None);
        }
        let (first, last) = (load::commit(&*view, from)?, load::commit(&*view, tip)?);
        Ok(Some(last.depth - first.depth))
    }
}

/// Reads bodies, of which each must be here and have its name; how many of them a purge erased.
fn bodies(view: &dyn View, named: &[(&CommitRow, ContentHash)]) -> Result<u64> {
    let hashes: Vec<ContentHash> = named.iter().map(|(_, content)| *content).collect();
    let (mut told, mut erased) = (0, 0);
    view.each_body(&hashes, &mut |at, body| {
        told += 1;
        erased += u64::from(is_tombstone(&hashes[at], body.as_bytes()));
        Ok(())
    })?;
    match told == hashes.len() {
        true => Ok(erased),
        false => Err(Error::damaged("a message is missing")),
    }
}

/// What the bytes of a kept file come to.
fn fingerprint_of(view: &dyn View, id: u64, size_bytes: u64) -> Result<HashBytes> {
    let mut print = Fingerprint::default();
    let mut offset = 0;
    while offset < size_bytes {
        let len = BLOCK_BYTES.min(size_bytes - offset);
        print.update(&view.source_bytes(id, Span { offset, len })?);
        offset += len;
    }
    Ok(print.value())
}
