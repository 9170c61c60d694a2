//! Checkpoints. They are derived data: one that cannot be read counts as absent.

use std::collections::{BTreeMap, HashMap};

use imbl::Vector;
use rusqlite::params;
use rusqlite::types::FromSql;

use super::codec::{damaged, unsigned};
use super::seal::intact;
use super::session::Session;
use crate::context::{Context, Entry};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::store::checkpoint::{Decoder, Names, Rows, Run, encode, is_plain, whole_runs};

impl Session<'_> {
    /// The newest checkpoint on the path to `tip` that can be read.
    pub(super) fn newest_checkpoint(
        &self,
        tip: &CommitHash,
    ) -> Result<Option<(CommitHash, Context)>> {
        self.newest_data(tip, |data| decode(self, data))
    }

    /// The newest checkpoint on the path to `tip` of which `read` can make anything.
    fn newest_data<T>(
        &self,
        tip: &CommitHash,
        read: impl Fn(Vec<u8>) -> Result<Option<T>>,
    ) -> Result<Option<(CommitHash, T)>> {
        let Some(tip) = self.place(tip)? else {
            return Ok(None);
        };
        for (lineage, mut depth) in self.lineages(tip)? {
            while let Some((hash, at, data)) = self.first(
                concat!(
                    "SELECT commits.hash, checkpoints.depth, data
                     FROM checkpoints JOIN commits ON commits.id = commit_id AND ",
                    intact!(commits),
                    " WHERE checkpoints.lineage = ?1 AND checkpoints.depth <= ?2 AND ",
                    intact!(checkpoints),
                    " ORDER BY checkpoints.depth DESC LIMIT 1"
                ),
                [lineage, depth],
                |row| Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get(2)?)),
            )? {
                if let Some(found) = read(data)? {
                    return Ok(Some((hash, found)));
                }
                depth = at - 1;
            }
        }
        Ok(None)
    }

    /// What the newest checkpoint on the path to `tip` says of settings, without its entries.
    pub(super) fn newest_settings(
        &self,
        tip: &CommitHash,
    ) -> Result<Option<(CommitHash, BTreeMap<String, CommitHash>)>> {
        let found = self.newest_data(tip, |data| {
            let mut rows = Decoder::of(&data, None);
            if rows.head().is_none() {
                return Ok(None);
            }
            let names = Names {
                commits: names(self, COMMIT_NAMES, &rows.commits)?,
                contents: HashMap::new(),
                runs: Vec::new(),
            };
            let head = Decoder::of(&data, Some(&names)).head();
            Ok(head.map(|(_, _, settings)| settings))
        })?;
        Ok(found)
    }

    /// Without a look inside: a checkpoint that cannot be read counts here, and the next is due
    /// later.
    pub(super) fn since_checkpoint(&self, tip: &CommitHash) -> Result<u64> {
        let tip = self.must_place(tip)?;
        for place in self.lineages(tip)? {
            let found: Option<i64> = self.first(
                "SELECT depth FROM checkpoints WHERE lineage = ?1 AND depth <= ?2
                 ORDER BY depth DESC LIMIT 1",
                [place.0, place.1],
                |row| row.get(0),
            )?;
            if let Some(found) = found {
                return Ok((tip.depth - found) as u64);
            }
        }
        Ok((tip.depth + 1) as u64)
    }

    pub(super) fn write_checkpoint(&self, commit: &CommitHash, context: &Context) -> Result<()> {
        let place = self.must_place(commit)?;
        self.execute(
            "INSERT OR REPLACE INTO checkpoints (commit_id, lineage, depth, data, seal)
             VALUES (?1, ?2, ?3, ?4, sealed(?1, ?2, ?3, ?4))",
            params![place.id, place.lineage, place.depth, encode(self, context)?],
        )
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
        let mut entries = entries.skip(entries.len() - left).into_iter();
        let Some(first) = entries.next().filter(is_plain) else {
            return Ok(None);
        };
        let from = self.must_place(&first.id.commit)?;
        let (mut expected, mut last, mut len) = (Some(first), from.depth, 0);
        self.scan(SCAN_RUN, [from.lineage, from.depth], |row| {
            let (commit, content) = (row.get(0)?, row.get(1)?);
            let is_next = |entry: &Entry| entry.id.commit == commit && entry.content == content;
            if !expected.as_ref().is_some_and(is_next) {
                return Ok(false);
            }
            last = row.get(2)?;
            len += 1;
            expected = entries.next().filter(is_plain);
            Ok(expected.is_some())
        })?;
        Ok((len > 0).then_some(Run {
            lineage: from.lineage,
            first: from.depth,
            last,
            len,
        }))
    }
}

const SCAN_RUN: &str = concat!(
    "SELECT commits.hash, contents.hash, depth
     FROM commits JOIN contents ON contents.id = commits.content
     WHERE lineage = ?1 AND depth >= ?2 AND ",
    intact!(commits),
    " ORDER BY depth"
);

/// Bytes that make no sense give nothing.
fn decode(session: &Session<'_>, data: Vec<u8>) -> Result<Option<Context>> {
    let mut rows = Decoder::of(&data, None);
    if rows.context().is_none() {
        return Ok(None);
    }
    let names = Names {
        commits: names(session, COMMIT_NAMES, &rows.commits)?,
        contents: names(session, CONTENT_NAMES, &rows.contents)?,
        runs: runs(session, &rows.runs)?,
    };
    Ok(Decoder::of(&data, Some(&names)).context())
}

const COMMIT_NAMES: &str = concat!(
    "SELECT id, hash FROM commits WHERE id IN (SELECT value FROM json_each(?1)) AND ",
    intact!(commits)
);
const CONTENT_NAMES: &str = concat!(
    "SELECT id, hash FROM contents WHERE id IN (SELECT value FROM json_each(?1)) AND ",
    intact!(contents)
);

fn names<T: FromSql>(session: &Session<'_>, sql: &str, rows: &[i64]) -> Result<HashMap<i64, T>> {
    let rows = serde_json::to_string(rows).map_err(Error::store)?;
    let names = session.all(sql, [rows], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(names.into_iter().collect())
}

/// Of each run, the appends among its commits, each of which is found once.
fn runs(session: &Session<'_>, runs: &[[i64; 3]]) -> Result<Vec<Vec<(CommitHash, ContentHash)>>> {
    let json = serde_json::to_string(runs).map_err(Error::store)?;
    let rows = session.all(
        concat!(
            "SELECT runs.key, depth, commits.hash, commits.content IS NULL, contents.hash
             FROM json_each(?1) AS runs
             CROSS JOIN commits ON lineage = runs.value ->> 0
               AND depth BETWEEN runs.value ->> 1 AND runs.value ->> 2 AND ",
            intact!(commits),
            " LEFT JOIN contents ON contents.id = commits.content AND ",
            intact!(contents)
        ),
        [json],
        |row| {
            let (content, is_other): (Option<ContentHash>, bool) = (row.get(4)?, row.get(3)?);
            if content.is_none() && !is_other {
                return Err(damaged("what a commit appends is missing"));
            }
            let append = content.map(|content| row.get(2).map(|commit| (commit, content)));
            Ok((unsigned(row, 0)? as usize, row.get(1)?, append.transpose()?))
        },
    )?;
    Ok(whole_runs(runs, rows))
}

#[cfg(test)]
mod tests {
    use super::super::Sqlite;
    use crate::hash::CommitHash;
    use crate::history::{Call, CommitOptions, Repo};
    use crate::model::{Draft, EntryId, Hide, HideKind, Interval, Message, Operation, Role};

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
}
