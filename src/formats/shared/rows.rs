//! Sessions that stand in a tool's database: which rows are one, and the document that is made of them.
//!
//! That document is what an importer reads and what is kept of such a session. It is made of the rows alone and
//! in an order that they tell, so that the same rows make the same bytes. Deliberately absent: databases;
//! whoever opens one hands in [`Rows`].

use std::collections::HashMap;
use std::io::Read;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::model::Millis;
use crate::model::base64::{self, BYTES};
use crate::wire::json::Object;

/// A row, by column.
pub type Row = Map<String, Value>;

/// The place of a row in its table, to order by where no column tells the order of what was written.
pub const ROWID: &str = "rowid";

/// The rows of a database at one moment.
pub trait Rows {
    /// The columns of a table; none where there is no such table.
    fn columns(&self, table: &str) -> Result<Vec<String>>;

    /// The rows of a table in an order of columns, as JSON objects by column: those that hold a text in a
    /// column, or all. Bytes that are no text are left out.
    fn rows(&self, table: &str, holding: Option<(&str, &str)>, order: &[&str]) -> Result<Vec<Row>>;

    /// The same of these columns alone; bytes in them are an object whose one member, `base64`, is their text.
    fn picked(
        &self,
        table: &str,
        columns: &[&str],
        holding: Option<(&str, &str)>,
        order: &[&str],
    ) -> Result<Vec<Row>>;

    /// For each value of the column `by`: how many rows of a table hold it, how many bytes their texts in the
    /// column `text` have, and the greatest number in the column `newest`.
    fn summed(
        &self,
        table: &str,
        by: &str,
        text: &str,
        newest: &str,
    ) -> Result<Vec<(String, u64, u64, i64)>>;
}

/// How sessions stand in a tool's database.
#[derive(Clone, Copy)]
pub struct Tables {
    /// The database's name in the tool's directory.
    pub file: &'static str,
    /// The tables that show it, each with columns that it has.
    pub shown_by: &'static [(&'static str, &'static [&'static str])],
    /// All sessions in it, each after the one that started it.
    pub sessions: fn(&dyn Rows) -> Result<Vec<StoredSession>>,
    /// The session with an id, and its document; none where there is none.
    pub document: fn(&dyn Rows, id: &str) -> Result<Option<WithDocument>>,
}

/// A session, and its document.
pub type WithDocument = (StoredSession, String);

/// A session in a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredSession {
    /// Its id.
    pub id: String,
    /// The session whose agent started it.
    pub spawned_by: Option<String>,
    /// The working directory that it ran in.
    pub cwd: Option<String>,
    /// How many rows it is in.
    pub rows: u64,
    /// How long the texts of its messages are in bytes.
    pub size_bytes: u64,
    /// When any of its rows was last written, in milliseconds since 1970.
    pub updated: i64,
}

impl Tables {
    /// Whether a database has these tables.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being read.
    pub fn are_in(&self, rows: &dyn Rows) -> Result<bool> {
        for (table, needed) in self.shown_by {
            if !has(rows, table, needed)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The sessions of these rows, each behind the one that started it; else they stay in their order. One that was
/// started is later than who started it, unless a clock was set back.
pub(in crate::formats) fn starters_first(
    rows: &[Row],
    stored: impl FnMut(&Row) -> Option<StoredSession>,
) -> Vec<StoredSession> {
    let mut sessions: Vec<StoredSession> = rows.iter().filter_map(stored).collect();
    let depths = depths(&sessions);
    sessions.sort_by_key(|it| depths.get(&it.id).copied());
    sessions
}

/// How many sessions are above each; of those that start each other in a circle, some number.
fn depths(sessions: &[StoredSession]) -> HashMap<String, usize> {
    let parents = sessions.iter().map(|it| (&it.id, it.spawned_by.as_ref()));
    let parents: HashMap<&String, Option<&String>> = parents.collect();
    let mut depths: HashMap<String, usize> = HashMap::new();
    for session in sessions {
        let (mut chain, mut next) = (Vec::new(), Some(&session.id));
        while let Some((id, above)) = next.and_then(|id| parents.get_key_value(id))
            && !depths.contains_key(*id)
        {
            // So that a circle has an end.
            depths.insert((*id).clone(), 0);
            chain.push(*id);
            next = *above;
        }
        let above = next.and_then(|id| depths.get(id));
        let first = above.map_or(0, |above| above + 1);
        for (under, id) in chain.into_iter().rev().enumerate() {
            depths.insert(id.clone(), first + under);
        }
    }
    depths
}

/// Whether there is a table with all of these columns.
pub(in crate::formats) fn has(rows: &dyn Rows, table: &str, needed: &[&str]) -> Result<bool> {
    let columns = rows.columns(table)?;
    let is_there = |name: &&str| columns.iter().any(|column| column == name);
    Ok(!columns.is_empty() && needed.iter().all(is_there))
}

/// How long the texts are in a column of the rows that hold each value of another.
pub(in crate::formats) fn sizes(
    rows: &dyn Rows,
    [table, by, column]: [&str; 3],
) -> Result<HashMap<String, u64>> {
    let sums = rows.summed(table, by, column, by)?.into_iter();
    Ok(sums.map(|(value, _, bytes, _)| (value, bytes)).collect())
}

/// The text in a column of a row.
pub(in crate::formats) fn text<'r>(row: &'r Row, column: &str) -> Option<&'r str> {
    row.get(column)?.as_str()
}

/// How long the texts are in a column of these rows, in bytes.
pub(in crate::formats) fn length(rows: &[Row], column: &str) -> u64 {
    let texts = rows.iter().filter_map(|row| text(row, column));
    texts.map(|text| text.len() as u64).sum()
}

/// When that was, by the text in a column, in milliseconds since 1970; else 0.
pub(in crate::formats) fn moment(row: &Row, column: &str) -> i64 {
    text(row, column).and_then(time).map_or(0, |time| time.0)
}

/// Whether a text is JSON.
pub(in crate::formats) fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// What stands in these columns, but for what is null. What a column is called there, and whether it holds JSON, which
/// is put in as it is, is for `named` to say.
pub(in crate::formats) fn object<'r>(
    columns: impl IntoIterator<Item = (&'r String, &'r Value)>,
    named: impl Fn(&'r str) -> (&'r str, bool),
) -> Object {
    let here = columns.into_iter().filter(|(_, value)| !value.is_null());
    here.fold(Object::new(), |object, (column, value)| {
        let (name, holds_json) = named(column);
        match value.as_str().filter(|text| holds_json && is_json(text)) {
            Some(json) => object.raw(name, json),
            None => object.raw(name, &value.to_string()),
        }
    })
}

/// What a column of a row that was [picked](Rows::picked) holds, a text or bytes, as bytes; nothing of anything else.
pub(in crate::formats) fn bytes(held: Option<&Value>) -> Vec<u8> {
    match held {
        Some(Value::String(text)) => text.clone().into_bytes(),
        Some(Value::Object(object)) => {
            let text = object.get(BYTES).and_then(Value::as_str);
            text.and_then(base64::decode).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// What is in a zstd frame, up to so many bytes, and why that is not all.
pub(in crate::formats) fn unpacked(packed: &[u8], limit_bytes: u64) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    let read = zstd::Decoder::with_buffer(packed)
        .and_then(|decoder| decoder.take(limit_bytes).read_to_end(&mut bytes));
    let why = match read {
        Err(error) => Some(format!("its data is damaged ({error})")),
        Ok(count) if count as u64 == limit_bytes => {
            Some(format!("its data is longer than {} MiB", limit_bytes >> 20))
        }
        Ok(_) => None,
    };
    (bytes, why)
}

/// A time as SQLite writes it (`2025-08-09 16:46:38`), which is in UTC, or with a zone.
pub(in crate::formats) fn time(text: &str) -> Option<Millis> {
    let exact = text.trim().replacen(' ', "T", 1);
    Millis::parse(&exact).or_else(|| Millis::parse(&format!("{exact}Z")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_utc_or_says_where() {
        let here = Some(Millis(1_772_438_403_000));
        assert_eq!(time("2026-03-02 08:00:03"), here);
        assert_eq!(time("2026-03-02 10:00:03+02:00"), here);
        let later = here.map(|it| Millis(it.0 + 250));
        assert_eq!(time("2026-03-02T08:00:03.250000"), later);
        assert_eq!(time("soon"), None);
    }

    #[test]
    fn no_more_is_unpacked_than_may_be() {
        let bomb = zstd::encode_all(&vec![b' '; 8 << 20][..], 19).expect("packed");
        assert!(bomb.len() < 4096, "{}", bomb.len());
        let (bytes, why) = unpacked(&bomb, 1 << 20);
        assert_eq!(bytes.len(), 1 << 20);
        assert_eq!(why.as_deref(), Some("its data is longer than 1 MiB"));
        assert_eq!(unpacked(&bomb, 1 << 30), (vec![b' '; 8 << 20], None));
    }
}
