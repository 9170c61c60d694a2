//! A session that is a folder of small files, as an importer's input: one source of lines.

use std::io;
use std::path::Path;

use super::file_lines::FileLines;
use super::tool_dirs::walk_directory;
use crate::error::{Error, Result};
use crate::interop::Input;

/// A folder's JSON files, each a line, in the order of their paths.
pub struct FolderInput(FileLines);

impl FolderInput {
    /// Lists the files of a folder and of those inside it. Reads none of them.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be looked at, [`Error::EmptyFile`] if there is none.
    pub fn open(folder: &Path) -> Result<Self> {
        let mut paths = walk_directory(folder);
        paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
        let mut lines = FileLines::default();
        for path in paths {
            let file_bytes = path.metadata().map_err(Error::io(&path))?.len();
            lines.push(String::new(), path, file_bytes, "");
        }
        match lines.is_empty() {
            true => Err(Error::EmptyFile {
                path: folder.to_owned(),
            }),
            false => Ok(Self(lines)),
        }
    }
}

impl Input for FolderInput {
    fn size_bytes(&self) -> u64 {
        self.0.size_bytes()
    }

    /// At most to the end of one file's line.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset, buffer)
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
