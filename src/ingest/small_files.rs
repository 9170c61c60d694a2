//! A session that its tool keeps in many small files, by the file that shows it: the document that is put together
//! of them.
//!
//! What such a session is to whoever looks at it without reading is how many files it is in, how long they are, and
//! when any of them was last written. Deliberately absent: what the files say; the format knows.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::database::StoredDocument;
use super::plain;
use crate::error::{Error, Result};
use crate::formats::{FORMATS, SmallFiles};
use crate::store::FileStamp;

fn kinds() -> impl Iterator<Item = &'static SmallFiles> {
    FORMATS
        .into_iter()
        .filter_map(|format| format.small_files.as_ref())
}

/// The folder that a session's files are in, and how they lie there; none where a file shows no such session.
fn root(path: &Path) -> Option<(&Path, &'static SmallFiles)> {
    let sessions = path.parent()?.parent()?;
    let root = sessions.parent()?;
    let mut known = kinds().filter(|known| sessions.file_name() == Some(known.sessions.as_ref()));
    let found = known.find(|known| root.join(known.messages).is_dir())?;
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    is_json.then_some((root, found))
}

/// Whether a folder holds what belongs to sessions that are shown in another one beside it.
pub(super) fn is_beside(folder: &Path) -> bool {
    let mut known = kinds().filter(|known| {
        let is_named = |name: &str| folder.file_name() == Some(name.as_ref());
        is_named(known.messages) || is_named(known.parts)
    });
    known.any(|known| {
        let is_there = |name: &str| folder.with_file_name(name).is_dir();
        is_there(known.sessions) && is_there(known.messages)
    })
}

/// The document of the session that the file at `path` shows; none where it shows none.
///
/// # Errors
///
/// [`Error::Io`] where a file cannot be read, or goes while it is.
pub(super) fn open(path: &Path) -> Result<Option<StoredDocument>> {
    let Some((root, known)) = root(path) else {
        return Ok(None);
    };
    let all = files_of(path, root, known)?;
    // Looked at before they are read: what is written meanwhile is new.
    let stamp = stamp_of(path, &all)?;
    let text = |path: &Path| -> Result<String> {
        let bytes = fs::read(path).map_err(Error::io(path))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut messages = Vec::with_capacity(all.len());
    for (message, parts) in &all {
        let parts: Result<Vec<String>> = parts.iter().map(|it| text(it)).collect();
        messages.push((text(message)?, parts?));
    }
    let document = (known.document)(&text(path)?, &messages);
    Ok(Some(StoredDocument {
        bytes: document.into_bytes(),
        stamp,
    }))
}

/// What the session that the file at `path` shows is to whoever looks at it without reading; none where it
/// shows none.
pub(super) fn stamp(path: &Path) -> Option<Result<FileStamp>> {
    let (root, known) = root(path)?;
    let all = files_of(path, root, known);
    Some(all.and_then(|all| stamp_of(path, &all)))
}

/// The files of a session's messages, each with those of its parts.
type SessionFiles = Vec<(PathBuf, Vec<PathBuf>)>;

fn files_of(path: &Path, root: &Path, known: &SmallFiles) -> Result<SessionFiles> {
    let (messages, parts) = (root.join(known.messages), root.join(known.parts));
    let messages = files(&messages.join(id(path, &messages)))?.into_iter();
    let with_parts = |message: PathBuf| {
        let own = files(&parts.join(id(&message, &parts)))?;
        Ok((message, own))
    };
    messages.map(with_parts).collect()
}

fn stamp_of(path: &Path, all: &SessionFiles) -> Result<FileStamp> {
    let all = all
        .iter()
        .flat_map(|(message, parts)| parts.iter().chain([message]));
    let all = all.map(PathBuf::as_path).chain([path]);
    let mut sum = FileStamp::default();
    for file in all {
        let one = plain::stamp(file)?;
        sum.size_bytes += one.size_bytes;
        sum.modified_ns = sum.modified_ns.max(one.modified_ns);
        sum.file += 1;
    }
    Ok(sum)
}

/// The id by which a file's own are found in a folder: its name, or where there is none, what it says.
fn id(path: &Path, folder: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if folder.join(&*stem).is_dir() {
        return stem.into_owned();
    }
    let read = fs::read(path).unwrap_or_default();
    let said: Value = serde_json::from_slice(&read).unwrap_or_default();
    let is_name = |id: &&str| {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        !id.is_empty() && id.chars().all(is_plain)
    };
    let id = said["id"].as_str().filter(is_name);
    id.unwrap_or(&stem).to_owned()
}

/// The JSON files in a folder, by name; none where there is no folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io(folder))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io(folder))?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
            && path.is_file()
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
