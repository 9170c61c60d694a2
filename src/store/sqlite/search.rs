//! The search index: filled behind a watermark, asked for contents that may match.

use std::collections::HashMap;

use rusqlite::{Params, params};

use super::codec::{Row, blob};
use super::dictionary::Packing;
use super::engine;
use super::objects::message;
use super::session::{Session, keyed};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::Message;
use crate::model::searched::Literals;
use crate::store::columns::Columns;
use crate::store::crew::{with_crew, workers};
use crate::store::grams::{TermSum, Terms, Wanted, spell, wanted};
use crate::store::indexed::Indexed;
use crate::store::lineage::Lineages;
use crate::store::search::Found;
use crate::store::{Hit, Ranked, Ranking, Scored, Search, SearchMut, rows};

/// How many bytes of messages are made into terms at once, and how many of these batches are under
/// way at most.
const BATCH_BYTES: u64 = 128 << 10;
const AHEAD_BATCHES: usize = 8;

/// Contents that the index says may match, with who appends them; not only by an append, perhaps.
pub(super) const INDEXED: &str = "SELECT search.rowid, commits.hash, lineage, depth
     FROM search LEFT JOIN commits ON commits.content = search.rowid AND intact!(commits)
     WHERE search MATCH ?1";

/// Contents that the index doesn't know yet, likewise.
pub(super) const UNINDEXED: &str = "SELECT found.id, commits.hash, lineage, depth
     FROM contents AS found LEFT JOIN commits ON commits.content = found.id AND intact!(commits)
     WHERE found.id > ?1 AND intact!(contents AS found)";

/// The commits that append nothing.
pub(super) const OTHERS: &str = "SELECT lineage, hash, depth, canonical FROM commits
     WHERE content IS NULL AND intact!(commits)";

/// All lineages are read at once where they are no more than so many times the paths that are asked for.
const LINEAGES_A_PATH: usize = 8;

impl Session<'_> {
    /// The last content that is in the index; they go in by their order.
    fn watermark(&self) -> Result<i64> {
        let sql = "SELECT rowid FROM search ORDER BY rowid DESC LIMIT 1";
        Ok(self.first(sql, [], |row| row.get(0))?.unwrap_or(0))
    }

    /// Takes down the contents that a statement finds, and the commits that append them.
    fn appends(
        &self,
        sql: &str,
        params: impl Params,
        found: &mut Found,
        contents: &mut Vec<i64>,
    ) -> Result<()> {
        self.scan(sql, params, |row| {
            contents.push(row.get(0)?);
            if let Some(commit) = row.get(1)? {
                found.hit((commit, None), row.get(2)?, row.unsigned(3)?);
            }
            Ok(true)
        })?;
        Ok(())
    }

    /// Reads contents whose numbers lie between two, oldest first, until those read have enough bytes, and
    /// puts what was made of each; `whole_bytes` is what all of them have, or more. Gives their bytes.
    pub(super) fn each_batch<T: Send>(
        &self,
        (since, before, whole_bytes): (i64, i64, u64),
        enough_bytes: u64,
        work: &(dyn Fn(Vec<Body>) -> Vec<(i64, Result<T>)> + Sync),
        put: &mut dyn FnMut(i64, T) -> Result<()>,
    ) -> Result<u64> {
        let mut next = self.prepare(
            "SELECT id, hash, size_bytes, encoding, body
             FROM contents LEFT JOIN bodies ON content = id
             WHERE id > ?1 AND id < ?2 AND intact!(contents) ORDER BY id",
        )?;
        let mut next = next.query([since, before]).map_err(engine)?;
        let mut put = |made: Vec<(i64, Result<T>)>| {
            let mut made = made.into_iter();
            made.try_for_each(|(id, made)| put(id, made?))
        };
        // For a few messages no thread is worth its start.
        let workers = if whole_bytes.min(enough_bytes) < BATCH_BYTES {
            0
        } else {
            workers()
        };
        with_crew(workers, work, |crew| {
            let (mut done_bytes, mut ahead, mut is_over) = (0, 0, false);
            while !is_over {
                let (mut batch, mut bytes) = (Vec::new(), 0);
                while done_bytes + bytes < enough_bytes && bytes < BATCH_BYTES {
                    let Some(row) = next.next().map_err(engine)? else {
                        is_over = true;
                        break;
                    };
                    let body = Body::read(self, &Row(row))?;
                    bytes += body.size_bytes;
                    batch.push(body);
                }
                done_bytes += bytes;
                is_over = is_over || done_bytes >= enough_bytes;
                crew.push(batch);
                ahead += 1;
                if ahead > AHEAD_BATCHES {
                    ahead -= 1;
                    crew.pop().map_or(Ok(()), &mut put)?;
                }
            }
            while let Some(made) = crew.pop() {
                put(made)?;
            }
            Ok(done_bytes)
        })
    }

    /// The paths to some commits, of which nothing is found yet. Of several that end in one commit the first counts.
    pub(super) fn paths(&self, tips: &[CommitHash]) -> Result<Found> {
        let ends = self.ends.borrow();
        let places = tips.iter().filter_map(|tip| Some((*tip, ends.get(tip)?)));
        let places = places.map(|(tip, place)| (tip, (place.lineage, place.depth)));
        let mut places: HashMap<CommitHash, (i64, i64)> = places.collect();
        let others = tips.iter().filter(|tip| !ends.contains_key(tip));
        let others: Vec<CommitHash> = others.copied().collect();
        let standing = others.iter().zip(self.standing(&others)?);
        places.extend(standing.filter_map(|(tip, place)| Some((*tip, place?))));
        let known = self.forks(tips.len() * LINEAGES_A_PATH)?;
        let mut found = Found::default();
        for (at, tip) in tips.iter().enumerate() {
            // Taken out, it is met once.
            let Some(end) = places.remove(tip) else {
                continue;
            };
            for (lineage, last) in self.lineages_to(end, &known)? {
                found.goes(at, lineage, last);
            }
        }
        Ok(found)
    }

    /// Takes a content in that the index has passed without its text.
    pub(super) fn index_again(&self, id: i64, message: &Message) -> Result<()> {
        self.forget_words_from(id)?;
        if id > self.watermark()? {
            return Ok(());
        }
        self.execute("DELETE FROM search WHERE rowid = ?1", [id])?;
        let insert = "INSERT INTO search (rowid, pieces) VALUES (?1, ?2)";
        self.execute(insert, params![id, Terms::new().line(message)])
    }

    /// All that the index knows. Reads it whole.
    pub(super) fn indexed_terms(&self) -> Result<Indexed<TermSum>> {
        let mut known = Indexed::<TermSum>::default();
        known.watermark = self.watermark()?;
        // It is the transaction's own, and goes with it; one that failed may have left its.
        self.execute("DROP TABLE IF EXISTS temp.search_terms", [])?;
        let sql =
            "CREATE VIRTUAL TABLE temp.search_terms USING fts5vocab('main', 'search', 'instance')";
        self.execute(sql, [])?;
        self.scan("SELECT doc, term FROM temp.search_terms", [], |row| {
            known.of(row.get(0)?).add(row.bytes(1)?);
            Ok(true)
        })?;
        self.execute("DROP TABLE temp.search_terms", [])?;
        Ok(known)
    }
}

impl Search for Session<'_> {
    fn unindexed_bytes(&self) -> Result<u64> {
        let sql = "SELECT coalesce(sum(size_bytes), 0) FROM contents WHERE id > ?1";
        let bytes = self.first(sql, [self.watermark()?], |row| row.unsigned(0))?;
        Ok(bytes.unwrap_or(0))
    }

    fn search(&self, literals: &Literals, tips: &[CommitHash]) -> Result<Vec<Hit>> {
        let mut found = self.paths(tips)?;
        // The ids of all contents that may match. Their names are not asked for: there may be many, and few are
        // read.
        let (mut contents, mut known) = (Vec::new(), 0);
        if let Some(wanted) = wanted(literals) {
            known = self.watermark()?;
            self.appends(INDEXED, params![query(&wanted)], &mut found, &mut contents)?;
        }
        self.appends(UNINDEXED, params![known], &mut found, &mut contents)?;
        contents.sort_unstable();
        let others = self.all(OTHERS, [], |row| Ok((row.get(0)?, rows::commit(row, 1)?)))?;
        for (lineage, row) in others {
            for content in row.commit.operation.contents() {
                let id = self.content_id(&content)?;
                if id.is_some_and(|id| contents.binary_search(&id).is_ok()) {
                    found.hit((row.hash, Some(content)), lineage, row.depth);
                }
            }
        }
        Ok(found.hits())
    }

    fn unweighed_bytes(&self) -> Result<u64> {
        let sql = "SELECT coalesce(sum(size_bytes), 0) FROM contents WHERE id > ?1";
        let bytes = self.first(sql, [self.last_weighed()?], |row| row.unsigned(0))?;
        Ok(bytes.unwrap_or(0))
    }

    fn ranked(&self, ranking: Ranking<'_>, tips: &[CommitHash], is_narrow: bool) -> Result<Ranked> {
        self.rank(ranking, tips, is_narrow)
    }

    fn contents_since(&self, number: i64, most: usize) -> Result<Vec<(i64, ContentHash)>> {
        let sql = "SELECT id, hash FROM contents WHERE id > ?1 AND intact!(contents) ORDER BY id LIMIT ?2";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.all(sql, [number, most], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn placed(&self, contents: &[(ContentHash, f32)], tips: &[CommitHash]) -> Result<Vec<Scored>> {
        let mut found = Vec::with_capacity(contents.len());
        for (content, score) in contents {
            found.extend(self.content_id(content)?.map(|id| (id, *content, *score)));
        }
        self.bringing(found, &self.paths(tips)?)
    }
}

impl SearchMut for Session<'_> {
    fn index(&self, enough_bytes: u64) -> Result<u64> {
        let since = self.watermark()?;
        let known = (since, i64::MAX, self.unindexed_bytes()?);
        self.each_batch(known, enough_bytes, &terms_of, &mut |id, terms: String| {
            // A content without text gets its row as well: the watermark passes it.
            let sql = "INSERT INTO search (rowid, pieces) VALUES (?1, ?2)";
            self.execute(sql, params![id, terms])
        })
    }

    fn weigh(&self, enough_bytes: u64) -> Result<u64> {
        self.weigh_more(enough_bytes)
    }

    fn unindex(&self, contents: &[ContentHash]) -> Result<()> {
        self.execute(
            &keyed::<ContentHash>(
                "DELETE FROM search
                 WHERE rowid IN (SELECT id FROM keys CROSS JOIN contents ON hash = key)",
            ),
            [blob(contents)],
        )?;
        // A deleted row's terms stay in the index, marked, until it is merged.
        self.execute("INSERT INTO search (search) VALUES ('optimize')", [])?;
        let ids = "SELECT id FROM keys CROSS JOIN contents ON hash = key";
        let ids = self.all(&keyed::<ContentHash>(ids), [blob(contents)], |row| {
            row.get(0)
        })?;
        self.forget_words(ids.into_iter().collect())
    }
}

/// The query for contents in the index.
fn query(wanted: &Wanted) -> String {
    let several = |several: &[Wanted], by| {
        let all: Vec<String> = several.iter().map(query).collect();
        format!("({})", all.join(by))
    };
    match wanted {
        Wanted::Term(term) => {
            let mut word = String::new();
            spell(*term, &mut word);
            word
        }
        Wanted::All(all) => several(all, " AND "),
        Wanted::Any(any) => several(any, " OR "),
    }
}

/// A content on its way into the index.
pub(super) struct Body {
    id: i64,
    hash: ContentHash,
    size_bytes: u64,
    packed: Option<(Packing, Vec<u8>)>,
}

impl Body {
    fn read(session: &Session<'_>, row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            hash: row.get(1)?,
            size_bytes: row.unsigned(2)?,
            packed: session.packed(row, 3)?,
        })
    }
}

/// What `work` makes of each message, on whatever thread. Of one whose body was set aside, nothing, and
/// whoever asks passes it; a body that is not its name's is an error.
pub(super) fn of_each<T: Default>(
    batch: Vec<Body>,
    mut work: impl FnMut(&Message) -> T,
) -> Vec<(i64, Result<T>)> {
    let mut made = |body: Body| -> Result<T> {
        if body.packed.is_none() {
            return Ok(T::default());
        }
        let message = message(&body.hash, body.packed, body.size_bytes);
        Ok(work(&message?))
    };
    let all = batch.into_iter().map(|body| (body.id, made(body)));
    all.collect()
}

/// The terms of each content.
fn terms_of(batch: Vec<Body>) -> Vec<(i64, Result<String>)> {
    let mut known = Terms::new();
    of_each(batch, |message| known.line(message))
}
