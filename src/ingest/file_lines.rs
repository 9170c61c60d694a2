//! Files as an importer's input: one source of lines, a line for each.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use super::plain::cut;
use crate::formats::Input;

/// Files, each a line. None of them is held.
///
/// A line feed or carriage return inside a file becomes a space, which JSON takes for the same, so
/// that a document over several lines is one line and keeps its length; a line feed ends it.
#[derive(Default)]
pub(super) struct FileLines {
    lines: Vec<Line>,
    size_bytes: u64,
}

/// A file's line.
struct Line {
    start: u64,
    before: String,
    path: PathBuf,
    file_bytes: u64,
    after: &'static str,
}

impl Line {
    fn len(&self) -> u64 {
        (self.before.len() + self.after.len() + 1) as u64 + self.file_bytes
    }

    /// Reads on from a place on the line, at most to its end.
    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let before = self.before.len() as u64;
        let end = before + self.file_bytes;
        if !(before..end).contains(&at) {
            let (text, from) = if at < before {
                (self.before.clone(), at)
            } else {
                (format!("{}\n", self.after), at - end)
            };
            return text.as_bytes().read_at(from, buffer);
        }
        let text = cut(buffer, end, at);
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(at - before))?;
        // A file that was cut since it was listed is an error, never a source of other bytes.
        file.read_exact(text)?;
        let breaks = text.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r'));
        breaks.for_each(|byte| *byte = b' ');
        Ok(text.len())
    }
}

impl FileLines {
    /// Adds a file that is so long, with what stands before and behind its text on its line.
    pub(super) fn push(
        &mut self,
        before: String,
        path: PathBuf,
        file_bytes: u64,
        after: &'static str,
    ) {
        let line = Line {
            start: self.size_bytes,
            before,
            path,
            file_bytes,
            after,
        };
        self.size_bytes += line.len();
        self.lines.push(line);
    }
}

impl Input for FileLines {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// At most to the end of one file's line.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let after = self.lines.partition_point(|line| line.start <= offset);
        match after.checked_sub(1).and_then(|at| self.lines.get(at)) {
            Some(line) if offset < line.start + line.len() => {
                line.read_at(offset - line.start, buffer)
            }
            _ => Ok(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_lines_in_the_order_in_which_they_came() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut input = FileLines::default();
        let mut write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            input.push(String::new(), path, text.len() as u64, "");
        };
        write("m1.json", "{}");
        write("001.json", "{\"a\":1}");
        write("002.json", "{\"b\":\n  2}\r\n");

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

        std::fs::write(folder.path().join("001.json"), "{}").expect("cut");
        assert!(input.front(u64::MAX).is_err());
    }
}
