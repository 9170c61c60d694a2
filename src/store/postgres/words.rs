//! The index of a ranked search: rows of segments and blocks, and the contents that they name.

use std::collections::{BTreeSet, HashMap, HashSet};

use tokio_postgres::Row;

use super::ahead::{FORESEEN, beside_commits, foreseen_columns};
use super::bodies::bodies_asked;
use super::columns::{get, keys};
use super::driver::Asked;
use super::link::{asked, rows};
use super::search::paths_asked;
use super::session::{Session, place_of};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::word_weights::{Weighed, weighed};
use crate::model::{Message, Sealed};
use crate::store::columns::{Columns, damaged};
use crate::store::rows::{commit, message};
use crate::store::search::Found;
use crate::store::words::ranking::{best, ranges};
use crate::store::words::{Block, Gathered, Gathering, Segment, Shelf, forget};
use crate::store::{Objects, Paths, Ranked, Ranking, Scored};

/// How many contents are read at once.
const BATCH: i64 = 1_024;
/// What an import takes in that was here before it and is not in the index, if it is no more than this.
const GAP_BYTES: u64 = 1 << 20;

const SEGMENTS: &str = "SELECT last, since, size_bytes FROM segments ORDER BY last";
/// The contents that are in no segment, with their sizes: the first of them.
const UNWEIGHED: &str = "SELECT id, hash, size_bytes FROM contents
     WHERE id > (SELECT coalesce(max(last), 0) FROM segments) ORDER BY id LIMIT $1";

/// A content, with its size.
type Sized = (i64, ContentHash, u64);

fn sized(row: &Row) -> Result<Sized> {
    Ok((get(row, 0)?, get(row, 1)?, row.unsigned(2)?))
}

/// The blocks that may hold words from one to another one.
fn blocks_asked(from: &[u8], to: &[u8]) -> Result<Asked> {
    let sql = "SELECT last, data FROM segments CROSS JOIN LATERAL (
             SELECT word, data FROM words
             WHERE segment = last AND word <= $2 AND word >= coalesce((
                 SELECT word FROM words AS before WHERE before.segment = last AND before.word <= $1
                 ORDER BY before.word DESC LIMIT 1), ''::bytea)
         ) AS block ORDER BY last, word";
    asked(sql, &[&from, &to])
}

impl Shelf for Session<'_> {
    fn segments(&self) -> Result<Vec<Segment>> {
        self.all(SEGMENTS, &[], |row| {
            Ok(Segment {
                last: get(row, 0)?,
                since: get(row, 1)?,
                size_bytes: get(row, 2)?,
            })
        })
    }

    fn blocks(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(i64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        for row in self.ask(blocks_asked(from, to)?)?.iter() {
            visit(get(row, 0)?, row.bytes(1)?)?;
        }
        Ok(())
    }

    fn blocks_of(&self, segment: i64) -> Result<Vec<Vec<u8>>> {
        let sql = "SELECT data FROM words WHERE segment = $1 ORDER BY word";
        self.all(sql, &[&segment], |row| get(row, 0))
    }

    fn put_segment(&self, segment: Segment, blocks: &[Block]) -> Result<()> {
        let Segment {
            last,
            since,
            size_bytes,
        } = segment;
        let words: Vec<&[u8]> = blocks.iter().map(|block| block.word.as_slice()).collect();
        let data: Vec<&[u8]> = blocks.iter().map(|block| block.data.as_slice()).collect();
        self.execute(
            "WITH put AS (INSERT INTO segments (last, since, size_bytes) VALUES ($1, $2, $3))
             INSERT INTO words (segment, word, data)
             SELECT $1, word, data FROM unnest($4, $5) AS block (word, data)",
            &[&last, &since, &size_bytes, &words, &data],
        )
    }

    fn drop_segment(&self, last: i64) -> Result<()> {
        self.execute(
            "WITH gone AS (DELETE FROM words WHERE segment = $1) DELETE FROM segments WHERE last = $1",
            &[&last],
        )
    }
}

impl Session<'_> {
    /// The contents that are in no segment, where a view is asked for them and they are few.
    pub(super) fn unweighed(&self) -> Result<Option<Vec<Sized>>> {
        if self.is_writing() {
            return Ok(None);
        }
        let few = asked(UNWEIGHED, &[&(BATCH + 1)])?;
        self.together(vec![asked(SEGMENTS, &[])?, few.clone()])?;
        let found = self.ask(few)?;
        let are_few = found.len() as i64 <= BATCH;
        are_few
            .then(|| found.iter().map(sized).collect())
            .transpose()
    }

    /// The next contents after one and before another.
    fn contents_between(&self, after: i64, before: i64) -> Result<Vec<Sized>> {
        // Whoever asks for these goes on from the last one that is in a segment.
        if let Some(mut few) = self.unweighed()? {
            few.retain(|(id, ..)| *id > after && *id < before);
            return Ok(few);
        }
        let next = "SELECT id, hash, size_bytes FROM contents WHERE id > $1 AND id < $2
             ORDER BY id LIMIT $3";
        self.all(next, &[&after, &before, &BATCH], sized)
    }

    fn last_weighed(&self) -> Result<i64> {
        if !self.is_writing() {
            return Ok(self.segments()?.last().map_or(0, |segment| segment.last));
        }
        let sql = "SELECT coalesce(max(last), 0) FROM segments";
        Ok(self.first(sql, &[], |row| get(row, 0))?.unwrap_or(0))
    }

    /// Takes contents in that come after the last one gathered, up to one that is not.
    fn gather_before(&self, gathered: &mut Gathered, before: i64, enough: u64) -> Result<u64> {
        let mut done_bytes = 0;
        while done_bytes < enough {
            let next = self.contents_between(gathered.last(), before)?;
            let mut bytes = done_bytes;
            let wanted = next.iter().take_while(|(_, _, size_bytes)| {
                let is_wanted = bytes < enough;
                bytes += size_bytes;
                is_wanted
            });
            let wanted: Vec<&Sized> = wanted.collect();
            if wanted.is_empty() {
                break;
            }
            let hashes: Vec<ContentHash> = wanted.iter().map(|(_, hash, _)| *hash).collect();
            let mut weights = vec![Weighed::default(); hashes.len()];
            self.each_body(&hashes, &mut |at, body| {
                weights[at] = weighed(&message(&hashes[at], body)?);
                Ok(())
            })?;
            for ((id, _, size_bytes), words) in wanted.into_iter().zip(&weights) {
                gathered.add(*id, words);
                done_bytes += size_bytes;
            }
        }
        Ok(done_bytes)
    }

    pub(super) fn weigh_more(&self, enough_bytes: u64) -> Result<u64> {
        Gathering::keep(&self.gathering, self)?;
        let mut gathered = Gathered::since(self.last_weighed()?);
        let bytes = self.gather_before(&mut gathered, i64::MAX, enough_bytes)?;
        gathered.keep(self)?;
        Ok(bytes)
    }

    /// Gathers the words of a message that was put, if it is new and they were worked out, or others were
    /// before it. Whether it is new.
    pub(super) fn gather(
        &self,
        name: &ContentHash,
        message: &Sealed<Message>,
        words: Option<Weighed>,
        is_new: bool,
    ) -> Result<bool> {
        let mut gathering = self.gathering.borrow_mut();
        let is_off = matches!(*gathering, Gathering::Off)
            || (matches!(*gathering, Gathering::Open) && words.is_none());
        if !is_new || is_off {
            return Ok(is_new);
        }
        let id = self.must_contents(&[*name])?[0];
        if matches!(*gathering, Gathering::Open) {
            let mut gathered = Gathered::since(self.last_weighed()?);
            let bytes = self.gather_before(&mut gathered, id, GAP_BYTES)?;
            *gathering = if bytes < GAP_BYTES {
                Gathering::On(gathered)
            } else {
                Gathering::Off
            };
        }
        if let Gathering::On(gathered) = &mut *gathering {
            gathered.add(id, &words.unwrap_or_else(|| weighed(message)));
            if gathered.is_large() {
                let next = Gathered::since(id);
                std::mem::replace(gathered, next).keep(self)?;
            }
        }
        Ok(true)
    }

    /// Takes the words of contents out of the index, whether or not these are still here.
    pub(super) fn forget_words(&self, contents: BTreeSet<i64>) -> Result<()> {
        Gathering::keep(&self.gathering, self)?;
        let newest = "SELECT coalesce(max(id), 0) FROM contents";
        let newest = self.first(newest, &[], |row| get(row, 0))?.unwrap_or(0);
        forget(self, &contents, newest)
    }

    pub(super) fn rank(
        &self,
        ranking: Ranking<'_>,
        tips: &[CommitHash],
        is_narrow: bool,
    ) -> Result<Ranked> {
        self.ask_for_ranking(ranking, tips)?;
        let mut tail = Gathered::since(self.last_weighed()?);
        self.gather_before(&mut tail, i64::MAX, u64::MAX)?;
        let paths = self.paths(tips)?;
        let mut on_paths = None;
        let mut may_be = |id: i64| {
            if is_narrow && on_paths.is_none() {
                on_paths = Some(self.contents_on(tips, &paths)?);
            }
            Ok(on_paths.as_ref().is_none_or(|all| all.contains(&id)))
        };
        let best = best(self, &tail, ranking, &mut may_be)?;
        let is_all = best.contents.len() < ranking.most;
        let ids: Vec<i64> = best.contents.iter().map(|(id, _)| *id).collect();
        let names = "SELECT n, hash FROM unnest($1) WITH ORDINALITY AS keys (key, n)
             JOIN contents ON id = key ORDER BY n";
        let names = asked(names, &[&ids])?;
        let bringing = format!(
            "{}, n, c.lineage, c.depth FROM unnest($1) WITH ORDINALITY AS keys (key, n)
             CROSS JOIN LATERAL (SELECT * FROM commits WHERE content = key ORDER BY id DESC LIMIT 16) AS c
             {} ORDER BY n, c.id DESC",
            foreseen_columns(),
            beside_commits()
        );
        let bringing = asked(bringing, &[&ids])?;
        self.send()?;
        let mut told = self.exchange_along(vec![names, bringing])?;
        let (bringing, names) = (rows(told.pop()), rows(told.pop()));
        // Whoever deletes a message takes its words out in the same transaction.
        if names.len() < ids.len() {
            return Err(damaged("a message of the index of words is missing"));
        }
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut found: Vec<Scored> = Vec::with_capacity(ids.len());
        for row in &names {
            let at = place_of(row)?;
            places.insert(at, found.len());
            found.push(Scored {
                content: get(row, 1)?,
                score: best.contents[at].1,
                hits: Vec::new(),
            });
        }
        for row in &bringing {
            if let Some(at) = places.get(&(row.unsigned(FORESEEN)? as usize - 1)) {
                let commit = (get(row, 0)?, None);
                let hit =
                    paths.on_path(commit, get(row, FORESEEN + 1)?, row.unsigned(FORESEEN + 2)?);
                found[*at].hits.extend(hit);
            }
        }
        if !self.is_writing() {
            self.saw_commits(bringing)?;
        }
        self.brought_otherwise(&paths, &mut found)?;
        found.retain(|one| !one.hits.is_empty());
        Ok(Ranked {
            found,
            rarity: best.rarity,
            is_all,
        })
    }

    /// Asks for all at once that a ranking looks at: the paths, the blocks of all words, the bodies of what is in no segment.
    fn ask_for_ranking(&self, ranking: Ranking<'_>, tips: &[CommitHash]) -> Result<()> {
        let mut all = vec![paths_asked(tips)?];
        for (from, to) in ranges(ranking) {
            all.push(blocks_asked(&from, &to)?);
        }
        if let Some(few) = self.unweighed()?.filter(|few| !few.is_empty()) {
            let hashes: Vec<ContentHash> = few.into_iter().map(|(_, hash, _)| hash).collect();
            all.push(bodies_asked(&hashes)?);
        }
        self.together(all)
    }

    /// Finds the commits that bring contents which none appends.
    pub(super) fn brought_otherwise(&self, paths: &Found, found: &mut [Scored]) -> Result<()> {
        let open = found.iter().enumerate();
        let open = open.filter(|(_, one)| one.hits.is_empty());
        let open: HashMap<ContentHash, usize> = open.map(|(at, one)| (one.content, at)).collect();
        if open.is_empty() {
            return Ok(());
        }
        let others = "SELECT hash, depth, canonical, lineage FROM commits WHERE content IS NULL";
        for row in self.query(others, &[])?.iter() {
            let other = commit(row, 0)?;
            for content in other.commit.operation.contents() {
                if let Some(at) = open.get(&content) {
                    let commit = (other.hash, Some(content));
                    let hit = paths.on_path(commit, get(row, 3)?, other.depth);
                    found[*at].hits.extend(hit);
                }
            }
        }
        Ok(())
    }

    /// All contents on some paths.
    fn contents_on(&self, tips: &[CommitHash], paths: &Found) -> Result<HashSet<i64>> {
        let (lineages, ends): (Vec<i64>, Vec<i64>) = paths.lineages().unzip();
        let appended = "SELECT content FROM unnest($1, $2) AS path (lineage, last)
             JOIN commits AS c ON c.lineage = path.lineage AND c.depth <= last
             WHERE content IS NOT NULL";
        let appended = self.all(appended, &[&lineages, &ends], |row| get(row, 0))?;
        let mut all: HashSet<i64> = appended.into_iter().collect();
        let mut others: Vec<ContentHash> = Vec::new();
        for tip in tips {
            for change in self.changes(tip)? {
                others.extend(change.commit.operation.contents());
            }
        }
        let ids = "SELECT id FROM contents WHERE hash = ANY ($1)";
        all.extend(self.all(ids, &[&keys(&others)], |row| get::<i64>(row, 0))?);
        Ok(all)
    }
}
