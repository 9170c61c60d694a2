//! A copy of the whole database in one file, made while others write.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::session::Session;
use super::{Sqlite, engine, generation, journal, seal};
use crate::error::Result;

/// How many pages are copied between two words of progress.
const PAGES: i32 = 256;
/// How long it is waited where SQLite asks for it.
const PAUSE: Duration = Duration::from_millis(5);

/// Copies what is there now into the file at `to`, which must be empty. Whoever writes meanwhile is not
/// kept from it, and nothing of theirs is in the copy: one view is open all the time.
pub(super) fn backup(store: &Sqlite, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let view = Session::read(store)?;
    // A view begins with what it reads first.
    view.first("SELECT 1 FROM sqlite_schema", [], |_| Ok(()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copy = Connection::open_with_flags(to, flags).map_err(engine)?;
    seal::register(&copy).map_err(engine)?;
    let copying = Backup::new(&store.connection, &mut copy).map_err(engine)?;
    loop {
        let step = copying.step(PAGES).map_err(engine)?;
        let left = copying.progress();
        let of = |pages: i32| u64::try_from(pages).unwrap_or_default();
        progress(of(left.pagecount - left.remaining), of(left.pagecount));
        match step {
            StepResult::Done => break,
            StepResult::More => {}
            _ => thread::sleep(PAUSE),
        }
    }
    drop((copying, view));
    // Pages that nothing uses are copied like any other, and may hold what a purge erased.
    let owed = "SELECT EXISTS (SELECT 1 FROM unscrubbed)";
    let owed: bool = copy.query_row(owed, [], |row| row.get(0)).map_err(engine)?;
    if owed {
        let erase = "DELETE FROM unscrubbed; VACUUM";
        copy.execute_batch(erase).map_err(engine)?;
        // Its pages lie elsewhere than those of the file that it was copied from.
        generation::advance(&copy)?;
    }
    // One file, without a journal beside it.
    copy.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
        .map_err(engine)?;
    copy.close().map_err(|(_, error)| engine(error))
}

/// Takes a database away that is nobody's, with what lies beside it.
pub(super) fn take_away(path: &Path) {
    for end in ["", "-journal", "-wal", "-shm"] {
        let _ = fs::remove_file(journal(path, end));
    }
}
