//! Totals and summaries of contexts, by the place of their commits.

use rusqlite::{Row, params};

use super::codec::{number, unsigned};
use super::seal::intact;
use super::session::Session;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Encoding, Summed, Total};
use crate::store::codec::{pack_summary, unpack_summary};
use crate::store::tables::{self, Only, Purge};

impl Session<'_> {
    /// The newest total on the path to `tip`, with the depth of its commit.
    pub(super) fn newest_total(
        &self,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<(u64, Total)>> {
        let sql = concat!(
            "SELECT messages, tokens, estimates, depth FROM totals
             WHERE lineage = ?1 AND encoding = ?2 AND depth <= ?3 AND ",
            intact!(totals),
            " ORDER BY depth DESC LIMIT 1"
        );
        self.newest(tip, encoding, sql, |row| {
            Ok((unsigned(row, 3)?, total(row)?))
        })
    }

    /// The first row that `sql` finds on the lineages of the path to `tip`, the newest first; it asks by
    /// lineage, encoding and greatest depth.
    fn newest<T>(
        &self,
        tip: &CommitHash,
        encoding: Encoding,
        sql: &'static str,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let Some(tip) = self.place(tip)? else {
            return Ok(None);
        };
        for (lineage, depth) in self.lineages(tip)? {
            let found = self.first(sql, params![lineage, encoding, depth], read)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
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

    /// The newest summary on the path to `tip` that can be read, with the depth of its commit.
    pub(super) fn newest_summary_of(
        &self,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<(u64, Summed)>> {
        let sql = concat!(
            "SELECT depth, data FROM summaries
             WHERE lineage = ?1 AND encoding = ?2 AND depth <= ?3 AND ",
            intact!(summaries),
            " ORDER BY depth DESC LIMIT 1"
        );
        let found = self.newest(tip, encoding, sql, |row| {
            let summary = unpack_summary(row.get_ref(1)?.as_blob()?);
            Ok((unsigned(row, 0)?, summary))
        })?;
        Ok(found.and_then(|(depth, summary)| Some((depth, summary?))))
    }

    /// All that are kept, each with its commit.
    pub(super) fn all_summaries(&self) -> Result<Vec<(CommitHash, Encoding, Option<Summed>)>> {
        let sql = concat!(
            "SELECT commits.hash, encoding, data FROM summaries
             JOIN commits ON commits.lineage = summaries.lineage
                 AND commits.depth = summaries.depth WHERE ",
            intact!(summaries)
        );
        self.all(sql, [], |row| {
            let summary = unpack_summary(row.get_ref(2)?.as_blob()?);
            Ok((row.get(0)?, row.get(1)?, summary))
        })
    }

    pub(super) fn write_summary(
        &self,
        commit: &CommitHash,
        encoding: Encoding,
        summary: &Summed,
    ) -> Result<()> {
        let place = self.must_place(commit)?;
        self.execute(
            "INSERT OR REPLACE INTO summaries (lineage, depth, encoding, data, seal)
             VALUES (?1, ?2, ?3, ?4, sealed(?1, ?2, ?3, ?4))",
            params![place.lineage, place.depth, encoding, pack_summary(summary)],
        )
    }

    /// Forgets all of them.
    pub(super) fn drop_totals(&self) -> Result<()> {
        self.empty(tables::purged(Purge::Sums, Only::Servers))
    }
}

fn total(row: &rusqlite::Row<'_>) -> rusqlite::Result<Total> {
    Ok(Total {
        messages: unsigned(row, 0)?,
        tokens: unsigned(row, 1)?,
        estimates: unsigned(row, 2)?,
    })
}
