//! A session that is a folder of small files, as an importer's input: one source of lines.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::tool_dirs::walk_directory;
use crate::error::{Error, Result};
use crate::interop::Input;

/// A folder's JSON files, each a line, in the order of their paths.
///
/// A line feed or carriage return inside a file becomes a space, which JSON takes for the same, so
/// that a document over several lines is one line and keeps its length; a line feed ends it.
pub struct FolderInput {
    /// Each file with where its line begins.
    files: Vec<(u64, PathBuf)>,
    size_bytes: u64,
}

impl FolderInput {
    /// Lists the files of a folder and of those inside it. Reads none of them.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be looked at, [`Error::EmptyFile`] if there is none.
    pub fn open(folder: &Path) -> Result<Self> {
        let mut paths = walk_directory(folder);
        paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
        let (mut files, mut size_bytes) = (Vec::with_capacity(paths.len()), 0);
        for path in paths {
            let length = path.metadata().map_err(Error::io(&path))?.len();
            files.push((size_bytes, path));
            size_bytes += length + 1;
        }
        match files.is_empty() {
            true => Err(Error::EmptyFile {
                path: folder.to_owned(),
            }),
            false => Ok(Self { files, size_bytes }),
        }
    }
}

impl Input for FolderInput {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// At most to the end of one file's line.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let after = self.files.partition_point(|(start, _)| *start <= offset);
        let Some((start, path)) = after.checked_sub(1).and_then(|at| self.files.get(at)) else {
            return Ok(0);
        };
        let end = self.files.get(after).map_or(self.size_bytes, |next| next.0);
        let left = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let want = buffer.len().min(left);
        let buffer = &mut buffer[..want];
        let text = if want == left && want > 0 {
            let (end, text) = buffer.split_last_mut().expect("it wants a byte");
            *end = b'\n';
            text
        } else {
            buffer
        };
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset - start))?;
        // A file that was cut since it was listed is an error, never a source of other bytes.
        file.read_exact(text)?;
        let breaks = text.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r'));
        breaks.for_each(|byte| *byte = b' ');
        Ok(want)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_lines_in_the_order_of_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("one")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write("part/m1/002.json", "{\"b\":\n  2}\r\n");
        write("part/m1/001.json", "{\"a\":1}");
        write("message/m1.json", "{}");
        write("message/notes.txt", "no record");

        let input = FolderInput::open(folder.path()).expect("it is listed");
        let expected = b"{}\n{\"a\":1}\n{\"b\":   2}  \n";
        assert_eq!(input.front(u64::MAX).expect("it is read"), expected);
        assert_eq!(input.size_bytes(), expected.len() as u64);
        // From any place on, in pieces of any length.
        for at in 0..=expected.len() {
            for length in 1..9 {
                let mut piece = vec![0; length];
                let got = input.read_at(at as u64, &mut piece).expect("it is read");
                assert_eq!(piece[..got], expected[at..at + got]);
                assert_eq!(got == 0, at == expected.len());
            }
        }

        std::fs::write(folder.path().join("part/m1/001.json"), "{}").expect("cut");
        assert!(input.front(u64::MAX).is_err());
        let empty = tempfile::tempdir().expect("a folder");
        assert!(FolderInput::open(empty.path()).is_err());
    }
}
