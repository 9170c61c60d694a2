//! Totals and summaries of contexts, by the place of their commits.

use postgres::Row;

use super::columns::{get, unsigned};
use super::session::Session;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Encoding, Summed, Total};
use crate::store::codec::{encoding_number, encoding_of, number, pack_summary, unpack_summary};
use crate::store::tables::{self, Only, Purge};

impl Session<'_> {
    /// The newest row of `table` on the path to `tip`: its depth, and then these columns.
    fn newest<T>(
        &self,
        (table, columns): (&str, &str),
        tip: &CommitHash,
        encoding: Encoding,
        read: impl FnOnce(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        let path = self.path(tip)?;
        let (lineages, lasts): (Vec<i64>, Vec<i64>) = path.iter().copied().unzip();
        // Along a path, depths grow: of each lineage its newest row, and of these the deepest.
        let sql = format!(
            "SELECT found.* FROM unnest($1, $2) AS part (lineage, last)
             CROSS JOIN LATERAL (
                 SELECT depth, {columns} FROM {table} AS t
                 WHERE t.lineage = part.lineage AND encoding = $3 AND depth <= last
                 ORDER BY depth DESC LIMIT 1
             ) AS found ORDER BY depth DESC LIMIT 1"
        );
        self.first(&sql, &[&lineages, &lasts, &encoding_number(encoding)], read)
    }

    /// The newest total on the path to `tip`, with the depth of its commit.
    pub(super) fn newest_total_of(
        &self,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<(u64, Total)>> {
        let columns = ("totals", "messages, tokens, estimates");
        self.newest(columns, tip, encoding, |row| {
            Ok((unsigned(row, 0)?, total(row, 1)?))
        })
    }

    /// The newest summary on the path to `tip` that can be read, with the depth of its commit.
    pub(super) fn newest_summary_of(
        &self,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<(u64, Summed)>> {
        let found = self.newest(("summaries", "data"), tip, encoding, |row| {
            Ok((unsigned(row, 0)?, unpack_summary(get(row, 1)?)))
        })?;
        Ok(found.and_then(|(depth, summary)| Some((depth, summary?))))
    }

    pub(super) fn all_totals(&self) -> Result<Vec<(CommitHash, Encoding, Total)>> {
        let sql = "SELECT hash, encoding, messages, tokens, estimates FROM totals AS t
             JOIN commits AS c ON c.lineage = t.lineage AND c.depth = t.depth";
        self.all(sql, &[], |row| {
            Ok((get(row, 0)?, encoding_of(get(row, 1)?)?, total(row, 2)?))
        })
    }

    pub(super) fn all_summaries(&self) -> Result<Vec<(CommitHash, Encoding, Option<Summed>)>> {
        let sql = "SELECT hash, encoding, data FROM summaries AS s
             JOIN commits AS c ON c.lineage = s.lineage AND c.depth = s.depth";
        self.all(sql, &[], |row| {
            let encoding = encoding_of(get(row, 1)?)?;
            Ok((get(row, 0)?, encoding, unpack_summary(get(row, 2)?)))
        })
    }

    pub(super) fn write_total(
        &self,
        commit: &CommitHash,
        encoding: Encoding,
        total: Total,
    ) -> Result<()> {
        let place = self.must_place(commit)?;
        self.execute(
            "INSERT INTO totals (lineage, depth, encoding, messages, tokens, estimates)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (lineage, encoding, depth) DO UPDATE
             SET messages = excluded.messages, tokens = excluded.tokens, estimates = excluded.estimates",
            &[
                &place.lineage,
                &place.depth,
                &encoding_number(encoding),
                &number(total.messages),
                &number(total.tokens),
                &number(total.estimates),
            ],
        )
    }

    pub(super) fn write_summary(
        &self,
        commit: &CommitHash,
        encoding: Encoding,
        summary: &Summed,
    ) -> Result<()> {
        let place = self.must_place(commit)?;
        self.execute(
            "INSERT INTO summaries (lineage, depth, encoding, data) VALUES ($1, $2, $3, $4)
             ON CONFLICT (lineage, encoding, depth) DO UPDATE SET data = excluded.data",
            &[
                &place.lineage,
                &place.depth,
                &encoding_number(encoding),
                &pack_summary(summary),
            ],
        )
    }

    /// Forgets all of them.
    pub(super) fn drop_totals(&self) -> Result<()> {
        self.empty(tables::purged(Purge::Sums, Only::Files))
    }
}

fn total(row: &Row, first: usize) -> Result<Total> {
    Ok(Total {
        messages: unsigned(row, first)?,
        tokens: unsigned(row, first + 1)?,
        estimates: unsigned(row, first + 2)?,
    })
}
