//! What others are writing is read as it stood at one moment, and nothing of theirs is touched.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;

use super::moment::Moment;
use super::{is_database, read_foreign};
use crate::error::{Error, Result};

/// A database in WAL mode, in use, with what was written last in its log alone.
fn in_use(path: &Path) -> Connection {
    let owner = Connection::open(path).expect("made");
    owner
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
             CREATE TABLE note (id TEXT, of TEXT, text TEXT, time INTEGER, size REAL, raw BLOB);
             INSERT INTO note VALUES ('b', 'x', 'zwei', 20, 1.5, x'00'), ('a', 'x', 'ä', 30, 2, NULL);
             INSERT INTO note VALUES ('c', 'y', NULL, NULL, NULL, NULL);",
        )
        .expect("written");
    owner
}

/// Every file of a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder");
    let read = entries.map(|entry| {
        let path = entry.expect("readable").path();
        (path.display().to_string(), fs::read(path).expect("read"))
    });
    read.collect()
}

fn ids(path: &Path) -> Result<Vec<String>> {
    read_foreign(path, |tables| {
        let rows = tables.rows("note", None, &["id"])?;
        let ids = rows.iter().filter_map(|row| row["id"].as_str());
        Ok(ids.map(str::to_owned).collect())
    })
}

#[test]
fn rows_that_stand_in_the_log_alone_are_read_and_no_file_is_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("it's 100%.db");
    let owner = in_use(&path);
    let before = files(folder.path());
    assert!(is_database(&path) && !is_database(folder.path()));
    let rows = read_foreign(&path, |tables| {
        tables.rows("note", Some(("of", "x")), &["time", "id"])
    });
    let rows = rows.expect("it is read");
    let expected = [
        json!({"id": "b", "of": "x", "text": "zwei", "time": 20, "size": 1.5, "raw": null}),
        json!({"id": "a", "of": "x", "text": "ä", "time": 30, "size": 2.0, "raw": null}),
    ];
    assert_eq!(serde_json::to_value(rows).expect("JSON"), json!(expected));
    let (columns, none, sums) = read_foreign(&path, |tables| {
        let sums = tables.summed("note", "of", "text", "time")?;
        Ok((tables.columns("note")?, tables.columns("other")?, sums))
    })
    .expect("it is read");
    assert_eq!(columns, ["id", "of", "text", "time", "size", "raw"]);
    assert!(none.is_empty());
    assert_eq!(sums, [("x".into(), 2, 6, 30), ("y".into(), 1, 0, 0)]);
    assert_eq!(files(folder.path()), before, "as it was");
    // Nor is it where its owner has ended, and left the log.
    let left = tempfile::tempdir().expect("a folder");
    let copy = left.path().join("left.db");
    for end in ["", "-wal"] {
        let beside = |path: &Path| format!("{}{end}", path.display());
        fs::copy(beside(&path), beside(&copy)).expect("copied");
    }
    let before = files(left.path());
    assert_eq!(ids(&copy).expect("it is read"), ["a", "b", "c"]);
    assert_eq!(files(left.path()), before, "as it was");
    // And where it has folded it in.
    drop(owner);
    let before = files(folder.path());
    assert_eq!(before.len(), 1);
    assert_eq!(ids(&path).expect("it is read"), ["a", "b", "c"]);
    assert_eq!(files(folder.path()), before, "as it was");
}

#[test]
fn its_owner_is_not_held_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    let owner = in_use(&path);
    let read = read_foreign(&path, |tables| {
        let rows = tables.rows("note", None, &["id"])?;
        // Even what asks for every lock there is.
        owner
            .execute_batch("PRAGMA busy_timeout = 0; INSERT INTO note (id) VALUES ('d')")
            .expect("it writes");
        Ok(rows.len())
    });
    assert_eq!(read.expect("what came later is not in it"), 3);
    assert_eq!(ids(&path).expect("it is read").len(), 4);
}

#[test]
fn what_was_folded_in_meanwhile_is_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    let owner = in_use(&path);
    let mut times = 0;
    let read = read_foreign(&path, |tables| {
        times += 1;
        if times == 1 {
            owner
                .execute_batch(
                    "INSERT INTO note (id) VALUES ('d'); PRAGMA wal_checkpoint(TRUNCATE);
                     INSERT INTO note (id) VALUES ('e')",
                )
                .expect("it writes");
        }
        Ok(tables.rows("note", None, &["id"])?.len())
    });
    assert_eq!((read.expect("it is read"), times), (5, 2));
    // One that is written all the time is given up.
    let read = read_foreign(&path, |_| {
        owner
            .execute_batch("INSERT INTO note (id) VALUES ('f'); PRAGMA wal_checkpoint(TRUNCATE)")
            .expect("it writes");
        Ok(())
    });
    assert!(matches!(read, Err(Error::Overtaken { .. })), "{read:?}");
}

#[test]
fn a_moment_holds_while_the_log_only_grows() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    let owner = in_use(&path);
    let moment = || Moment::of(&path).expect("it is there");
    let first = moment();
    owner
        .execute_batch("INSERT INTO note (id) VALUES ('d')")
        .expect("written");
    let second = moment();
    assert!(first.has_log() && first.holds(&second) && first != second);
    assert!(!second.holds(&first), "a shorter log is another one");
    owner
        .execute_batch("PRAGMA wal_checkpoint(PASSIVE)")
        .expect("folded in");
    assert!(!second.holds(&moment()));
    owner
        .execute_batch("INSERT INTO note (id) VALUES ('e')")
        .expect("written");
    assert!(!second.holds(&moment()));
}

#[test]
fn what_is_no_sound_database_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    drop(in_use(&path));
    let bytes = fs::read(&path).expect("read");
    let fails = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        match ids(&path) {
            Err(Error::Io { path: named, .. } | Error::EmptyFile { path: named }) => {
                assert_eq!(named.file_name(), path.file_name(), "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    };
    fails("empty.db", b"");
    fails(
        "text.db",
        b"no database at all, but a longer text than its header",
    );
    fails("cut.db", &bytes[..bytes.len() / 2]);
    let mut torn = bytes.clone();
    torn[4096..].fill(0xee);
    fails("torn.db", &torn);
    assert!(matches!(
        ids(&folder.path().join("gone.db")),
        Err(Error::Io { .. })
    ));
    // A view is no table: what it would run is a stranger's.
    let owner = Connection::open(&path).expect("opened");
    owner
        .execute_batch("ALTER TABLE note RENAME TO real; CREATE VIEW note AS SELECT * FROM real")
        .expect("made");
    drop(owner);
    let columns = read_foreign(&path, |tables| tables.columns("note"));
    assert!(columns.expect("it is read").is_empty());
    assert!(ids(&path).is_err());
}

/// A column may say that it is made of others, and be as long as it likes.
#[test]
fn what_a_row_says_is_no_longer_than_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.db");
    let owner = Connection::open(&path).expect("made");
    owner
        .execute_batch(
            "CREATE TABLE note (id TEXT, text TEXT, long TEXT GENERATED ALWAYS AS (printf('%.*c', 300000000, 'x')));
             INSERT INTO note (id, text) VALUES ('a', 'one'), ('b', 'two');",
        )
        .expect("written");
    drop(owner);
    let read =
        |order: &'static [&str]| read_foreign(&path, |tables| tables.rows("note", None, order));
    let expected = [
        json!({"id": "a", "text": "one"}),
        json!({"id": "b", "text": "two"}),
    ];
    let rows = read(&["id"]).expect("it is read").into_iter();
    assert_eq!(
        rows.map(Into::into).collect::<Vec<serde_json::Value>>(),
        expected
    );
    assert!(matches!(read(&["long"]), Err(Error::Io { .. })));
    let summed = read_foreign(&path, |tables| tables.summed("note", "id", "long", "id"));
    assert!(matches!(summed, Err(Error::Io { .. })), "{summed:?}");
}

/// Its owner died, so that waiting for it is no use.
#[test]
fn what_was_left_in_the_middle_of_a_transaction_is_said_to_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.db");
    drop(in_use(&path));
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    journal.extend([0; 504]);
    fs::write(folder.path().join("a.db-journal"), journal).expect("written");
    let found = ids(&path).expect_err("nobody may read it");
    assert!(
        found.to_string().contains("a transaction is half in it"),
        "{found}"
    );
}
