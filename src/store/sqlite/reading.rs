//! Many bodies, told in the order in which they are asked for.
//!
//! What was written in a row is mostly asked for in a row: then the next body stands in the next row, and no
//! index is asked where. Such a row is taken by the hash in it, and its body must have that name; of one that has not,
//! or is a tombstone, the row that the index leads to says what is true. Where they are many, another thread unpacks meanwhile.
//! Deliberately absent: what a body says.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use rusqlite::CachedStatement;

use super::codec::{Row, blob, damaged};
use super::dictionary::Packing;
use super::engine;
use super::session::{Session, keyed};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::model::is_tombstone;
use crate::store::columns::Columns;
use crate::store::crew::{Crew, with_crew, workers};
use crate::store::rows;

/// The bodies of many names, and of one.
const NAMED: &str = "SELECT id, size_bytes, encoding, body, n
     FROM keys CROSS JOIN contents ON hash = key AND intact!(contents, hash = key)
     LEFT JOIN bodies ON content = id";
const NAMED_ONE: &str = "SELECT id, size_bytes, encoding, body
     FROM contents LEFT JOIN bodies ON content = id WHERE hash = ?1 AND intact!(contents)";
/// Those behind a content, whether they are asked for or not: so what is wrong with one of them ends nothing.
pub(super) const BEHIND: &str = "SELECT id, size_bytes, encoding, body, hash
     FROM contents LEFT JOIN bodies ON content = id WHERE id > ?1 ORDER BY id";

/// So many are read by their names before the next ones are looked for behind the last of them; where fewer than
/// these stand there, twice as many the next time.
const BY_NAME: usize = 16;
/// How many rows that nobody asks for are passed at once.
const NEAR: i64 = 8;
/// How often at most rows are passed, and by how many of those that are asked for that is made good.
const PATIENCE: u32 = 8;
const WORTH_A_PASS: u32 = 2;
/// From how many bodies on a thread is worth its start.
const WORTH_A_THREAD: usize = 2_000;
/// How much is unpacked at once, and how much is under way at most, but for one body that is larger.
const BATCH_BYTES: u64 = 64 << 10;
const AHEAD_BYTES: u64 = 4 * BATCH_BYTES;
/// What has more room than this is not kept for the next ones.
const USUAL_BYTES: usize = AHEAD_BYTES as usize;

/// A body on its way.
struct Stored {
    /// Its place among those that are asked for.
    at: usize,
    hash: ContentHash,
    size_bytes: u64,
    packing: Packing,
    /// Where its bytes end in the batch.
    end: usize,
    /// Whether the index led to it, and its row is as it was written.
    is_sure: bool,
}

/// Bodies as they are stored, and then as canonical bytes.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    bodies: Vec<Stored>,
    size_bytes: u64,
    text: String,
    /// By their places, where each ends in the text; none: that row proves nothing.
    told: Vec<(usize, Result<Option<usize>>)>,
    buffer: Vec<u8>,
}

impl Batch {
    /// The same room for others, if it is no more than usual: to be given memory anew takes as long as to unpack.
    fn emptied(mut self) -> Self {
        if self.text.capacity() > USUAL_BYTES {
            return Self::default();
        }
        self.bytes.clear();
        self.text.clear();
        self.told.clear();
        self.size_bytes = 0;
        self
    }
}

fn unpack(mut batch: Batch) -> Batch {
    let mut start = 0;
    for body in batch.bodies.drain(..) {
        let stored = &batch.bytes[start..body.end];
        start = body.end;
        let unpacked = body
            .packing
            .unpack_into(&mut batch.buffer, stored, body.size_bytes);
        let told = match unpacked.and_then(|bytes| rows::canonical(&body.hash, bytes)) {
            Ok(told) if body.is_sure || !is_tombstone(&body.hash, told.as_bytes()) => {
                batch.text.push_str(told);
                Ok(Some(batch.text.len()))
            }
            Err(error) if body.is_sure => Err(error),
            _ => Ok(None),
        };
        batch.told.push((body.at, told));
    }
    // Of a large body the text alone is needed from here on.
    for spent in [&mut batch.bytes, &mut batch.buffer] {
        if spent.capacity() > USUAL_BYTES {
            *spent = Vec::new();
        }
    }
    batch
}

/// Tells the canonical bytes of these contents, one after the other, each with its place among them; of
/// what isn't here, nothing.
pub(super) fn each_body(
    session: &Session<'_>,
    hashes: &[ContentHash],
    visit: &mut dyn FnMut(usize, &str) -> Result<()>,
) -> Result<()> {
    let workers = if hashes.len() < WORTH_A_THREAD {
        0
    } else {
        workers().min(1)
    };
    let most_ahead = if workers == 0 { 0 } else { AHEAD_BYTES };
    with_crew(workers, &unpack, |crew| {
        let mut reading = Reading {
            session,
            hashes,
            at: 0,
            visit,
            crew,
            batch: Batch::default(),
            spare: Vec::new(),
            ahead: VecDeque::new(),
            most_ahead,
            is_over: false,
        };
        let read = reading.read();
        if reading.is_over {
            return read;
        }
        // What stands before one that cannot be read is told first.
        reading.hand_over();
        while reading.tell()? {}
        read
    })
}

struct Reading<'a, 's> {
    session: &'a Session<'s>,
    hashes: &'a [ContentHash],
    /// The next that is read.
    at: usize,
    visit: &'a mut dyn FnMut(usize, &str) -> Result<()>,
    crew: &'a Crew<'a, Batch, Batch>,
    batch: Batch,
    /// What was told.
    spare: Vec<Batch>,
    /// How much each batch has that is under way, and how much all may have.
    ahead: VecDeque<u64>,
    most_ahead: u64,
    /// Whether whoever is told has said that it is enough, or a body was not what it should be.
    is_over: bool,
}

impl Reading<'_, '_> {
    fn read(&mut self) -> Result<()> {
        let mut several = BY_NAME;
        while self.at < self.hashes.len() {
            let last = self.named(several)?;
            let at = self.at;
            if let Some(last) = last.filter(|_| at < self.hashes.len()) {
                self.behind(last)?;
            }
            several = match self.at - at < several {
                true => several * 2,
                false => BY_NAME,
            };
        }
        Ok(())
    }

    /// Reads the next ones by their names. The number of the last, if it is here.
    fn named(&mut self, several: usize) -> Result<Option<i64>> {
        let (session, first) = (self.session, self.at);
        let end = self.hashes.len().min(first + several);
        let asked = &self.hashes[first..end];
        let mut last = None;
        session.scan(&keyed::<ContentHash>(NAMED), [blob(asked)], |row| {
            let at = first + row.unsigned(4)? as usize;
            last = (at + 1 == end).then_some(row.get(0)?);
            self.take(at, row, true).map(|()| true)
        })?;
        self.at = end;
        Ok(last)
    }

    /// Reads the next ones as long as they stand behind a content, in their order, but for a few.
    fn behind(&mut self, content: i64) -> Result<()> {
        let session = self.session;
        let mut one: Option<CachedStatement<'_>> = None;
        let mut rows = session.prepare(BEHIND)?;
        let mut rows = rows.query([content]).map_err(engine)?;
        let (mut passed, mut is_elsewhere, mut patience) = (content, false, PATIENCE);
        // Where the next row cannot be read, and is asked for, its name says what is wrong.
        while self.at < self.hashes.len()
            && let Ok(Some(row)) = rows.next()
        {
            let row = Row(row);
            let id: i64 = row.get(0)?;
            if id <= passed {
                continue;
            }
            let hash = row.get::<ContentHash>(4).ok();
            while hash != Some(self.hashes[self.at]) {
                if is_elsewhere || patience < WORTH_A_PASS {
                    return Ok(());
                }
                let one = match &mut one {
                    Some(one) => one,
                    None => one.insert(session.prepare(NAMED_ONE)?),
                };
                let mut found = one.query([self.hashes[self.at]]).map_err(engine)?;
                if let Some(row) = found.next().map_err(engine)? {
                    let row = Row(row);
                    passed = passed.max(row.get(0)?);
                    self.take(self.at, &row, true)?;
                }
                self.at += 1;
                patience -= WORTH_A_PASS;
                if self.at == self.hashes.len() {
                    return Ok(());
                }
                if passed > id.saturating_add(NEAR) {
                    return Ok(());
                }
                if passed >= id {
                    break;
                }
                is_elsewhere = true;
            }
            if passed >= id {
                continue;
            }
            is_elsewhere = false;
            patience = PATIENCE.min(patience + 1);
            if self.keep(self.at, &row, false).is_err() {
                return Ok(());
            }
            self.at += 1;
            self.pass_on()?;
        }
        Ok(())
    }

    fn take(&mut self, at: usize, row: &Row<'_>, is_sure: bool) -> Result<()> {
        self.keep(at, row, is_sure)?;
        self.pass_on()
    }

    fn keep(&mut self, at: usize, row: &Row<'_>, is_sure: bool) -> Result<()> {
        let (hash, size_bytes) = (self.hashes[at], row.unsigned(1)?);
        let Some(encoding) = row.get(2)? else {
            return Err(damaged(format!("content {hash}: its body is missing")));
        };
        let (packing, stored) = (self.session.packing(encoding)?, row.bytes(3)?);
        let batch = &mut self.batch;
        batch.bytes.extend_from_slice(stored);
        batch.size_bytes = batch.size_bytes.saturating_add(size_bytes);
        let end = batch.bytes.len();
        batch.bodies.push(Stored {
            at,
            hash,
            size_bytes,
            packing,
            end,
            is_sure,
        });
        Ok(())
    }

    /// Hands over what was read, if it is enough, and tells what is done.
    fn pass_on(&mut self) -> Result<()> {
        if self.batch.size_bytes >= BATCH_BYTES {
            self.hand_over();
            while self.ahead.iter().sum::<u64>() > self.most_ahead {
                self.tell()?;
            }
        }
        Ok(())
    }

    fn hand_over(&mut self) {
        let next = self.spare.pop().unwrap_or_default();
        self.ahead.push_back(self.batch.size_bytes);
        self.crew.push(std::mem::replace(&mut self.batch, next));
    }

    /// Tells the first batch that is under way, if there is one.
    fn tell(&mut self) -> Result<bool> {
        let Some(batch) = self.crew.pop() else {
            return Ok(false);
        };
        self.ahead.pop_front();
        let told = self.tell_all(batch);
        self.is_over = told.is_err();
        told.map(|()| true)
    }

    fn tell_all(&mut self, mut batch: Batch) -> Result<()> {
        let mut start = 0;
        for (at, told) in batch.told.drain(..) {
            match told? {
                Some(end) => {
                    (self.visit)(at, &batch.text[start..end])?;
                    start = end;
                }
                None => self.tell_named(at)?,
            }
        }
        self.spare.push(batch.emptied());
        Ok(())
    }

    fn tell_named(&mut self, at: usize) -> Result<()> {
        let (session, hash) = (self.session, self.hashes[at]);
        let mut buffer = Vec::new();
        session.scan(NAMED_ONE, [hash], |row| {
            let packed = session.packed(row, 2)?;
            let Some((packing, stored)) = packed else {
                return Err(damaged(format!("content {hash}: its body is missing")));
            };
            let body = packing.unpack_into(&mut buffer, &stored, row.unsigned(1)?)?;
            (self.visit)(at, rows::canonical(&hash, body)?).map(|()| true)
        })?;
        Ok(())
    }
}
