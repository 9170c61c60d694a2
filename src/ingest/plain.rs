//! The bytes of a file as they are.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use crate::error::{Error, Result};
use crate::formats::Input;
use crate::store::FileStamp;

/// An open file, as long as it was when it was opened.
pub(super) struct PlainFile {
    file: Arc<File>,
    size_bytes: u64,
    stamp: FileStamp,
}

#[cfg(test)]
thread_local! {
    /// How many bytes this thread has read of files.
    pub(super) static READ_BYTES: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// What a file is to whoever looks at it without reading.
fn stamp_of(facts: &fs::Metadata) -> FileStamp {
    let since = facts
        .modified()
        .ok()
        .map(|time| match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
        });
    #[cfg(unix)]
    let file = std::os::unix::fs::MetadataExt::ino(facts).cast_signed();
    #[cfg(not(unix))]
    let file = 0;
    FileStamp {
        size_bytes: facts.len(),
        modified_ns: since.unwrap_or_default(),
        file,
    }
}

/// What a file is now to whoever looks at it without reading.
///
/// # Errors
///
/// [`Error::Io`] if it cannot be looked at.
pub(super) fn stamp(path: &Path) -> Result<FileStamp> {
    let facts = std::fs::metadata(path).map_err(Error::io(path))?;
    Ok(stamp_of(&facts))
}

/// A path as files are known by it: without links; none where it is no text.
pub(super) fn absolute(path: &Path) -> Option<String> {
    // Of a session in a database the database is the file.
    let inside = || {
        Some(
            fs::canonicalize(path.parent()?)
                .ok()?
                .join(path.file_name()?),
        )
    };
    let real = fs::canonicalize(path).ok().or_else(inside);
    let real = real.or_else(|| std::path::absolute(path).ok());
    real?.to_str().map(str::to_owned)
}

/// As much of a buffer as an input of so many bytes fills from a place on.
pub(super) fn cut(buffer: &mut [u8], size_bytes: u64, offset: u64) -> &mut [u8] {
    let left = usize::try_from(size_bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
    let want = buffer.len().min(left);
    &mut buffer[..want]
}

impl PlainFile {
    /// What it was to whoever looked at it when it was opened.
    pub(super) fn stamp(&self) -> FileStamp {
        self.stamp
    }

    /// Another reader of the same bytes.
    pub(super) fn again(&self) -> Self {
        Self {
            file: Arc::clone(&self.file),
            size_bytes: self.size_bytes,
            stamp: self.stamp,
        }
    }

    /// Opens a regular file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read or is no regular file, [`Error::EmptyFile`].
    pub(super) fn open(path: &Path) -> Result<Self> {
        // Looked at before it is opened: to open a pipe would wait for somebody to write to it.
        let meta = fs::metadata(path).map_err(Error::io(path))?;
        if !meta.is_file() {
            let kind = if meta.is_dir() {
                io::Error::from(io::ErrorKind::IsADirectory)
            } else {
                io::Error::other("not a regular file")
            };
            return Err(Error::Io {
                path: path.to_owned(),
                source: kind,
            });
        }
        let file = File::open(path).map_err(Error::io(path))?;
        let meta = file.metadata().map_err(Error::io(path))?;
        if meta.len() == 0 {
            return Err(Error::EmptyFile {
                path: path.to_owned(),
            });
        }
        Ok(Self {
            file: Arc::new(file),
            size_bytes: meta.len(),
            stamp: stamp_of(&meta),
        })
    }
}

impl Input for PlainFile {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = cut(buffer, self.size_bytes, offset);
        #[cfg(unix)]
        let got = std::os::unix::fs::FileExt::read_at(&*self.file, wanted, offset)?;
        #[cfg(windows)]
        let got = std::os::windows::fs::FileExt::seek_read(&*self.file, wanted, offset)?;
        #[cfg(test)]
        READ_BYTES.set(READ_BYTES.get() + got as u64);
        Ok(got)
    }
}
