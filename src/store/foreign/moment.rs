//! What a database and its journals are to whoever looks at them without reading: whether anybody changed what
//! was read meanwhile.
//!
//! # Source
//!
//! <https://www.sqlite.org/walformat.html> (sections 2.1 and 2.2), <https://www.sqlite.org/fileformat2.html>
//! (section 3).

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Error, Result};

/// How long the header of a log is: its salts are other ones whenever it begins anew.
const LOG_HEADER: usize = 32;
/// Where the shared memory says how much of the log is in the file, and how much is being put there.
const FOLDED: u64 = 96;
const FOLDING: u64 = 128;
/// How a rollback journal begins that is to be played back.
const ROLLBACK: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// A database at a moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Moment {
    size_bytes: u64,
    modified: Option<SystemTime>,
    file: u64,
    /// The beginning of its write-ahead log, and how long that is; none where nothing is in it.
    log: Option<([u8; LOG_HEADER], u64)>,
    /// How much of the log is in the file, and is being put there, where a process says so.
    folded: Option<[[u8; 4]; 2]>,
    /// Whether a transaction is half in the file.
    is_written: bool,
}

impl Moment {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let facts = fs::metadata(path).map_err(Error::io(path))?;
        if facts.len() == 0 {
            // SQLite would take away the log of an empty file.
            return Err(Error::EmptyFile {
                path: path.to_owned(),
            });
        }
        let [log, memory, rollback] = ["-wal", "-shm", "-journal"].map(|end| beside(path, end));
        let at = |path: &Path, offset| bytes::<4>(path, offset).map_err(Error::io(path));
        let folded = at(&memory, FOLDED)?.zip(at(&memory, FOLDING)?);
        let header = bytes::<LOG_HEADER>(&log, 0).map_err(Error::io(&log))?;
        let size_bytes = |_: &_| fs::metadata(&log).map_or(0, |facts| facts.len());
        let rollback_begins = bytes::<8>(&rollback, 0).map_err(Error::io(&rollback))?;
        Ok(Self {
            size_bytes: facts.len(),
            modified: facts.modified().ok(),
            #[cfg(unix)]
            file: std::os::unix::fs::MetadataExt::ino(&facts),
            #[cfg(not(unix))]
            file: 0,
            log: header.map(|header| (header, size_bytes(&header))),
            folded: folded.map(|(done, begun)| [done, begun]),
            is_written: rollback_begins == Some(ROLLBACK),
        })
    }

    /// How long the file and its log are, in bytes.
    pub(super) fn size_bytes(&self) -> u64 {
        let log = self.log.as_ref().map_or(0, |(_, length)| *length);
        self.size_bytes.saturating_add(log)
    }

    /// Whether there is a log to be read with the file.
    pub(super) fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// Whether a transaction is half in the file: it is being written, or its writer died.
    pub(super) fn is_written(&self) -> bool {
        self.is_written
    }

    /// Whether pages of the log are being put into the file.
    pub(super) fn is_being_folded(&self) -> bool {
        self.folded.is_some_and(|[done, begun]| done != begun)
    }

    /// Whether what was read at this moment was whole, if it is `after` by now. What was written behind the
    /// end of the log is later; it changes nothing.
    pub(super) fn holds(&self, after: &Self) -> bool {
        let file = |it: &Self| (it.size_bytes, it.modified, it.file, it.is_written);
        let log = match (&self.log, &after.log) {
            // Nothing was read of it; or all of it is in a file that is as it was.
            (None, _) | (Some(_), None) => true,
            (Some((before, length)), Some((header, now))) => before == header && now >= length,
        };
        file(self) == file(after) && log && (self.folded == after.folded || self.log.is_none())
    }
}

/// A file that belongs to a database, by its ending.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// So many bytes of a file; none where there is no such file, or it is shorter.
pub(super) fn bytes<const N: usize>(path: &Path, offset: u64) -> io::Result<Option<[u8; N]>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(offset))?;
    match file.read_exact(&mut bytes) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        read => read.map(|()| Some(bytes)),
    }
}
