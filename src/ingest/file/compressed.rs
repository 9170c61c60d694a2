//! A compressed file's content as an importer's input: a zstd frame or several.
//!
//! Any place can be read, but going back begins anew, for only what stands before a place tells what
//! stands there. Importers and fingerprints read from the front, so that this costs a pass each, and no
//! memory. A file that ends in the middle is what is whole of it.
//!
//! # Source
//!
//! RFC 8878; Codex compresses rollouts that nobody has touched for a week.

use std::cell::RefCell;
use std::io::{self, BufReader, Read};

use crate::formats::{Input, Problem};
use crate::ingest::plain::{PlainFile, cut};
use crate::model::expansion::most_expanded;

/// How many bytes tell a compressed file.
pub(super) const MAGIC_BYTES: u64 = 4;

/// How much is passed over at once.
const SKIP_BYTES: usize = 64 << 10;

/// Whether a file that begins so is compressed.
pub(super) fn is_packed(front: &[u8]) -> bool {
    front == zstd::zstd_safe::MAGICNUMBER.to_le_bytes()
}

/// A compressed file.
pub(super) struct Packed {
    file: PlainFile,
    size_bytes: u64,
    /// Whether it becomes more than a compressed file may.
    is_too_much: bool,
    /// Why there is no more, where the file has no end.
    broken: Option<String>,
    /// Where somebody was reading.
    reader: RefCell<Option<Reader>>,
}

impl Packed {
    /// Opens what is inside, up to `limit_bytes` of it, or to what it may be.
    pub(super) fn open(file: PlainFile, limit_bytes: u64) -> io::Result<Self> {
        let mut reader = Reader::of(&file)?;
        let most_bytes = most_expanded(file.size_bytes());
        let ended = reader.pass(limit_bytes.min(most_bytes.saturating_add(1)));
        Ok(Self {
            size_bytes: reader.at,
            is_too_much: reader.at > most_bytes,
            broken: ended.err().map(|error| error.to_string()),
            reader: RefCell::new(None),
            file,
        })
    }

    pub(super) fn is_too_much(&self) -> bool {
        self.is_too_much
    }

    /// What is wrong with it.
    pub(super) fn problem(&self) -> Option<Problem> {
        let why = self.broken.as_ref()?;
        let reason = format!(
            "the compressed file ends early or is damaged ({why}); what is whole of it is read"
        );
        Some(Problem::new(0, reason))
    }
}

impl Input for Packed {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = cut(buffer, self.size_bytes, offset);
        if wanted.is_empty() {
            return Ok(0);
        }
        let mut open = self.reader.borrow_mut();
        let mut reader = match open.take() {
            Some(reader) if reader.at <= offset => reader,
            _ => Reader::of(&self.file)?,
        };
        reader.pass(offset)?;
        let got = reader.read(wanted)?;
        *open = Some(reader);
        Ok(got)
    }
}

/// Reads on from a place of the content.
struct Reader {
    decoder: zstd::Decoder<'static, BufReader<Bytes>>,
    at: u64,
}

impl Reader {
    fn of(file: &PlainFile) -> io::Result<Self> {
        let bytes = Bytes {
            file: file.again(),
            at: 0,
        };
        Ok(Self {
            decoder: zstd::Decoder::new(bytes)?,
            at: 0,
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.decoder.read(buffer)?;
        self.at += got as u64;
        Ok(got)
    }

    /// Goes on to a place, or to the end.
    fn pass(&mut self, to: u64) -> io::Result<()> {
        let mut scratch = vec![0; SKIP_BYTES];
        while self.at < to {
            let want = usize::try_from(to - self.at)
                .unwrap_or(SKIP_BYTES)
                .min(SKIP_BYTES);
            if self.read(&mut scratch[..want])? == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// A file's bytes from the front.
struct Bytes {
    file: PlainFile,
    at: u64,
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(self.at, buffer)?;
        self.at += got as u64;
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::ingest::FileInput;

    fn text() -> Vec<u8> {
        let lines = (0..40_000).map(|at| format!("{{\"line\":{at}}}\n"));
        lines.collect::<String>().into_bytes()
    }

    fn open(bytes: &[u8]) -> FileInput {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file.jsonl.zst");
        std::fs::write(&path, bytes).expect("written");
        FileInput::open(&path).expect("it is opened")
    }

    #[test]
    fn what_is_inside_is_read_at_any_place() {
        let text = text();
        let two = text.len() / 3;
        let mut packed = zstd::encode_all(&text[..two], 3).expect("packed");
        packed.extend(zstd::encode_all(&text[two..], 3).expect("a frame more"));
        let input = open(&packed);
        assert_eq!(input.size_bytes(), text.len() as u64);
        assert!(input.problems.is_empty());
        for at in [0, two - 3, 5, text.len() - 4, text.len(), two, 100] {
            let mut piece = [0; 9];
            let mut got = 0;
            while got < 9 {
                match input
                    .read_at((at + got) as u64, &mut piece[got..])
                    .expect("read")
                {
                    0 => break,
                    more => got += more,
                }
            }
            assert_eq!(&piece[..got], &text[at..text.len().min(at + 9)]);
        }
        assert_eq!(input.front(u64::MAX).expect("read"), text);
    }

    #[test]
    fn what_is_whole_of_a_torn_file_is_read() {
        let text = text();
        let packed = zstd::encode_all(text.as_slice(), 3).expect("packed");
        for cut in [packed.len() / 2, packed.len() - 1] {
            let input = open(&packed[..cut]);
            let read = input.front(u64::MAX).expect("read");
            assert!(text.starts_with(&read), "at {cut}");
            let problem = input.problems.clone().pop().expect("it says so");
            assert!(!problem.harmless, "{problem:?}");
        }
        // Most of it is whole, not only the first block.
        let input = open(&packed[..packed.len() - 1]);
        assert!(input.size_bytes() * 2 > text.len() as u64);
    }

    #[test]
    fn a_beginning_is_read_without_the_rest() {
        let folder = tempfile::tempdir().expect("a folder");
        let path: &Path = &folder.path().join("file.jsonl.zst");
        let packed = zstd::encode_all(text().as_slice(), 3).expect("packed");
        std::fs::write(path, &packed[..packed.len() / 2]).expect("written");
        let input = FileInput::open_up_to(path, 100).expect("it is opened");
        assert_eq!(input.size_bytes(), 100);
        assert!(input.problems.is_empty());
    }

    #[test]
    fn what_becomes_more_than_a_file_may_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file.jsonl.zst");
        let open = |mib: usize| {
            let packed = zstd::encode_all(vec![b' '; mib << 20].as_slice(), 3);
            let packed = packed.expect("packed");
            std::fs::write(&path, &packed).expect("written");
            (FileInput::open(&path), packed.len() as u64)
        };
        let (kept, _) = open(30);
        assert_eq!(kept.expect("it is opened").size_bytes(), 30 << 20);
        let (refused, packed_bytes) = open(60);
        let said = refused.err().expect("refused").to_string();
        let most = most_expanded(packed_bytes) >> 20;
        let wanted = format!("its {packed_bytes} bytes become more than {most} MiB");
        assert!(said.ends_with(&wanted) && most < 40, "{said}");
        // Its beginning is still looked at.
        let front = FileInput::open_up_to(&path, 100).expect("it is opened");
        assert_eq!(front.size_bytes(), 100);
    }
}
