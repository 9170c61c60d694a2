//! Totals of contexts, by the place of their commits.

use rusqlite::params;

use super::codec::{number, unsigned};
use super::seal::intact;
use super::session::Session;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Encoding, Total};

impl Session<'_> {
    /// The newest total on the path to `tip`, with the depth of its commit.
    pub(super) fn newest_total(
        &self,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<(u64, Total)>> {
        let Some(tip) = self.place(tip)? else {
            return Ok(None);
        };
        let sql = concat!(
            "SELECT messages, tokens, estimates, depth FROM totals
             WHERE lineage = ?1 AND encoding = ?2 AND depth <= ?3 AND ",
            intact!(totals),
            " ORDER BY depth DESC LIMIT 1"
        );
        for (lineage, depth) in self.lineages(tip)? {
            let found = self.first(sql, params![lineage, encoding, depth], |row| {
                Ok((unsigned(row, 3)?, total(row)?))
            })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    pub(super) fn total_at(
        &self,
        commit: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<Total>> {
        let Some(place) = self.place(commit)? else {
            return Ok(None);
        };
        let sql = concat!(
            "SELECT messages, tokens, estimates FROM totals
             WHERE lineage = ?1 AND encoding = ?2 AND depth = ?3 AND ",
            intact!(totals)
        );
        self.first(sql, params![place.lineage, encoding, place.depth], total)
    }

    pub(super) fn write_total(
        &self,
        commit: &CommitHash,
        encoding: Encoding,
        total: Total,
    ) -> Result<()> {
        let place = self.must_place(commit)?;
        self.execute(
            "INSERT OR REPLACE INTO totals
                 (lineage, depth, encoding, messages, tokens, estimates, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, sealed(?1, ?2, ?3, ?4, ?5, ?6))",
            params![
                place.lineage,
                place.depth,
                encoding,
                number(total.messages),
                number(total.tokens),
                number(total.estimates),
            ],
        )
    }

    /// Forgets all of them.
    pub(super) fn drop_totals(&self) -> Result<()> {
        self.execute("DELETE FROM totals", [])
    }
}

fn total(row: &rusqlite::Row<'_>) -> rusqlite::Result<Total> {
    Ok(Total {
        messages: unsigned(row, 0)?,
        tokens: unsigned(row, 1)?,
        estimates: unsigned(row, 2)?,
    })
}
