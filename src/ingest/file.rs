//! A file as an importer's input. One that its tool has compressed since is read
//! as what it was, a session that stands in a database, or in several files, as the document that is
//! put together of it, a log of an evaluation in an archive as the object that it is in parts, and a folder with a file
//! for each record as lines.

mod compressed;
mod eval_archive;

use std::io;
use std::path::Path;

use self::compressed::Packed;
use self::eval_archive::EvalArchive;
use super::database;
use super::joined_files;
use super::plain::{self, PlainFile};
use super::record_files::{self, RecordFolder};
use super::small_files;
use crate::error::{Error, Result};
use crate::formats::{Input, Problem};
use crate::model::expansion::most_expanded;
use crate::store::FileStamp;

/// How much of a source is read, kept and compressed at once.
pub(crate) const BLOCK_BYTES: usize = 1 << 19;

/// An open file, as long as it was when it was opened; of a compressed one, what is inside.
pub struct FileInput {
    input: Box<dyn Input>,
    /// What the file was when it was opened to whoever looks at it without reading.
    pub(super) stamp: FileStamp,
    /// Whether its bytes are read as they are.
    pub(super) is_plain: bool,
    /// What is wrong with the file itself, or with those of a folder, whatever is in it.
    pub(super) problems: Vec<Problem>,
}

impl FileInput {
    /// Opens a regular file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read or is no regular file, [`Error::EmptyFile`],
    /// [`Error::TornFile`]; [`Error::ExpandsTooFar`]; [`Error::Overtaken`] of a database that its tool writes all the time.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_up_to(path, u64::MAX)
    }

    /// Opens a regular file of which no more than the first `limit_bytes` matter: a compressed one is
    /// not read through for its length then.
    ///
    /// # Errors
    ///
    /// As [`FileInput::open`].
    pub(crate) fn open_up_to(path: &Path, limit_bytes: u64) -> Result<Self> {
        let mut made = database::open(path)?;
        for open in [small_files::open, joined_files::open] {
            if made.is_none() {
                made = open(path)?;
            }
        }
        if let Some(document) = made {
            return Ok(Self::made(document.stamp, Vec::new(), document));
        }
        if let Some(folder) = RecordFolder::open(path)? {
            return Ok(Self::made(folder.stamp, folder.problems, folder.lines));
        }
        let plain = PlainFile::open(path)?;
        let stamp = plain.stamp();
        let front = plain
            .front(compressed::MAGIC_BYTES)
            .map_err(Error::io(path))?;
        if let Some(log) = EvalArchive::open(&plain, &front).map_err(Error::io(path))? {
            if log.is_too_much {
                return Err(too_much(path, plain.size_bytes()));
            }
            let problems = log.problems.clone();
            return Ok(Self::made(stamp, problems, log));
        }
        if !compressed::is_packed(&front) {
            return Ok(Self {
                is_plain: true,
                ..Self::made(stamp, Vec::new(), plain)
            });
        }
        let packed_bytes = plain.size_bytes();
        let packed = Packed::open(plain, limit_bytes).map_err(Error::io(path))?;
        if packed.is_too_much() {
            return Err(too_much(path, packed_bytes));
        }
        match packed.size_bytes() {
            0 => Err(Error::TornFile {
                path: path.to_owned(),
            }),
            _ => {
                let problems = packed.problem().into_iter().collect();
                Ok(Self::made(stamp, problems, packed))
            }
        }
    }

    fn made(stamp: FileStamp, problems: Vec<Problem>, input: impl Input + 'static) -> Self {
        Self {
            input: Box::new(input),
            stamp,
            is_plain: false,
            problems,
        }
    }
}

fn too_much(path: &Path, packed_bytes: u64) -> Error {
    Error::ExpandsTooFar {
        path: path.to_owned(),
        packed_bytes,
        most_mib: most_expanded(packed_bytes) >> 20,
    }
}

impl Input for FileInput {
    fn size_bytes(&self) -> u64 {
        self.input.size_bytes()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read_at(offset, buffer)
    }
}

/// What a file is now to whoever looks at it without reading.
///
/// # Errors
///
/// [`Error::Io`] if it cannot be looked at.
pub fn stamp(path: &Path) -> Result<FileStamp> {
    let made = small_files::stamp(path).or_else(|| record_files::stamp(path));
    let made = made.or_else(|| joined_files::stamp(path));
    made.unwrap_or_else(|| plain::stamp(path))
}

/// Calls `each` with the bytes from `from` to `to`, a block at a time.
pub(crate) fn blocks(
    input: &dyn Input,
    from: u64,
    to: u64,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut buffer = vec![0; BLOCK_BYTES];
    let mut at = from;
    while at < to {
        let want = usize::try_from(to - at)
            .unwrap_or(BLOCK_BYTES)
            .min(BLOCK_BYTES);
        let mut got = 0;
        while got < want {
            let read = input
                .read_at(at + got as u64, &mut buffer[got..want])
                .map_err(Error::io("source"))?;
            if read == 0 {
                break;
            }
            got += read;
        }
        if got == 0 {
            return Err(Error::Io {
                path: "source".into(),
                source: io::Error::from(io::ErrorKind::UnexpectedEof),
            });
        }
        each(&buffer[..got])?;
        at += got as u64;
    }
    Ok(())
}
