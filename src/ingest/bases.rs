//! The beginnings of sessions that stand in other sessions' files: found among those that are kept.
//!
//! They are taken out of the store before a session is read: while it comes in, the store is written.

use std::cell::RefCell;
use std::io;

use super::file::BLOCK_BYTES;
use super::session::refs_of;
use super::source::kept_blocks;
use crate::error::{Error, Result};
use crate::formats::shared::records::first_line;
use crate::formats::{Base, BaseEnd, Bases, Descent, Format, Input};
use crate::model::Span;
use crate::store::{SourceRow, Store, View};

/// How many files one may begin with, each in the next.
const DEPTH: usize = 64;
/// How much of a record is looked at for its number.
const RECORD_BYTES: u64 = 4 << 10;
/// How much of a kept file is looked at for its first line.
const FIRST_BYTES: u64 = 1 << 20;

/// What a session begins with, in the files that hold it.
#[derive(Default)]
pub(super) struct KeptBases(Vec<(Base, Copied)>);

impl KeptBases {
    /// For the session in a file of `format`: its base, the base's own, and so on.
    pub(super) fn of(store: &dyn Store, format: &Format, input: &dyn Input) -> Result<Self> {
        let mut found = Self::default();
        let mut next = descent(format, input)?.and_then(|descent| descent.base);
        while let Some(base) = next.take().filter(|_| found.0.len() < DEPTH) {
            let view = store.read()?;
            if let Some((source, before)) = holder(&*view, format, &base)? {
                let size_bytes = base.size_bytes().unwrap_or(u64::MAX).min(source.size_bytes);
                let copied = Copied::of(&*view, source.id, size_bytes)?;
                found.0.push((base, copied));
                next = before.base;
            }
        }
        Ok(found)
    }
}

impl Bases for KeptBases {
    fn find(&self, base: &Base) -> Result<Option<&dyn Input>> {
        let found = self.0.iter().find(|(known, _)| known == base);
        Ok(found.map(|(_, copied)| copied as &dyn Input))
    }
}

/// Whether all records of a base are kept.
pub(super) fn is_here(store: &dyn Store, format: &Format, base: &Base) -> Result<bool> {
    let found = holder(&*store.read()?, format, base)?;
    Ok(found.is_some_and(|(source, _)| {
        base.size_bytes()
            .is_none_or(|size| size <= source.size_bytes)
    }))
}

/// The kept file that holds a base's last records, and what it says of others.
///
/// Of two files that hold records of these numbers, one of which was taken back, it is the one in
/// which the next record begins at the same place; else the newer one.
fn holder(view: &dyn View, format: &Format, base: &Base) -> Result<Option<(SourceRow, Descent)>> {
    let mut best: Option<(bool, Descent, SourceRow)> = None;
    let mut names = Vec::new();
    for session in base.sessions() {
        if names.is_empty() {
            names = refs_of(view, format.name, session)?.0;
        }
    }
    for (name, _) in names {
        for source in view.sources(&name)? {
            let descent = descent_of(view, format, &source)?;
            let start = descent.base.as_ref().and_then(Base::records).unwrap_or(0);
            let ends = match &base.end {
                BaseEnd::Before { records, .. } if start >= *records => continue,
                BaseEnd::Before { .. } => ends_there(view, format, &source, base)?,
                BaseEnd::With(record) if mentions(view, &source, record)? => true,
                BaseEnd::With(_) => continue,
            };
            let is_better = best
                .as_ref()
                .is_none_or(|(fits, other, _)| (ends, descent.begun) > (*fits, other.begun));
            if is_better {
                best = Some((ends, descent, source));
            }
        }
    }
    Ok(best.map(|(_, descent, source)| (source, descent)))
}

/// Whether a base's records end in a source where it says that they do.
fn ends_there(view: &dyn View, format: &Format, source: &SourceRow, base: &Base) -> Result<bool> {
    let (Some(offset), Some(home)) = (base.size_bytes(), &format.home) else {
        return Ok(false);
    };
    let left = source.size_bytes.checked_sub(offset);
    let Some(len) = left.filter(|left| *left > 0) else {
        return Ok(left.is_some());
    };
    let len = len.min(RECORD_BYTES);
    let next = view.source_bytes(source.id, Span { offset, len })?;
    Ok((home.number)(&next) == base.records())
}

/// Whether a kept file names a record, by its id.
fn mentions(view: &dyn View, source: &SourceRow, id: &str) -> Result<bool> {
    // An id may stand across the end of a block.
    let mut end = Vec::new();
    let mut is_named = false;
    kept_blocks(view, source.id, source.size_bytes, |block| {
        let overlap = id.len().min(block.len());
        end.extend_from_slice(&block[..overlap]);
        let find = |bytes: &[u8]| memchr::memmem::find(bytes, id.as_bytes()).is_some();
        is_named = is_named || find(&end) || find(block);
        end = block[block.len() - overlap..].to_vec();
        Ok(())
    })?;
    Ok(is_named)
}

/// What a file's first line says of other sessions.
pub(super) fn descent(format: &Format, input: &dyn Input) -> Result<Option<Descent>> {
    let Some(home) = &format.home else {
        return Ok(None);
    };
    let first = first_line(input)?;
    let told = first.and_then(|line| (home.descent)(&line, ""));
    Ok(told.map(|(_, descent)| descent))
}

/// The same of a kept file.
pub(super) fn descent_of(view: &dyn View, format: &Format, source: &SourceRow) -> Result<Descent> {
    if format.home.is_none() || source.format != format.name {
        return Ok(Descent::default());
    }
    let len = source.size_bytes.min(FIRST_BYTES);
    let front = view.source_bytes(source.id, Span { offset: 0, len })?;
    Ok(descent(format, &front.as_slice())?.unwrap_or_default())
}

/// The first bytes of a kept file, in blocks that are compressed: most of them are read once.
struct Copied {
    size_bytes: u64,
    blocks: Vec<Vec<u8>>,
    /// The block that was read last.
    open: RefCell<Option<(usize, Vec<u8>)>>,
}

impl Copied {
    fn of(view: &dyn View, source: u64, size_bytes: u64) -> Result<Self> {
        let mut blocks = Vec::new();
        let size_bytes = kept_blocks(view, source, size_bytes, |block| {
            let packed = zstd::bulk::compress(block, 1);
            blocks.push(packed.map_err(Error::io("source"))?);
            Ok(())
        })?;
        Ok(Self {
            size_bytes,
            blocks,
            open: RefCell::new(None),
        })
    }
}

impl Input for Copied {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// At most to the end of one block.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if offset >= self.size_bytes {
            return Ok(0);
        }
        let (number, at) = (
            (offset / BLOCK_BYTES as u64) as usize,
            (offset % BLOCK_BYTES as u64) as usize,
        );
        let mut open = self.open.borrow_mut();
        let block = match open.take() {
            Some((known, block)) if known == number => block,
            _ => zstd::bulk::decompress(&self.blocks[number], BLOCK_BYTES)?,
        };
        let count = buffer.len().min(block.len() - at);
        buffer[..count].copy_from_slice(&block[at..at + count]);
        *open = Some((number, block));
        Ok(count)
    }
}
