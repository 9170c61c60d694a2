//! Seals: a checksum in each row whose bytes no object's hash covers, so that a flipped byte is
//! damage and never an answer.
//!
//! A row is sealed as it is written (`sealed(...)` in its statement) and checked as it is read
//! (`intact!` in the condition, which ends the statement where a row was changed by anything else).
//! Deliberately absent: any defence against someone who can write the file; a checksum has no key.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result, ffi};

/// The condition that a row of this table, or of an alias of it, is as it was written. Any other row
/// ends the statement with an error; a row that can be made again (a count, a checkpoint) counts as
/// absent instead.
///
/// The columns stand in the order of the table: an index that leads to another row than its own is
/// noticed as well, for then the columns come from two rows.
///
/// Where rows are out of their order, an index may give one for a key that is beside it: having met the key
/// on its way down, SQLite takes the row that it ends at for that of the key. So what is found by a key that another
/// table holds (`asked`) is sealed with that key in the column's place; a constant SQLite puts there itself.
macro_rules! intact {
    (@ $table:literal, $alias:literal, $($column:literal),+) => {
        concat!(
            "intact('", $table, "', ", $alias, ".seal", $(", ", $alias, ".", $column),+, ")"
        )
    };
    (@asked $table:literal, $id:literal, $key:literal; $($column:literal),+) => {
        concat!(
            "intact('", $table, "', ", $table, ".seal, ", $table, ".", $id, ", ", $key,
            $(", ", $table, ".", $column),+, ")"
        )
    };
    (@derived $table:literal, $($column:literal),+) => {
        concat!($table, ".seal = sealed(", intact!(@list $table, $($column),+), ")")
    };
    (@list $table:literal, $first:literal $(, $column:literal)*) => {
        concat!($table, ".", $first $(, ", ", $table, ".", $column)*)
    };
    (contents) => { intact!(contents "contents") };
    (contents asked $key:literal) => {
        intact!(@asked "contents", "id", $key; "role", "preview", "size_bytes", "calls", "results")
    };
    (contents $alias:literal) => {
        intact!(@ "contents", $alias,
            "id", "hash", "role", "preview", "size_bytes", "calls", "results")
    };
    (lineages) => { intact!(@ "lineages", "lineages", "id", "parent", "fork_depth", "changes") };
    (commits) => { intact!(commits "commits") };
    (commits asked $key:literal) => {
        intact!(@asked "commits", "id", $key; "lineage", "depth", "parent", "content")
    };
    (commits $alias:literal) => {
        intact!(@ "commits", $alias, "id", "hash", "lineage", "depth", "parent", "content")
    };
    (counts asked $content:literal) => {
        concat!(
            "counts.seal = sealed(", $content, ", ",
            intact!(@list "counts", "encoding", "mask", "tokens", "estimated"), ")"
        )
    };
    (counts) => {
        intact!(@derived "counts", "content", "encoding", "mask", "tokens", "estimated")
    };
    (checkpoints) => {
        intact!(@derived "checkpoints", "commit_id", "lineage", "depth", "data")
    };
    (totals) => {
        intact!(@derived "totals", "lineage", "depth", "encoding", "messages", "tokens",
            "estimates")
    };
    (summaries) => { intact!(@derived "summaries", "lineage", "depth", "encoding", "data") };
    (tool_uses) => { intact!(@derived "tool_uses", "content", "uses") };
    (usage) => { intact!(@ "usage", "usage", "commit_id", "input_tokens", "output_tokens") };
    (refs) => { intact!(@ "refs", "refs", "name", "target", "symbolic") };
    (operations) => {
        intact!(@ "operations", "operations", "id", "time", "what", "undoes", "redoes")
    };
    (reflog) => {
        intact!(@ "reflog", "reflog", "id", "operation", "name", "old_target", "old_symbolic",
            "new_target", "new_symbolic")
    };
    (config) => { intact!(@ "config", "config", "key", "value") };
    (sources) => {
        intact!(@ "sources", "sources", "id", "session", "format", "size_bytes", "fingerprint")
    };
    (source_blocks) => {
        intact!(@ "source_blocks", "source_blocks", "id", "source", "start", "size_bytes",
            "encoding", "data")
    };
    (commit_records asked $commit:literal) => {
        concat!(
            "intact('commit_records', commit_records.seal, ", $commit,
            ", commit_records.source, commit_records.spans)"
        )
    };
    (commit_records) => {
        intact!(@ "commit_records", "commit_records", "commit_id", "source", "spans")
    };
    (followed) => {
        intact!(@derived "followed", "path", "source", "size_bytes", "modified_ns", "file",
            "hashed", "settings", "time")
    };
    (unread) => { intact!(@derived "unread", "path", "why", "time") };
    (sessions) => { intact!(@ "sessions", "sessions", "name", "title", "cwd", "absent") };
    (resumes) => {
        intact!(@ "resumes", "resumes", "tool", "session", "commit_id", "messages", "digest")
    };
    (tag_notes) => { intact!(@ "tag_notes", "tag_notes", "tag", "commit_id", "time", "note") };
    (followers) => { intact!(@ "followers", "followers", "session", "branch") };
    (adopted) => { intact!(@ "adopted", "adopted", "id", "session", "theirs", "ours") };
    (dictionaries) => {
        intact!(@derived "dictionaries", "id", "trained", "offered", "size_bytes", "data")
    };
    (checks) => { intact!(@ "checks", "checks", "id", "time") };
    (collections) => { intact!(@ "collections", "collections", "id", "times", "operation") };
    (purges) => { intact!(@ "purges", "purges", "operation") };
}
pub(super) use intact;

/// Two values that look at the rows beside the place of a key which was not found, in a table or an
/// index that is in the key's order: where a damaged row sends a search by key astray, it is always
/// a neighbour of the place where that search ends.
macro_rules! neighbours {
    ($table:ident, $column:literal, $key:literal) => {
        concat!(
            "(SELECT 1 FROM ",
            stringify!($table),
            " WHERE ",
            $column,
            " < ",
            $key,
            " AND ",
            intact!($table),
            " ORDER BY ",
            $column,
            " DESC LIMIT 1), (SELECT 1 FROM ",
            stringify!($table),
            " WHERE ",
            $column,
            " > ",
            $key,
            " AND ",
            intact!($table),
            " ORDER BY ",
            $column,
            " LIMIT 1)"
        )
    };
}
pub(super) use neighbours;

/// Gives a connection the functions that statements name.
pub(super) fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("sealed", -1, flags, |row| Ok(seal(row, 0)))?;
    connection.create_scalar_function("intact", -1, flags, |row| {
        if row.get_raw(1) == ValueRef::Integer(seal(row, 2)) {
            return Ok(true);
        }
        let table = row.get_raw(0).as_str().unwrap_or("a table");
        let what = format!("a row of {table} is not as it was written");
        let code = ffi::Error::new(ffi::SQLITE_CORRUPT);
        Err(Error::SqliteFailure(code, Some(what)))
    })
}

/// The CRC-32 over the arguments from `first` on, each with its type and length.
fn seal(row: &Context<'_>, first: usize) -> i64 {
    let mut crc = Sealing::default();
    for at in first..row.len() {
        let (kind, bytes): (u8, &[u8]) = match row.get_raw(at) {
            ValueRef::Null => (0, &[]),
            ValueRef::Integer(value) => {
                crc.number(1, value.to_le_bytes());
                continue;
            }
            // No table has such a column.
            ValueRef::Real(_) => (2, &[]),
            ValueRef::Text(text) => (3, text),
            ValueRef::Blob(blob) => (4, blob),
        };
        crc.number(kind, (bytes.len() as u64).to_le_bytes());
        crc.bytes(bytes);
    }
    crc.value()
}

/// How many bytes are gathered before they are summed: most rows are shorter.
const GATHERED: usize = 256;

/// A checksum in the making. Short pieces are gathered first: to sum up each by itself took longer than
/// to find the row.
struct Sealing {
    crc: crc32fast::Hasher,
    gathered: [u8; GATHERED],
    len: usize,
}

impl Default for Sealing {
    fn default() -> Self {
        Self {
            crc: crc32fast::Hasher::new(),
            gathered: [0; GATHERED],
            len: 0,
        }
    }
}

impl Sealing {
    fn number(&mut self, kind: u8, number: [u8; 8]) {
        let mut bytes = [kind; 9];
        bytes[1..].copy_from_slice(&number);
        self.bytes(&bytes);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        match self.gathered.get_mut(self.len..self.len + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => {
                self.crc.update(&self.gathered[..self.len]);
                self.crc.update(bytes);
                self.len = 0;
            }
        }
    }

    fn value(mut self) -> i64 {
        self.crc.update(&self.gathered[..self.len]);
        self.crc.finalize().into()
    }
}
