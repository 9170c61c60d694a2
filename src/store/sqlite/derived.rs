//! What follows from the rest and is kept: counts, checkpoints, and what contexts come to. What cannot be read
//! counts as absent.

use std::collections::HashMap;

use imbl::Vector;
use rusqlite::params;

use super::codec::{Row, blob, number};
use super::session::{Session, keyed};
use crate::context::{Context, Entry};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Encoding, TokenCount};
use crate::store::checkpoint::{
    self, Append, Checkpoints, Rows, Run, decode, encode, is_plain, whole_runs,
};
use crate::store::codec::encoding_number;
use crate::store::columns::{Column, Columns};
use crate::store::derived::SumRow;
use crate::store::lineage::Lineages;
use crate::store::remembered::PLACE;
use crate::store::tables::{self, Only, Purge, SUMMARIES, TOTALS, Table};
use crate::store::{Cell, CountKey, Derivations, DerivationsMut, Derived, Memory, MemoryRow, rows};

impl Session<'_> {
    /// All sums of a table.
    fn sums(&self, table: &Table) -> Result<Vec<SumRow>> {
        let (name, columns) = (table.name, table.columns[PLACE..].join(", "));
        let sql = format!(
            "SELECT commits.hash, encoding, {columns} FROM {name}
             JOIN commits ON commits.lineage = {name}.lineage AND commits.depth = {name}.depth
             WHERE intact!({name})"
        );
        let read = |row: &Row<'_>| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                MemoryRow::read_sum(row, 2, table)?,
            ))
        };
        self.all(&sql, [], read)
    }

    /// Forgets all totals and summaries.
    pub(super) fn drop_totals(&self) -> Result<()> {
        self.empty(tables::purged(Purge::Sums, Only::Servers))
    }
}

impl Derivations for Session<'_> {
    fn kept_counts(
        &self,
        keys: &[CountKey],
        encoding: Encoding,
    ) -> Result<Vec<Option<TokenCount>>> {
        // A mask of zeros stands for none, which its column holds as nothing.
        let sql = keyed::<CountKey>(
            "SELECT n, tokens, estimated
             FROM keys CROSS JOIN contents ON hash = substr(key, 1, 32)
                 AND intact!(contents, hash = substr(key, 1, 32))
             CROSS JOIN counts ON content = contents.id AND encoding = ?2
                 AND mask = iif(substr(key, 33) = zeroblob(32), x'', substr(key, 33))
                 AND intact!(counts, content = contents.id)",
        );
        let params = params![blob(keys), encoding];
        let found = self.each(&sql, keys.len(), params, |row| rows::count(row, 1))?;
        Ok(found.into_iter().map(Option::flatten).collect())
    }

    fn checkpoint(&self, tip: &CommitHash) -> Result<Option<(CommitHash, Context)>> {
        self.newest_data(tip, |data| decode(self, data))
    }

    fn newest_sum(
        &self,
        of: Memory,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<(u64, MemoryRow)>> {
        let (name, columns) = (of.0.name, of.0.columns[PLACE..].join(", "));
        let sql = format!(
            "SELECT depth, {columns} FROM {name}
             WHERE lineage = ?1 AND encoding = ?2 AND depth <= ?3 AND intact!({name})
             ORDER BY depth DESC LIMIT 1"
        );
        for (lineage, depth) in self.path(tip)?.iter() {
            let found = self.first(&sql, params![lineage, encoding, depth], |row| {
                Ok((row.get(0)?, MemoryRow::read_sum(row, 1, of.0)?))
            })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn derived(&self) -> Result<Derived> {
        let checkpoints = "SELECT commits.hash FROM checkpoints
             JOIN commits ON commits.id = commit_id
                 AND commits.lineage = checkpoints.lineage AND commits.depth = checkpoints.depth
             WHERE intact!(checkpoints)";
        let counts = "SELECT contents.hash, counts.encoding, mask, tokens, estimated
             FROM counts JOIN contents ON contents.id = content WHERE intact!(counts)";
        let derived = Derived {
            checkpoints: self.all(checkpoints, [], |row| row.get(0))?,
            counts: self.all(counts, [], |row| rows::kept_count(row))?,
            ..Derived::default()
        };
        derived.with_sums(&self.sums(&TOTALS)?, &self.sums(&SUMMARIES)?)
    }

    /// Without a look inside: a checkpoint that cannot be read counts here, and the next is due
    /// later.
    fn commits_since_checkpoint(&self, tip: &CommitHash) -> Result<u64> {
        let tip = self.must_place(tip)?;
        for (lineage, depth) in self.lineages(tip)? {
            let found: Option<i64> = self.first(
                "SELECT depth FROM checkpoints WHERE lineage = ?1 AND depth <= ?2
                 ORDER BY depth DESC LIMIT 1",
                [lineage, depth],
                |row| row.get(0),
            )?;
            if let Some(found) = found {
                return Ok((tip.depth - found) as u64);
            }
        }
        Ok((tip.depth + 1) as u64)
    }
}

impl DerivationsMut for Session<'_> {
    fn keep_counts(&self, counts: &[(CountKey, TokenCount)], encoding: Encoding) -> Result<()> {
        for (key, count) in counts {
            let content = self.must_content_id(&key.content)?;
            self.changed_often(
                "INSERT OR REPLACE INTO sealed!(counts)",
                params![
                    content,
                    encoding,
                    key.masked(),
                    number(count.tokens),
                    count.estimated,
                ],
            )?;
        }
        Ok(())
    }

    fn put_checkpoint(&self, commit: &CommitHash, context: &Context) -> Result<()> {
        let place = self.must_place(commit)?;
        self.execute(
            "INSERT OR REPLACE INTO sealed!(checkpoints)",
            params![place.id, place.lineage, place.depth, encode(self, context)?],
        )
    }

    fn put_sum(
        &self,
        of: Memory,
        commit: &CommitHash,
        encoding: Encoding,
        cells: Vec<Cell>,
    ) -> Result<()> {
        let place = self.must_place(commit)?;
        let at = [place.lineage, place.depth, encoding_number(encoding)].map(Cell::Number);
        self.put_row(of.0, at.into_iter().chain(cells))
    }
}

impl Rows for Session<'_> {
    fn commit_row(&self, commit: &CommitHash) -> Result<u64> {
        Ok(self.must_place(commit)?.id.cast_unsigned())
    }

    fn content_row(&self, content: &ContentHash) -> Result<u64> {
        Ok(self.must_content_id(content)?.cast_unsigned())
    }

    fn run(&self, entries: &Vector<Entry>, left: usize) -> Result<Option<Run>> {
        let begin = entries.len() - left;
        let Some(first) = entries.get(begin).filter(|first| is_plain(first)) else {
            return Ok(None);
        };
        let known = self.memo.run(entries, begin);
        let mut run = match known {
            Some(known) => known,
            None => {
                let place = self.must_place(&first.id.commit)?;
                Run {
                    lineage: place.lineage,
                    first: place.depth,
                    last: place.depth - 1,
                    len: 0,
                }
            }
        };
        let mut rest = entries.skip(begin + run.len).into_iter();
        let mut expected = rest.next().filter(is_plain);
        if expected.is_some() {
            self.scan(SCAN_RUN, [run.lineage, run.last + 1], |row| {
                let (commit, content) = (row.get(0)?, row.get(1)?);
                let is_next = |entry: &Entry| entry.id.commit == commit && entry.content == content;
                if !expected.as_ref().is_some_and(is_next) {
                    return Ok(false);
                }
                run.last = row.get(2)?;
                run.len += 1;
                expected = rest.next().filter(is_plain);
                Ok(expected.is_some())
            })?;
        }
        if self.writes && run.len > 0 {
            self.memo.saw_run(entries, begin, run);
        }
        Ok((run.len > 0).then_some(run))
    }
}

const SCAN_RUN: &str = "SELECT commits.hash, contents.hash, depth
     FROM commits JOIN contents ON contents.id = commits.content
     WHERE lineage = ?1 AND depth >= ?2 AND intact!(commits) ORDER BY depth";

impl Checkpoints for Session<'_> {
    fn newest_data<T>(
        &self,
        tip: &CommitHash,
        read: impl Fn(&[u8]) -> Result<Option<T>>,
    ) -> Result<Option<(CommitHash, T)>> {
        let Some(tip) = self.place(tip)? else {
            return Ok(None);
        };
        for (lineage, mut depth) in self.lineages(tip)? {
            while let Some((hash, at, data)) = self.first(
                "SELECT commits.hash, checkpoints.depth, data
                 FROM checkpoints JOIN commits ON commits.id = commit_id AND intact!(commits)
                 WHERE checkpoints.lineage = ?1 AND checkpoints.depth <= ?2
                 AND intact!(checkpoints) ORDER BY checkpoints.depth DESC LIMIT 1",
                [lineage, depth],
                |row| Ok((row.get(0)?, row.get::<i64>(1)?, row.get::<Vec<u8>>(2)?)),
            )? {
                if let Some(found) = read(&data)? {
                    return Ok(Some((hash, found)));
                }
                depth = at - 1;
            }
        }
        Ok(None)
    }

    fn names<T: for<'r> Column<'r>>(&self, table: &str, rows: &[i64]) -> Result<HashMap<i64, T>> {
        let sql = format!(
            "SELECT id, hash FROM {table}
             WHERE id IN (SELECT value FROM json_each(?1)) AND intact!({table})"
        );
        let rows = serde_json::to_string(rows).map_err(Error::store)?;
        let names = self.all(&sql, [rows], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(names.into_iter().collect())
    }

    fn appends_of(&self, runs: &[[i64; 3]]) -> Result<Vec<Vec<Append>>> {
        let json = serde_json::to_string(runs).map_err(Error::store)?;
        let sql = "SELECT runs.key, depth, commits.hash, commits.content IS NULL, contents.hash
             FROM json_each(?1) AS runs
             CROSS JOIN commits ON lineage = runs.value ->> 0
                 AND depth BETWEEN runs.value ->> 1 AND runs.value ->> 2 AND intact!(commits)
             LEFT JOIN contents ON contents.id = commits.content AND intact!(contents)";
        let found = self.all(sql, [json], |row| {
            checkpoint::run_row(row, row.unsigned(0)? as usize)
        })?;
        Ok(whole_runs(runs, found))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sqlite;
    use crate::hash::CommitHash;
    use crate::model::{Draft, EntryId, Hide, HideKind, Interval, Message, Operation, Role};
    use crate::repo::{Call, CommitOptions, Repo};

    fn dropped(commit: CommitHash) -> Draft {
        let entry = EntryId::of(commit);
        let interval = Interval {
            first: entry,
            last: entry,
        };
        let hide = Hide {
            kind: HideKind::Drop,
            intervals: vec![interval],
            keep: Vec::new(),
            parts: Vec::new(),
            replacements: Vec::new(),
        };
        Draft::new(Operation::Hide(hide), Vec::new())
    }

    /// Rows and bytes of the checkpoints.
    fn size(repo: &Repo) -> (i64, i64) {
        let database = repo.directory().expect("in a file").join("tract.db");
        let store = Sqlite::open(&database).expect("opens");
        let sql = "SELECT count(*), coalesce(sum(length(data)), 0) FROM checkpoints";
        let row = store
            .connection
            .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
        row.expect("a row")
    }

    fn said(number: usize) -> Draft {
        Draft::append(Message::text(Role::User, number.to_string()))
    }

    fn commit(repo: &Repo, drafts: &[Draft]) -> Vec<CommitHash> {
        let done = repo.commit(Call::default(), drafts, &CommitOptions::default());
        let done = done.expect("drops and appends fold");
        done.into_iter().map(|committed| committed.hash).collect()
    }

    #[test]
    fn a_thousand_drops_of_ten_thousand_messages_cost_bytes_each() {
        let folder = tempfile::tempdir().expect("a folder");
        let (repo, _) = Repo::init(folder.path()).expect("a repository");
        let talk = commit(&repo, &(0..10_000).map(said).collect::<Vec<_>>());
        let (rows_before, bytes_before) = size(&repo);
        // Every seventh message: no two that go are neighbours, so each breaks a run in two.
        let drops: Vec<Draft> = (0..1_000).map(|at| dropped(talk[7 * at + 3])).collect();
        for some in drops.chunks(100) {
            commit(&repo, some);
        }
        let (rows, bytes) = size(&repo);
        // Written out whole after each drop, they would take 90 MB in 1,000 rows.
        assert!(rows - rows_before <= 1, "{rows} rows");
        assert!(bytes - bytes_before <= 1_000 * 12, "{bytes} bytes");
    }

    #[test]
    fn their_size_grows_with_history_where_few_messages_are_visible() {
        let folder = tempfile::tempdir().expect("a folder");
        let (repo, _) = Repo::init(folder.path()).expect("a repository");
        let mut talk = commit(&repo, &(0..200).map(said).collect::<Vec<_>>());
        let mut sizes = Vec::new();
        for round in 0..20 {
            let more = (0..100).flat_map(|at| {
                let gone = talk[100 * round + at];
                [said(200 + 100 * round + at), dropped(gone)]
            });
            let made = commit(&repo, &more.collect::<Vec<_>>());
            talk.extend(made.iter().step_by(2));
            sizes.push(size(&repo));
        }
        let ((rows_half, bytes_half), (rows, bytes)) = (sizes[9], sizes[19]);
        assert!((10..=4_200 / 256).contains(&rows), "{rows} rows");
        assert!(rows - rows_half <= rows_half + 1, "{sizes:?}");
        assert!(bytes - bytes_half <= bytes_half * 5 / 4, "{sizes:?}");
    }

    /// The second checkpoint of a transaction goes on from the run of the first, but for what was changed since.
    #[test]
    fn a_checkpoint_holds_what_changed_since_the_one_before() {
        let said = |at: usize| Draft::append(Message::text(Role::User, at.to_string()));
        let talk: Vec<Draft> = (0..300).map(said).collect();
        let commit = |repo: &Repo, drafts: &[Draft]| {
            let done = repo.commit(Call::default(), drafts, &CommitOptions::default());
            done.expect("commits")
        };
        // Made elsewhere, they have the same names.
        let made = commit(&Repo::ephemeral().expect("made"), &talk);
        let edit = Draft::edit(
            EntryId::of(made[10].hash),
            Message::text(Role::User, "other"),
        );
        let drafts: Vec<Draft> = talk
            .into_iter()
            .chain([edit])
            .chain((300..700).map(said))
            .collect();
        let repo = Repo::ephemeral().expect("made");
        let tip = commit(&repo, &drafts).last().expect("some").hash;
        let context = repo.context(&tip).expect("a context");
        assert_eq!(context, repo.order(&tip).expect("an order").context());
        assert!(context.entries[10].edited);
    }
}
