//! The bytes of a file as they are.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::interop::Input;

/// An open file, as long as it was when it was opened.
pub(super) struct PlainFile {
    file: Arc<File>,
    size_bytes: u64,
}

impl PlainFile {
    /// Another reader of the same bytes.
    pub(super) fn again(&self) -> Self {
        Self {
            file: Arc::clone(&self.file),
            size_bytes: self.size_bytes,
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
        })
    }
}

impl Input for PlainFile {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size_bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        let want = buffer.len().min(left);
        std::os::unix::fs::FileExt::read_at(&*self.file, &mut buffer[..want], offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size_bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        let want = buffer.len().min(left);
        std::os::windows::fs::FileExt::seek_read(&*self.file, &mut buffer[..want], offset)
    }
}
