//! What whoever looks at a repository most often asks for next, asked for along with what they ask first: what HEAD is
//! on, where its path goes, the newest commits on it with what they append, and what is configured.
//!
//! Nothing depends on it: what was not foreseen is asked for when it is wanted. Deliberately absent: what a
//! command needs; it is the same for all.

use std::cell::{Cell as Held, RefCell};
use std::collections::HashMap;
use std::hash::Hash;

use tokio_postgres::Row;

use super::columns::{get, keys};
use super::driver::Asked;
use super::link::asked;
use super::usual::{ANY, LAST_PURGE, UPKEEP, newest_sum, remembered_asked};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Encoding, RefName, RefValue};
use crate::store::codec::encoding_number;
use crate::store::columns::{Cell, Columns};
use crate::store::lineage::{Place, Stretch};
use crate::store::refs::Seat;
use crate::store::rows::{USAGE, value};
use crate::store::sources::Records;
use crate::store::tables::{CONFIG, SUMMARIES, TOTALS, Table, UNREAD};

/// How many commits are foreseen.
const COMMITS: i64 = 64;
/// What contexts come to.
pub(super) static SUMS: [&Table; 2] = [&TOTALS, &SUMMARIES];
/// The columns of a commit that is foreseen: as listings have them, as what is appended is told, where it stands, and
/// what the provider counted.
pub(super) const LISTED: usize = 0;
pub(super) const APPENDED: usize = 12;
pub(super) const PLACE: usize = 21;
pub(super) const PROVIDERS: usize = 24;

/// The names by which a tip is looked for, and the path to the first of them that has one.
pub(super) const TIP: &str = "WITH RECURSIVE chain (at, hops, name) AS (
         SELECT n, 0, asked.name FROM unnest($1) WITH ORDINALITY AS asked (name, n)
         UNION ALL
         SELECT at, hops + 1, r.symbolic FROM chain JOIN refs AS r ON r.name = chain.name
         WHERE r.symbolic IS NOT NULL AND hops < 2
     ), tip (id, hash) AS (
         SELECT commits.id, commits.hash FROM chain JOIN refs AS r ON r.name = chain.name
         JOIN commits ON commits.id = r.target ORDER BY at, hops LIMIT 1
     ), path (lineage, last, at) AS (
         SELECT lineage, depth, 0 FROM commits WHERE id = (SELECT id FROM tip)
         UNION ALL
         SELECT l.parent, l.fork_depth, at + 1 FROM path JOIN lineages AS l ON l.id = lineage
         WHERE l.parent IS NOT NULL
     )";

/// The names by which somebody's tip is looked for, first that of the branch that was named, if one was.
pub(super) fn names(seat: Option<&Seat>, on: Option<&RefName>) -> Vec<RefName> {
    let head = RefName::head();
    let own = crate::store::refs::kept(seat, &head).clone();
    let main: Option<RefName> = "refs/heads/main".parse().ok();
    let all = on.cloned().into_iter().chain([own, head]).chain(main);
    let mut names: Vec<RefName> = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What is foreseen.
#[derive(Default)]
pub(super) struct Ahead {
    /// What refs hold, by the names under which they are kept.
    refs: RefCell<HashMap<RefName, Option<RefValue>>>,
    commits: RefCell<Vec<Row>>,
    /// Places among these.
    by_commit: RefCell<HashMap<CommitHash, usize>>,
    by_content: RefCell<HashMap<ContentHash, usize>>,
    by_place: RefCell<HashMap<(i64, i64), usize>>,
    /// The records behind commits.
    records: RefCell<HashMap<CommitHash, Records>>,
    /// Whether more was asked for along with a question.
    pub(super) has_asked_more: Held<bool>,
}

/// The columns of a row from one on.
pub(super) struct From<'a>(pub(super) &'a Row, pub(super) usize);

impl Columns for From<'_> {
    fn is_null(&self, at: usize) -> Result<bool> {
        self.0.is_null(self.1 + at)
    }

    fn number(&self, at: usize) -> Result<i64> {
        self.0.number(self.1 + at)
    }

    fn unsigned(&self, at: usize) -> Result<u64> {
        self.0.unsigned(self.1 + at)
    }

    fn flag(&self, at: usize) -> Result<bool> {
        self.0.flag(self.1 + at)
    }

    fn text(&self, at: usize) -> Result<&str> {
        self.0.text(self.1 + at)
    }

    fn bytes(&self, at: usize) -> Result<&[u8]> {
        self.0.bytes(self.1 + at)
    }

    fn cell(&self, at: usize) -> Result<Cell> {
        self.0.cell(self.1 + at)
    }
}

/// What the names hold, and those to which they lead.
fn refs_asked(names: &[RefName]) -> Result<Asked> {
    let sql = format!(
        "{TIP} SELECT target, commits.hash, r.symbolic, chain.name FROM chain
         LEFT JOIN refs AS r ON r.name = chain.name LEFT JOIN commits ON commits.id = r.target"
    );
    asked(sql, &[&keys(names)])
}

/// The path to the tip, and the tip.
fn path_asked(names: &[RefName]) -> Result<Asked> {
    let sql = format!("{TIP} SELECT lineage, last, (SELECT hash FROM tip) FROM path ORDER BY at");
    asked(sql, &[&keys(names)])
}

/// The newest commits on it, and the first.
fn commits_asked(names: &[RefName]) -> Result<Asked> {
    let sql = format!(
        "{TIP}, part AS (
             SELECT lineage, last, coalesce(lead(last) OVER (ORDER BY at), -1) + 1 AS first,
                 max(last) OVER () AS tip FROM path
         )
         SELECT c.hash, c.depth, c.canonical, contents.hash, role, preview, size_bytes, calls, results,
             tokens, estimated, uses,
             c.hash, c.depth, contents.hash, role, calls + results, uses, tokens, estimated,
             c.content IS NULL, c.id, c.lineage, c.depth, {USAGE}
         FROM part CROSS JOIN LATERAL (
             SELECT * FROM commits WHERE lineage = part.lineage AND depth BETWEEN greatest(first, tip - $2 + 1) AND last
             UNION ALL
             SELECT * FROM commits WHERE lineage = part.lineage AND depth = 0 AND first = 0 AND tip >= $2
         ) AS c
         LEFT JOIN contents ON contents.id = c.content
         LEFT JOIN counts ON counts.content = c.content AND encoding = $3 AND mask = ''::bytea
         LEFT JOIN tool_uses ON calls + results > 0 AND tool_uses.content = c.content
         LEFT JOIN usage ON usage.commit_id = c.id ORDER BY c.depth"
    );
    let encoding = encoding_number(Encoding::default());
    asked(sql, &[&keys(names), &COMMITS, &encoding])
}

/// What a context comes to at the tip.
fn sum_asked(table: &Table, names: &[RefName]) -> Result<Asked> {
    let encoding = encoding_number(Encoding::default()).to_string();
    let newest = newest_sum(table, "path AS part", &encoding);
    asked(format!("{TIP} {newest}"), &[&keys(names)])
}

/// Questions that are asked in the same words by whoever wants to know.
pub(super) fn usual() -> Result<Vec<Asked>> {
    Ok(vec![
        remembered_asked(&CONFIG, None)?,
        remembered_asked(&UNREAD, None)?,
        asked(UPKEEP, &[])?,
        asked(LAST_PURGE, &[])?,
        asked(ANY, &[])?,
    ])
}

/// What a view foresees.
pub(super) fn of_view(names: &[RefName]) -> Result<Vec<Asked>> {
    let mut all = vec![
        refs_asked(names)?,
        path_asked(names)?,
        commits_asked(names)?,
    ];
    for table in SUMS {
        all.push(sum_asked(table, names)?);
    }
    all.extend(usual()?);
    Ok(all)
}

/// What a transaction foresees that goes on from the tip: what the names hold; the path to the tip; where that stands, whether
/// anything stands behind it, how deep its newest checkpoint is, and whether nobody else `claims` to go on there. The kind of a
/// row is its first column.
pub(super) fn of_writer(names: &[RefName], claims: &str) -> Result<Asked> {
    let sql = format!(
        "{TIP}
         SELECT {REF}::bigint, 0 AS at, target, commits.hash, r.symbolic, chain.name,
             NULL::bigint, NULL::bigint, NULL::bigint, NULL::bool, NULL::bool
         FROM chain LEFT JOIN refs AS r ON r.name = chain.name LEFT JOIN commits ON commits.id = r.target
         UNION ALL
         SELECT {PART}, at, NULL, NULL, NULL, NULL, lineage, last, NULL, NULL, NULL FROM path
         UNION ALL
         SELECT {END}, 0, c.id, c.hash, NULL, NULL, c.lineage, c.depth,
             (SELECT max(k.depth) FROM path JOIN checkpoints AS k ON k.lineage = path.lineage AND k.depth <= last),
             EXISTS (SELECT 1 FROM commits WHERE lineage = c.lineage AND depth = c.depth + 1)
                 OR EXISTS (SELECT 1 FROM lineages WHERE parent = c.lineage AND fork_depth = c.depth),
             {claims}
         FROM commits AS c WHERE id = (SELECT id FROM tip) ORDER BY 1, 2"
    );
    asked(sql, &[&keys(names)])
}

/// The kinds of its rows: what a name holds, a part of the path, and its end.
pub(super) const REF: i64 = 0;
pub(super) const PART: i64 = 1;
pub(super) const END: i64 = 2;

impl Ahead {
    /// What a ref holds, if that was foreseen.
    pub(super) fn reference(&self, name: &RefName) -> Option<Option<RefValue>> {
        self.refs.borrow().get(name).cloned()
    }

    /// What somebody was told of it.
    pub(super) fn saw_reference(&self, name: &RefName, value: Option<&RefValue>) {
        self.refs.borrow_mut().insert(name.clone(), value.cloned());
    }

    /// It is moved.
    pub(super) fn forget_reference(&self, name: &RefName) {
        self.refs.borrow_mut().remove(name);
    }

    /// Rows for all of these commits, or for none.
    pub(super) fn commits<T>(
        &self,
        hashes: &[CommitHash],
        read: impl Fn(&Row) -> Result<T>,
    ) -> Option<Result<Vec<Option<T>>>> {
        self.at(&self.by_commit, hashes, read)
    }

    /// Rows of commits that append these contents, for all of them or for none.
    pub(super) fn contents<T>(
        &self,
        hashes: &[ContentHash],
        read: impl Fn(&Row) -> Result<T>,
    ) -> Option<Result<Vec<Option<T>>>> {
        self.at(&self.by_content, hashes, read)
    }

    fn at<K: Eq + Hash, T>(
        &self,
        places: &RefCell<HashMap<K, usize>>,
        keys: &[K],
        read: impl Fn(&Row) -> Result<T>,
    ) -> Option<Result<Vec<Option<T>>>> {
        let (rows, at) = (self.commits.borrow(), places.borrow());
        let found = keys.iter().map(|key| Some(&rows[*at.get(key)?]));
        let found: Option<Vec<&Row>> = found.collect();
        Some(found?.into_iter().map(|row| read(row).map(Some)).collect())
    }

    /// Tells the rows of these parts, if all of them were foreseen: whether they were.
    pub(super) fn tells(
        &self,
        parts: &[Stretch],
        read: &mut dyn FnMut(&Row) -> Result<()>,
    ) -> Result<bool> {
        let (rows, at) = (self.commits.borrow(), self.by_place.borrow());
        let are_few = |part: &Stretch| part.last - part.first < COMMITS;
        if !parts.iter().all(are_few) {
            return Ok(false);
        }
        let places = parts
            .iter()
            .flat_map(|part| (part.first..=part.last).map(|depth| (part.lineage, depth)));
        let found: Option<Vec<usize>> = places.map(|place| at.get(&place).copied()).collect();
        let Some(found) = found else {
            return Ok(false);
        };
        for place in found {
            read(&rows[place])?;
        }
        Ok(true)
    }

    /// The commit at a place.
    pub(super) fn name_at(&self, lineage: i64, depth: i64) -> Result<Option<CommitHash>> {
        let (rows, at) = (self.commits.borrow(), self.by_place.borrow());
        let row = at.get(&(lineage, depth)).map(|at| &rows[*at]);
        row.map(|row| get(row, LISTED)).transpose()
    }

    pub(super) fn saw_refs(&self, rows: &[Row]) -> Result<()> {
        let mut refs = self.refs.borrow_mut();
        for row in rows {
            refs.insert(get(row, 3)?, value(row, 0)?);
        }
        Ok(())
    }

    /// The row `at` is of this commit.
    pub(super) fn saw_commit(
        &self,
        at: usize,
        (hash, place): (CommitHash, Place),
        content: Option<ContentHash>,
    ) {
        self.by_commit.borrow_mut().insert(hash, at);
        let here = (place.lineage, place.depth);
        self.by_place.borrow_mut().insert(here, at);
        if let Some(content) = content {
            self.by_content.borrow_mut().insert(content, at);
        }
    }

    /// The commits that were foreseen.
    pub(super) fn foreseen_commits(&self) -> Vec<CommitHash> {
        let mut all: Vec<CommitHash> = self.by_commit.borrow().keys().copied().collect();
        all.sort_unstable();
        all
    }

    pub(super) fn saw_records(&self, found: impl Iterator<Item = (CommitHash, Records)>) {
        self.records.borrow_mut().extend(found);
    }

    /// The records behind all of these commits, or none.
    pub(super) fn records(&self, commits: &[CommitHash]) -> Option<Vec<Records>> {
        let records = self.records.borrow();
        commits
            .iter()
            .map(|commit| records.get(commit).cloned())
            .collect()
    }

    /// These are the rows.
    pub(super) fn saw_commits(&self, rows: Vec<Row>) {
        self.commits.replace(rows);
    }
}
