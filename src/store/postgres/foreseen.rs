//! What a view or a transaction has foreseen is taken in.

use std::sync::Arc;

use tokio_postgres::Row;

use super::ahead::{BRANCH, CONTENT, END, NUMBERS, PART, PARTS, PURGE, REF, usual};
use super::columns::get;
use super::driver::Told;
use super::link::rows;
use super::session::Session;
use super::sums::{PathPart, SUMS};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::store::lineage::Place;
use crate::store::rows::value;

impl Session<'_> {
    /// Takes in what a view has foreseen, in the order of [`of_view`](super::ahead::of_view).
    pub(super) fn took_view(&self, told: Vec<Told>) -> Result<()> {
        let mut told = told.into_iter();
        self.ahead.saw_refs(&rows(told.next()))?;
        let path = self.took_path(&rows(told.next()))?;
        self.saw_commits(rows(told.next()))?;
        let parts = path.get(..PARTS).unwrap_or(&path);
        for sums in SUMS {
            self.ahead.sums.saw(sums, parts, &rows(told.next()))?;
        }
        for (asked, told) in usual()?.into_iter().zip(told) {
            self.keep(asked, rows(Some(told)));
        }
        Ok(())
    }

    /// Takes in commits that were foreseen.
    pub(super) fn saw_commits(&self, rows: Vec<Row>) -> Result<()> {
        self.ahead
            .saw_commits(rows, |hash, place| self.known.saw(hash, place))
    }

    /// The same of [`of_writer`](super::ahead::of_writer).
    pub(super) fn took_writer(&self, rows: &[Row]) -> Result<()> {
        let mut path = Vec::new();
        for row in rows {
            let kind: i64 = get(row, 0)?;
            if kind == REF {
                let held = value(row, 2)?;
                self.ahead.saw_reference(&get(row, 5)?, held.as_ref());
                continue;
            }
            if kind > END {
                self.took_turn(kind, row)?;
                continue;
            }
            let (lineage, depth): (i64, i64) = (get(row, 6)?, get(row, 7)?);
            if kind == PART {
                path.push((lineage, depth));
                continue;
            }
            let (id, hash): (i64, CommitHash) = (get(row, 2)?, get(row, 3)?);
            self.known.saw(hash, Place { id, lineage, depth });
            self.known
                .saw_path(hash, &Arc::new(std::mem::take(&mut path)));
            self.known.saw_checkpoint(hash, get(row, 8)?);
            let (is_followed, is_claimed): (bool, bool) = (get(row, 9)?, get(row, 10)?);
            if is_claimed && !is_followed {
                self.known.ends_at(lineage, depth);
            }
        }
        Ok(())
    }

    /// Takes in what is told beside that where a turn begins on a branch.
    fn took_turn(&self, kind: i64, row: &Row) -> Result<()> {
        match kind {
            NUMBERS => self.numbers.reserve([get(row, 2)?, get(row, 7)?]),
            BRANCH => drop(self.branch.replace(Some(get(row, 5)?))),
            PURGE => {
                let newest: Option<i64> = get(row, 2)?;
                self.last_purge.set(Some(newest.map(i64::cast_unsigned)));
            }
            CONTENT => self.known.saw_content(get(row, 3)?, get(row, 2)?),
            _ => {}
        }
        Ok(())
    }

    fn took_path(&self, rows: &[Row]) -> Result<Vec<PathPart>> {
        let Some(row) = rows.first() else {
            return Ok(Vec::new());
        };
        let path = rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
        let path = path.collect::<Result<Vec<PathPart>>>()?;
        self.known.saw_path(get(row, 2)?, &Arc::new(path.clone()));
        Ok(path)
    }
}
