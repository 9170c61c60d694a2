//! The bytes of a session file, and what is kept of them.

use super::file::{BLOCK_BYTES, blocks, fingerprint};
use super::slices::Slices;
use crate::error::Result;
use crate::hash::{Fingerprint, HashBytes};
use crate::interop::{Format, Input};
use crate::model::{RefName, Span};
use crate::store::{SourceRow, Store, View};

/// How many blocks of a source one slice keeps.
const SLICE_BLOCKS: usize = 8;

/// A session file, to be held against the sources that are kept.
pub(super) struct SourceFile<'a> {
    input: &'a dyn Input,
    whole: HashBytes,
}

impl<'a> SourceFile<'a> {
    pub(super) fn of(input: &'a dyn Input) -> Result<Self> {
        let whole = fingerprint(input, input.size_bytes())?;
        Ok(Self { input, whole })
    }

    /// Whether the kept source is this file.
    pub(super) fn is(&self, source: &SourceRow) -> bool {
        source.fingerprint == self.whole
    }

    /// The first of these sources whose bytes the file begins with.
    pub(super) fn grown_from<'s>(&self, sources: &'s [SourceRow]) -> Result<Option<&'s SourceRow>> {
        let possible = 1..=self.input.size_bytes();
        for source in sources {
            if possible.contains(&source.size_bytes)
                && fingerprint(self.input, source.size_bytes)? == source.fingerprint
            {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }

    /// Whether one of these sources begins with the file.
    pub(super) fn begins_one(&self, view: &dyn View, sources: &[SourceRow]) -> Result<bool> {
        let size_bytes = self.input.size_bytes();
        for source in sources
            .iter()
            .filter(|source| source.size_bytes >= size_bytes)
        {
            let mut hash = Fingerprint::default();
            kept_blocks(view, source.id, size_bytes, |block| {
                hash.update(block);
                Ok(())
            })?;
            if hash.value() == self.whole {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps the file's bytes; of a file that has grown, only what is new. Returns the source's id.
    pub(super) fn keep(&self, store: &dyn Store, name: &RefName, format: &Format) -> Result<u64> {
        let known = store.read()?.sources(name)?;
        if let Some(same) = known.iter().find(|source| self.is(source)) {
            return Ok(same.id);
        }
        let mut slices = Slices::of(store, SLICE_BLOCKS);
        let (id, from) = match self.grown_from(&known)? {
            Some(source) => (source.id, source.size_bytes),
            None => (slices.tx()?.put_source(name, format.name)?, 0),
        };
        let mut hash = Fingerprint::default();
        blocks(self.input, 0, from, |block| {
            hash.update(block);
            Ok(())
        })?;
        blocks(self.input, from, self.input.size_bytes(), |block| {
            hash.update(block);
            slices.tx()?.append_source(id, block, &hash.value())?;
            slices.worked(1)
        })?;
        slices.end()?;
        Ok(id)
    }
}

/// Calls `each` with the first `size_bytes` bytes of a kept source, a block at a time; returns how
/// many there were.
pub(super) fn kept_blocks(
    view: &dyn View,
    source: u64,
    size_bytes: u64,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<u64> {
    let mut offset = 0;
    while offset < size_bytes {
        let len = (size_bytes - offset).min(BLOCK_BYTES as u64);
        let bytes = view.source_bytes(source, Span { offset, len })?;
        if bytes.is_empty() {
            break;
        }
        each(&bytes)?;
        offset += bytes.len() as u64;
    }
    Ok(offset)
}
