//! The bytes of a session file, and what is kept of them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::commit_records::CommitRecords;
use super::file::{BLOCK_BYTES, blocks};
use super::slices::Slices;
use crate::error::Result;
use crate::formats::{Format, Input};
use crate::hash::{CommitHash, Fingerprint};
use crate::model::{Millis, RefName, Settings, Span};
use crate::store::crew::{with_crew, workers};
use crate::store::{
    BlockText, FileStamp, FollowedFile, PressedBlock, Records, SourceRow, SourceState, View,
};

/// How many commits' records are asked for at once.
const RECORDS: usize = 500;

/// How much work a block is, in records: eight make a slice.
const BLOCK_WORK: usize = 2_000;

/// A block of a file, and the same in fewer bytes, if it is.
type Pressed = (Vec<u8>, Option<PressedBlock>);

/// A session file, to be held against the sources that are kept.
pub(super) struct SourceFile<'a> {
    input: &'a dyn Input,
    /// The hashes of its beginnings, by their lengths, as far as anybody asked.
    beginnings: RefCell<BTreeMap<u64, Fingerprint>>,
}

/// What became of a file that was to be kept.
pub(super) struct Kept {
    /// The source that begins with the file.
    pub(super) source: u64,
    /// Whether this made it.
    pub(super) is_new: bool,
}

impl<'a> SourceFile<'a> {
    pub(super) fn of(input: &'a dyn Input) -> Self {
        Self {
            input,
            beginnings: RefCell::default(),
        }
    }

    /// A file that has grown: what was there before is not read again.
    pub(super) fn grown(input: &'a dyn Input, (size_bytes, hash): (u64, &Fingerprint)) -> Self {
        Self {
            input,
            beginnings: RefCell::new([(size_bytes, hash.clone())].into()),
        }
    }

    /// The hash of the file. Of one that is kept for the first time it is what keeping it came to: nobody
    /// reads it for that alone.
    fn whole(&self) -> Result<Fingerprint> {
        self.beginning(self.input.size_bytes())
    }

    /// What is needed to go on with it once it has grown.
    pub(super) fn remembered(
        &self,
        (path, stamp): &(String, FileStamp),
        source: u64,
        settings: Settings,
        time: Millis,
    ) -> Result<FollowedFile> {
        Ok(FollowedFile {
            path: path.clone(),
            source,
            stamp: *stamp,
            hashed: self.whole()?.mark(),
            settings,
            time,
        })
    }

    /// Whether a kept source ends where it does.
    pub(super) fn is_end_of(&self, view: &dyn View, source: u64) -> Result<bool> {
        match view.source(source)? {
            Some(source) => self.is(&source),
            None => Ok(false),
        }
    }

    /// Whether the kept source is this file.
    pub(super) fn is(&self, source: &SourceRow) -> Result<bool> {
        let is_as_long = source.size_bytes == self.input.size_bytes();
        Ok(is_as_long && source.fingerprint == self.whole()?.value())
    }

    /// The first of these kept sources that is this file.
    pub(super) fn among<'s>(&self, sources: &'s [SourceRow]) -> Result<Option<&'s SourceRow>> {
        for source in sources {
            if self.is(source)? {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }

    /// The hash of the file's first bytes.
    fn beginning(&self, size_bytes: u64) -> Result<Fingerprint> {
        let mut beginnings = self.beginnings.borrow_mut();
        let shorter = beginnings.range(..=size_bytes).next_back();
        let (from, mut hash) =
            shorter.map_or_else(Default::default, |(at, hash)| (*at, hash.clone()));
        blocks(self.input, from, size_bytes, |block| {
            hash.update(block);
            Ok(())
        })?;
        beginnings.insert(size_bytes, hash.clone());
        Ok(hash)
    }

    /// The first of these sources whose bytes the file begins with.
    pub(super) fn grown_from<'s>(&self, sources: &'s [SourceRow]) -> Result<Option<&'s SourceRow>> {
        let possible = 1..=self.input.size_bytes();
        for source in sources {
            if possible.contains(&source.size_bytes)
                && self.beginning(source.size_bytes)?.value() == source.fingerprint
            {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }

    /// The first of these sources that begins with the file.
    pub(super) fn beginning_of<'s>(
        &self,
        view: &dyn View,
        sources: &'s [SourceRow],
    ) -> Result<Option<&'s SourceRow>> {
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
            if hash.value() == self.whole()?.value() {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }

    /// Whether the file's lines stand in one of these sources, one behind the other.
    pub(super) fn is_part_of(&self, view: &dyn View, sources: &[SourceRow]) -> Result<bool> {
        let size_bytes = self.input.size_bytes();
        let mut said = Vec::new();
        for source in sources.iter().filter(|it| it.size_bytes > size_bytes) {
            if said.is_empty() {
                blocks(self.input, 0, size_bytes, |block| {
                    said.extend_from_slice(block);
                    Ok(())
                })?;
            }
            let mut kept = Vec::new();
            kept_blocks(view, source.id, source.size_bytes, |block| {
                kept.extend_from_slice(block);
                Ok(())
            })?;
            if has_lines(&kept, &said) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps the file's bytes as a source of a session; of a file that has grown, only what is new. `records`: where
    /// those of commits are, which need not be kept twice.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Overtaken`] if someone else adds to the source between two slices.
    pub(super) fn keep(
        &self,
        slices: &mut Slices<'_>,
        name: &RefName,
        format: &Format,
        records: &CommitRecords,
    ) -> Result<Kept> {
        let tx = slices.tx()?;
        let known = tx.sources(name)?;
        let same = match self.among(&known)? {
            None => self.beginning_of(tx, &known)?,
            same => same,
        };
        if let Some(same) = same {
            return Ok(Kept {
                source: same.id,
                is_new: false,
            });
        }
        let (source, mut state, is_new) = match self.grown_from(&known)? {
            Some(source) => (source.id, source.state(), false),
            None => {
                let newest = known.first().map(|source| source.id);
                let source = tx.put_source(name, format.name, newest)?;
                (source, SourceState::empty(), true)
            }
        };
        let mut hash = self.beginning(state.size_bytes)?;
        let (from, to) = (state.size_bytes, self.input.size_bytes());
        let mut put = |slices: &mut Slices<'_>, (block, pressed): Pressed| -> Result<()> {
            hash.update(&block);
            let fingerprint = hash.value();
            let tx = slices.tx()?;
            tx.append_pressed(source, &state, (&block, pressed), &fingerprint)?;
            state = SourceState {
                size_bytes: state.size_bytes + block.len() as u64,
                fingerprint,
            };
            slices.worked(BLOCK_WORK)
        };
        // One block is pressed before a thread would be of use.
        let workers = if to - from > BLOCK_BYTES as u64 {
            workers()
        } else {
            0
        };
        let press = slices.store().press();
        let work = |(block, said): (Vec<u8>, BlockText)| -> Pressed {
            let pressed = press(&block, &said);
            (block, pressed)
        };
        with_crew(workers, &work, |crew| {
            let (mut ahead, mut start) = (0, from);
            blocks(self.input, from, to, |block| {
                let part = start..start + block.len() as u64;
                let within = records.within(&part)?;
                start = part.end;
                crew.push((block.to_vec(), slices.tx()?.said(&within)?));
                ahead += 1;
                if ahead > workers + 1 {
                    ahead -= 1;
                    crew.pop().map_or(Ok(()), |block| put(slices, block))?;
                }
                Ok(())
            })?;
            while let Some(block) = crew.pop() {
                put(slices, block)?;
            }
            Ok(())
        })?;
        self.beginnings.borrow_mut().insert(to, hash);
        Ok(Kept { source, is_new })
    }

    /// Says which records of a source are behind commits, where that is not known yet.
    pub(super) fn keep_records(
        &self,
        slices: &mut Slices<'_>,
        source: &Kept,
        records: &CommitRecords,
    ) -> Result<()> {
        let (is_new, source) = (source.is_new, source.source);
        for from in (0..records.len()).step_by(RECORDS) {
            let some = records.some(from, RECORDS)?;
            let commits: Vec<CommitHash> = some.iter().map(|(commit, _)| *commit).collect();
            let tx = slices.tx()?;
            let mut put = 0;
            let known = if is_new {
                vec![Records::new(); some.len()]
            } else {
                tx.records(&commits)?
            };
            for ((commit, spans), known) in some.iter().zip(known) {
                if !known
                    .iter()
                    .any(|(of, known)| *of == source && known == spans)
                {
                    tx.put_records(commit, source, spans)?;
                    put += 1;
                }
            }
            slices.worked(put)?;
        }
        Ok(())
    }

    /// Whether a kept source is still there and as long as the file at least, which it begins with.
    pub(super) fn is_kept(&self, view: &dyn View, source: u64) -> Result<bool> {
        let source = view.source(source)?;
        Ok(source.is_some_and(|source| source.size_bytes >= self.input.size_bytes()))
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

/// Whether these lines stand in what is kept, one behind the other. A last line without its end may have one there.
pub(super) fn has_lines(kept: &[u8], said: &[u8]) -> bool {
    memchr::memmem::find_iter(kept, said).any(|at| {
        let (ahead, behind) = (&kept[..at], &kept[at + said.len()..]);
        let is_begun = ahead.is_empty() || ahead.ends_with(b"\n");
        is_begun && (said.ends_with(b"\n") || behind.is_empty() || behind.starts_with(b"\n"))
    })
}
