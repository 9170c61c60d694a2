//! Bodies put into packs, or into better ones, by a collection: what came one message at a time, or leans on an older
//! program's dictionary, and what an import packed in the time that there was.
//!
//! A frame that was packed here bears zstd's own checksum, and others don't, as in [`super::recompress`]. A pack of
//! few messages is put together with what came behind it. Little by little: others may write meanwhile, and what was
//! read is written only where it is as it was. Deliberately absent: kept files.

use std::collections::BTreeSet;

use rusqlite::params;
use zstd::bulk::Compressor;

use super::Sqlite;
use super::codec::{RAW, ZSTD, pack};
use super::pack::{LARGE_BYTES, OpenPack, PACK_BYTES};
use super::session::Session;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::store::columns::Columns;
use crate::store::{Tx, rows};

/// Of real sessions 9 takes a fifteenth less than an import's 3, at 100 MB/s; 12 less by a two-hundredth, at a third of that.
const LEVEL: i32 = 9;
/// Bodies that stand alone and have less than this together stay so.
const WORTH_BYTES: usize = 4 << 10;
/// How much is read before any of it is written.
const BATCH_BYTES: usize = 4 << 20;

/// A body that may go into another pack.
struct Item {
    content: i64,
    encoding: i64,
    stored: Vec<u8>,
    body: Vec<u8>,
}

/// Puts the bodies that are here into packs.
pub(super) fn repack(store: &Sqlite, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let view = Session::read(store)?;
    // What is set aside may lean on a dictionary, or stand in a pack.
    if view.aside()? > 0 {
        return Ok(());
    }
    let sql = "SELECT coalesce(max(id), 0) FROM contents";
    let last = view.first(sql, [], |row| row.unsigned(0))?.unwrap_or(0);
    drop(view);
    let mut compressor = Compressor::new(LEVEL).map_err(Error::store)?;
    compressor.include_checksum(true).map_err(Error::store)?;
    let mut after = Some(0);
    while let Some(from) = after {
        let view = Session::read(store)?;
        let batch = read(&view, from)?;
        drop(view);
        after = batch.upto;
        if !batch.groups.is_empty() {
            progress(u64::try_from(from).unwrap_or(0).min(last), last);
            put(store, &batch.groups, &mut compressor)?;
        }
    }
    let tx = Session::write(store)?;
    let older = "DELETE FROM dictionaries WHERE id NOT IN (SELECT encoding FROM bodies)";
    if tx.changed(older, [])? + tx.drop_empty_packs()? > 0 {
        Box::new(tx).commit()?;
    }
    Ok(())
}

/// Bodies by the packs that they go into; one alone leaves a dictionary.
#[derive(Default)]
struct Batch {
    groups: Vec<Vec<Item>>,
    /// The last content that was looked at, where there are more.
    upto: Option<i64>,
}

/// What is to be put together of what stands behind a content.
fn read(view: &Session<'_>, after: i64) -> Result<Batch> {
    let done: BTreeSet<i64> = done(view)?;
    let (mut batch, mut open, mut open_bytes, mut bytes) = (Batch::default(), vec![], 0, 0);
    let sql = "SELECT id, hash, encoding, body, size_bytes FROM contents
         JOIN bodies ON content = id WHERE id > ?1 AND intact!(contents) ORDER BY id";
    let mut upto = after;
    let is_over = view.scan(sql, [after], |row| {
        let (content, hash): (i64, ContentHash) = (row.get(0)?, row.get(1)?);
        let (encoding, stored): (i64, Vec<u8>) = (row.get(2)?, row.get(3)?);
        if done.contains(&-encoding) {
            upto = content;
            return Ok(true);
        }
        let packing = view.packing(encoding)?;
        let body = packing.unpack(stored.clone(), row.unsigned(4)?).ok();
        // What is damaged stays as it is.
        let body = body.filter(|body| rows::canonical(&hash, body).is_ok());
        let Some(body) = body else {
            upto = content;
            return Ok(true);
        };
        let is_large = body.len() >= LARGE_BYTES;
        if !is_large && open_bytes + body.len() > PACK_BYTES {
            batch.take(std::mem::take(&mut open));
            open_bytes = 0;
            if bytes >= BATCH_BYTES {
                // This one is read again.
                return Ok(false);
            }
        }
        upto = content;
        bytes += body.len();
        let item = Item {
            content,
            encoding,
            stored,
            body,
        };
        if is_large {
            batch.take(vec![item]);
        } else {
            open_bytes += item.body.len();
            open.push(item);
        }
        Ok(true)
    })?;
    batch.take(open);
    batch.upto = (!is_over).then_some(upto);
    Ok(batch)
}

/// The packs that stay as they are: packed here, and not of few messages.
fn done(view: &Session<'_>) -> Result<BTreeSet<i64>> {
    // The fifth byte of a frame says whether a checksum is at its end.
    let sql = "SELECT id, substr(data, 5, 1) FROM packs WHERE size_bytes >= ?1 AND intact!(packs)";
    let mut done = BTreeSet::new();
    view.scan(sql, [LARGE_BYTES as i64], |row| {
        let head: Vec<u8> = row.get(1)?;
        if has_checksum(&head) {
            done.insert(row.get(0)?);
        }
        Ok(true)
    })?;
    Ok(done)
}

fn has_checksum(head: &[u8]) -> bool {
    head.first().is_some_and(|head| head & 4 != 0)
}

impl Batch {
    fn take(&mut self, items: Vec<Item>) {
        // One alone stays so, and so do a few, unless an older program's dictionary has to go.
        let bytes: usize = items.iter().map(|item| item.body.len()).sum();
        let stand_alone = items
            .iter()
            .all(|item| [RAW, ZSTD].contains(&item.encoding));
        let stays = items.is_empty() || stand_alone && (items.len() == 1 || bytes < WORTH_BYTES);
        if !stays {
            self.groups.push(items);
        }
    }
}

/// Writes groups as packs, unless anything of them is something else by now.
fn put(store: &Sqlite, groups: &[Vec<Item>], compressor: &mut Compressor<'_>) -> Result<()> {
    let tx = Session::write(store)?;
    let here = "SELECT id, first, last, data FROM packs WHERE id = ?1";
    let mut changed = false;
    for group in groups {
        let text: Vec<u8> = group.iter().flat_map(|item| &item.body).copied().collect();
        let data = compressor.compress(&text).map_err(Error::store)?;
        let Some(first) = group.first() else {
            continue;
        };
        // As few messages as before, packed as before.
        let old = first.encoding;
        if group.len() > 1 && old < 0 && group.iter().all(|item| item.encoding == old) {
            let same = tx.first(here, [-old], |row| Ok(row.get::<Vec<u8>>(3)? == data))?;
            if same == Some(true) {
                continue;
            }
        }
        let mut pack_of = match group.len() {
            1 => None,
            _ => Some(OpenPack::of(tx.next_id("packs")?, first.content)),
        };
        for item in group {
            let (encoding, stored) = match &mut pack_of {
                Some(open) => open.add(item.content, &item.body),
                None => {
                    let (encoding, stored) = pack(&item.body);
                    (encoding, stored.into_owned())
                }
            };
            // What was erased, or said again, since it was read is another one: then none of this is written.
            let put = tx.changed(
                "UPDATE bodies SET encoding = ?4, body = ?5
                 WHERE content = ?1 AND encoding = ?2 AND body = ?3",
                params![item.content, item.encoding, item.stored, encoding, stored],
            )?;
            if put != 1 {
                return Ok(());
            }
        }
        if let Some(open) = &pack_of {
            debug_assert_eq!(open.text(), &text[..]);
            tx.put_pack(open, &data)?;
        }
        let old: BTreeSet<i64> = group.iter().map(|item| item.encoding).collect();
        for old in old.into_iter().filter(|old| *old < 0) {
            tx.execute(
                "DELETE FROM packs WHERE id = -?1 AND NOT EXISTS (
                     SELECT 1 FROM bodies WHERE encoding = ?1 AND content BETWEEN first AND last)",
                [old],
            )?;
        }
        changed = true;
    }
    if changed {
        Box::new(tx).commit()?;
    }
    Ok(())
}
