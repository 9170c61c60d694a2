//! A folder with a file for each record, as an importer's input: one source of lines, in the order of their names or in
//! that in which the files were written.
//!
//! Deliberately absent: which files those are and what they hold; the format knows.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use super::file_lines::FileLines;
use super::plain;
use crate::error::{Error, Result};
use crate::formats::{FORMATS, LineOf, Problem, RecordFiles, json_error};
use crate::model::Millis;
use crate::store::FileStamp;

/// The records of a folder.
pub(super) struct RecordFolder {
    pub(super) lines: FileLines,
    pub(super) stamp: FileStamp,
    /// The files that are no records, and why.
    pub(super) problems: Vec<Problem>,
}

impl RecordFolder {
    /// The records of a folder that has a file for each; none where it has none. Each file is read to see
    /// whether it is whole.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the folder or a file in it cannot be read.
    pub(super) fn open(folder: &Path) -> Result<Option<Self>> {
        if !folder.is_dir() {
            return Ok(None);
        }
        let Some((known, files)) = record_files(folder)? else {
            return Ok(None);
        };
        let mut found = Self {
            lines: FileLines::default(),
            stamp: stamp_of(folder, known, &files),
            problems: Vec::new(),
        };
        let last = files.len() - 1;
        for (at, (stamp, name)) in files.into_iter().enumerate() {
            let path = folder.join(&name);
            let whole = match fs::read(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Problem {
                    harmless: true,
                    ..Problem::new(0, format!("{name}: gone before it was read"))
                }),
                Err(error) => return Err(Error::io(&path)(error)),
                Ok(bytes) => match serde_json::from_slice::<IgnoredAny>(&bytes) {
                    Ok(_) => Ok(bytes.len() as u64),
                    Err(error) => Err(Problem {
                        // The newest may be on its way to the disk.
                        harmless: error.is_eof() && at == last,
                        ..Problem::new(0, json_error(&format!("{name}: bad JSON"), &error, 0))
                    }),
                },
            };
            match whole {
                Ok(file_bytes) => {
                    let time = Millis(stamp.modified_ns.div_euclid(1_000_000));
                    found
                        .lines
                        .push((known.before)(&name, time), path, file_bytes, known.after);
                }
                Err(problem) => found.problems.push(problem),
            }
        }
        if let Some((path, line)) = beside(folder, known)
            && let Some(line) = fs::read_to_string(&path).ok().and_then(|text| line(&text))
        {
            found.lines.push(line, path, 0, "");
        }
        Ok(Some(found))
    }
}

/// Whether a file of this name holds a record of the source that its folder is.
pub(super) fn is_record(name: &str) -> bool {
    kinds().any(|kind| (kind.is_one)(name))
}

/// What a folder of records is to whoever looks at it without reading; none where it is none.
pub(super) fn stamp(folder: &Path) -> Option<Result<FileStamp>> {
    if !folder.is_dir() {
        return None;
    }
    let files = record_files(folder).transpose()?;
    Some(files.map(|(known, files)| stamp_of(folder, known, &files)))
}

fn kinds() -> impl Iterator<Item = &'static RecordFiles> {
    FORMATS
        .into_iter()
        .filter_map(|format| format.record_files.as_ref())
}

/// The file beside a folder that says more of its records, and how a line is made of it.
fn beside(folder: &Path, known: &RecordFiles) -> Option<(PathBuf, LineOf)> {
    let (name, line) = known.beside?;
    Some((folder.parent()?.join(name), line))
}

/// How many there are, how long, and when the newest was written, with the one beside them.
fn stamp_of(folder: &Path, known: &RecordFiles, files: &[(FileStamp, String)]) -> FileStamp {
    let beside = beside(folder, known).and_then(|(path, _)| plain::stamp(&path).ok());
    let stamps = || files.iter().map(|(stamp, _)| stamp).chain(&beside);
    FileStamp {
        size_bytes: stamps().map(|stamp| stamp.size_bytes).sum(),
        modified_ns: stamps()
            .map(|stamp| stamp.modified_ns)
            .max()
            .unwrap_or_default(),
        file: i64::try_from(files.len()).unwrap_or(i64::MAX),
    }
}

type RecordsIn = (&'static RecordFiles, Vec<(FileStamp, String)>);

/// The files of a folder that hold records of one kind, in their order; none where
/// there are none.
fn record_files(folder: &Path) -> Result<Option<RecordsIn>> {
    let entries = fs::read_dir(folder).map_err(Error::io(folder))?;
    let names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let Some(known) = kinds().find(|kind| names.iter().any(|name| (kind.is_one)(name))) else {
        return Ok(None);
    };
    let of_kind = names.into_iter().filter(|name| (known.is_one)(name));
    // One that has gone since is not there.
    let stamped = of_kind.filter_map(|name| Some((plain::stamp(&folder.join(&name)).ok()?, name)));
    let mut files: Vec<(FileStamp, String)> = stamped.collect();
    files.sort_by(|(one, name), (other, other_name)| {
        let written = |stamp: &FileStamp| (!known.by_name).then_some(stamp.modified_ns);
        (written(one), name).cmp(&(written(other), other_name))
    });
    Ok((!files.is_empty()).then_some((known, files)))
}
