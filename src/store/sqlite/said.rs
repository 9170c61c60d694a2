//! Blocks of session files packed beside what their messages say: what stands in a body takes no room in the
//! block. A block names the contents whose bodies it leans on, and is read with them.
//!
//! Whoever erases a content has those blocks stand alone before ([`Session::forget_pieces_of`]). Deliberately absent:
//! which records a block holds; whoever keeps it says so.

use std::cell::RefCell;

use rusqlite::params;
use zstd::zstd_safe::{CCtx, DCtx, compress_bound};

use super::codec::{Packer, Unpacker, ZSTD, blob, damaged, pack, pays, unpack};
use super::pack::Leaning;
use super::session::{Session, keyed};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::pool::{Pool, Pooled};
use crate::store::columns::Columns;
use crate::store::sources::Erased;
use crate::store::{BlockText, PressedBlock, Refs};

/// Encodings of a block that leans on bodies: as an import packs it, and as a collection does.
pub(super) const LEANT: i64 = 2;
pub(super) const LEANT_HARD: i64 = 3;

/// A shorter block stands alone: it comes with each growth of a file that is followed, and a collection puts such together.
pub(super) const LEANS_FROM_BYTES: usize = 16 << 10;
/// What a block leans on at most; the bodies of a block are smaller than its records, but for those that other
/// sessions said first.
const MOST_BYTES: usize = 4 << 20;
/// As much of a block as is looked at for the contents that it leans on, before all of it is.
const HEAD_BYTES: i64 = 64;

// Making one costs more than a short block takes.
static PACKERS: Pool<CCtx<'static>> = Pool::new();
static UNPACKERS: Pool<DCtx<'static>> = Pool::new();

thread_local! {
    static PACKER: RefCell<Pooled<CCtx<'static>>> = PACKERS.take(CCtx::create).into();
    static UNPACKER: RefCell<Pooled<DCtx<'static>>> = UNPACKERS.take(DCtx::create).into();
}

/// Runs of contents that stand one behind the other: the first, and how many.
fn runs(contents: &[i64]) -> Vec<(i64, i64)> {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for content in contents {
        match runs.last_mut() {
            Some((first, len)) if *first + *len == *content => *len += 1,
            _ => runs.push((*content, 1)),
        }
    }
    runs
}

/// Whether a block is packed beside what messages say.
pub(super) fn leans(block: &[u8], said: &BlockText) -> bool {
    !said.contents.is_empty() && block.len() >= LEANS_FROM_BYTES
}

/// A block packed beside what messages say, at this level of zstd, where that is worth it.
pub(super) fn press_beside(
    block: &[u8],
    said: &BlockText,
    (encoding, level): (i64, i32),
) -> Option<PressedBlock> {
    let mut frame = Vec::with_capacity(compress_bound(block.len()));
    PACKER
        .with_borrow_mut(|with| with.compress_using_dict(&mut frame, block, &said.bytes, level))
        .ok()?;
    let mut out = Packer::default();
    let runs = runs(&said.contents);
    out.number(runs.len() as u64);
    let mut next = 0;
    for (first, len) in runs {
        out.number(u64::try_from(first - next).ok()?);
        out.number(u64::try_from(len).ok()?);
        next = first + len;
    }
    // Of the bytes themselves: the row's seal does not cover what they lean on.
    out.0.extend(crc32fast::hash(block).to_le_bytes());
    out.0.extend(frame);
    Some(PressedBlock {
        encoding,
        bytes: pays(out.0, block)?,
        erased: said.erased,
    })
}

/// A run of contents: the first, and how many.
type Run = (i64, i64);

/// What a block that leans on bodies says of them: the runs, the checksum, and the frame.
fn parts(data: &[u8]) -> Option<(Vec<Run>, u32, &[u8])> {
    let mut from = Unpacker(data);
    let mut runs = Vec::new();
    let mut next = 0_i64;
    for _ in 0..from.number()? {
        let first = next.checked_add(from.small()?)?;
        let len: i64 = from.small()?;
        next = first.checked_add(len)?;
        runs.push((first, len));
    }
    let (checksum, frame) = from.0.split_first_chunk()?;
    Some((runs, u32::from_le_bytes(*checksum), frame))
}

impl Session<'_> {
    /// What is another one once anything was erased.
    pub(super) fn erased(&self) -> Result<Erased> {
        Ok(Some((self.last_purge()?, self.collections()?)))
    }

    /// The bodies of runs of contents, one behind the other.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] where one is not there.
    fn bodies_of(&self, runs: &[(i64, i64)]) -> Result<Vec<u8>> {
        // The block's own checksum says whether they are what they were: no other row has to vouch for them.
        let sql = "SELECT encoding, body FROM bodies
             WHERE content >= ?1 AND content < ?2 ORDER BY content";
        let mut bytes = Vec::new();
        for (first, len) in runs {
            let mut found = 0;
            self.scan(sql, [*first, first.saturating_add(*len)], |row| {
                let packing = self.packing(row.get(0)?)?;
                bytes.extend(packing.unpack_any(row.get(1)?)?);
                found += 1;
                Ok(true)
            })?;
            if found != *len {
                return Err(damaged("a message that a kept file leans on is missing"));
            }
        }
        Ok(bytes)
    }

    /// What contents say; nothing where that cannot be read.
    pub(super) fn said_by(&self, mut contents: Vec<i64>) -> Result<BlockText> {
        contents.sort_unstable();
        contents.dedup();
        let sql = "SELECT size_bytes FROM contents WHERE id = ?1 AND intact!(contents)";
        let mut all = 0;
        for (at, content) in contents.iter().enumerate() {
            let size = self.first(sql, [*content], |row| row.unsigned(0))?;
            all += size.unwrap_or(0);
            if all > MOST_BYTES as u64 {
                contents.truncate(at);
                break;
            }
        }
        let Ok(bytes) = self.bodies_of(&runs(&contents)) else {
            return Ok(BlockText::default());
        };
        Ok(BlockText {
            contents,
            bytes,
            erased: self.erased()?,
        })
    }

    /// What these commits append.
    pub(super) fn said_at(&self, commits: &[CommitHash]) -> Result<BlockText> {
        if commits.is_empty() {
            return Ok(BlockText::default());
        }
        if self.writes {
            self.close_pack()?;
        }
        let sql = keyed::<CommitHash>(
            "SELECT content FROM keys
             CROSS JOIN commits ON hash = key AND intact!(commits, hash = key)
             WHERE content IS NOT NULL",
        );
        self.said_by(self.all(&sql, [blob(commits)], |row| row.get(0))?)
    }

    /// The bytes of a block, by its row.
    pub(super) fn unpack_block(
        &self,
        encoding: i64,
        data: Vec<u8>,
        size_bytes: u64,
    ) -> Result<Vec<u8>> {
        if encoding <= ZSTD {
            return unpack(encoding, data, size_bytes);
        }
        let wrong = || damaged("a block of a kept file");
        let (runs, checksum, frame) = parts(&data).ok_or_else(wrong)?;
        if encoding > LEANT_HARD {
            return Err(damaged(format!("unknown encoding {encoding} of a block")));
        }
        let bound = zstd::bulk::Decompressor::upper_bound(frame);
        let bound = bound.filter(|bound| *bound as u64 == size_bytes);
        let mut bytes = Vec::with_capacity(bound.ok_or_else(wrong)?);
        let said = self.bodies_of(&runs)?;
        UNPACKER
            .with_borrow_mut(|with| with.decompress_using_dict(&mut bytes, frame, &said))
            .map_err(|_| wrong())?;
        if bytes.len() as u64 != size_bytes || crc32fast::hash(&bytes) != checksum {
            return Err(wrong());
        }
        Ok(bytes)
    }

    /// The same as one that stands alone, or as it was pressed, if nothing was erased since.
    pub(super) fn pressed_block(
        &self,
        bytes: &[u8],
        pressed: Option<PressedBlock>,
    ) -> Result<(i64, Vec<u8>)> {
        self.leaning_blocks.forget();
        Ok(match pressed {
            Some(pressed) if pressed.encoding <= ZSTD || pressed.erased == self.erased()? => {
                (pressed.encoding, pressed.bytes)
            }
            _ => {
                let (encoding, bytes) = pack(bytes);
                (encoding, bytes.into_owned())
            }
        })
    }

    /// Lets the blocks stand alone that lean on any of these contents.
    pub(super) fn free_blocks_of(&self, contents: &[i64]) -> Result<()> {
        let mut known = self.leaning_blocks.0.borrow_mut();
        let all = match &mut *known {
            Some(all) => all,
            None => known.insert(self.leaning()?),
        };
        let leans_on_any = |of: &Leaning| {
            let is_in = |content: &i64| {
                let mut runs = of.runs.iter();
                runs.any(|(first, len)| (*first..first + len).contains(content))
            };
            contents.iter().any(is_in)
        };
        let (free, others): (Vec<Leaning>, Vec<Leaning>) =
            std::mem::take(all).into_iter().partition(leans_on_any);
        *all = others;
        for Leaning { id, .. } in free {
            let sql = "SELECT encoding, data, size_bytes FROM source_blocks WHERE id = ?1";
            let bytes = self.first(sql, [id], |row| {
                self.unpack_block(row.get(0)?, row.get(1)?, row.unsigned(2)?)
            });
            // Its source may be gone by now. One that cannot be read any more is damaged already, and stays so.
            let bytes = match bytes {
                Ok(Some(bytes)) => bytes,
                Ok(None) | Err(Error::Damaged { .. }) => continue,
                Err(error) => return Err(error),
            };
            let (encoding, data) = pack(&bytes);
            self.execute(
                "UPDATE source_blocks SET encoding = ?2, data = ?3,
                     seal = sealed(id, source, start, size_bytes, ?2, ?3) WHERE id = ?1",
                params![id, encoding, data.as_ref()],
            )?;
        }
        self.block.replace(None);
        Ok(())
    }

    fn leaning(&self) -> Result<Vec<Leaning>> {
        let sql = "SELECT id, substr(data, 1, ?2) FROM source_blocks WHERE encoding >= ?1";
        let mut all = Vec::new();
        self.scan(sql, [LEANT, HEAD_BYTES], |row| {
            let id: i64 = row.get(0)?;
            let head = parts(row.bytes(1)?);
            let runs = match head {
                Some((runs, ..)) => Some(runs),
                None => {
                    let whole = "SELECT data FROM source_blocks WHERE id = ?1";
                    let data = self.first(whole, [id], |row| row.get::<Vec<u8>>(0))?;
                    data.and_then(|data| Some(parts(&data)?.0))
                }
            };
            let runs = runs.ok_or_else(|| damaged("a block of a kept file"))?;
            all.push(Leaning { id, runs });
            Ok(true)
        })?;
        Ok(all)
    }
}
