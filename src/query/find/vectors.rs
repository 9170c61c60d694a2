//! Vectors of what was said, kept beside a repository: which message each is of, and where in it the piece stands.
//!
//! The file is derived data: whoever deletes it loses time alone. It holds for one model, which it names by a digest. Each
//! record also bears the number that the store gave its message, so that what came in since is found; where the last of
//! them is another message by now, the file is made anew. It only grows, by whole records, and one that two processes
//! write twice is counted once. Deliberately absent: what a model is, and where a message stands.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::model::embedding::Embedding;

/// What the file is called.
pub(super) const NAME: &str = "vectors";
/// Its first bytes: what it is, and the form of what follows.
const FORM: [u8; 16] = *b"tract vectors 1\n";
/// How many records are read together.
const TOGETHER: usize = 4_096;
/// The head of a record: number, content, part, place in its text, length of the vector.
const HEAD_BYTES: usize = 8 + 32 + 4 + 4 + 4;

/// The digest of a model.
pub(super) type ModelDigest = [u8; 32];

/// A piece of a message, by how near it is to what is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Near {
    pub(super) content: ContentHash,
    pub(super) part: u32,
    /// Where the piece begins in the part's text, in bytes.
    pub(super) start: u32,
    /// From -1 to 1.
    pub(super) score: f32,
}

/// A record on its way into the file.
pub(super) struct VectorPiece {
    /// The number that the store gave the message.
    pub(super) number: i64,
    pub(super) content: ContentHash,
    pub(super) part: u32,
    pub(super) start: u32,
    /// None of a message that says nothing: it is passed, not looked at again.
    pub(super) vector: Option<Embedding>,
}

/// The file, and what could not be written into it.
pub(super) struct Vectors {
    /// None: nothing is kept.
    path: Option<PathBuf>,
    can_write: bool,
    dimensions: usize,
    /// The last message that is in it.
    last: Option<(i64, ContentHash)>,
    unwritten: Vec<u8>,
}

impl Vectors {
    /// Those that a folder holds for a model; none of them where its file is of another one, or is damaged.
    pub(super) fn open(folder: Option<&Path>, model: &ModelDigest, dimensions: usize) -> Self {
        let path = folder.map(|folder| folder.join(NAME));
        let mut vectors = Self {
            path,
            can_write: true,
            dimensions,
            last: None,
            unwritten: Vec::new(),
        };
        let Some(path) = vectors.path.clone() else {
            return vectors;
        };
        match vectors.last_of(&path, model) {
            Some(last) => vectors.last = last,
            None => {
                // Another form, another model, or torn.
                let begun = begin(&path, &vectors.head(model));
                if begun.is_err() {
                    vectors.path = None;
                }
            }
        }
        vectors
    }

    /// The last message in it; none at all where the file is not whole.
    pub(super) const fn last(&self) -> Option<(i64, ContentHash)> {
        self.last
    }

    /// Begins anew: what is here is of another repository, or of another time.
    pub(super) fn clear(&mut self, model: &ModelDigest) {
        (self.last, self.unwritten) = (None, Vec::new());
        if let Some(path) = &self.path
            && begin(path, &self.head(model)).is_err()
        {
            self.path = None;
        }
    }

    fn head(&self, model: &ModelDigest) -> Vec<u8> {
        let dimensions = u32::try_from(self.dimensions).unwrap_or(u32::MAX);
        let dimensions = dimensions.to_le_bytes();
        [&FORM[..], model, &dimensions].concat()
    }

    const fn record_bytes(&self) -> usize {
        HEAD_BYTES + self.dimensions
    }

    /// The last message of a file that is whole and of this model; none where it has none yet.
    #[expect(clippy::option_option, reason = "no file, and one without records")]
    fn last_of(&self, path: &Path, model: &ModelDigest) -> Option<Option<(i64, ContentHash)>> {
        use std::io::{Seek, SeekFrom};
        let head = self.head(model);
        let mut file = File::open(path).ok()?;
        let mut found = vec![0; head.len()];
        file.read_exact(&mut found).ok()?;
        let rest = file.metadata().ok()?.len().checked_sub(head.len() as u64)?;
        let size = self.record_bytes() as u64;
        if found != head || !rest.is_multiple_of(size) {
            return None;
        }
        if rest == 0 {
            return Some(None);
        }
        file.seek(SeekFrom::End(-i64::try_from(size).ok()?)).ok()?;
        let mut record = vec![0; self.record_bytes()];
        file.read_exact(&mut record).ok()?;
        let (number, near) = read(&record);
        Some(Some((number, near.content)))
    }

    /// Takes pieces in, in the order of their numbers; where the file cannot be written to, for as long as this lives.
    pub(super) fn add(&mut self, pieces: &[VectorPiece]) {
        let mut bytes = Vec::with_capacity(pieces.len() * self.record_bytes());
        for piece in pieces {
            bytes.extend(piece.number.to_le_bytes());
            bytes.extend(piece.content.as_bytes());
            bytes.extend(piece.part.to_le_bytes());
            bytes.extend(piece.start.to_le_bytes());
            let length = piece.vector.as_ref().map_or(0.0, Embedding::length);
            bytes.extend(length.to_le_bytes());
            match &piece.vector {
                Some(vector) => bytes.extend(vector.0.iter().map(|one| one.cast_unsigned())),
                None => bytes.extend(std::iter::repeat_n(0, self.dimensions)),
            }
            self.last = Some((piece.number, piece.content));
        }
        let path = self.path.as_ref().filter(|_| self.can_write);
        let written = path.map(|path| {
            let mut file = OpenOptions::new().append(true).open(path)?;
            file.write_all(&bytes)
        });
        if !matches!(written, Some(Ok(()))) {
            self.can_write = false;
            self.unwritten.extend(bytes);
        }
    }

    /// The pieces that are nearest to a vector, of each message the best one, the nearest first.
    pub(super) fn nearest(
        &self,
        to: &Embedding,
        most: usize,
        is_meant: &dyn Fn(&ContentHash) -> bool,
    ) -> Result<Vec<Near>> {
        let (mut found, length) = (Vec::<Near>::new(), to.length());
        let mut take = |records: &[u8]| {
            for record in records.chunks_exact(self.record_bytes()) {
                let own = f32::from_le_bytes(array(&record[HEAD_BYTES - 4..HEAD_BYTES]));
                if own <= 0.0 {
                    continue;
                }
                let vector = &record[HEAD_BYTES..];
                let (_, near) = read(record);
                if !is_meant(&near.content) {
                    continue;
                }
                let score = product(&to.0, vector) as f32 / (own * length);
                let near = Near { score, ..near };
                match found.last_mut() {
                    Some(last) if last.content == near.content => {
                        if last.score < near.score {
                            *last = near;
                        }
                    }
                    _ => found.push(near),
                }
            }
        };
        if let Some(path) = &self.path {
            each_block(path, FORM.len() + 32 + 4, self.record_bytes(), &mut take)?;
        }
        take(&self.unwritten);
        let order =
            |a: &Near, b: &Near| b.score.total_cmp(&a.score).then(a.content.cmp(&b.content));
        if found.len() > most && most > 0 {
            found.select_nth_unstable_by(most - 1, order);
            found.truncate(most);
        }
        found.sort_unstable_by(order);
        found.dedup_by_key(|near| near.content);
        Ok(found)
    }
}

/// The product of a vector and one as bytes.
fn product(a: &[i8], b: &[u8]) -> i32 {
    let pairs = a.iter().zip(b);
    pairs
        .map(|(a, b)| i32::from(*a) * i32::from(b.cast_signed()))
        .sum()
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

/// A record's number, and what it is of.
fn read(record: &[u8]) -> (i64, Near) {
    let near = Near {
        content: ContentHash::from_bytes(array(&record[8..40])),
        part: u32::from_le_bytes(array(&record[40..44])),
        start: u32::from_le_bytes(array(&record[44..48])),
        score: 0.0,
    };
    (i64::from_le_bytes(array(&record[..8])), near)
}

/// Reads a file behind its head, some whole records at a time.
fn each_block(
    path: &Path,
    head_bytes: usize,
    record_bytes: usize,
    take: &mut impl FnMut(&[u8]),
) -> Result<()> {
    let mut file = File::open(path).map_err(Error::io(path))?;
    let mut head = vec![0; head_bytes];
    file.read_exact(&mut head).map_err(Error::io(path))?;
    let mut block = vec![0; TOGETHER * record_bytes];
    let mut filled = 0;
    loop {
        let count = file.read(&mut block[filled..]).map_err(Error::io(path))?;
        filled += count;
        let whole = filled - filled % record_bytes;
        if count == 0 || filled == block.len() {
            take(&block[..whole]);
            filled = 0;
        }
        if count == 0 {
            return Ok(());
        }
    }
}

/// Writes a file that holds nothing but its head, for its owner alone.
fn begin(path: &Path, head: &[u8]) -> std::io::Result<()> {
    let _ = std::fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(head)
}

/// Removes the file of a folder, if it is there.
pub(super) fn remove(folder: &Path) -> Result<()> {
    let path = folder.join(NAME);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(&path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: ModelDigest = [7; 32];

    fn piece(number: u8, vector: Option<[i8; 3]>) -> VectorPiece {
        VectorPiece {
            number: number.into(),
            content: ContentHash::from_bytes([number; 32]),
            part: 0,
            start: u32::from(number),
            vector: vector.map(|vector| Embedding(vector.to_vec())),
        }
    }

    fn nearest(vectors: &Vectors, most: usize) -> Vec<u32> {
        let to = Embedding(vec![127, 0, 0]);
        let near = vectors.nearest(&to, most, &|_| true).expect("it reads");
        near.iter().map(|near| near.start).collect()
    }

    #[test]
    fn what_is_nearest_comes_first_and_a_file_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = |model: &ModelDigest| Vectors::open(Some(folder.path()), model, 3);
        let mut vectors = open(&MODEL);
        assert_eq!(vectors.last(), None);
        vectors.add(&[
            piece(1, Some([0, 9, 0])),
            piece(2, Some([90, 9, 0])),
            piece(3, None),
        ]);
        assert_eq!(
            open(&MODEL).last(),
            Some((3, ContentHash::from_bytes([3; 32])))
        );
        let mut again = open(&MODEL);
        // Two pieces of one message: the better one counts. A second process wrote 2 as well.
        again.add(&[
            piece(4, Some([1, 2, 0])),
            piece(4, Some([3, 1, 0])),
            piece(2, Some([90, 9, 0])),
        ]);
        assert_eq!(nearest(&again, 9), [2, 4, 1]);
        assert_eq!(nearest(&again, 1), [2]);
        assert_eq!(
            open(&[8; 32]).last(),
            None,
            "another model has other vectors"
        );
        assert_eq!(nearest(&open(&[8; 32]), 9), [0; 0]);
    }

    #[test]
    fn a_torn_file_is_made_anew_and_one_that_cannot_be_written_is_done_without() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut vectors = Vectors::open(Some(folder.path()), &MODEL, 3);
        vectors.add(&[piece(1, Some([1, 0, 0]))]);
        let path = folder.path().join(NAME);
        let mut bytes = std::fs::read(&path).expect("read");
        bytes.pop();
        std::fs::write(&path, bytes).expect("written");
        assert_eq!(Vectors::open(Some(folder.path()), &MODEL, 3).last(), None);
        for folder in [None, Some(Path::new("/nowhere/at/all"))] {
            let mut vectors = Vectors::open(folder, &MODEL, 3);
            vectors.add(&[piece(1, Some([1, 0, 0]))]);
            assert_eq!(nearest(&vectors, 9), [1]);
        }
        remove(folder.path()).expect("removed");
        remove(folder.path()).expect("it is gone");
        assert!(!path.exists());
    }
}
