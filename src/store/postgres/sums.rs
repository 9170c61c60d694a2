//! What contexts come to, as far as it was told: of a part of a path the newest ones.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use tokio_postgres::Row;

use super::columns::{From, get};
use crate::error::Result;
use crate::model::Encoding;
use crate::store::MemoryRow;
use crate::store::codec::encoding_number;
use crate::store::remembered::PLACE;
use crate::store::tables::{SUMMARIES, TOTALS, Table};

/// The tables of what contexts come to, and how many of each part are told at most.
pub(super) static SUMS: [(&Table, usize); 2] = [(&TOTALS, 8), (&SUMMARIES, 1)];

/// A part of a path: its lineage, and the depth up to which it goes.
pub(super) type PathPart = (i64, i64);

/// What is known of a part, the newest first, each with its depth, and whether there is nothing older.
#[derive(Default)]
struct Newest {
    rows: Vec<(i64, MemoryRow)>,
    is_all: bool,
}

/// What is known of a lineage, by the depths up to which it was asked for.
type OfLineage = BTreeMap<i64, Newest>;

/// Sums by their tables and lineages, in the usual encoding.
#[derive(Default)]
pub(super) struct Sums(RefCell<HashMap<(&'static str, i64), OfLineage>>);

/// What asks for the newest sums of some parts, which are `part`.
pub(super) fn sums_asked(table: &Table, most: usize, parts: &str) -> String {
    let (name, columns) = (table.name, table.columns[PLACE..].join(", "));
    let encoding = encoding_number(Encoding::default());
    format!(
        "SELECT found.* FROM {parts} CROSS JOIN LATERAL (
             SELECT t.lineage, part.last, depth, {columns} FROM {name} AS t
             WHERE t.lineage = part.lineage AND encoding = {encoding} AND depth <= part.last
             ORDER BY depth DESC LIMIT {most}
         ) AS found ORDER BY 1, 2, 3 DESC"
    )
}

impl Sums {
    /// These are the answer about these parts.
    pub(super) fn saw(
        &self,
        (table, most): (&'static Table, usize),
        parts: &[PathPart],
        rows: &[Row],
    ) -> Result<()> {
        let mut known = self.0.borrow_mut();
        for (lineage, last) in parts {
            let of_lineage = known.entry((table.name, *lineage)).or_default();
            of_lineage.insert(*last, Newest::default());
        }
        for row in rows {
            let (lineage, last): PathPart = (get(row, 0)?, get(row, 1)?);
            let found = MemoryRow::read_sum(&From(row, 3), 0, table)?;
            let part = known.get_mut(&(table.name, lineage));
            if let Some(part) = part.and_then(|parts| parts.get_mut(&last)) {
                part.rows.push((get(row, 2)?, found));
            }
        }
        for (lineage, last) in parts {
            let part = known.get_mut(&(table.name, *lineage));
            if let Some(part) = part.and_then(|parts| parts.get_mut(last)) {
                part.is_all = part.rows.len() < most;
            }
        }
        Ok(())
    }

    /// The newest sum on a path, with its depth; the outer none: that is not known.
    pub(super) fn newest(
        &self,
        table: &Table,
        path: &[PathPart],
    ) -> Option<Option<(u64, MemoryRow)>> {
        let known = self.0.borrow();
        for (lineage, last) in path {
            let (_, part) = known.get(&(table.name, *lineage))?.range(last..).next()?;
            let found = part.rows.iter().find(|(depth, _)| depth <= last);
            if let Some((depth, row)) = found {
                return Some(Some((depth.cast_unsigned(), row.clone())));
            }
            if !part.is_all {
                return None;
            }
        }
        Some(None)
    }
}
