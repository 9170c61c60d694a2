//! Seals: a checksum in each row whose bytes no object's hash covers, so that a flipped byte is
//! damage and never an answer.
//!
//! A row is sealed as it is written (`sealed(...)` in its statement) and checked as it is read
//! (`intact!` in the condition, which ends the statement where a row was changed by anything else).
//! Deliberately absent: any defence against someone who can write the file; a checksum has no key.

use std::borrow::Cow;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result, ffi};

use crate::store::tables;

/// A statement as SQLite is given it: with the conditions written out that stand in it by their names.
///
/// - `intact!(table)`, of an alias `intact!(table AS alias)`: that a row is as it was written. Any other row
///   ends the statement with an error; one that can be made again (a count, a checkpoint) counts as absent
///   instead. The columns stand in the order of the table: an index that leads to another row than its own is
///   noticed as well, for then the columns come from two rows.
/// - `intact!(table, column = key)`: the same of a row that is found by a key which another table holds. Where
///   rows are out of their order, an index may give one for a key that is beside it: having met the key
///   on its way down, SQLite takes the row that it ends at for that of the key. So such a row is sealed with the
///   key in the column's place; a constant SQLite puts there itself.
/// - `neighbours!(table, column, key)`: two values that look at the rows beside the place of a key which was not
///   found, in a table or an index that is in the key's order: where a damaged row sends a search by key astray,
///   it is always a neighbour of the place where that search ends.
/// - `sealed!(table)`, behind `INSERT INTO`: a row whose columns are the parameters, in the order of the table, and
///   its seal.
pub(super) fn written_out(sql: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = sql;
    while let Some((before, name, inner, after)) = next_condition(rest) {
        out.push_str(before);
        match name {
            Condition::Intact => push_intact(&mut out, inner),
            Condition::Neighbours => push_neighbours(&mut out, inner),
            Condition::Sealed => push_sealed(&mut out, inner),
        }
        rest = after;
    }
    if out.is_empty() {
        sql.into()
    } else {
        (out + rest).into()
    }
}

#[derive(Clone, Copy)]
enum Condition {
    Intact,
    Neighbours,
    Sealed,
}

/// The first condition that stands by its name: what is before it, what is in its parentheses, what is behind it.
fn next_condition(sql: &str) -> Option<(&str, Condition, &str, &str)> {
    let at = memchr::memmem::find(sql.as_bytes(), b"!(")?;
    let named = [
        ("intact", Condition::Intact),
        ("neighbours", Condition::Neighbours),
        ("sealed", Condition::Sealed),
    ];
    let (before, inner) = (&sql[..at], &sql[at + 2..]);
    let mut named = named.into_iter();
    let (before, condition) =
        named.find_map(|(name, condition)| Some((before.strip_suffix(name)?, condition)))?;
    let mut open = 1;
    let end = inner.find(|each| {
        open += i32::from(each == '(') - i32::from(each == ')');
        open == 0
    })?;
    Some((before, condition, &inner[..end], &inner[end + 1..]))
}

fn described(name: &str) -> &'static tables::Table {
    tables::named(name).expect("a statement names tables that are described")
}

fn push_intact(out: &mut String, inner: &str) {
    let (row, asked) = match inner.split_once(", ") {
        Some((row, asked)) => (row, asked.split_once(" = ")),
        None => (inner, None),
    };
    let (name, alias) = row.split_once(" AS ").unwrap_or((row, row));
    let table = described(name);
    match table.derived {
        Some(_) => out.extend([alias, ".seal = sealed("]),
        None => out.extend(["intact('", name, "', ", alias, ".seal, "]),
    }
    for (at, column) in table.columns.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        match asked {
            Some((of, key)) if of == *column => out.push_str(key),
            _ => out.extend([alias, ".", column]),
        }
    }
    out.push(')');
}

fn push_neighbours(out: &mut String, inner: &str) {
    let mut parts = inner.splitn(3, ", ");
    let mut part = || parts.next().expect("a table, a column and a key");
    let (table, column, key) = (part(), part(), part());
    for (than, order, end) in [("<", " DESC", ", "), (">", "", "")] {
        out.extend(["(SELECT 1 FROM ", table, " WHERE ", column, " ", than, " "]);
        out.extend([key, " AND "]);
        push_intact(out, table);
        out.extend([" ORDER BY ", column, order, " LIMIT 1)", end]);
    }
}

fn push_sealed(out: &mut String, name: &str) {
    let columns = described(name).columns;
    let places: Vec<String> = (1..=columns.len()).map(|at| format!("?{at}")).collect();
    let (columns, places) = (columns.join(", "), places.join(", "));
    *out += &format!("{name} ({columns}, seal) VALUES ({places}, sealed({places}))");
}

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
