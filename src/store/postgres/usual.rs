//! Statements that are asked in the same words from more than one place: where they are wanted, and ahead of that.

use super::driver::Asked;
use super::link::asked;
use crate::error::Result;
use crate::store::remembered::{COMMIT, PLACE};
use crate::store::tables::Table;

/// The newest purge.
pub(super) const LAST_PURGE: &str = "SELECT operation FROM purges ORDER BY operation DESC LIMIT 1";

/// What is known of the repository's own keeping.
pub(super) const UPKEEP: &str = "SELECT collected, forgotten, last_check FROM tract_repository";

/// Any source, if there is one.
pub(super) const ANY: &str =
    "SELECT id, session, format, size_bytes, fingerprint FROM sources LIMIT 1";

/// Any message of which it is known what a client's records say of it elsewhere, if there is one.
pub(super) const ANY_INJECTED: &str = "SELECT 1 FROM injected LIMIT 1";

/// The newest sum on a path. Along it, depths grow: of each lineage its newest row, and of these the deepest.
pub(super) fn newest_sum(table: &Table) -> String {
    let (name, columns) = (table.name, table.columns[PLACE..].join(", "));
    format!(
        "SELECT found.* FROM unnest($1, $2) AS part (lineage, last)
         CROSS JOIN LATERAL (
             SELECT depth, {columns} FROM {name} AS t
             WHERE t.lineage = part.lineage AND encoding = $3 AND depth <= last
             ORDER BY depth DESC LIMIT 1
         ) AS found ORDER BY depth DESC LIMIT 1"
    )
}

/// How a name stands in the index of a table.
pub(super) fn indexed(table: &Table, name: &str) -> String {
    if table.has_long_key {
        format!("sha256({name})")
    } else {
        name.to_owned()
    }
}

/// What asks for the rows of a table, or for those of some names.
pub(super) fn remembered_asked(table: &Table, names: Option<&[&str]>) -> Result<Asked> {
    let columns = table.columns.iter().map(|column| match *column {
        COMMIT => "commits.hash".to_owned(),
        column => format!("t.{column}"),
    });
    let commits = if table.columns.contains(&COMMIT) {
        "JOIN commits ON commits.id = commit_id"
    } else {
        ""
    };
    let key = format!("t.{}", table.key());
    let (from, condition) = match names {
        None => (String::new(), String::new()),
        Some(_) => (
            "unnest($1) AS asked (name) JOIN ".to_owned(),
            format!(
                "ON {} = {}",
                indexed(table, &key),
                indexed(table, "asked.name")
            ),
        ),
    };
    let sql = format!(
        "SELECT {} FROM {from}{} AS t {condition} {commits} ORDER BY {key}",
        columns.collect::<Vec<_>>().join(", "),
        table.name
    );
    match names {
        None => asked(sql, &[]),
        Some(names) => {
            let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
            asked(sql, &[&names])
        }
    }
}
