//! Checkpoints. They are derived data: one that cannot be read counts as absent.
//!
//! What a context names is asked for at once, before any of it is written, and so is what a checkpoint
//! names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use imbl::Vector;
use postgres::types::FromSqlOwned;

use super::columns::{damaged, get, keys};
use super::objects::missing;
use super::session::{Path, Session, place_of};
use crate::context::{Context, Entry};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::store::checkpoint::{Decoder, Names, Rows, Run, encode, is_plain, whole_runs};

impl Session<'_> {
    /// The newest checkpoint on the path to `tip` that can be read.
    pub(super) fn newest_checkpoint(
        &self,
        tip: &CommitHash,
    ) -> Result<Option<(CommitHash, Context)>> {
        self.newest_data(tip, |data| {
            let mut rows = Decoder::of(data, None);
            if rows.context().is_none() {
                return Ok(None);
            }
            let names = Names {
                commits: self.names("commits", &rows.commits)?,
                contents: self.names("contents", &rows.contents)?,
                runs: self.runs(&rows.runs)?,
            };
            Ok(Decoder::of(data, Some(&names)).context())
        })
    }

    /// What the newest checkpoint on the path to `tip` says of settings, without its entries.
    pub(super) fn newest_settings(
        &self,
        tip: &CommitHash,
    ) -> Result<Option<(CommitHash, BTreeMap<String, CommitHash>)>> {
        self.newest_data(tip, |data| {
            let mut rows = Decoder::of(data, None);
            if rows.head().is_none() {
                return Ok(None);
            }
            let names = Names {
                commits: self.names("commits", &rows.commits)?,
                ..Names::default()
            };
            let head = Decoder::of(data, Some(&names)).head();
            Ok(head.map(|(_, _, settings)| settings))
        })
    }

    /// The newest checkpoint on the path to `tip` of which `read` can make anything.
    fn newest_data<T>(
        &self,
        tip: &CommitHash,
        read: impl Fn(&[u8]) -> Result<Option<T>>,
    ) -> Result<Option<(CommitHash, T)>> {
        let path = self.path(tip)?;
        let mut below = i64::MAX;
        while let Some(row) = self
            .query(NEWEST, &[&lineages(&path), &lasts(&path), &below])?
            .first()
        {
            if let Some(found) = read(get(row, 2)?)? {
                return Ok(Some((get(row, 0)?, found)));
            }
            below = get(row, 1)?;
        }
        Ok(None)
    }

    /// Without a look inside: a checkpoint that cannot be read counts here, and the next is due later.
    pub(super) fn since_checkpoint(&self, tip: &CommitHash) -> Result<u64> {
        let path = self.path(tip)?;
        let (_, depth) = *path.first().ok_or_else(|| missing("commit", tip))?;
        let sql = "SELECT max(depth) FROM unnest($1, $2) AS part (lineage, last)
             JOIN checkpoints AS c ON c.lineage = part.lineage AND depth <= last";
        let found = self.first(sql, &[&lineages(&path), &lasts(&path)], |row| {
            get::<Option<i64>>(row, 0)
        })?;
        Ok((depth - found.flatten().unwrap_or(-1)) as u64)
    }

    pub(super) fn write_checkpoint(&self, commit: &CommitHash, context: &Context) -> Result<()> {
        let place = self.must_place(commit)?;
        let data = encode(&Known::of(self, context)?, context)?;
        self.execute(
            "INSERT INTO checkpoints (commit_id, lineage, depth, data) VALUES ($1, $2, $3, $4)
             ON CONFLICT (commit_id) DO UPDATE SET data = excluded.data",
            &[&place.id, &place.lineage, &place.depth, &data],
        )
    }

    /// The names of rows.
    fn names<T: FromSqlOwned>(&self, table: &str, rows: &[i64]) -> Result<HashMap<i64, T>> {
        if rows.is_empty() {
            return Ok(HashMap::new());
        }
        let sql = format!("SELECT id, hash FROM {table} WHERE id = ANY ($1)");
        let names = self.all(&sql, &[&rows.to_vec()], |row| {
            Ok((get(row, 0)?, get::<T>(row, 1)?))
        })?;
        Ok(names.into_iter().collect())
    }

    /// The appends of runs.
    fn runs(&self, runs: &[[i64; 3]]) -> Result<Vec<Vec<(CommitHash, ContentHash)>>> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let column = |at: usize| runs.iter().map(|run| run[at]).collect::<Vec<i64>>();
        let found = self.all(
            "SELECT n, depth, commits.hash, content IS NULL, contents.hash
             FROM unnest($1, $2, $3) WITH ORDINALITY AS runs (line, first, last, n)
             JOIN commits ON lineage = line AND depth BETWEEN first AND last
             LEFT JOIN contents ON contents.id = content",
            &[&column(0), &column(1), &column(2)],
            |row| {
                let (content, is_other): (Option<ContentHash>, bool) = (get(row, 4)?, get(row, 3)?);
                if content.is_none() && !is_other {
                    return Err(damaged("what a commit appends is missing"));
                }
                let commit: CommitHash = get(row, 2)?;
                Ok((
                    place_of(row)?,
                    get(row, 1)?,
                    content.map(|content| (commit, content)),
                ))
            },
        )?;
        Ok(whole_runs(runs, found))
    }
}

const NEWEST: &str = "SELECT hash, found.depth, data FROM unnest($1, $2) AS part (lineage, last)
     CROSS JOIN LATERAL (
         SELECT commit_id, c.depth, data FROM checkpoints AS c
         WHERE c.lineage = part.lineage AND c.depth <= last AND c.depth < $3
         ORDER BY c.depth DESC LIMIT 1
     ) AS found JOIN commits ON commits.id = commit_id ORDER BY found.depth DESC LIMIT 1";

fn lineages(path: &Path) -> Vec<i64> {
    path.iter().map(|(lineage, _)| *lineage).collect()
}

fn lasts(path: &Path) -> Vec<i64> {
    path.iter().map(|(_, last)| *last).collect()
}

/// Where a commit stands, and what it appends.
struct Standing {
    id: i64,
    lineage: i64,
    depth: i64,
    content: Option<ContentHash>,
}

/// The rows behind all that a context names.
struct Known {
    commits: HashMap<CommitHash, Standing>,
    contents: HashMap<ContentHash, i64>,
    /// The depths of commits that append nothing, by lineage.
    changes: HashMap<i64, BTreeSet<i64>>,
}

impl Known {
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
        for row in session.query(sql, &[&lineages])? {
            changes
                .entry(get(&row, 0)?)
                .or_default()
                .insert(get(&row, 1)?);
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

impl Rows for Known {
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
