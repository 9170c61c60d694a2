//! The search index: filled behind a watermark, asked for contents that may match.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::columns::{damaged, get, keys};
use super::session::{Session, place_of};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::searched::Literals;
use crate::store::codec::number;
use crate::store::columns::Columns;
use crate::store::grams::{Terms, Wanted, wanted};
use crate::store::{Hit, Objects, Search, SearchMut, rows};

/// How many contents are taken into the index at once.
const BATCH: i64 = 1_024;

impl Session<'_> {
    /// The last content that is in the index; they go in by their order.
    fn watermark(&self) -> Result<i64> {
        let sql = "SELECT coalesce(max(content), 0) FROM search";
        Ok(self.first(sql, &[], |row| get(row, 0))?.unwrap_or(0))
    }
}

/// The condition that a row of the index may match.
fn condition(wanted: &Wanted) -> String {
    let several = |several: &[Wanted], by| {
        let all: Vec<String> = several.iter().map(condition).collect();
        format!("({})", all.join(by))
    };
    let terms = |several: &[Wanted]| -> Option<String> {
        let one = |wanted: &Wanted| match wanted {
            Wanted::Term(term) => Some(term.to_string()),
            _ => None,
        };
        let all: Option<Vec<String>> = several.iter().map(one).collect();
        all.map(|all| format!("'{{{}}}'", all.join(",")))
    };
    match wanted {
        Wanted::Term(term) => format!("terms @> '{{{term}}}'"),
        Wanted::All(all) => match terms(all) {
            Some(terms) => format!("terms @> {terms}"),
            None => several(all, " AND "),
        },
        Wanted::Any(any) => match terms(any) {
            Some(terms) => format!("terms && {terms}"),
            None => several(any, " OR "),
        },
    }
}

impl Search for Session<'_> {
    fn unindexed_bytes(&self) -> Result<u64> {
        let sql = "SELECT coalesce(sum(size_bytes), 0)::bigint FROM contents
             WHERE id > (SELECT coalesce(max(content), 0) FROM search)";
        Ok(self.first(sql, &[], |row| row.unsigned(0))?.unwrap_or(0))
    }

    fn search(&self, literals: &Literals, tips: &[CommitHash]) -> Result<Vec<Hit>> {
        // Contents that the index says may match, and those that it doesn't know yet, with who appends
        // them; not only by an append, perhaps.
        let (known, indexed) = match wanted(literals) {
            None => (0, String::new()),
            Some(wanted) => (
                self.watermark()?,
                format!(
                    "UNION ALL SELECT content FROM search WHERE {}",
                    condition(&wanted)
                ),
            ),
        };
        let sql = format!(
            "SELECT found.hash, commits.hash, lineage, depth
             FROM contents AS found LEFT JOIN commits ON commits.content = found.id
             WHERE found.id IN (SELECT id FROM contents WHERE id > {known} {indexed})"
        );
        let paths = Paths::to(self, tips)?;
        let mut contents: HashSet<ContentHash> = HashSet::new();
        let mut hits = Vec::new();
        for row in self.query(&sql, &[])? {
            let content = get(&row, 0)?;
            contents.insert(content);
            if let Some(commit) = get(&row, 1)? {
                paths.hit((commit, None), get(&row, 2)?, row.unsigned(3)?, &mut hits);
            }
        }
        // The commits that name a content but append nothing.
        let others = "SELECT hash, depth, canonical, lineage FROM commits WHERE content IS NULL";
        for row in self.query(others, &[])? {
            let found = rows::commit(&row, 0)?;
            for content in found.commit.operation.contents() {
                if contents.contains(&content) {
                    paths.hit(
                        (found.hash, Some(content)),
                        get(&row, 3)?,
                        found.depth,
                        &mut hits,
                    );
                }
            }
        }
        hits.sort_unstable_by_key(|hit| (hit.tip, Reverse(hit.depth), hit.commit, hit.content));
        hits.dedup();
        Ok(hits)
    }
}

impl SearchMut for Session<'_> {
    fn index(&self, enough_bytes: u64) -> Result<u64> {
        let (mut terms, mut done_bytes) = (Terms::new(), 0);
        while done_bytes < enough_bytes {
            let next =
                "SELECT id, hash, size_bytes FROM contents WHERE id > $1 ORDER BY id LIMIT $2";
            let mut next = self.all(next, &[&self.watermark()?, &BATCH], |row| {
                Ok((get::<i64>(row, 0)?, get(row, 1)?, row.unsigned(2)?))
            })?;
            let mut batch_bytes = 0;
            next.retain(|(_, _, size_bytes)| {
                let is_wanted = done_bytes + batch_bytes < enough_bytes;
                batch_bytes += if is_wanted { *size_bytes } else { 0 };
                is_wanted
            });
            if next.is_empty() {
                break;
            }
            let hashes: Vec<ContentHash> = next.iter().map(|(_, hash, _)| *hash).collect();
            // One list of all terms, and where each content's begin, go into one statement.
            let (mut all, mut ends) = (Vec::new(), Vec::new());
            self.each_body(&hashes, &mut |at, body| {
                let of_it = terms.numbers(&rows::message(&hashes[at], body)?);
                all.extend(of_it.into_iter().map(u32::cast_signed));
                ends.push(all.len() as i64);
                Ok(())
            })?;
            if ends.len() != next.len() {
                return Err(damaged("a content that is to be indexed is missing"));
            }
            let ids: Vec<i64> = next.iter().map(|(id, _, _)| *id).collect();
            let begins: Vec<i64> = [0].into_iter().chain(ends.iter().copied()).collect();
            let begins = begins[..ends.len()].to_vec();
            self.execute(
                "INSERT INTO search (content, terms)
                 SELECT id, ($1)[first + 1:last] FROM unnest($2, $3, $4) AS part (id, first, last)",
                &[&all, &ids, &begins, &ends],
            )?;
            done_bytes += batch_bytes;
        }
        Ok(done_bytes)
    }

    fn unindex(&self, contents: &[ContentHash]) -> Result<()> {
        // What the index has passed it does not come to again.
        let sql = "UPDATE search SET terms = '{}'
             WHERE content IN (SELECT id FROM contents WHERE hash = ANY ($1))";
        self.execute(sql, &[&keys(contents)])
    }
}

/// The paths to some commits, by the lineages that they go along.
struct Paths(HashMap<i64, Vec<(usize, i64)>>);

impl Paths {
    fn to(session: &Session<'_>, tips: &[CommitHash]) -> Result<Self> {
        let mut paths: HashMap<i64, Vec<(usize, i64)>> = HashMap::new();
        let sql = "WITH RECURSIVE path (tip, lineage, last) AS (
                 SELECT n, lineage, depth
                 FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN commits ON hash = key
                 UNION ALL
                 SELECT tip, l.parent, l.fork_depth FROM path JOIN lineages AS l ON l.id = lineage
                 WHERE l.parent IS NOT NULL
             ) SELECT tip, lineage, last FROM path ORDER BY tip";
        for row in session.query(sql, &[&keys(tips)])? {
            let tip = place_of(&row)?;
            paths
                .entry(get(&row, 1)?)
                .or_default()
                .push((tip, get(&row, 2)?));
        }
        Ok(Self(paths))
    }

    /// Takes a commit with a content down, if a path holds it: that to the first tip.
    fn hit(
        &self,
        (commit, content): (CommitHash, Option<ContentHash>),
        lineage: i64,
        depth: u64,
        hits: &mut Vec<Hit>,
    ) {
        let paths = self.0.get(&lineage);
        let first = paths.and_then(|paths| paths.iter().find(|(_, last)| number(depth) <= *last));
        if let Some((tip, _)) = first {
            hits.push(Hit {
                tip: *tip,
                commit,
                content,
                depth,
            });
        }
    }
}
