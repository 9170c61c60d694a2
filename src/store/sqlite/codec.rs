//! How bodies and checkpoints are written into columns.

use std::borrow::Cow;
use std::io;

use rusqlite::{Connection, OptionalExtension, params};

use super::{objects, wrap};
use crate::context::{Context, Entry, Mask, MaskedPart};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{EntryId, HideKind, Priority};

/// Bodies below this many bytes are kept plain: zstd without a dictionary gains little on them.
const COMPRESS_FROM: usize = 512;
const LEVEL: i32 = 1;

/// The stored form of a body: compressed where that saves a tenth.
pub(super) fn pack_body(body: &[u8]) -> (i64, Cow<'_, [u8]>) {
    if body.len() >= COMPRESS_FROM
        && let Ok(packed) = zstd::bulk::compress(body, LEVEL)
        && packed.len() < body.len() / 10 * 9
    {
        return (1, Cow::Owned(packed));
    }
    (0, Cow::Borrowed(body))
}

pub(super) fn unpack_body(form: i64, body: Vec<u8>, size_bytes: i64) -> io::Result<Vec<u8>> {
    match form {
        0 => Ok(body),
        1 => zstd::bulk::decompress(&body, usize::try_from(size_bytes).unwrap_or(0)),
        other => Err(io::Error::other(format!("unknown form {other}"))),
    }
}

/// Writes numbers and hashes one after another.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn hash(&mut self, bytes: &[u8; 32]) {
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }
}

/// Reads them back; none where they end too soon.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn hash(&mut self) -> Option<[u8; 32]> {
        self.take(32)?.try_into().ok()
    }

    fn text(&mut self) -> Option<String> {
        let count = usize::try_from(self.number()?).ok()?;
        String::from_utf8(self.take(count)?.to_vec()).ok()
    }
}

/// A run of consecutive commits of one lineage, each an append as it was made.
const RUN: u64 = 0;
/// One entry written out.
const SINGLE: u64 = 1;

pub(super) fn put_checkpoint(
    db: &Connection,
    commit: &CommitHash,
    context: &Context,
) -> Result<()> {
    let place = objects::known(db, commit)?;
    let mut out = Writer::default();
    out.number(context.total_entries);
    for count in context.hides {
        out.number(u64::from(count));
    }
    out.number(context.settings.len() as u64);
    for (key, commit) in &context.settings {
        out.text(key);
        out.hash(commit.as_bytes());
    }
    let mut run: Option<(i64, i64, i64)> = None;
    let close = |run: &mut Option<(i64, i64, i64)>, out: &mut Writer| {
        if let Some((lineage, first, last)) = run.take() {
            out.number(RUN);
            for value in [lineage, first, last] {
                out.number(value as u64);
            }
        }
    };
    for entry in &context.entries {
        let plain = entry.id.index.is_none()
            && entry.placed.is_none()
            && !entry.edited
            && entry.mask.is_empty()
            && entry.priority == Priority::Normal;
        if plain {
            let at = objects::known(db, &entry.id.commit)?;
            match &mut run {
                Some((lineage, _, last)) if *lineage == at.lineage && *last + 1 == at.depth => {
                    *last = at.depth;
                }
                _ => {
                    close(&mut run, &mut out);
                    run = Some((at.lineage, at.depth, at.depth));
                }
            }
            continue;
        }
        close(&mut run, &mut out);
        out.number(SINGLE);
        out.hash(entry.id.commit.as_bytes());
        out.number(entry.id.index.map_or(0, |index| u64::from(index) + 1));
        out.hash(entry.content.as_bytes());
        out.number(entry.priority as u64);
        let placed = entry
            .placed
            .and_then(|kind| HideKind::ALL.iter().position(|k| *k == kind));
        out.number(placed.map_or(0, |slot| slot as u64 + 1));
        out.number(u64::from(entry.edited));
        out.number(entry.mask.parts().len() as u64);
        for part in entry.mask.parts() {
            out.number(u64::from(part.part));
            out.number(u64::from(part.stub.is_some()));
            if let Some(stub) = &part.stub {
                out.hash(stub.as_bytes());
            }
        }
    }
    close(&mut run, &mut out);
    db.prepare_cached(
        "INSERT OR REPLACE INTO checkpoints (lineage, depth, body) VALUES (?1, ?2, ?3)",
    )
    .and_then(|mut insert| insert.execute(params![place.lineage, place.depth, out.0]))
    .map_err(wrap)?;
    Ok(())
}

/// The newest checkpoint's place on the path to `tip`.
fn newest(db: &Connection, tip: objects::Place) -> Result<Option<(i64, i64)>> {
    let mut query = db
        .prepare_cached(
            "SELECT depth FROM checkpoints WHERE lineage = ?1 AND depth <= ?2
             ORDER BY depth DESC LIMIT 1",
        )
        .map_err(wrap)?;
    for (lineage, depth) in objects::stretches(db, tip)? {
        let found = query
            .query_row(params![lineage, depth], |row| row.get(0))
            .optional()
            .map_err(wrap)?;
        if let Some(found) = found {
            return Ok(Some((lineage, found)));
        }
    }
    Ok(None)
}

pub(super) fn commits_since_checkpoint(db: &Connection, tip: &CommitHash) -> Result<u64> {
    let tip = objects::known(db, tip)?;
    let since = newest(db, tip)?.map_or(tip.depth + 1, |(_, depth)| tip.depth - depth);
    Ok(since as u64)
}

pub(super) fn checkpoint(
    db: &Connection,
    tip: &CommitHash,
) -> Result<Option<(CommitHash, Context)>> {
    let Some(tip) = objects::place(db, tip)? else {
        return Ok(None);
    };
    let Some((lineage, depth)) = newest(db, tip)? else {
        return Ok(None);
    };
    let (hash, body): (CommitHash, Vec<u8>) = db
        .prepare_cached(
            "SELECT hash, body FROM checkpoints JOIN commits USING (lineage, depth)
             WHERE lineage = ?1 AND depth = ?2",
        )
        .and_then(|mut query| {
            query.query_row(params![lineage, depth], |row| {
                Ok((objects::commit_hash(row, 0)?, row.get(1)?))
            })
        })
        .map_err(wrap)?;
    // Derived data: one that cannot be read is as good as none.
    Ok(decode(db, &body)?.map(|context| (hash, context)))
}

fn decode(db: &Connection, body: &[u8]) -> Result<Option<Context>> {
    let mut reader = Reader(body);
    let mut context = Context::default();
    let Some(()) = head(&mut reader, &mut context) else {
        return Ok(None);
    };
    while !reader.0.is_empty() {
        match reader.number() {
            Some(RUN) => {
                let values = (reader.number(), reader.number(), reader.number());
                let (Some(lineage), Some(first), Some(last)) = values else {
                    return Ok(None);
                };
                if !run(db, &mut context, lineage as i64, first as i64, last as i64)? {
                    return Ok(None);
                }
            }
            Some(SINGLE) => match single(&mut reader) {
                Some(entry) => context.entries.push_back(entry),
                None => return Ok(None),
            },
            _ => return Ok(None),
        }
    }
    Ok(Some(context))
}

fn head(reader: &mut Reader<'_>, context: &mut Context) -> Option<()> {
    context.total_entries = reader.number()?;
    for count in &mut context.hides {
        *count = u32::try_from(reader.number()?).ok()?;
    }
    for _ in 0..reader.number()? {
        let key = reader.text()?;
        context
            .settings
            .insert(key, CommitHash::from_bytes(reader.hash()?));
    }
    Some(())
}

fn run(
    db: &Connection,
    context: &mut Context,
    lineage: i64,
    first: i64,
    last: i64,
) -> Result<bool> {
    let mut query = db
        .prepare_cached(
            "SELECT commits.hash, contents.hash FROM commits JOIN contents ON contents.id = content
             WHERE lineage = ?1 AND depth BETWEEN ?2 AND ?3 ORDER BY depth",
        )
        .map_err(wrap)?;
    let rows = query
        .query_map(params![lineage, first, last], |row| {
            Ok((
                objects::commit_hash(row, 0)?,
                ContentHash::from_bytes(row.get(1)?),
            ))
        })
        .map_err(wrap)?;
    let mut count = 0;
    for row in rows {
        let (commit, content) = row.map_err(wrap)?;
        context.entries.push_back(Entry {
            id: EntryId::of(commit),
            content,
            mask: Mask::default(),
            priority: Priority::Normal,
            placed: None,
            edited: false,
        });
        count += 1;
    }
    Ok(count == last - first + 1)
}

fn single(reader: &mut Reader<'_>) -> Option<Entry> {
    let commit = CommitHash::from_bytes(reader.hash()?);
    let index = match reader.number()? {
        0 => None,
        index => Some(u32::try_from(index - 1).ok()?),
    };
    let content = ContentHash::from_bytes(reader.hash()?);
    let priority = [Priority::Pinned, Priority::Normal, Priority::Skip]
        .into_iter()
        .nth(usize::try_from(reader.number()?).ok()?)?;
    let placed = match reader.number()? {
        0 => None,
        slot => Some(*HideKind::ALL.get(usize::try_from(slot - 1).ok()?)?),
    };
    let edited = reader.number()? != 0;
    let mut parts = Vec::new();
    for _ in 0..reader.number()? {
        let part = u32::try_from(reader.number()?).ok()?;
        let stub = match reader.number()? {
            0 => None,
            _ => Some(ContentHash::from_bytes(reader.hash()?)),
        };
        parts.push(MaskedPart { part, stub });
    }
    let id = EntryId { commit, index };
    Some(Entry {
        id,
        content,
        mask: Mask::new(parts),
        priority,
        placed,
        edited,
    })
}

/// Compresses one block of a source.
pub(super) fn pack_block(block: &[u8]) -> Result<Vec<u8>> {
    zstd::bulk::compress(block, 3).map_err(Error::store)
}

/// The block again.
pub(super) fn unpack_block(block: &[u8], size_bytes: i64) -> Result<Vec<u8>> {
    zstd::bulk::decompress(block, usize::try_from(size_bytes).unwrap_or(0)).map_err(|error| {
        Error::Damaged {
            detail: format!("a kept source: {error}"),
        }
    })
}
