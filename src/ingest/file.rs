//! A file as an importer's input, and its fingerprint.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::hash::{Fingerprint, HashBytes};
use crate::interop::Input;

/// How much of a source is read, kept and compressed at once.
pub(crate) const BLOCK_BYTES: usize = 1 << 20;

/// An open file, as long as it was when it was opened.
pub struct FileInput {
    file: File,
    size_bytes: u64,
}

impl FileInput {
    /// Opens a regular file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read or is no regular file, [`Error::EmptyFile`].
    pub fn open(path: &Path) -> Result<Self> {
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
            file,
            size_bytes: meta.len(),
        })
    }
}

impl Input for FileInput {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size_bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        let want = buffer.len().min(left);
        std::os::unix::fs::FileExt::read_at(&self.file, &mut buffer[..want], offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size_bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        let want = buffer.len().min(left);
        std::os::windows::fs::FileExt::seek_read(&self.file, &mut buffer[..want], offset)
    }
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

/// The SHA-256 of the first `size_bytes` bytes.
pub(crate) fn fingerprint(input: &dyn Input, size_bytes: u64) -> Result<HashBytes> {
    let mut hash = Fingerprint::default();
    blocks(input, 0, size_bytes, |block| {
        hash.update(block);
        Ok(())
    })?;
    Ok(hash.value())
}
