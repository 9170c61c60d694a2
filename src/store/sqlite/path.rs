//! Paths: the commits that lead to one, read lineage by lineage from the root on.
//!
//! Rows that were written one after the other stand one after the other in every table, and forward is
//! the way in which the engine finds the next of each without a search. So a path is read oldest first,
//! whoever wants it newest first.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rusqlite::types::ValueRef;
use rusqlite::{Params, Row, params};

use super::codec::{Speaker, carried, damaged, number, unsigned};
use super::engine;
use super::objects::commit_row;
use super::seal::intact;
use super::session::Session;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Encoding, Operation, TokenCount, ToolUses};
use crate::store::lineage::{self, Links, Stretch};
use crate::store::{Appended, CommitRow, ContentRow, Facts, ListedCommit};

/// What stands in the text of each commit that sets anything.
static SETS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"settings\":{"));

impl Session<'_> {
    /// The newest `limit` commits on the path to `tip` that come after `after`, if that is on it.
    fn stretches(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
    ) -> Result<Vec<Stretch>> {
        let Some(end) = self.place(tip)? else {
            return Ok(Vec::new());
        };
        let after = after.map(|after| self.place(after)).transpose()?.flatten();
        Ok(lineage::newest(&self.lineages(end)?, after, limit))
    }

    /// Reads rows of a lineage, whose second column is their depth: one for each of these, in their order.
    fn scan_whole(
        &self,
        sql: &str,
        params: impl Params,
        depths: RangeInclusive<i64>,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
    ) -> Result<()> {
        let missing = |depth| damaged(format!("the path at depth {depth} is missing"));
        let (mut next, last) = depths.into_inner();
        let is_over = self.scan(sql, params, |row| {
            if row.get::<_, i64>(1)? != next {
                return Err(missing(next));
            }
            next += 1;
            read(row)
        })?;
        match is_over && next <= last {
            true => Err(engine(missing(next))),
            false => Ok(()),
        }
    }

    /// Reads these stretches of the path to `tip`, row by row: `scan` reads one of them, `read` a row.
    /// Each commit is held against the one before it.
    fn read_path<T>(
        &self,
        (tip, after, limit): (&CommitHash, Option<&CommitHash>, usize),
        scan: impl Fn(Stretch, &mut dyn FnMut(&Row<'_>) -> rusqlite::Result<bool>) -> Result<bool>,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
        row_of: impl Fn(&T) -> &CommitRow,
        visit: &mut dyn FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let stretches = self.stretches(tip, after, limit)?;
        let Some(first) = stretches.first() else {
            return Ok(());
        };
        let mut links = Links::from(*tip, first.first);
        for stretch in stretches {
            let mut failed = None;
            scan(stretch, &mut |row| {
                let found = read(row)?;
                links.next(row_of(&found)).map_err(carried)?;
                failed = visit(found).err();
                Ok(failed.is_none())
            })?;
            if let Some(error) = failed {
                return Err(error);
            }
        }
        links.end()
    }

    pub(super) fn walk_path(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        visit: &mut dyn FnMut(CommitRow) -> Result<()>,
    ) -> Result<()> {
        let sql = concat!(
            "SELECT hash, depth, canonical FROM commits
             WHERE lineage = ?1 AND depth BETWEEN ?2 AND ?3 AND ",
            intact!(commits),
            " ORDER BY depth"
        );
        self.read_path(
            (tip, after, limit),
            |at, each| self.scan(sql, [at.lineage, at.first, at.last], each),
            |row| commit_row(row, 0),
            |row| row,
            visit,
        )
    }

    /// The commits that set request settings last: those that a checkpoint names, and what came since.
    pub(super) fn settings_on_path(
        &self,
        tip: &CommitHash,
    ) -> Result<BTreeMap<String, CommitHash>> {
        let (base, mut settings) = match self.newest_settings(tip)? {
            Some((base, settings)) => (Some(base), settings),
            None => (None, BTreeMap::new()),
        };
        for at in self.stretches(tip, base.as_ref(), usize::MAX)? {
            let sql = concat!(
                "SELECT hash, depth, canonical FROM commits
                 WHERE lineage = ?1 AND depth BETWEEN ?2 AND ?3 AND ",
                intact!(commits),
                " ORDER BY depth"
            );
            let stretch = [at.lineage, at.first, at.last];
            self.scan_whole(sql, stretch, at.first..=at.last, |row| {
                // Few commits set any: the others are held against their names and not read.
                let (hash, canonical): (CommitHash, _) = (row.get(0)?, row.get_ref(2)?.as_str()?);
                if SETS.find(canonical.as_bytes()).is_none() && hash.names(canonical.as_bytes()) {
                    return Ok(true);
                }
                let row = commit_row(row, 0)?;
                let keys = row.commit.settings.into_keys();
                settings.extend(keys.map(|key| (key, hash)));
                Ok(true)
            })?;
        }
        Ok(settings)
    }

    /// The commits at these depths that append anything. Rows alone: what a commit appends stands under
    /// its seal.
    pub(super) fn appended_on_path(
        &self,
        tip: &CommitHash,
        depths: Range<u64>,
        facts: Facts,
        visit: &mut dyn FnMut(Appended) -> Result<()>,
    ) -> Result<()> {
        let Some(end) = self.place(tip)? else {
            return Ok(());
        };
        let (uses, uses_of) = match facts.links {
            false => ("NULL", ""),
            true => (
                "uses",
                concat!(
                    " LEFT JOIN tool_uses ON calls + results > 0 AND
                         tool_uses.content = commits.content AND ",
                    intact!(tool_uses)
                ),
            ),
        };
        let (tokens, tokens_of) = match facts.counts {
            None => ("NULL, NULL", ""),
            Some(_) => (
                "tokens, estimated",
                concat!(
                    " LEFT JOIN counts ON counts.content = commits.content AND encoding = ?4
                         AND mask = x'' AND ",
                    intact!(counts asked "commits.content")
                ),
            ),
        };
        let sql = format!(
            "SELECT commits.hash, depth, contents.hash, role, calls + results, {uses}, {tokens},
                 commits.content IS NULL
             FROM commits
             LEFT JOIN contents ON contents.id = commits.content AND {contents}{uses_of}{tokens_of}
             WHERE lineage = ?1 AND depth BETWEEN ?2 AND ?3 AND ?4 IS ?4 AND {commits}
             ORDER BY depth",
            contents = intact!(contents),
            commits = intact!(commits),
        );
        let read = |row: &Row<'_>| {
            let commit: CommitHash = row.get(0)?;
            let Some(content) = row.get(2)? else {
                return Err(damaged(format!(
                    "what commit {commit:.10} appends is missing"
                )));
            };
            let Speaker { role, attached } = row.get(3)?;
            let uses = row.get_ref(5)?.as_str_or_null()?;
            Ok(Appended {
                commit,
                depth: unsigned(row, 1)?,
                content,
                role,
                attached,
                uses_tools: row.get::<_, i64>(4)? > 0,
                links: uses.and_then(ToolUses::links_from_text),
                count: match row.get_ref(6)? {
                    ValueRef::Null => None,
                    _ => Some(TokenCount {
                        tokens: unsigned(row, 6)?,
                        estimated: row.get(7)?,
                    }),
                },
            })
        };
        let (first, last) = (number(depths.start), number(depths.end) - 1);
        for at in lineage::between(&self.lineages(end)?, first, last) {
            let Stretch {
                lineage,
                first,
                last,
            } = at;
            let mut failed = None;
            let params = params![lineage, first, last, facts.counts];
            self.scan_whole(&sql, params, first..=last, |row| {
                if !row.get::<_, bool>(8)? {
                    failed = visit(read(row)?).err();
                }
                Ok(failed.is_none())
            })?;
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(())
    }

    pub(super) fn list_path(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        encoding: Encoding,
    ) -> Result<Vec<ListedCommit>> {
        let sql = concat!(
            "SELECT commits.hash, depth, canonical, contents.hash, role, preview, size_bytes,
                 calls, results, tokens, estimated, uses
             FROM commits
             LEFT JOIN contents ON contents.id = commits.content AND ",
            intact!(contents),
            " LEFT JOIN counts ON counts.content = commits.content AND encoding = ?4
                 AND mask = x'' AND ",
            intact!(counts asked "commits.content"),
            " LEFT JOIN tool_uses ON calls + results > 0 AND tool_uses.content = commits.content
                 AND ",
            intact!(tool_uses),
            " WHERE lineage = ?1 AND depth BETWEEN ?2 AND ?3 AND ",
            intact!(commits),
            " ORDER BY depth"
        );
        let read = |row: &Row<'_>| {
            let mut listed = ListedCommit::from(commit_row(row, 0)?);
            let Operation::Append { content } = listed.row.commit.operation else {
                return Ok(listed);
            };
            // The row says which message it is by its number in the file, its text by its name.
            if row.get::<_, Option<ContentHash>>(3)? != Some(content) {
                return Err(damaged(format!("content {content:.10} is missing")));
            }
            let Speaker { role, attached } = row.get(4)?;
            listed.said = Some(ContentRow {
                hash: content,
                role,
                attached,
                preview: row.get(5)?,
                size_bytes: unsigned(row, 6)?,
                calls: row.get(7)?,
                results: row.get(8)?,
            });
            if row.get_ref(9)? != ValueRef::Null {
                listed.count = Some(TokenCount {
                    tokens: unsigned(row, 9)?,
                    estimated: row.get(10)?,
                });
            }
            if let Some(uses) = row.get_ref(11)?.as_str_or_null()? {
                listed.uses = ToolUses::from_text(uses);
            }
            Ok(listed)
        };
        let mut found = Vec::new();
        let mut keep = |listed| {
            found.push(listed);
            Ok(())
        };
        self.read_path(
            (tip, after, limit),
            |at, each| {
                let place = params![at.lineage, at.first, at.last, encoding];
                self.scan(sql, place, each)
            },
            read,
            |listed: &ListedCommit| &listed.row,
            &mut keep,
        )?;
        found.reverse();
        Ok(found)
    }
}
