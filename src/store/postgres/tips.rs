//! What is asked for of several paths at once, for somebody who looks at one after the other: where they go, the commits at
//! their ends and at the beginning, what appends nothing and what that names, what contexts come to, and which sessions the
//! commits came from. Whoever asks for any of it finds it here.
//!
//! Nothing depends on it: of a path that is longer, the rest is asked for when it is wanted.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::ahead::{beside_commits, foreseen_columns};
use super::columns::{From, Parameter, get, keys};
use super::derived::checkpoint_asked;
use super::driver::Told;
use super::link::{asked, rows};
use super::path::changes_asked;
use super::refs::Page;
use super::session::Session;
use super::sums::{PathPart, SUMS, sums_asked};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Encoding;
use crate::store::codec::{encoding_number, unpack_spans};
use crate::store::columns::Columns;
use crate::store::rows::source;
use crate::store::tables::SESSIONS;
use crate::store::{MemoryRow, Records, Tips};

/// How many commits at the end of a part are asked for, least and most, and of how many altogether: by what is asked for.
const NEAR: [(i64, i64, i64); 3] = [(16, 256, 1_024), (16, 16, 16), (16, 32, 8_192)];
/// How many of these at least, where there is a total nearer to the end.
const LEAST: i64 = 4;
/// The places of these: who looks at whole paths, at their ends, or lists them.
const WHOLE: usize = 0;
const AT: usize = 1;
const LISTED: usize = 2;
/// How many at the beginning.
const FIRST: [i64; 3] = [64, 1, 4];
/// How many that append nothing.
const CHANGES: (i64, i64, i64) = (16, 256, 32_768);

/// How many of something each of some parts gets.
fn each((least, most, all): (i64, i64, i64), parts: usize) -> i64 {
    (all / (parts as i64).max(1)).clamp(least, most)
}

/// The same in SQL.
fn each_sql((least, most, all): (i64, i64, i64)) -> String {
    format!("(SELECT greatest({least}, least({most}, {all} / greatest(count(*), 1))) FROM part)")
}

/// The parts of the paths to those commits whose rows `ends` gives.
fn parts(ends: &str) -> String {
    format!(
        "WITH RECURSIVE part (lineage, last) AS (
             SELECT lineage, depth FROM commits WHERE id IN ({ends})
             UNION
             SELECT l.parent, l.fork_depth FROM part JOIN lineages AS l ON l.id = part.lineage
             WHERE l.parent IS NOT NULL
         )"
    )
}

/// The places of what appends nothing there.
fn changed() -> String {
    let most = each_sql(CHANGES);
    format!(
        "far AS (SELECT lineage, max(last) AS last FROM part GROUP BY lineage),
         changed AS (
             SELECT c.* FROM far CROSS JOIN LATERAL (
                 SELECT lineage, depth, canonical FROM commits
                 WHERE commits.lineage = far.lineage AND commits.depth <= far.last AND content IS NULL
                 ORDER BY depth LIMIT {most} + 1
             ) AS c
         )"
    )
}

/// The places of all commits that are asked for, and these commits as `c`: each is looked for by itself, whatever a server
/// without statistics thinks of how many there are. A change tells in its text which commits it names.
fn near(kind: usize) -> String {
    let (most, first, changed) = (each_sql(NEAR[kind]), FIRST[kind], changed());
    let encoding = encoding_number(Encoding::default());
    format!(
        "{changed}, near AS (
             SELECT part.lineage, at.depth FROM part LEFT JOIN LATERAL (
                 SELECT depth FROM totals AS t WHERE t.lineage = part.lineage AND encoding = {encoding} AND depth <= last
                 ORDER BY depth DESC LIMIT 1
             ) AS total ON {kind} <> {WHOLE}
             CROSS JOIN LATERAL generate_series(
                 greatest(0, last + 1 - least({most}, greatest({LEAST}, last - coalesce(total.depth, -1)))), last
             ) AS at (depth)
             UNION SELECT lineage, depth FROM part JOIN lineages ON id = lineage
             CROSS JOIN generate_series(0, {first} - 1) AS depth WHERE parent IS NULL AND depth <= last
             UNION SELECT lineage, depth FROM changed
             UNION SELECT named.lineage, named.depth FROM changed CROSS JOIN LATERAL
                 regexp_matches(encode(canonical, 'escape'), '\"([0-9a-f]{{64}})[\"#]', 'g') AS name
             CROSS JOIN LATERAL (
                 SELECT lineage, depth FROM commits WHERE hash = decode(name[1], 'hex') LIMIT 1
             ) AS named
         )"
    )
}

const COMMITS: &str = "near CROSS JOIN LATERAL (
     SELECT * FROM commits WHERE commits.lineage = near.lineage AND commits.depth = near.depth LIMIT 1
 ) AS c";

/// Which sessions these commits came from: of each row its kind, and then those of the commits, of their records, of the sources
/// of these, and of the sessions of those.
const SESSIONS_OF: &str = "named (commit, hash) AS (
         SELECT c.id, c.hash FROM near CROSS JOIN LATERAL (
             SELECT id, hash FROM commits WHERE commits.lineage = near.lineage AND commits.depth = near.depth LIMIT 1
         ) AS c
     ), recorded AS (
         SELECT hash, source, spans FROM named
         CROSS JOIN LATERAL (SELECT source, spans FROM commit_records WHERE commit_id = commit OFFSET 0) AS record
     ), sourced AS (SELECT * FROM sources WHERE id IN (SELECT source FROM recorded))
     SELECT 0::bigint AS kind, 0::bigint AS n, hash AS name, NULL::bytea, NULL::bigint, NULL::bytea,
         NULL::bytea, NULL::bytea, NULL::bytea, NULL::bytea FROM named
     UNION ALL SELECT 1, source, hash, spans, NULL, NULL, NULL, NULL, NULL, NULL FROM recorded
     UNION ALL SELECT 2, id, session, format, size_bytes, fingerprint, NULL, NULL, NULL, NULL FROM sourced
     UNION ALL SELECT 3, 0, NULL, NULL, NULL, NULL, name, title, cwd, absent FROM sessions
         WHERE name IN (SELECT session FROM sourced)
     ORDER BY kind, n DESC";
const COMMIT: i64 = 0;
const RECORD: i64 = 1;
const SOURCE: i64 = 2;

impl Session<'_> {
    /// Asks for what is wanted of several paths.
    pub(super) fn ask_ahead(&self, tips: Tips<'_>) -> Result<()> {
        if self.is_writing() {
            return Ok(());
        }
        let (names, page);
        let (kind, ends, parameters): (usize, String, Vec<&dyn Parameter>) = match &tips {
            Tips::To(commits) | Tips::At(commits)
                if commits.iter().all(|tip| self.has_seen(tip)) =>
            {
                return Ok(());
            }
            Tips::To(commits) | Tips::At(commits) => {
                names = keys(commits);
                let is_whole = matches!(tips, Tips::To(_));
                let kind = if is_whole { WHOLE } else { AT };
                let ends = "SELECT id FROM commits WHERE hash = ANY ($1)";
                (kind, ends.to_owned(), vec![&names])
            }
            Tips::Active(behind, most) => {
                page = Page::of(*behind, *most);
                let ends = format!("SELECT target FROM {}", Page::rows());
                (LISTED, ends, page.parameters().to_vec())
            }
        };
        let parts = parts(&ends);
        let ask = |sql: String| asked(format!("{parts}{sql}"), &parameters);
        let (changed, near) = (changed(), near(kind));
        let (columns, joined) = (foreseen_columns(), beside_commits());
        let mut all = vec![
            ask(
                "SELECT lineage, last, parent, fork_depth FROM part JOIN lineages ON id = lineage"
                    .to_owned(),
            )?,
            ask(format!(
                ", {changed} SELECT lineage, depth FROM changed ORDER BY lineage, depth"
            ))?,
            ask(format!(", {near} {columns} FROM {COMMITS} {joined}"))?,
        ];
        for (table, most) in SUMS {
            all.push(ask(sums_asked(table, most, "part"))?);
        }
        let beside = match tips {
            Tips::Active(behind, most) => vec![Page::of(behind, most).asked()?],
            // The context there, if nothing else says what it comes to.
            Tips::To([tip]) => match self.known.path(tip) {
                Some(path) => vec![checkpoint_asked(&path, i64::MAX)?],
                None => Vec::new(),
            },
            Tips::To(_) | Tips::At(_) => Vec::new(),
        };
        all.extend(beside.clone());
        let wants_sessions = kind != WHOLE;
        if wants_sessions {
            all.push(ask(format!(", {near}, {SESSIONS_OF}"))?);
        }
        let mut told = self.exchange_along(all)?;
        if wants_sessions {
            self.took_sessions(&rows(told.pop()))?;
        }
        let mut told = told.into_iter();
        self.took_ahead(&mut told)?;
        for asked in beside {
            self.expect(asked, rows(told.next()));
        }
        Ok(())
    }

    /// Whether what is asked for of a path is here.
    fn has_seen(&self, tip: &CommitHash) -> bool {
        let Some(path) = self.known.path(tip) else {
            return false;
        };
        let end = self.known.place(tip);
        if !end.is_some_and(|end| self.ahead.has_places(end.lineage, end.depth, LEAST)) {
            return false;
        }
        let changes = || {
            changes_asked(&path)
                .ok()
                .and_then(|asked| self.told(&asked))
        };
        self.ahead.has_changes(&path) || changes().is_some()
    }

    fn took_ahead(&self, told: &mut impl Iterator<Item = Told>) -> Result<()> {
        let mut parts: Vec<PathPart> = Vec::new();
        for row in rows(told.next()) {
            let (lineage, parent): (i64, Option<i64>) = (get(&row, 0)?, get(&row, 2)?);
            let fork: Option<i64> = get(&row, 3)?;
            self.known.saw_fork(lineage, parent.zip(fork));
            parts.push((lineage, get(&row, 1)?));
        }
        let changes = rows(told.next());
        let changes = changes.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
        let changes = changes.collect::<Result<Vec<PathPart>>>()?;
        self.ahead
            .saw_changes(&parts, changes, each(CHANGES, parts.len()) as usize);
        let commits = rows(told.next());
        self.saw_commits(commits)?;
        for sums in SUMS {
            self.ahead.sums.saw(sums, &parts, &rows(told.next()))?;
        }
        Ok(())
    }

    fn took_sessions(&self, found: &[Row]) -> Result<()> {
        let mut records: HashMap<CommitHash, Records> = HashMap::new();
        for row in found {
            match row.number(0)? {
                COMMIT => drop(records.insert(get(row, 2)?, Records::new())),
                RECORD => {
                    let of_commit = records.entry(get(row, 2)?).or_default();
                    of_commit.push((row.unsigned(1)?, unpack_spans(get(row, 3)?)?));
                }
                SOURCE => self.ahead.saw_source(source(&From(row, 1))?),
                _ => self
                    .ahead
                    .saw_session(MemoryRow::read(&From(row, 6), &SESSIONS)?),
            }
        }
        self.ahead.saw_records(records.into_iter());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
