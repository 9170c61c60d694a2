//! What is kept of session files, put into fewer bytes than there was time for when it came: small
//! blocks, of a session that came in little by little, become large ones, and all are packed harder, beside what
//! their messages say.
//!
//! A block that was packed here says so by its encoding, or, where it stands alone, by zstd's own checksum, which others
//! don't have: so it is known without a table, and none is packed twice. Deliberately absent: bodies, see
//! [`super::repack`].

use rusqlite::params;
use zstd::bulk::Compressor;

use super::Sqlite;
use super::codec::{ZSTD, number, pays, unpack_spans};
use super::said::{LEANS_FROM_BYTES, LEANT, LEANT_HARD, leans, press_beside};
use super::session::Session;
use crate::error::{Error, Result};
use crate::model::Span;
use crate::store::columns::Columns;
use crate::store::{PressedBlock, Tx};

/// A block is read whole for any record in it, with the bodies that it leans on, so none becomes larger than an import
/// makes them.
const BLOCK_BYTES: u64 = 1 << 19;
/// Of real sessions 12 takes an eighth less than an import's 3, at 10 to 20 MB/s; 19 another twentieth,
/// at 1.5.
const LEVEL: i32 = 12;

/// A block, as it is in its table.
struct Block {
    id: i64,
    source: i64,
    start: u64,
    size_bytes: u64,
    encoding: i64,
    seal: i64,
    /// Whether it was packed here, alone.
    is_packed: bool,
    /// What its records say, by the contents' numbers.
    says: Vec<i64>,
}

/// Packs what is kept anew, in the order of the files, run by run.
pub(super) fn recompress(store: &Sqlite, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let runs = runs(blocks(&Session::read(store)?)?);
    if runs.is_empty() {
        return Ok(());
    }
    let all = runs.iter().flatten().map(|block| block.size_bytes).sum();
    let mut compressor = Compressor::new(LEVEL).map_err(Error::store)?;
    compressor.include_checksum(true).map_err(Error::store)?;
    let mut done = 0;
    for run in &runs {
        progress(done, all);
        let view = Session::read(store)?;
        let bytes = bytes(&view, run)?;
        let says = run.iter().flat_map(|block| block.says.iter().copied());
        let said = view.said_by(says.collect())?;
        drop(view);
        // Nothing is locked while it is packed.
        if let Some(bytes) = bytes {
            let pressed = if leans(&bytes, &said) {
                press_beside(&bytes, &said, (LEANT_HARD, LEVEL))
            } else {
                let pressed = compressor.compress(&bytes).map_err(Error::store)?;
                pays(pressed, &bytes).map(PressedBlock::alone)
            };
            put(store, run, &bytes, pressed)?;
        }
        done += run.iter().map(|block| block.size_bytes).sum::<u64>();
    }
    Ok(())
}

/// All blocks in their order. Their bytes are not read but for the frame's head.
fn blocks(session: &Session<'_>) -> Result<Vec<Block>> {
    // The fifth byte of a frame says whether a checksum is at its end.
    let sql = "SELECT id, source, start, size_bytes, encoding, seal, substr(data, 5, 1)
         FROM source_blocks ORDER BY source, start";
    let blocks = session.all(sql, [], |row| {
        let (encoding, head): (i64, Vec<u8>) = (row.get(4)?, row.get(6)?);
        Ok(Block {
            id: row.get(0)?,
            source: row.get(1)?,
            start: row.unsigned(2)?,
            size_bytes: row.unsigned(3)?,
            encoding,
            seal: row.get(5)?,
            is_packed: encoding == ZSTD && head.first().is_some_and(|head| head & 4 != 0),
            says: Vec::new(),
        })
    })?;
    with_says(session, blocks)
}

/// The same, with what the records of each say. One that is packed as well as it may be need not know it.
fn with_says(session: &Session<'_>, mut blocks: Vec<Block>) -> Result<Vec<Block>> {
    if blocks.iter().all(|block| block.encoding == LEANT_HARD) {
        return Ok(blocks);
    }
    let sql = "SELECT source, spans, content FROM commit_records
         JOIN commits ON id = commit_id WHERE content IS NOT NULL AND intact!(commit_records)";
    session.scan(sql, [], |row| {
        let (source, content): (i64, i64) = (row.get(0)?, row.get(2)?);
        for Span { offset, len } in unpack_spans(row.bytes(1)?)? {
            let end = offset.saturating_add(len);
            let is_before =
                |block: &Block| (block.source, block.start + block.size_bytes) <= (source, offset);
            let first = blocks.partition_point(is_before);
            for block in &mut blocks[first..] {
                if block.source != source || block.start >= end {
                    break;
                }
                block.says.push(content);
            }
        }
        Ok(true)
    })?;
    Ok(blocks)
}

/// The runs of neighbours that become one block each; what is as it will be is in none.
fn runs(blocks: Vec<Block>) -> Vec<Vec<Block>> {
    let mut runs: Vec<Vec<Block>> = Vec::new();
    for block in blocks {
        let size: u64 = runs
            .last()
            .into_iter()
            .flatten()
            .map(|of| of.size_bytes)
            .sum();
        let is_next = runs.last().and_then(|run| run.last()).is_some_and(|last| {
            last.source == block.source && last.start + last.size_bytes == block.start
        });
        match runs.last_mut() {
            Some(run) if is_next && size + block.size_bytes <= BLOCK_BYTES => run.push(block),
            _ => runs.push(vec![block]),
        }
    }
    // One alone that did not pay to be packed does not now.
    runs.retain(|run| match &run[..] {
        [one] => match one.encoding {
            ZSTD => {
                let leans = one.size_bytes >= LEANS_FROM_BYTES as u64 && !one.says.is_empty();
                !one.is_packed || leans
            }
            LEANT => true,
            _ => false,
        },
        _ => true,
    });
    runs
}

/// The bytes of a run; none where somebody has changed it.
fn bytes(session: &Session<'_>, run: &[Block]) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT size_bytes, encoding, data, seal FROM source_blocks WHERE id = ?1
         AND intact!(source_blocks)";
    let mut all = Vec::new();
    for block in run {
        let found = session.first(sql, [block.id], |row| {
            let is_same = row.get::<i64>(3)? == block.seal;
            let bytes = session.unpack_block(row.get(1)?, row.get(2)?, row.unsigned(0)?)?;
            Ok(is_same.then_some(bytes))
        })?;
        match found.flatten() {
            Some(bytes) => all.extend(bytes),
            None => return Ok(None),
        }
    }
    Ok(Some(all))
}

/// Puts one block in the place of a run, unless somebody has changed that meanwhile.
fn put(store: &Sqlite, run: &[Block], bytes: &[u8], pressed: Option<PressedBlock>) -> Result<()> {
    let tx = Session::write(store)?;
    let here = "SELECT seal FROM source_blocks WHERE id = ?1 AND intact!(source_blocks)";
    for block in run {
        if tx.first(here, [block.id], |row| row.get::<i64>(0))? != Some(block.seal) {
            return Ok(());
        }
    }
    let Some((first, others)) = run.split_first() else {
        return Ok(());
    };
    for block in others {
        tx.execute("DELETE FROM source_blocks WHERE id = ?1", [block.id])?;
    }
    let (encoding, data) = tx.pressed_block(bytes, pressed)?;
    tx.execute(
        "UPDATE source_blocks SET size_bytes = ?2, encoding = ?3, data = ?4,
             seal = sealed(id, source, start, ?2, ?3, ?4) WHERE id = ?1",
        params![first.id, number(bytes.len() as u64), encoding, data],
    )?;
    Box::new(tx).commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Fingerprint, fingerprint};
    use crate::model::{RefName, Span};
    use crate::store::{SourceState, Sources, Store};

    #[test]
    fn a_file_that_came_little_by_little_is_kept_in_large_blocks_and_reads_as_before() {
        let store = Sqlite::in_memory().expect("a database");
        let name = RefName::session("x", "s");
        let line = |at: usize| format!("{{\"number\":{at},\"said\":\"{}\"}}\n", at * at % 977);
        let mut noise = 7_u64;
        let text: Vec<u8> = (0..90_000).flat_map(|at| line(at).into_bytes()).collect();
        let text: Vec<u8> = text
            .into_iter()
            .chain((0..300_000).map(|_| {
                noise = noise
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (noise >> 33) as u8
            }))
            .collect();
        let tx = store.write().expect("the lock");
        let id = tx.put_source(&name, "x", None).expect("kept");
        let (mut state, mut whole) = (SourceState::empty(), Fingerprint::default());
        for block in text.chunks(70_000) {
            whole.update(block);
            let fingerprint = whole.value();
            tx.append_source(id, &state, block, &fingerprint)
                .expect("kept");
            state = SourceState {
                size_bytes: state.size_bytes + block.len() as u64,
                fingerprint,
            };
        }
        tx.commit().expect("durable");
        let read = || {
            let view = Session::read(&store).expect("a view");
            let all = Span {
                offset: 0,
                len: text.len() as u64,
            };
            let blocks = blocks(&view).expect("read");
            let sql = "SELECT sum(length(data)) FROM source_blocks";
            let kept = view.first(sql, [], |row| row.get::<i64>(0)).expect("read");
            (
                blocks.len(),
                kept,
                view.source_bytes(id, all).expect("read"),
            )
        };
        let (blocks_before, kept_before, _) = read();
        let mut told = Vec::new();
        recompress(&store, &mut |done, all| told.push((done, all))).expect("packed");
        let (blocks_after, kept_after, bytes) = read();
        assert!(bytes == text && fingerprint(&bytes) == state.fingerprint);
        assert!(
            blocks_before > 40 && blocks_after < 10,
            "{blocks_before} {blocks_after}"
        );
        assert!(kept_after < kept_before, "{kept_before:?} {kept_after:?}");
        assert!(!told.is_empty());
        assert!(
            store
                .verify(&mut |_, fault| {
                    assert_eq!(fault, None);
                    Ok(())
                })
                .is_ok()
        );
        // Once is enough.
        recompress(&store, &mut |_, _| panic!("nothing is left to do")).expect("packed");
        // What comes since goes on behind it.
        let tx = store.write().expect("the lock");
        whole.update(b"more");
        tx.append_source(id, &state, b"more", &whole.value())
            .expect("kept");
        tx.commit().expect("durable");
        recompress(&store, &mut |_, _| {}).expect("packed");
        let view = store.read().expect("a view");
        let span = Span {
            offset: text.len() as u64 - 1,
            len: 9,
        };
        assert_eq!(&view.source_bytes(id, span).expect("read")[1..], b"more");
    }
}
