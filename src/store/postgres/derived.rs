//! What follows from the rest and is kept: counts, checkpoints, and what contexts come to. What cannot be read
//! counts as absent.
//!
//! What a context names is asked for at once, before any of it is written, and so is what a checkpoint
//! names.

use std::collections::{BTreeSet, HashMap};

use imbl::Vector;

use super::ahead::LISTED;
use super::columns::{Parameter, get, keys};
use super::driver::Asked;
use super::link::asked;
use super::session::{Session, place_of};
use super::usual::newest_sum;
use crate::context::{Context, Entry};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Encoding, TokenCount};
use crate::store::checkpoint::{
    self, Append, Checkpoints, Rows, Run, decode, encode, is_plain, whole_runs,
};
use crate::store::codec::encoding_number;
use crate::store::columns::missing;
use crate::store::columns::{Column, Columns};
use crate::store::derived::SumRow;
use crate::store::lineage::Lineages;
use crate::store::remembered::PLACE;
use crate::store::rows;
use crate::store::tables::{self, Only, Purge, SUMMARIES, TOTALS, Table};
use crate::store::{Cell, CountKey, Derivations, DerivationsMut, Derived, Memory, MemoryRow};

/// How many counts are kept together.
const TOGETHER: usize = 4_096;

impl Session<'_> {
    /// All sums of a table.
    fn sums(&self, table: &Table) -> Result<Vec<SumRow>> {
        let (name, columns) = (table.name, table.columns[PLACE..].join(", "));
        let sql = format!(
            "SELECT hash, encoding, {columns} FROM {name} AS t
             JOIN commits AS c ON c.lineage = t.lineage AND c.depth = t.depth"
        );
        self.all(&sql, &[], |row| {
            Ok((
                get(row, 0)?,
                get(row, 1)?,
                MemoryRow::read_sum(row, 2, table)?,
            ))
        })
    }

    /// Forgets all totals and summaries.
    pub(super) fn drop_totals(&self) -> Result<()> {
        self.empty(tables::purged(Purge::Sums, Only::Files))
    }
}

impl Derivations for Session<'_> {
    fn kept_counts(
        &self,
        keys: &[CountKey],
        encoding: Encoding,
    ) -> Result<Vec<Option<TokenCount>>> {
        let mut answers: Vec<Option<TokenCount>> = vec![None; keys.len()];
        if keys.is_empty() {
            return Ok(answers);
        }
        if encoding == Encoding::default() && keys.iter().all(|key| key.mask.is_none()) {
            let asked: Vec<ContentHash> = keys.iter().map(|key| key.content).collect();
            if let Some(found) = self
                .ahead
                .contents(&asked, |row| rows::count(row, LISTED + 9))
            {
                return Ok(found?.into_iter().map(Option::flatten).collect());
            }
        }
        let contents: Vec<&[u8]> = keys.iter().map(|key| &key.content.as_bytes()[..]).collect();
        let masks: Vec<&[u8]> = keys.iter().map(CountKey::masked).collect();
        let rows = self.query(COUNTS, &[&contents, &masks, &encoding_number(encoding)])?;
        for row in rows.iter() {
            answers[place_of(row)?] = rows::count(row, 1)?;
        }
        Ok(answers)
    }

    fn checkpoint(&self, tip: &CommitHash) -> Result<Option<(CommitHash, Context)>> {
        self.newest_data(tip, |data| decode(self, data))
    }

    fn newest_sum(
        &self,
        of: Memory,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<(u64, MemoryRow)>> {
        let path = self.path(tip)?;
        if encoding == Encoding::default()
            && let Some(foreseen) = self.ahead.sums.newest(of.0, &path)
        {
            return Ok(foreseen);
        }
        let (lineages, lasts): (Vec<i64>, Vec<i64>) = path.iter().copied().unzip();
        let encoding = encoding_number(encoding);
        let parameters: [&dyn Parameter; 3] = [&lineages, &lasts, &encoding];
        self.first(&newest_sum(of.0), &parameters, |row| {
            Ok((get(row, 0)?, MemoryRow::read_sum(row, 1, of.0)?))
        })
    }

    fn derived(&self) -> Result<Derived> {
        let checkpoints = "SELECT hash FROM checkpoints AS c JOIN commits ON commits.id = commit_id
             AND commits.lineage = c.lineage AND commits.depth = c.depth";
        let counts = "SELECT hash, encoding, mask, tokens, estimated
             FROM counts JOIN contents ON contents.id = content";
        let derived = Derived {
            checkpoints: self.all(checkpoints, &[], |row| get(row, 0))?,
            counts: self.all(counts, &[], rows::kept_count)?,
            ..Derived::default()
        };
        derived.with_sums(&self.sums(&TOTALS)?, &self.sums(&SUMMARIES)?)
    }

    /// Without a look inside: a checkpoint that cannot be read counts here, and the next is due later.
    fn commits_since_checkpoint(&self, tip: &CommitHash) -> Result<u64> {
        let path = self.path(tip)?;
        let (_, depth) = *path.first().ok_or_else(|| missing("commit", tip))?;
        if let Some(newest) = self.known.checkpoint(tip) {
            return Ok((depth - newest.unwrap_or(-1)) as u64);
        }
        let (lineages, lasts): (Vec<i64>, Vec<i64>) = path.iter().copied().unzip();
        let sql = "SELECT max(depth) FROM unnest($1, $2) AS part (lineage, last)
             JOIN checkpoints AS c ON c.lineage = part.lineage AND depth <= last";
        let found = self.first(sql, &[&lineages, &lasts], |row| get::<Option<i64>>(row, 0))?;
        Ok((depth - found.flatten().unwrap_or(-1)) as u64)
    }
}

impl DerivationsMut for Session<'_> {
    fn keep_counts(&self, counts: &[(CountKey, TokenCount)], encoding: Encoding) -> Result<()> {
        for counts in counts.chunks(TOGETHER) {
            let contents: Vec<ContentHash> = counts.iter().map(|(key, _)| key.content).collect();
            for ((key, count), content) in counts.iter().zip(self.must_contents(&contents)?) {
                let key = (content, encoding_number(encoding), key.masked().to_vec());
                self.put(|waiting| {
                    waiting.counts.insert(key, *count);
                })?;
            }
        }
        Ok(())
    }

    fn put_checkpoint(&self, commit: &CommitHash, context: &Context) -> Result<()> {
        let place = self.must_place(commit)?;
        self.known.forget_checkpoint();
        let data = encode(&Standings::of(self, context)?, context)?;
        self.execute(
            "INSERT INTO checkpoints (commit_id, lineage, depth, data) VALUES ($1, $2, $3, $4)
             ON CONFLICT (commit_id) DO UPDATE SET data = excluded.data",
            &[&place.id, &place.lineage, &place.depth, &data],
        )
    }

    fn put_sum(
        &self,
        of: Memory,
        commit: &CommitHash,
        encoding: Encoding,
        cells: Vec<Cell>,
    ) -> Result<()> {
        let place = self.must_place(commit)?;
        let at = [place.lineage, place.depth, encoding_number(encoding)].map(Cell::Number);
        let key = of.0.columns[..PLACE].join(", ");
        self.put_row(of.0, (&key, PLACE), at.into_iter().chain(cells))
    }
}

impl Checkpoints for Session<'_> {
    fn newest_data<T>(
        &self,
        tip: &CommitHash,
        read: impl Fn(&[u8]) -> Result<Option<T>>,
    ) -> Result<Option<(CommitHash, T)>> {
        let path = self.path(tip)?;
        let mut below = i64::MAX;
        while let Some(row) = self.ask(checkpoint_asked(&path, below)?)?.first() {
            if let Some(found) = read(row.bytes(2)?)? {
                return Ok(Some((get(row, 0)?, found)));
            }
            below = get(row, 1)?;
        }
        Ok(None)
    }

    fn foresee_names(&self, commits: &[i64], contents: &[i64], runs: &[[i64; 3]]) -> Result<()> {
        let mut all = Vec::new();
        for (table, rows) in [("commits", commits), ("contents", contents)] {
            if !rows.is_empty() {
                all.push(names_asked(table, rows)?);
            }
        }
        if !runs.is_empty() {
            all.push(runs_asked(runs)?);
        }
        self.together(all)
    }

    fn names<T: for<'r> Column<'r>>(&self, table: &str, rows: &[i64]) -> Result<HashMap<i64, T>> {
        if rows.is_empty() {
            return Ok(HashMap::new());
        }
        let names = self.ask(names_asked(table, rows)?)?;
        let names = names.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
        names.collect()
    }

    fn appends_of(&self, runs: &[[i64; 3]]) -> Result<Vec<Vec<Append>>> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.ask(runs_asked(runs)?)?;
        let found = found.iter();
        let found = found.map(|row| checkpoint::run_row(row, place_of(row)?));
        let found = found.collect::<Result<_>>()?;
        Ok(whole_runs(runs, found))
    }
}

/// The newest checkpoint on a path that is not as deep as this.
pub(super) fn checkpoint_asked(path: &[(i64, i64)], below: i64) -> Result<Asked> {
    let (lineages, lasts): (Vec<i64>, Vec<i64>) = path.iter().copied().unzip();
    asked(NEWEST, &[&lineages, &lasts, &below])
}

/// The names of rows of a table.
fn names_asked(table: &str, rows: &[i64]) -> Result<Asked> {
    let sql = format!("SELECT id, hash FROM {table} WHERE id = ANY ($1)");
    asked(sql, &[&rows.to_vec()])
}

/// The commits of some runs, with what they append.
fn runs_asked(runs: &[[i64; 3]]) -> Result<Asked> {
    let column = |at: usize| runs.iter().map(|run| run[at]).collect::<Vec<i64>>();
    let sql = "SELECT n, depth, commits.hash, content IS NULL, contents.hash
         FROM unnest($1, $2, $3) WITH ORDINALITY AS runs (line, first, last, n)
         JOIN commits ON lineage = line AND depth BETWEEN first AND last
         LEFT JOIN contents ON contents.id = content";
    asked(sql, &[&column(0), &column(1), &column(2)])
}

/// Counts by content and mask: each found by its key, whatever a server without statistics thinks of how many there are.
pub(super) const COUNTS: &str = "SELECT n, tokens, estimated
     FROM unnest($1, $2) WITH ORDINALITY AS keys (key, masked, n)
     CROSS JOIN LATERAL (SELECT id FROM contents WHERE hash = key LIMIT 1) AS one
     CROSS JOIN LATERAL (
         SELECT tokens, estimated FROM counts
         WHERE content = one.id AND encoding = $3 AND mask = masked LIMIT 1
     ) AS found";

const NEWEST: &str = "SELECT hash, found.depth, data FROM unnest($1, $2) AS part (lineage, last)
     CROSS JOIN LATERAL (
         SELECT commit_id, c.depth, data FROM checkpoints AS c
         WHERE c.lineage = part.lineage AND c.depth <= last AND c.depth < $3
         ORDER BY c.depth DESC LIMIT 1
     ) AS found JOIN commits ON commits.id = commit_id ORDER BY found.depth DESC LIMIT 1";

/// Where a commit stands, and what it appends.
struct Standing {
    id: i64,
    lineage: i64,
    depth: i64,
    content: Option<ContentHash>,
}

/// The rows behind all that a context names.
struct Standings {
    commits: HashMap<CommitHash, Standing>,
    contents: HashMap<ContentHash, i64>,
    /// The depths of commits that append nothing, by lineage.
    changes: HashMap<i64, BTreeSet<i64>>,
}

impl Standings {
    fn of(session: &Session<'_>, context: &Context) -> Result<Self> {
        let entries = context.entries.iter();
        let commits = entries.map(|entry| entry.id.commit);
        let commits: BTreeSet<CommitHash> =
            commits.chain(context.settings.values().copied()).collect();
        let commits: Vec<CommitHash> = commits.into_iter().collect();
        let sql = "SELECT c.hash, c.id, lineage, depth, contents.hash FROM commits AS c
             LEFT JOIN contents ON contents.id = content WHERE c.hash = ANY ($1)";
        let commits = session.all(sql, &[&keys(&commits)], |row| {
            let standing = Standing {
                id: get(row, 1)?,
                lineage: get(row, 2)?,
                depth: get(row, 3)?,
                content: get(row, 4)?,
            };
            Ok((get(row, 0)?, standing))
        })?;
        let commits: HashMap<CommitHash, Standing> = commits.into_iter().collect();

        let stubs = |entry: &Entry| {
            let parts = entry.mask.parts().iter().filter_map(|part| part.stub);
            parts.chain([entry.content]).collect::<Vec<ContentHash>>()
        };
        let contents: BTreeSet<ContentHash> = context
            .entries
            .iter()
            .filter(|entry| {
                let standing = commits.get(&entry.id.commit);
                !is_plain(entry) || standing.is_none_or(|one| one.content != Some(entry.content))
            })
            .flat_map(stubs)
            .collect();
        let contents: Vec<ContentHash> = contents.into_iter().collect();
        let rows = session.must_contents(&contents)?;

        let lineages: BTreeSet<i64> = commits.values().map(|one| one.lineage).collect();
        let lineages: Vec<i64> = lineages.into_iter().collect();
        let sql = "SELECT lineage, depth FROM commits WHERE lineage = ANY ($1) AND content IS NULL";
        let mut changes: HashMap<i64, BTreeSet<i64>> = HashMap::new();
        for row in session.query(sql, &[&lineages])?.iter() {
            changes
                .entry(get(row, 0)?)
                .or_default()
                .insert(get(row, 1)?);
        }
        Ok(Self {
            commits,
            contents: contents.into_iter().zip(rows).collect(),
            changes,
        })
    }

    fn standing(&self, commit: &CommitHash) -> Result<&Standing> {
        let found = self.commits.get(commit);
        found.ok_or_else(|| missing("commit", commit))
    }

    /// Whether an entry is an append that stands right behind the one at `before`, but for commits that
    /// append nothing.
    fn follows(&self, before: &Standing, entry: &Entry) -> Option<&Standing> {
        let next = self.commits.get(&entry.id.commit)?;
        let between = next.depth.checked_sub(before.depth + 1)?;
        let is_next = next.lineage == before.lineage
            && between >= 0
            && next.content == Some(entry.content)
            && is_plain(entry)
            && (between == 0 || self.changes_between(before, next) == between);
        is_next.then_some(next)
    }

    fn changes_between(&self, before: &Standing, next: &Standing) -> i64 {
        let depths = before.depth + 1..next.depth;
        let changes = self.changes.get(&before.lineage);
        changes.map_or(0, |changes| changes.range(depths).count() as i64)
    }
}

impl Rows for Standings {
    fn commit_row(&self, commit: &CommitHash) -> Result<u64> {
        Ok(self.standing(commit)?.id.cast_unsigned())
    }

    fn content_row(&self, content: &ContentHash) -> Result<u64> {
        let found = self.contents.get(content);
        let row = found.ok_or_else(|| missing("content", content))?;
        Ok(row.cast_unsigned())
    }

    fn run(&self, entries: &Vector<Entry>, left: usize) -> Result<Option<Run>> {
        let mut entries = entries.focus().narrow(entries.len() - left..).into_iter();
        let Some(first) = entries.next().filter(|entry| is_plain(entry)) else {
            return Ok(None);
        };
        let from = self.standing(&first.id.commit)?;
        if from.content != Some(first.content) {
            return Ok(None);
        }
        let (mut last, mut len) = (from, 1);
        while let Some(next) = entries.next().and_then(|entry| self.follows(last, entry)) {
            (last, len) = (next, len + 1);
        }
        Ok(Some(Run {
            lineage: from.lineage,
            first: from.depth,
            last: last.depth,
            len,
        }))
    }
}
