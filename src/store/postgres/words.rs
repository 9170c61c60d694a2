//! The index of a ranked search: rows of segments and blocks, and the contents that they name.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::columns::{get, keys};
use super::session::{Session, place_of};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::weighed::{Weighed, weighed};
use crate::model::{Message, Sealed};
use crate::store::columns::Columns;
use crate::store::search::Found;
use crate::store::words::ranking::best;
use crate::store::words::{Block, Gathered, Gathering, Segment, Shelf, forget};
use crate::store::{Objects, Paths, Ranked, Ranking, Scored, rows};

/// How many contents are read at once.
const BATCH: i64 = 1_024;
/// What an import takes in that was here before it and is not in the index, if it is no more than this.
const GAP_BYTES: u64 = 1 << 20;

impl Shelf for Session<'_> {
    fn segments(&self) -> Result<Vec<Segment>> {
        let sql = "SELECT last, since, size_bytes FROM segments ORDER BY last";
        self.all(sql, &[], |row| {
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
        let sql = "SELECT last, data FROM segments CROSS JOIN LATERAL (
                 SELECT word, data FROM words
                 WHERE segment = last AND word <= $2 AND word >= coalesce((
                     SELECT word FROM words AS before WHERE before.segment = last AND before.word <= $1
                     ORDER BY before.word DESC LIMIT 1), ''::bytea)
             ) AS block ORDER BY last, word";
        for row in self.query(sql, &[&from, &to])?.iter() {
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
    fn last_weighed(&self) -> Result<i64> {
        let sql = "SELECT coalesce(max(last), 0) FROM segments";
        Ok(self.first(sql, &[], |row| get(row, 0))?.unwrap_or(0))
    }

    /// Takes contents in that come after the last one gathered, up to one that is not.
    fn gather_before(&self, gathered: &mut Gathered, before: i64, enough: u64) -> Result<u64> {
        let mut done_bytes = 0;
        while done_bytes < enough {
            let next = "SELECT id, hash, size_bytes FROM contents WHERE id > $1 AND id < $2
                 ORDER BY id LIMIT $3";
            let next = self.all(next, &[&gathered.last(), &before, &BATCH], |row| {
                Ok((get::<i64>(row, 0)?, get(row, 1)?, row.unsigned(2)?))
            })?;
            let mut bytes = done_bytes;
            let wanted = next.iter().take_while(|(_, _, size_bytes)| {
                let is_wanted = bytes < enough;
                bytes += size_bytes;
                is_wanted
            });
            let wanted: Vec<&(i64, ContentHash, u64)> = wanted.collect();
            if wanted.is_empty() {
                break;
            }
            let hashes: Vec<ContentHash> = wanted.iter().map(|(_, hash, _)| *hash).collect();
            let mut weights = vec![Weighed::default(); hashes.len()];
            self.each_body(&hashes, &mut |at, body| {
                weights[at] = weighed(&rows::message(&hashes[at], body)?);
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
        let mut tail = Gathered::since(self.last_weighed()?);
        self.gather_before(&mut tail, i64::MAX, u64::MAX)?;
        let paths = self.paths(tips)?;
        let on_paths = is_narrow
            .then(|| self.contents_on(tips, &paths))
            .transpose()?;
        let may_be = |id| on_paths.as_ref().is_none_or(|all| all.contains(&id));
        let best = best(self, &tail, ranking, &may_be)?;
        let is_all = best.contents.len() < ranking.most;
        let ids: Vec<i64> = best.contents.iter().map(|(id, _)| *id).collect();
        let names = "SELECT n, hash FROM unnest($1) WITH ORDINALITY AS keys (key, n)
             JOIN contents ON id = key ORDER BY n";
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut found: Vec<Scored> = Vec::with_capacity(ids.len());
        for row in self.query(names, &[&ids])?.iter() {
            let at = place_of(row)?;
            places.insert(at, found.len());
            found.push(Scored {
                content: get(row, 1)?,
                score: best.contents[at].1,
                hits: Vec::new(),
            });
        }
        let bringing = "SELECT n, hash, lineage, depth FROM unnest($1) WITH ORDINALITY AS keys (key, n)
             CROSS JOIN LATERAL (SELECT * FROM commits WHERE content = key ORDER BY id DESC LIMIT 16) AS c
             ORDER BY n, id DESC";
        for row in self.query(bringing, &[&ids])?.iter() {
            if let Some(at) = places.get(&place_of(row)?) {
                let commit = (get(row, 1)?, None);
                let hit = paths.on_path(commit, get(row, 2)?, row.unsigned(3)?);
                found[*at].hits.extend(hit);
            }
        }
        self.brought_otherwise(&paths, &mut found)?;
        found.retain(|one| !one.hits.is_empty());
        Ok(Ranked {
            found,
            rarity: best.rarity,
            is_all,
        })
    }

    /// Finds the commits that bring contents which none appends.
    fn brought_otherwise(&self, paths: &Found, found: &mut [Scored]) -> Result<()> {
        let open = found.iter().enumerate();
        let open = open.filter(|(_, one)| one.hits.is_empty());
        let open: HashMap<ContentHash, usize> = open.map(|(at, one)| (one.content, at)).collect();
        if open.is_empty() {
            return Ok(());
        }
        let others = "SELECT hash, depth, canonical, lineage FROM commits WHERE content IS NULL";
        for row in self.query(others, &[])?.iter() {
            let other = rows::commit(row, 0)?;
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
