//! Paths: the commits that lead to one, oldest first, in ranges of lineages.

use std::collections::BTreeMap;
use std::ops::Range;

use postgres::Row;

use super::columns::{Parameter, damaged, get, maybe_text, unsigned};
use super::objects::{commit_row, content_row, count};
use super::session::Session;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Encoding, Operation, ToolUses};
use crate::store::codec::{Speaker, encoding_number, number};
use crate::store::lineage::{self, Links, Stretch};
use crate::store::{Appended, CommitRow, Facts, ListedCommit};

/// How many commits are asked for at once.
const BATCH: i64 = 4_096;

impl Session<'_> {
    /// The newest `limit` commits on the path to `tip` that come after `after`, if that is on it.
    fn stretches(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
    ) -> Result<Vec<Stretch>> {
        let after = after.map(|after| self.place(after)).transpose()?.flatten();
        Ok(lineage::newest(&self.path(tip)?, after, limit))
    }

    /// Reads the rows of these stretches in their order, a batch at a time: no answer is under way while
    /// one is read. `sql` takes them as `part`, from the first three parameters, and its second column is
    /// the depth: there is a row for each.
    fn scan(
        &self,
        sql: &str,
        stretches: &[Stretch],
        more: &[&dyn Parameter],
        read: &mut dyn FnMut(&Row) -> Result<()>,
    ) -> Result<()> {
        let mut open = stretches.iter().copied().peekable();
        while open.peek().is_some() {
            let (mut batch, mut left) = (Vec::new(), BATCH);
            while let Some(next) = open.peek_mut().filter(|_| left > 0) {
                let last = next.last.min(next.first + left - 1);
                batch.push(Stretch { last, ..*next });
                left -= last - next.first + 1;
                next.first = last + 1;
                if next.first > next.last {
                    open.next();
                }
            }
            let column = |of: fn(&Stretch) -> i64| batch.iter().map(of).collect::<Vec<i64>>();
            let (lineages, firsts) = (column(|one| one.lineage), column(|one| one.first));
            let lasts = column(|one| one.last);
            let mut parameters: Vec<&dyn Parameter> = vec![&lineages, &firsts, &lasts];
            parameters.extend(more);
            let mut depths = batch.iter().flat_map(|one| one.first..=one.last);
            for row in self.query(sql, &parameters)? {
                let next = depths.next();
                if next != Some(get(&row, 1)?) {
                    let depth = next.unwrap_or_default();
                    return Err(damaged(format!("the path at depth {depth} is missing")));
                }
                read(&row)?;
            }
            if let Some(depth) = depths.next() {
                return Err(damaged(format!("the path at depth {depth} is missing")));
            }
        }
        Ok(())
    }

    /// The same, where each commit is held against the one before it.
    fn read_path<T>(
        &self,
        (tip, stretches): (&CommitHash, &[Stretch]),
        (sql, more): (&str, &[&dyn Parameter]),
        read: impl Fn(&Row) -> Result<T>,
        row_of: impl Fn(&T) -> &CommitRow,
        visit: &mut dyn FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let Some(first) = stretches.first() else {
            return Ok(());
        };
        let mut links = Links::from(*tip, first.first);
        self.scan(sql, stretches, more, &mut |row| {
            let found = read(row)?;
            links.next(row_of(&found))?;
            visit(found)
        })?;
        links.end()
    }

    pub(super) fn walk_path(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        visit: &mut dyn FnMut(CommitRow) -> Result<()>,
    ) -> Result<()> {
        let stretches = self.stretches(tip, after, limit)?;
        let read = |row: &Row| commit_row(row, 0);
        self.read_path((tip, &stretches), (COMMITS, &[]), read, |row| row, visit)
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
        self.walk_path(tip, base.as_ref(), usize::MAX, &mut |row| {
            let keys = row.commit.settings.into_keys();
            settings.extend(keys.map(|key| (key, row.hash)));
            Ok(())
        })?;
        Ok(settings)
    }

    /// What appends nothing, oldest first: an index tells.
    pub(super) fn changes_on_path(&self, tip: &CommitHash) -> Result<Vec<CommitRow>> {
        let path = self.path(tip)?;
        let (lineages, lasts): (Vec<i64>, Vec<i64>) = path.iter().copied().unzip();
        if lineages.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT hash, commits.depth, canonical
             FROM unnest($1, $2) AS part (lineage, last) JOIN commits
             ON commits.lineage = part.lineage AND commits.depth <= last AND content IS NULL
             ORDER BY commits.depth";
        self.all(sql, &[&lineages, &lasts], |row| commit_row(row, 0))
    }

    pub(super) fn appended_on_path(
        &self,
        tip: &CommitHash,
        depths: Range<u64>,
        facts: Facts,
        visit: &mut dyn FnMut(Appended) -> Result<()>,
    ) -> Result<()> {
        let (first, last) = (number(depths.start), number(depths.end) - 1);
        let stretches = lineage::between(&self.path(tip)?, first, last);
        let (uses, uses_of) = match facts.links {
            false => ("NULL::bytea", ""),
            true => (
                "uses",
                "LEFT JOIN tool_uses ON calls + results > 0 AND tool_uses.content = commits.content",
            ),
        };
        let (tokens, tokens_of) = match facts.counts {
            None => ("NULL::bigint, NULL::boolean", ""),
            Some(_) => ("tokens, estimated", COUNTED),
        };
        let sql = format!(
            "SELECT commits.hash, commits.depth, contents.hash, role, calls + results, {uses}, {tokens},
                 commits.content IS NULL
             FROM {PARTS} LEFT JOIN contents ON contents.id = commits.content {uses_of} {tokens_of}
             ORDER BY commits.depth"
        );
        let encoding = facts.counts.map(encoding_number);
        let more: &[&dyn Parameter] = match &encoding {
            Some(encoding) => &[encoding],
            None => &[],
        };
        self.scan(&sql, &stretches, more, &mut |row| {
            if get(row, 8)? {
                return Ok(());
            }
            let commit: CommitHash = get(row, 0)?;
            let Some(content) = get(row, 2)? else {
                let detail = format!("what commit {commit:.10} appends is missing");
                return Err(damaged(detail));
            };
            let Speaker { role, attached } = Speaker::of(get(row, 3)?)?;
            visit(Appended {
                commit,
                depth: unsigned(row, 1)?,
                content,
                role,
                attached,
                uses_tools: get::<i64>(row, 4)? > 0,
                links: maybe_text(row, 5)?.and_then(ToolUses::links_from_text),
                count: count(row, 6)?,
            })
        })
    }

    pub(super) fn list_path(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
        limit: usize,
        encoding: Encoding,
    ) -> Result<Vec<ListedCommit>> {
        let sql = format!(
            "SELECT commits.hash, commits.depth, canonical, contents.hash, role, preview, size_bytes,
                 calls, results, tokens, estimated, uses
             FROM {PARTS} LEFT JOIN contents ON contents.id = commits.content {COUNTED}
             LEFT JOIN tool_uses ON calls + results > 0 AND tool_uses.content = commits.content
             ORDER BY commits.depth"
        );
        let read = |row: &Row| {
            let mut listed = ListedCommit::from(commit_row(row, 0)?);
            let Operation::Append { content } = listed.row.commit.operation else {
                return Ok(listed);
            };
            // The row says which message it is by its number, its text by its name.
            if get::<Option<ContentHash>>(row, 3)? != Some(content) {
                return Err(damaged(format!("content {content:.10} is missing")));
            }
            listed.said = Some(content_row(row, 3)?);
            listed.count = count(row, 9)?;
            listed.uses = maybe_text(row, 11)?.and_then(ToolUses::from_text);
            Ok(listed)
        };
        let mut found = Vec::new();
        let stretches = self.stretches(tip, after, limit)?;
        self.read_path(
            (tip, &stretches),
            (&sql, &[&encoding_number(encoding)]),
            read,
            |listed: &ListedCommit| &listed.row,
            &mut |listed| {
                found.push(listed);
                Ok(())
            },
        )?;
        found.reverse();
        Ok(found)
    }
}

/// The commits of some stretches.
const PARTS: &str = "unnest($1, $2, $3) AS part (lineage, first, last)
     JOIN commits ON commits.lineage = part.lineage AND commits.depth BETWEEN first AND last";

const COMMITS: &str = "SELECT hash, commits.depth, canonical
     FROM unnest($1, $2, $3) AS part (lineage, first, last)
     JOIN commits ON commits.lineage = part.lineage AND commits.depth BETWEEN first AND last
     ORDER BY commits.depth";

const COUNTED: &str = "LEFT JOIN counts ON counts.content = commits.content AND encoding = $4
     AND mask = ''::bytea";
