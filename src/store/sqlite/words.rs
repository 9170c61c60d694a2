//! The index of a ranked search: rows of segments and blocks, and the contents that they name.

use std::collections::{BTreeSet, HashMap, HashSet};

use rusqlite::params;

use super::search::{OTHERS, of_each};
use super::session::Session;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::word_weights::{Weighed, weighed};
use crate::model::{Message, Sealed};
use crate::store::columns::{Columns, damaged};
use crate::store::lineage::Lineages;
use crate::store::search::Found;
use crate::store::words::ranking::best;
use crate::store::words::{Block, Gathered, Gathering, Segment, Shelf, forget, forget_from};
use crate::store::{Hit, Ranked, Ranking, Scored, rows};

/// What an import takes in that was here before it and is not in the index, if it is no more than this.
const GAP_BYTES: u64 = 1 << 20;

/// The blocks of all segments that may hold words between two.
pub(super) const BLOCKS: &str = "SELECT segment, data FROM segments CROSS JOIN words
     ON segment = last AND word <= ?2 AND word >= coalesce((
         SELECT word FROM words AS before WHERE before.segment = last AND before.word <= ?1
         ORDER BY before.word DESC LIMIT 1), x'')
     WHERE intact!(segments) AND intact!(words) ORDER BY last, word";

/// The commits that append a content, the newest first: so many of them.
pub(super) const BRINGING: &str = "SELECT hash, lineage, depth FROM commits
     WHERE content = ?1 AND intact!(commits) ORDER BY id DESC LIMIT 16";

impl Shelf for Session<'_> {
    fn segments(&self) -> Result<Vec<Segment>> {
        let sql =
            "SELECT last, since, size_bytes FROM segments WHERE intact!(segments) ORDER BY last";
        self.all(sql, [], |row| {
            Ok(Segment {
                last: row.get(0)?,
                since: row.get(1)?,
                size_bytes: row.get(2)?,
            })
        })
    }

    fn blocks(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(i64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.scan(BLOCKS, params![from, to], |row| {
            visit(row.get(0)?, row.bytes(1)?).map(|()| true)
        })?;
        Ok(())
    }

    fn blocks_of(&self, segment: i64) -> Result<Vec<Vec<u8>>> {
        let sql = "SELECT data FROM words WHERE segment = ?1 AND intact!(words) ORDER BY word";
        self.all(sql, [segment], |row| row.get(0))
    }

    fn put_segment(&self, segment: Segment, blocks: &[Block]) -> Result<()> {
        let Segment {
            last,
            since,
            size_bytes,
        } = segment;
        self.execute("INSERT INTO sealed!(segments)", [last, since, size_bytes])?;
        for block in blocks {
            let id = self.next_id("words")?;
            self.execute(
                "INSERT INTO sealed!(words)",
                params![id, last, block.word, block.data],
            )?;
        }
        Ok(())
    }

    fn drop_segment(&self, last: i64) -> Result<()> {
        self.execute("DELETE FROM words WHERE segment = ?1", [last])?;
        self.execute("DELETE FROM segments WHERE last = ?1", [last])
    }
}

impl Session<'_> {
    /// The last content whose words are in the index.
    pub(super) fn last_weighed(&self) -> Result<i64> {
        let sql = "SELECT last FROM segments WHERE intact!(segments) ORDER BY last DESC LIMIT 1";
        Ok(self.first(sql, [], |row| row.get(0))?.unwrap_or(0))
    }

    /// Takes contents in that come after the last one gathered, up to one that is not.
    fn gather_before(&self, gathered: &mut Gathered, before: i64, enough: u64) -> Result<u64> {
        let sql = "SELECT coalesce(sum(size_bytes), 0) FROM contents WHERE id > ?1 AND id < ?2";
        let since = gathered.last();
        let whole = self.first(sql, [since, before], |row| row.unsigned(0))?;
        let known = (since, before, whole.unwrap_or(0));
        let work = |batch| of_each(batch, weighed);
        self.each_batch(known, enough, &work, &mut |id, words| {
            gathered.add(id, &words);
            Ok(())
        })
    }

    pub(super) fn weigh_more(&self, enough_bytes: u64) -> Result<u64> {
        self.keep_gathered()?;
        let mut gathered = Gathered::since(self.last_weighed()?);
        let bytes = self.gather_before(&mut gathered, i64::MAX, enough_bytes)?;
        gathered.keep(self)?;
        Ok(bytes)
    }

    /// Gathers the words of a message that was put, if they were worked out, or others were before it.
    pub(super) fn gather(
        &self,
        id: i64,
        message: &Sealed<Message>,
        words: Option<Weighed>,
    ) -> Result<()> {
        let mut gathering = self.gathering.borrow_mut();
        if matches!(*gathering, Gathering::Open) && words.is_some() {
            let mut gathered = Gathered::since(self.last_weighed()?);
            let bytes = self.gather_before(&mut gathered, id, GAP_BYTES)?;
            *gathering = if bytes < GAP_BYTES {
                Gathering::On(gathered)
            } else {
                Gathering::Off
            };
        }
        let Gathering::On(gathered) = &mut *gathering else {
            return Ok(());
        };
        gathered.add(id, &words.unwrap_or_else(|| weighed(message)));
        if gathered.is_large() {
            let next = Gathered::since(id);
            std::mem::replace(gathered, next).keep(self)?;
        }
        Ok(())
    }

    fn keep_gathered(&self) -> Result<()> {
        Gathering::keep(&self.gathering, self)
    }

    /// Takes the words of contents out of the index, whether or not these are still here.
    pub(super) fn forget_words(&self, contents: BTreeSet<i64>) -> Result<()> {
        self.keep_gathered()?;
        let newest = "SELECT coalesce(max(id), 0) FROM contents";
        let newest = self.first(newest, [], |row| row.get(0))?.unwrap_or(0);
        forget(self, &contents, newest)
    }

    /// Has a content, and what came in after it, taken in again.
    pub(super) fn forget_words_from(&self, content: i64) -> Result<()> {
        self.keep_gathered()?;
        forget_from(self, content)
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
        let mut on_paths = None;
        let mut may_be = |id: i64| {
            if is_narrow && on_paths.is_none() {
                on_paths = Some(self.contents_on(tips, &paths)?);
            }
            Ok(on_paths.as_ref().is_none_or(|all| all.contains(&id)))
        };
        let best = best(self, &tail, ranking, &mut may_be)?;
        let is_all = best.contents.len() < ranking.most;
        let mut named = Vec::with_capacity(best.contents.len());
        let name = "SELECT hash FROM contents WHERE id = ?1 AND intact!(contents)";
        for (id, score) in best.contents {
            // Whoever deletes a message takes its words out in the same transaction.
            let content = self.first(name, [id], |row| row.get(0))?;
            let content =
                content.ok_or_else(|| damaged("a message of the index of words is missing"))?;
            named.push((id, content, score));
        }
        Ok(Ranked {
            found: self.bringing(named, &paths)?,
            rarity: best.rarity,
            is_all,
        })
    }

    /// Contents with the commits on some paths that bring them; those that none brings are left out.
    pub(super) fn bringing(
        &self,
        contents: Vec<(i64, ContentHash, f32)>,
        paths: &Found,
    ) -> Result<Vec<Scored>> {
        let mut found = Vec::with_capacity(contents.len());
        let mut open: HashMap<ContentHash, usize> = HashMap::new();
        for (id, content, score) in contents {
            let mut hits: Vec<Hit> = Vec::new();
            self.scan(BRINGING, [id], |row| {
                let commit = (row.get(0)?, None);
                hits.extend(paths.on_path(commit, row.get(1)?, row.unsigned(2)?));
                Ok(true)
            })?;
            if hits.is_empty() {
                open.insert(content, found.len());
            }
            found.push(Scored {
                content,
                score,
                hits,
            });
        }
        self.brought_otherwise(&open, paths, &mut found)?;
        found.retain(|one| !one.hits.is_empty());
        Ok(found)
    }

    /// Finds the commits that bring contents which none appends.
    fn brought_otherwise(
        &self,
        open: &HashMap<ContentHash, usize>,
        paths: &Found,
        found: &mut [Scored],
    ) -> Result<()> {
        if open.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = open.keys().map(ContentHash::to_string).collect();
        self.scan(OTHERS, [], |row| {
            let text = row.text(3)?.as_bytes();
            let is_named = |name: &String| memchr::memmem::find(text, name.as_bytes()).is_some();
            if !names.iter().any(is_named) {
                return Ok(true);
            }
            let other = rows::commit(row, 1)?;
            for content in other.commit.operation.contents() {
                if let Some(at) = open.get(&content) {
                    let commit = (other.hash, Some(content));
                    let hit = paths.on_path(commit, row.get(0)?, other.depth);
                    found[*at].hits.extend(hit);
                }
            }
            Ok(true)
        })?;
        Ok(())
    }

    /// All contents on some paths.
    fn contents_on(&self, tips: &[CommitHash], paths: &Found) -> Result<HashSet<i64>> {
        let mut all = HashSet::new();
        let appended = "SELECT content FROM commits
             WHERE lineage = ?1 AND depth <= ?2 AND content IS NOT NULL AND intact!(commits)";
        for (lineage, last) in paths.lineages() {
            self.scan(appended, [lineage, last], |row| {
                all.insert(row.get(0)?);
                Ok(true)
            })?;
        }
        for tip in tips {
            for change in self.changes_on(&self.path(tip)?)? {
                for content in change.commit.operation.contents() {
                    all.extend(self.content_id(&content)?);
                }
            }
        }
        Ok(all)
    }
}
