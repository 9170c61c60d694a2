//! A session in a tool's database, as a file: its path is the database's with the session's id behind it.
//!
//! What is in such a file is the document that the tool would write of the session, put together from its rows
//! ([`Tables`]); what it is to whoever looks at it without reading ([`FileStamp`]) is how many rows it has,
//! how long their texts are, and when any of them was last written. Deliberately absent: what the rows
//! mean, and SQL.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::plain;
use crate::error::{Error, Result};
use crate::formats::shared::rows::{Row, Rows, StoredSession, Tables};
use crate::formats::{FORMATS, Format, Input};
use crate::store::{FileStamp, ForeignTables, is_database, read_foreign};

impl Rows for ForeignTables {
    fn columns(&self, table: &str) -> Result<Vec<String>> {
        self.columns(table)
    }

    fn rows(&self, table: &str, holding: Option<(&str, &str)>, order: &[&str]) -> Result<Vec<Row>> {
        self.rows(table, holding, order)
    }

    fn picked(
        &self,
        table: &str,
        columns: &[&str],
        holding: Option<(&str, &str)>,
        order: &[&str],
    ) -> Result<Vec<Row>> {
        self.picked(table, columns, holding, order)
    }

    fn summed(
        &self,
        table: &str,
        by: &str,
        text: &str,
        newest: &str,
    ) -> Result<Vec<(String, u64, u64, i64)>> {
        self.summed(table, by, text, newest)
    }
}

/// What is behind a database's name in its log's.
pub(super) const LOG: &str = "-wal";

/// A session's document, put together.
pub(super) struct StoredDocument {
    pub(super) bytes: Vec<u8>,
    pub(super) stamp: FileStamp,
}

impl Input for StoredDocument {
    fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.as_slice().read_at(offset, buffer)
    }
}

/// Sessions with the path of each.
pub type Sessions = Vec<(PathBuf, StoredSession)>;

/// The sessions in a database, each with its path, after those that started it; none where the file is no
/// database of a known tool.
///
/// # Errors
///
/// [`Error::Io`] where it cannot be read, [`Error::Overtaken`] where its tool writes all the time.
pub fn sessions(path: &Path) -> Result<Option<Sessions>> {
    Ok(listed(path)?.map(|(_, sessions)| sessions))
}

/// The same, and whose database it is.
pub(super) fn listed(path: &Path) -> Result<Option<(&'static Format, Sessions)>> {
    if !is_database(path) {
        return Ok(None);
    }
    let found = read_foreign(path, |rows| match tables_in(rows)? {
        Some((format, tables)) => Ok(Some((format, (tables.sessions)(rows)?))),
        None => Ok(None),
    })?;
    let named = |session: StoredSession| (path.join(name(&session.id)), session);
    Ok(found.map(|(format, sessions)| {
        // Nobody goes on with what has no name; it has no place either.
        let sessions = sessions.into_iter().filter(|it| !it.id.is_empty());
        (format, sessions.map(named).collect())
    }))
}

/// Whose tables are in a file, as far as it can be read.
pub(super) fn format_of(path: &Path) -> Option<&'static Format> {
    let owner = |rows: &ForeignTables| Ok(tables_in(rows)?.map(|(format, _)| format));
    if !is_database(path) {
        return None;
    }
    read_foreign(path, owner).ok().flatten()
}

/// The paths with those of the sessions in place of each database that is one of a known tool. One that
/// cannot be read stays, for whoever reads it to say why.
pub fn unfolded(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let unfold = |path: PathBuf| match sessions(&path) {
        Ok(Some(found)) => found.into_iter().map(|(path, _)| path).collect(),
        Ok(None) | Err(_) => vec![path],
    };
    paths.into_iter().flat_map(unfold).collect()
}

/// The database that a path of a session leads into, and the session's id; none of any other path.
pub fn place(path: &Path) -> Option<(&Path, String)> {
    let database = path.parent()?;
    let id = id(path.file_name()?.to_str()?)?;
    is_database(database).then_some((database, id))
}

/// The document of the session at a path; none where it leads into no database.
///
/// # Errors
///
/// As [`sessions`]; [`Error::Io`] where the session is not there.
pub(super) fn open(path: &Path) -> Result<Option<StoredDocument>> {
    let Some((database, id)) = place(path) else {
        return Ok(None);
    };
    let found = read_foreign(database, |rows| match tables_in(rows)? {
        Some((_, tables)) => (tables.document)(rows, &id),
        None => Ok(None),
    })?;
    let missing = || Error::io(path)(std::io::ErrorKind::NotFound.into());
    let (session, text) = found.ok_or_else(missing)?;
    Ok(Some(StoredDocument {
        bytes: text.into_bytes(),
        stamp: stamp(&session),
    }))
}

/// What a database and its log are to whoever looks at them without reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseState {
    file: FileStamp,
    log: Option<FileStamp>,
}

impl DatabaseState {
    /// How a file is now; none where it is no database.
    pub fn of(path: &Path) -> Option<Self> {
        if !is_database(path) {
            return None;
        }
        // The log stands beside the file itself, not beside a link to it.
        let path = std::fs::canonicalize(path).ok()?;
        let mut log = path.as_os_str().to_owned();
        log.push(LOG);
        Some(Self {
            file: plain::stamp(&path).ok()?,
            log: plain::stamp(Path::new(&log)).ok(),
        })
    }

    /// When anything of it was last written, in nanoseconds since 1970.
    pub fn newest_ns(&self) -> i64 {
        let log = self.log.map_or(i64::MIN, |log| log.modified_ns);
        self.file.modified_ns.max(log)
    }
}

/// What a session is to whoever looks at it without reading.
pub fn stamp(session: &StoredSession) -> FileStamp {
    FileStamp {
        size_bytes: session.size_bytes,
        modified_ns: session.updated.saturating_mul(1_000_000),
        file: i64::try_from(session.rows).unwrap_or(i64::MAX),
    }
}

/// When anything of a session was last written.
pub(super) fn modified(session: &StoredSession) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(session.updated.max(0).cast_unsigned())
}

/// The sessions that no other one of them started: those that one would go on with.
pub(super) fn own(sessions: &[(PathBuf, StoredSession)]) -> Vec<&(PathBuf, StoredSession)> {
    let ids: HashSet<&str> = sessions.iter().map(|(_, it)| it.id.as_str()).collect();
    let is_own = |session: &StoredSession| {
        let starter = session.spawned_by.as_deref();
        starter.is_none_or(|starter| !ids.contains(starter))
    };
    sessions.iter().filter(|(_, it)| is_own(it)).collect()
}

/// What databases hold, each read once.
#[derive(Default)]
pub struct Listings(HashMap<PathBuf, Sessions>);

impl Listings {
    /// The sessions of the database that a path of one leads into, each after the one that started it; none
    /// of any other path. One that cannot be read has none.
    pub(super) fn beside(&mut self, path: &Path) -> Option<&[(PathBuf, StoredSession)]> {
        let database = path.parent()?;
        if !self.0.contains_key(database) {
            place(path)?;
            let found = sessions(database).ok().flatten().unwrap_or_default();
            self.0.insert(database.to_owned(), found);
        }
        self.0.get(database).map(Vec::as_slice)
    }

    /// The session at a path.
    pub(super) fn session(&mut self, path: &Path) -> Option<&StoredSession> {
        let mut all = self.beside(path)?.iter();
        all.find(|(own, _)| own == path).map(|(_, session)| session)
    }

    /// The sessions that the one at a path started, and those that they started; none of any other path.
    pub fn started_by(&mut self, path: &Path) -> Vec<PathBuf> {
        let (mut family, mut started) = (HashSet::new(), Vec::new());
        // Each is behind the one that started it.
        for (own, session) in self.beside(path).unwrap_or_default() {
            let starter = session.spawned_by.as_deref();
            if own == path {
                family.insert(session.id.as_str());
            } else if starter.is_some_and(|starter| family.contains(starter)) {
                family.insert(session.id.as_str());
                started.push(own.clone());
            }
        }
        started
    }
}

/// Whose database it is.
fn tables_in(rows: &dyn Rows) -> Result<Option<(&'static Format, &'static Tables)>> {
    for format in FORMATS {
        if let Some(tables) = &format.tables
            && tables.are_in(rows)?
        {
            return Ok(Some((format, tables)));
        }
    }
    Ok(None)
}

/// A session's id as a file's name: what is no letter, digit, `_` or `-` is in hexadecimal digits.
fn name(id: &str) -> String {
    let mut name = String::new();
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => name.push(char::from(byte)),
            other => name.push_str(&format!("%{other:02x}")),
        }
    }
    name
}

/// The id of which this is the name.
fn id(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((plain, coded)) = rest.split_once('%') {
        bytes.extend(plain.bytes());
        bytes.push(u8::from_str_radix(coded.get(..2)?, 16).ok()?);
        rest = &coded[2..];
    }
    bytes.extend(rest.bytes());
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_name_and_back() {
        for text in [
            "ses_e01ae1d16ffe6Mzl",
            "../../etc",
            "/root",
            "a%b.c",
            "ä",
            "",
        ] {
            let name = name(text);
            assert_eq!(id(&name).as_deref(), Some(text));
            assert_eq!(
                Path::new("x.db").join(&name).parent(),
                match text {
                    "" => Some(Path::new("")),
                    _ => Some(Path::new("x.db")),
                }
            );
        }
        assert_eq!(id("%zz"), None);
        assert_eq!(id("%4"), None);
    }
}
