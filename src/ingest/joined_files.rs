//! A session that its tool keeps in several files of one folder, by the file that shows it: the document that is put
//! together of them.
//!
//! What such a session is to whoever looks at it without reading is how many of its files may change, how long these
//! are, and when any of them was last written. Deliberately absent: what the files say; the format knows.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use super::database::StoredDocument;
use super::plain;
use crate::error::{Error, Result};
use crate::formats::{FORMATS, JoinedFiles, SessionFolder};
use crate::store::FileStamp;

/// How much of a file tells whether it shows a session: 4 KiB.
const SHOWN_BYTES: u64 = 4 << 10;

/// How far below its folder a session's files may lie.
const DEPTH: usize = 4;

fn kinds() -> impl Iterator<Item = &'static JoinedFiles> {
    FORMATS
        .into_iter()
        .filter_map(|format| format.joined_files.as_ref())
}

/// A session's folder, the name of the file that shows it, and how its files lie.
type Found = (PathBuf, String, &'static JoinedFiles);

/// The session to which a file or folder belongs; none where it belongs to none.
fn found(path: &Path) -> Option<Found> {
    let mut inside = String::new();
    let mut below = path;
    for _ in 0..DEPTH {
        let name = below.file_name()?.to_str()?;
        inside = match inside.is_empty() {
            true => name.to_owned(),
            false => format!("{name}/{inside}"),
        };
        below = below.parent()?;
        for known in kinds() {
            let shown = (known.shown_by)(&inside);
            if let Some(shown) = shown.filter(|shown| shows(&below.join(shown), known)) {
                return Some((below.to_owned(), shown, known));
            }
        }
    }
    None
}

/// Whether a file shows a session of this kind.
fn shows(path: &Path, known: &JoinedFiles) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut front = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SHOWN_BYTES).read_to_end(&mut front));
    read.is_ok() && (known.shows)(&front)
}

/// The same of the file that shows one.
fn shown(path: &Path) -> Option<Found> {
    found(path).filter(|(folder, shown, _)| folder.join(shown) == path)
}

/// The file that shows the session to which a file or folder belongs.
pub(super) fn shown_by(path: &Path) -> Option<PathBuf> {
    found(path).map(|(folder, shown, _)| folder.join(shown))
}

/// Whether a file shows such a session.
pub(super) fn is_shown(path: &Path) -> bool {
    shown(path).is_some()
}

/// Whether a file or folder belongs to a session that another file shows.
pub(super) fn is_part(path: &Path) -> bool {
    shown_by(path).is_some_and(|shown| shown != path)
}

/// The document of the session that the file at `path` shows; none where it shows none.
///
/// # Errors
///
/// [`Error::Io`] where a file cannot be read.
pub(super) fn open(path: &Path) -> Result<Option<StoredDocument>> {
    let Some((folder, shown, known)) = shown(path) else {
        return Ok(None);
    };
    let folder = FilesBelow(&folder);
    // Looked at before they are read: what is written meanwhile is new.
    let stamp = folder.stamp(&shown, known)?;
    let bytes = (known.document)(&folder, &shown)?.into_bytes();
    Ok(Some(StoredDocument { bytes, stamp }))
}

/// What the session that the file at `path` shows is to whoever looks at it without reading; none where it shows
/// none.
pub(super) fn stamp(path: &Path) -> Option<Result<FileStamp>> {
    let (folder, name, known) = shown(path)?;
    Some(FilesBelow(&folder).stamp(&name, known))
}

/// The files below a folder.
struct FilesBelow<'a>(&'a Path);

impl FilesBelow<'_> {
    fn stamp(&self, shown: &str, known: &JoinedFiles) -> Result<FileStamp> {
        let mut sum = plain::stamp(&self.0.join(shown))?;
        sum.file = 1;
        for path in (known.growing)(self, shown)? {
            // One that is not there, or went since, is none.
            if let Some(one) = self.place(&path).and_then(|path| plain::stamp(&path).ok()) {
                sum.size_bytes += one.size_bytes;
                sum.modified_ns = sum.modified_ns.max(one.modified_ns);
                sum.file += 1;
            }
        }
        Ok(sum)
    }

    /// Where a path leads; none where it leads out of the folder.
    fn place(&self, path: &str) -> Option<PathBuf> {
        let is_inside = |part: Component<'_>| matches!(part, Component::Normal(_));
        let path = Path::new(path);
        path.components().all(is_inside).then(|| self.0.join(path))
    }
}

impl SessionFolder for FilesBelow<'_> {
    fn text(&self, path: &str) -> Result<Option<String>> {
        let Some(path) = self.place(path).filter(|path| path.is_file()) else {
            return Ok(None);
        };
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(path)(error)),
        }
    }

    fn names(&self, folder: &str) -> Result<Vec<String>> {
        let Some(folder) = self.place(folder).filter(|folder| folder.is_dir()) else {
            return Ok(Vec::new());
        };
        let entries = fs::read_dir(&folder).map_err(Error::io(&folder))?;
        let names = entries
            .flatten()
            .map(|entry| entry.file_name().into_string());
        let mut names: Vec<String> = names.flatten().collect();
        names.sort();
        Ok(names)
    }
}
