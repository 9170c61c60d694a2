//! The search index: filled behind a watermark, asked for contents that may match.

use std::collections::HashSet;

use super::columns::{damaged, get, keys};
use super::driver::Asked;
use super::link::asked;
use super::session::{Session, place_of};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::searched::Literals;
use crate::store::columns::Columns;
use crate::store::grams::{Terms, Wanted, wanted};
use crate::store::search::Found;
use crate::store::{Hit, Objects, Ranked, Ranking, Scored, Search, SearchMut, rows};

/// How many contents are taken into the index at once.
const BATCH: i64 = 1_024;

impl Session<'_> {
    /// The last content that is in the index; they go in by their order.
    fn watermark(&self) -> Result<i64> {
        let sql = "SELECT coalesce(max(content), 0) FROM search";
        Ok(self.first(sql, &[], |row| get(row, 0))?.unwrap_or(0))
    }

    /// The paths to some commits, of which nothing is found yet.
    pub(super) fn paths(&self, tips: &[CommitHash]) -> Result<Found> {
        let mut found = Found::default();
        for row in self.ask(paths_asked(tips)?)?.iter() {
            found.goes(place_of(row)?, get(row, 1)?, get(row, 2)?);
        }
        Ok(found)
    }
}

pub(super) fn paths_asked(tips: &[CommitHash]) -> Result<Asked> {
    let sql = "WITH RECURSIVE path (tip, lineage, last) AS (
             SELECT n, lineage, depth
             FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN commits ON hash = key
             UNION ALL
             SELECT tip, l.parent, l.fork_depth FROM path JOIN lineages AS l ON l.id = lineage
             WHERE l.parent IS NOT NULL
         ) SELECT tip, lineage, last FROM path ORDER BY tip";
    asked(sql, &[&keys(tips)])
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
        let mut found = self.paths(tips)?;
        let mut contents: HashSet<ContentHash> = HashSet::new();
        for row in self.query(&sql, &[])?.iter() {
            let content = get(row, 0)?;
            contents.insert(content);
            if let Some(commit) = get(row, 1)? {
                found.hit((commit, None), get(row, 2)?, row.unsigned(3)?);
            }
        }
        // The commits that name a content but append nothing.
        let others = "SELECT hash, depth, canonical, lineage FROM commits WHERE content IS NULL";
        for row in self.query(others, &[])?.iter() {
            let other = rows::commit(row, 0)?;
            for content in other.commit.operation.contents() {
                if contents.contains(&content) {
                    found.hit((other.hash, Some(content)), get(row, 3)?, other.depth);
                }
            }
        }
        Ok(found.hits())
    }

    fn unweighed_bytes(&self) -> Result<u64> {
        if let Some(few) = self.unweighed()? {
            return Ok(few.iter().map(|(_, _, size_bytes)| size_bytes).sum());
        }
        let sql = "SELECT coalesce(sum(size_bytes), 0)::bigint FROM contents
             WHERE id > (SELECT coalesce(max(last), 0) FROM segments)";
        Ok(self.first(sql, &[], |row| row.unsigned(0))?.unwrap_or(0))
    }

    fn ranked(&self, ranking: Ranking<'_>, tips: &[CommitHash], is_narrow: bool) -> Result<Ranked> {
        self.rank(ranking, tips, is_narrow)
    }

    fn contents_since(&self, number: i64, most: usize) -> Result<Vec<(i64, ContentHash)>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let sql = "SELECT id, hash FROM contents WHERE id > $1 ORDER BY id LIMIT $2";
        self.all(sql, &[&number, &most], |row| {
            Ok((get(row, 0)?, get(row, 1)?))
        })
    }

    fn placed(&self, contents: &[(ContentHash, f32)], tips: &[CommitHash]) -> Result<Vec<Scored>> {
        let hashes: Vec<ContentHash> = contents.iter().map(|(content, _)| *content).collect();
        let paths = self.paths(tips)?;
        let scored = contents.iter().map(|(content, score)| Scored {
            content: *content,
            score: *score,
            hits: Vec::new(),
        });
        let mut found: Vec<Scored> = scored.collect();
        let bringing = "SELECT n, c.hash, c.lineage, c.depth FROM unnest($1) WITH ORDINALITY AS keys (key, n)
             JOIN contents AS found ON found.hash = key
             CROSS JOIN LATERAL (SELECT * FROM commits WHERE content = found.id ORDER BY id DESC LIMIT 16) AS c
             ORDER BY n, c.id DESC";
        for row in self.query(bringing, &[&keys(&hashes)])?.iter() {
            let at = row.unsigned(0)? as usize - 1;
            let hit = paths.on_path((get(row, 1)?, None), get(row, 2)?, row.unsigned(3)?);
            found[at].hits.extend(hit);
        }
        self.brought_otherwise(&paths, &mut found)?;
        found.retain(|one| !one.hits.is_empty());
        Ok(found)
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
        self.execute(sql, &[&keys(contents)])?;
        let ids = "SELECT id FROM contents WHERE hash = ANY ($1)";
        let ids = self.all(ids, &[&keys(contents)], |row| get(row, 0))?;
        self.forget_words(ids.into_iter().collect())
    }

    fn weigh(&self, enough_bytes: u64) -> Result<u64> {
        self.weigh_more(enough_bytes)
    }
}
