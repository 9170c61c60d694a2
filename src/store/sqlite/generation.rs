//! Which journal belongs to which file: a number that every transaction draws anew.
//!
//! SQLite reads a journal by its name alone; nothing in it says whose it is. So each transaction writes, into a
//! row of `sqlite_sequence` (whose one page nearly each of them writes anyway), the number of the state that it
//! began from and a number of its own. A journal belongs to a file if the number in the file, read without the
//! journal, stands in the journal: as what its first transaction began from, or, where a fold was cut off, as
//! that of a later one.
//!
//! What is not known is not refused: a file or a journal without a number, written by an earlier program, or a
//! file that cannot be read for itself because a fold was cut off.
//!
//! # Source
//!
//! <https://www.sqlite.org/walformat.html> (sections 2.1 and 4), <https://www.sqlite.org/autoinc.html> (other
//! rows may be put into `sqlite_sequence`)

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::{engine, immutable_uri};
use crate::error::Result;

const NUMBER_BYTES: usize = 8;
/// How the row begins wherever it stands: the length of the record's header, a text of 10 bytes, a blob of 16;
/// the text. The two numbers follow.
const ROW: &[u8] = b"\x03\x21\x2cgeneration";
const LOG_HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// Others may fold the journal and begin it anew while both are read: how often it is looked again, and after
/// how long.
const LOOKS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(5);

type Number = [u8; NUMBER_BYTES];

/// Draws a number for the transaction that is open, or for one of its own.
pub(super) fn advance(connection: &Connection) -> Result<()> {
    let next = "UPDATE sqlite_sequence SET seq = CAST(substr(seq, 9, 8) || randomblob(8) AS BLOB)
         WHERE name = 'generation'";
    let next = connection
        .prepare_cached(next)
        .and_then(|mut next| next.execute([]));
    if next.map_err(engine)? == 0 {
        let first = "INSERT INTO sqlite_sequence (name, seq) VALUES ('generation', randomblob(16))";
        connection.execute(first, []).map_err(engine)?;
    }
    Ok(())
}

/// Whether the journal beside a database is another file's.
pub(super) fn has_foreign_journal(path: &Path, journal: &Path) -> bool {
    for look in 0..LOOKS {
        if look > 0 {
            thread::sleep(PAUSE);
        }
        let Some(number) = in_file(path) else {
            return false;
        };
        match holds(journal, number) {
            Ok(Some(false)) => {}
            _ => return false,
        }
    }
    true
}

/// The number in the file, whatever the journal says.
fn in_file(path: &Path) -> Option<Number> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let file = Connection::open_with_flags(immutable_uri(path), flags).ok()?;
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'generation'";
    let found = file.query_row(sql, [], |row| row.get::<_, Vec<u8>>(0));
    let found = found.optional().ok()??;
    found.get(NUMBER_BYTES..)?.try_into().ok()
}

/// Whether a journal holds the number; nothing where it holds none at all.
fn holds(journal: &Path, number: Number) -> io::Result<Option<bool>> {
    let mut journal = BufReader::new(File::open(journal)?);
    let mut header = [0; LOG_HEADER_BYTES];
    journal.read_exact(&mut header)?;
    let page_bytes = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
    // The largest page that SQLite knows.
    if page_bytes > 65_536 {
        return Ok(None);
    }
    let mut frame = vec![0; FRAME_HEADER_BYTES + page_bytes as usize];
    let mut has_any = false;
    // What is left of the time before the journal began anew has other salts.
    while journal.read_exact(&mut frame).is_ok() && frame[8..16] == header[16..24] {
        let page = &frame[FRAME_HEADER_BYTES..];
        for at in memchr::memmem::find_iter(page, ROW) {
            has_any = true;
            let numbers = page[at + ROW.len()..].chunks_exact(NUMBER_BYTES).take(2);
            if numbers.into_iter().any(|held| held == number) {
                return Ok(Some(true));
            }
        }
    }
    Ok(has_any.then_some(false))
}
