//! A dictionary made of the messages that are here, and the bodies packed anew with it.
//!
//! Of 64 KB of messages on one pays: it takes a 32nd of what they have, and 32 KB at most, and each of them
//! a third less. It is made anew when there is twice as much as it was made for; what came since it was made
//! is packed with it. Little by little, as [`super::recompress`]: others may write meanwhile, and whatever
//! they erase, or change, is left alone. Deliberately absent: kept files, which come in large blocks.

use std::sync::Arc;

use rusqlite::params;

use super::Sqlite;
use super::codec::{RAW, ZSTD, number, press};
use super::dictionary::Dictionary;
use super::session::Session;
use crate::error::Result;
use crate::hash::ContentHash;
use crate::store::columns::Columns;
use crate::store::{Collections, Refs, Tx, rows};

/// Below this a dictionary takes what it saves.
const WORTH_BYTES: u64 = 64 << 10;
/// Of real sessions a 32nd of what messages have, and 32 KB at most, saved most; larger ones save 1 % more of
/// 30 MB and take as much longer to read.
const PART: u64 = 32;
const MOST_BYTES: u64 = 32 << 10;
/// What is looked at of one message, and of all of them for each byte of the dictionary.
const SAMPLE_BYTES: usize = 16 << 10;
const SAMPLED: u64 = 100;
/// How much is read before any of it is written.
const BATCH_BYTES: u64 = 4 << 20;

/// What is known of a dictionary beside what is in it.
struct Known {
    id: i64,
    offered: i64,
    size_bytes: u64,
}

/// Makes a dictionary where one pays, and packs bodies with it.
pub(super) fn train(store: &Sqlite, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let view = Session::read(store)?;
    // What is set aside may lean on a dictionary.
    let is_whole = view.aside()? == 0;
    let newest = newest(&view)?;
    let sql = "SELECT coalesce(sum(size_bytes), 0) FROM contents";
    let size_bytes = view.first(sql, [], |row| row.unsigned(0))?.unwrap_or(0);
    drop(view);
    let newest = match newest {
        _ if !is_whole => return Ok(()),
        Newest::Damaged => return Ok(()),
        Newest::Sound(known) if size_bytes < known.size_bytes.saturating_mul(2) => Some(known),
        _ if size_bytes < WORTH_BYTES => None,
        _ => make(store, size_bytes)?,
    };
    match newest {
        None => Ok(()),
        Some(newest) => lean(store, newest, progress),
    }
}

enum Newest {
    Absent,
    Damaged,
    Sound(Known),
}

fn newest(view: &Session<'_>) -> Result<Newest> {
    let sql = "SELECT id, offered, size_bytes, seal = sealed(id, trained, offered, size_bytes, data) FROM dictionaries ORDER BY id DESC LIMIT 1";
    let found = view.first(sql, [], |row| {
        Ok(if row.get(3)? {
            Newest::Sound(Known {
                id: row.get(0)?,
                offered: row.get(1)?,
                size_bytes: row.unsigned(2)?,
            })
        } else {
            Newest::Damaged
        })
    })?;
    Ok(found.unwrap_or(Newest::Absent))
}

/// What is another one once anything was erased.
fn erased(view: &Session<'_>) -> Result<(Option<u64>, Collections)> {
    Ok((view.last_purge()?, view.collections()?))
}

/// What a dictionary is made of.
struct Sampled {
    erased: (Option<u64>, Collections),
    /// The last message that is here.
    last: i64,
    samples: Vec<Vec<u8>>,
}

/// Makes a dictionary of the messages that are here, and keeps it; none where it would not pay.
fn make(store: &Sqlite, size_bytes: u64) -> Result<Option<Known>> {
    let most = (size_bytes / PART).min(MOST_BYTES);
    let view = Session::read(store)?;
    let sampled = Sampled {
        erased: erased(&view)?,
        last: last(&view)?,
        samples: samples(&view, most * SAMPLED)?,
    };
    drop(view);
    // Where there are too few, it says so.
    let Ok(data) = zstd::dict::from_samples(&sampled.samples, most as usize) else {
        return Ok(None);
    };
    let with = Arc::new(Dictionary { id: 0, data });
    let samples = sampled.samples.iter();
    let saves = samples.map(|body| {
        let len = |packed: Option<Vec<u8>>| packed.map_or(body.len(), |packed| packed.len());
        len(press(body)).saturating_sub(len(with.press(body)))
    });
    if saves.sum::<usize>() < with.data.len() {
        Ok(None)
    } else {
        keep(store, &sampled, &with.data, size_bytes)
    }
}

/// Keeps a dictionary, unless somebody has erased anything since what it was made of was read.
fn keep(store: &Sqlite, sampled: &Sampled, data: &[u8], size_bytes: u64) -> Result<Option<Known>> {
    let tx = Session::write(store)?;
    if erased(&tx)? != sampled.erased {
        return Ok(None);
    }
    // 0 and 1 are encodings of their own.
    let id = tx.next_id("dictionaries")?.max(ZSTD + 1);
    tx.execute(
        "INSERT INTO sealed!(dictionaries)",
        params![id, sampled.last, 0, number(size_bytes), data],
    )?;
    Box::new(tx).commit()?;
    Ok(Some(Known {
        id,
        offered: 0,
        size_bytes,
    }))
}

/// The number of the last message.
fn last(view: &Session<'_>) -> Result<i64> {
    let sql = "SELECT coalesce(max(id), 0) FROM contents";
    Ok(view.first(sql, [], |row| row.get(0))?.unwrap_or(0))
}

/// Bodies from all over the place, up to so many bytes. What is damaged is none of them.
fn samples(view: &Session<'_>, most_bytes: u64) -> Result<Vec<Vec<u8>>> {
    let sql = "SELECT coalesce(sum(min(size_bytes, ?1)), 0) FROM contents";
    let all = view.first(sql, [SAMPLE_BYTES as i64], |row| row.unsigned(0))?;
    // An odd number, for who speaks goes by turns.
    let step = all.unwrap_or(0).div_ceil(most_bytes.max(1)) | 1;
    let mut samples = Vec::new();
    let sql = "SELECT hash, encoding, body, size_bytes FROM contents JOIN bodies ON content = id
         WHERE id % ?1 = 0 AND intact!(contents) ORDER BY id";
    view.scan(sql, [number(step)], |row| {
        let hash: ContentHash = row.get(0)?;
        let body = read(view, &hash, row.get(1)?, row.get(2)?, row.unsigned(3)?);
        if let Some(mut body) = body {
            body.truncate(SAMPLE_BYTES);
            samples.push(body);
        }
        Ok(true)
    })?;
    Ok(samples)
}

/// A body, if it is that of its name.
fn read(
    view: &Session<'_>,
    hash: &ContentHash,
    encoding: i64,
    stored: Vec<u8>,
    size_bytes: u64,
) -> Option<Vec<u8>> {
    let packing = view.packing(encoding).ok()?;
    let body = packing.unpack(stored, size_bytes).ok()?;
    rows::canonical(hash, &body).ok()?;
    Some(body)
}

/// A body in the place of another that says the same.
struct Change {
    id: i64,
    from: (i64, Vec<u8>),
    to: (i64, Vec<u8>),
}

/// Packs the bodies that the newest dictionary was not offered yet, and drops the others.
fn lean(store: &Sqlite, mut newest: Known, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    loop {
        let view = Session::read(store)?;
        let Some(with) = view.packing(newest.id).ok().and_then(|it| it.dictionary()) else {
            return Ok(());
        };
        let last = last(&view)?;
        if newest.offered >= last {
            break;
        }
        let rows = |id: i64| u64::try_from(id).unwrap_or(0);
        progress(rows(newest.offered), rows(last));
        let (changes, upto) = changes(&view, &with, newest.offered)?;
        drop(view);
        newest.offered = upto.unwrap_or(last);
        if !put(store, &newest, &changes)? {
            return Ok(());
        }
    }
    let tx = Session::write(store)?;
    let older =
        "DELETE FROM dictionaries WHERE id < ?1 AND id NOT IN (SELECT encoding FROM bodies)";
    match tx.changed(older, [newest.id])? {
        0 => Ok(()),
        _ => Box::new(tx).commit(),
    }
}

/// Writes what becomes of bodies, unless the dictionary is gone; whether it is there.
fn put(store: &Sqlite, newest: &Known, changes: &[Change]) -> Result<bool> {
    let tx = Session::write(store)?;
    let here = "SELECT 1 FROM dictionaries WHERE id = ?1";
    if tx.first(here, [newest.id], |_| Ok(()))?.is_none() {
        return Ok(false);
    }
    for Change { id, from, to } in changes {
        // What was erased, or said again, since it was read is another one.
        tx.execute(
            "UPDATE bodies SET encoding = ?4, body = ?5
             WHERE content = ?1 AND encoding = ?2 AND body = ?3",
            params![id, from.0, from.1, to.0, to.1],
        )?;
    }
    tx.execute(
        "UPDATE dictionaries SET offered = ?2, seal = sealed(id, trained, ?2, size_bytes, data)
         WHERE id = ?1",
        [newest.id, newest.offered],
    )?;
    Box::new(tx).commit()?;
    Ok(true)
}

/// What becomes of some bodies after this one, and the last that was looked at; none: that was all.
fn changes(
    view: &Session<'_>,
    with: &Arc<Dictionary>,
    after: i64,
) -> Result<(Vec<Change>, Option<i64>)> {
    let (mut changes, mut bytes, mut upto) = (Vec::new(), 0, None);
    let sql = "SELECT id, hash, encoding, body, size_bytes FROM contents
         JOIN bodies ON content = id
         WHERE id > ?1 AND intact!(contents) ORDER BY id";
    let is_over = view.scan(sql, [after], |row| {
        let (id, hash): (i64, ContentHash) = (row.get(0)?, row.get(1)?);
        let (encoding, stored): (i64, Vec<u8>) = (row.get(2)?, row.get(3)?);
        let size_bytes = row.unsigned(4)?;
        (bytes, upto) = (bytes + size_bytes, Some(id));
        let body = read(view, &hash, encoding, stored.clone(), size_bytes);
        // What is damaged stays as it is, and so does what leans on it already.
        if let Some(body) = body.filter(|_| encoding != with.id) {
            let leaning = with.press(&body).map(|packed| (with.id, packed));
            let alone = || match press(&body) {
                Some(packed) => (ZSTD, packed),
                None => (RAW, body.clone()),
            };
            let to = match leaning {
                // One that leant on another cannot stay.
                None if encoding > ZSTD => Some(alone()),
                None => None,
                Some(leaning) if encoding > ZSTD => Some(leaning),
                Some(leaning) => Some(leaning).filter(|it| it.1.len() < stored.len()),
            };
            let from = (encoding, stored);
            changes.extend(to.map(|to| Change { id, from, to }));
        }
        Ok(bytes < BATCH_BYTES)
    })?;
    Ok((changes, upto.filter(|_| !is_over)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Message, Millis, Role, Sealed};
    use crate::store::Store;

    fn message(number: usize) -> Message {
        let words = ["listing", "owner", "changed", "volume", "linked"];
        let said = (0..60).map(|at| {
            let place = number * 31 + at * at * 7 + at * number;
            format!("{} {}", words[place % 5], place % 9)
        });
        let said: Vec<String> = said.collect();
        Message::text(Role::User, format!("{number}: {}", said.join(" ")))
    }

    fn put_some(store: &Sqlite, from: usize, to: usize) -> Vec<ContentHash> {
        let tx = store.write().expect("the lock");
        let hashes = (from..to).map(|number| tx.keep(&message(number)).expect("kept"));
        let hashes: Vec<ContentHash> = hashes.collect();
        tx.commit().expect("durable");
        hashes
    }

    fn purge(store: &Sqlite, hash: &ContentHash) {
        let tx = store.write().expect("the lock");
        tx.purge_content(hash).expect("purged");
        let operation = tx.begin_operation(Millis(0), "purge").expect("begun");
        tx.purge_operations(operation).expect("remembered");
        tx.commit().expect("durable");
    }

    fn trained(messages: usize) -> (Sqlite, Vec<ContentHash>) {
        let store = Sqlite::in_memory().expect("a database");
        let hashes = put_some(&store, 0, messages);
        train(&store, &mut |_, _| {}).expect("trained");
        assert!(leaning(&store) > messages as u64 / 2);
        (store, hashes)
    }

    fn leaning(store: &Sqlite) -> u64 {
        let view = Session::read(store).expect("a view");
        let sql = "SELECT count(*) FROM bodies WHERE encoding > 1";
        view.first(sql, [], |row| row.unsigned(0))
            .expect("read")
            .expect("a row")
    }

    fn known(store: &Sqlite) -> Known {
        match newest(&Session::read(store).expect("a view")).expect("read") {
            Newest::Sound(known) => known,
            _ => panic!("there is one"),
        }
    }

    #[test]
    fn what_is_erased_while_it_is_packed_is_not_written_back() {
        let (store, _) = trained(200);
        let later = put_some(&store, 300, 304);
        let mut newest = known(&store);
        let view = Session::read(&store).expect("a view");
        let with = view
            .packing(newest.id)
            .expect("there")
            .dictionary()
            .expect("one");
        let (changes, _) = changes(&view, &with, newest.offered).expect("read");
        assert_eq!(changes.len(), 4);
        drop(view);
        // It is none of those that the dictionary was made of, which stays.
        purge(&store, &later[1]);
        newest.offered += 4;
        assert!(put(&store, &newest, &changes).expect("written"));
        let view = store.read().expect("a view");
        assert_eq!(
            view.purged(&later).expect("read"),
            [false, true, false, false]
        );
        let read = view.contents(&later).expect("read");
        assert_eq!(read[0], Some(message(300)));
        drop(view);
        assert_eq!(leaning(&store), 203);
        // Of one of the others there is no piece then, and nothing to go on with.
        purge(&store, &later[0]);
        let first = store
            .read()
            .and_then(|view| view.all_contents())
            .expect("read")[0];
        purge(&store, &first);
        assert!(!put(&store, &newest, &changes).expect("nothing"));
        assert_eq!(leaning(&store), 0);
    }

    #[test]
    fn of_what_is_erased_while_it_is_looked_at_no_dictionary_is_made() {
        let store = Sqlite::in_memory().expect("a database");
        let hashes = put_some(&store, 0, 200);
        let view = Session::read(&store).expect("a view");
        let sampled = Sampled {
            erased: erased(&view).expect("read"),
            last: last(&view).expect("read"),
            samples: samples(&view, 100_000).expect("read"),
        };
        drop(view);
        purge(&store, &hashes[7]);
        assert!(
            keep(&store, &sampled, b"pieces", 1)
                .expect("nothing")
                .is_none()
        );
        assert!(matches!(
            newest(&Session::read(&store).expect("a view")),
            Ok(Newest::Absent)
        ));
    }

    #[test]
    fn what_was_packed_ahead_with_a_dictionary_that_is_gone_is_packed_again() {
        let (store, hashes) = trained(200);
        let prepare = store.preparing(true).expect("a way");
        let [late, later] = [700, 701].map(|number| Sealed::new(message(number)));
        let tx = store.write().expect("the lock");
        assert!(tx.put_message(&late, Some(prepare(&late))).expect("kept"));
        tx.commit().expect("durable");
        assert_eq!(leaning(&store), 201);
        purge(&store, &hashes[0]);
        let tx = store.write().expect("the lock");
        assert!(tx.put_message(&later, Some(prepare(&later))).expect("kept"));
        tx.commit().expect("durable");
        assert_eq!(leaning(&store), 0);
        let view = store.read().expect("a view");
        for sealed in [&late, &later] {
            let read = view.content(&sealed.hash()).expect("read");
            assert_eq!(read.as_ref(), Some(&**sealed));
        }
        // And the next one has another number.
        drop(view);
        train(&store, &mut |_, _| {}).expect("trained");
        assert_eq!(known(&store).id, 3);
    }
}
