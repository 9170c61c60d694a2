//! What is damaged made again from what is whole; and what cannot be, set aside.
//!
//! Objects are never touched while their bytes are those of their names. Deliberately absent: finding
//! what is damaged for people to read; that is [`super::verify`].

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::params;
use rusqlite::types::Value;

use super::broken::{Mend, broken_commits, broken_contents};
use super::codec::{Row, damaged};
use super::schema::tell_activity;
use super::session::Session;
use super::verify::{body, is_of_pages, unsound};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Commit, Message, Operation, Role, ToolUses};
use crate::store::lineage::Place;
use crate::store::rows::Shown;
use crate::store::tables::{self, Only, Purge, Repair, Table};
use crate::store::{SetAside, rows};

/// What stands in listings for a message of which nothing is left.
const LOST: &str = "[damaged]";
/// What an operation is called of which nothing is left.
const UNKNOWN: &str = "…";

/// Makes again what can be made from the rest: names, listings and places of objects whose bytes are
/// whole, refs from their log and the log from its neighbours, lineages, indexes, checkpoints, counts
/// that are damaged, totals, tools' uses, and the search index, which the next search fills. What
/// nothing vouches for is set aside: it is in nobody's way then, and nothing of it is lost.
///
/// Where a commit or a message's row stays that nothing vouches for, the indexes of its table may be all
/// that still leads to it, the search index all that still knows its text, and a checkpoint or a total all that
/// still knows the context at a later commit: then those stay.
///
/// # Errors
///
/// [`Error::Damaged`] where the pages themselves are: rows may stand under others' numbers there.
pub(super) fn rebuild(session: &Session<'_>) -> Result<Vec<SetAside>> {
    if let Some(detail) = unsound(session)?.into_iter().find(|line| is_of_pages(line)) {
        return Err(Error::Damaged { detail });
    }
    for table in tables::TABLES.iter().filter(|table| table.is_sealed) {
        let columns = "SELECT group_concat(name ORDER BY cid) FROM pragma_table_info(?1)
             WHERE name NOT IN ('seal', 'canonical', 'active')";
        let columns: Option<Option<String>> =
            session.first(columns, [table.name], |row| row.get(0))?;
        if columns.flatten() != Some(table.listed()) {
            return Err(damaged("the tables are not those that it was made with"));
        }
    }
    let mut mending = Mending {
        session,
        aside: BTreeMap::new(),
    };
    let told = mending.told_by_indexes()?;
    let commits = broken_commits(session)?;
    let has_lost = commits.iter().any(|(_, mend)| mend.is_none());
    let (kept, dropped): (Vec<&Table>, Vec<&Table>) =
        tables::dropped(Only::Servers).partition(|table| has_lost && table.purge == Purge::Sums);
    session.empty(dropped.into_iter())?;
    for table in kept {
        mending.anew(table.name, false)?;
    }
    mending.anew("counts", false)?;
    mending.numbers_of(
        "dictionaries",
        "encoding",
        "trained, offered, size_bytes, data",
    )?;
    mending.numbers_of("packs", "-encoding", "first, last, size_bytes, data")?;
    let kept = mending.objects()?;
    mending.leaning()?;
    if kept.commits {
        mending.anew("checkpoints", false)?
    } else {
        session.execute("DELETE FROM checkpoints", [])?
    }
    mending.places(&kept)?;
    told.into_iter().try_for_each(|row| row.put(session))?;
    mending.sources()?;
    mending.operations()?;
    mending.log()?;
    mending.rows()?;
    mending.collections()?;
    mending.refs()?;
    session.execute(&tell_activity(), [])?;
    mending.listings(&kept)?;
    let aside = mending.aside.into_iter();
    Ok(aside
        .map(|(table, rows)| SetAside { table, rows })
        .collect())
}

struct Mending<'a, 's> {
    session: &'a Session<'s>,
    /// How many rows of which table were set aside.
    aside: BTreeMap<String, u64>,
}

/// The columns of a table that its seal covers.
fn sealed(table: &str) -> String {
    tables::named(table).map_or_else(String::new, Table::listed)
}

/// The condition that a row of a table is not as it was written.
fn unlike(table: &str) -> String {
    format!("seal IS NOT sealed({})", sealed(table))
}

/// A row with a damaged column that an index holds, too: with what stands there its seal is right.
struct ToldByIndex {
    table: String,
    id: i64,
    columns: Vec<(String, Value)>,
}

impl ToldByIndex {
    fn put(self, session: &Session<'_>) -> Result<()> {
        for (column, value) in self.columns {
            let sql = format!("UPDATE {} SET {column} = ?2 WHERE id = ?1", self.table);
            session.execute(&sql, params![self.id, value])?;
        }
        Ok(())
    }
}

/// The tables of which a row stays that nothing vouches for.
#[derive(Default)]
struct Kept {
    contents: bool,
    commits: bool,
}

impl Mending<'_, '_> {
    fn took(&mut self, table: &str, rows: u64) {
        if rows > 0 {
            *self.aside.entry(table.to_owned()).or_default() += rows;
        }
    }

    /// Writes the whole rows of a table anew; the others are set aside, or forgotten.
    fn anew(&mut self, table: &str, keep: bool) -> Result<()> {
        let (broken, columns) = (unlike(table), sealed(table));
        let sql = format!("SELECT 1 FROM {table} NOT INDEXED WHERE {broken} LIMIT 1");
        if self.session.first(&sql, [], |_| Ok(()))?.is_none() {
            return Ok(());
        }
        if keep {
            let rows = self.session.keep_aside(table, &broken)?;
            self.took(table, rows);
        }
        self.session.write_anew(table, &columns, &broken)
    }

    /// What the indexes still know of damaged rows, but of contents and commits, which are made again from their
    /// bytes. To be asked before the indexes are made anew.
    fn told_by_indexes(&self) -> Result<Vec<ToldByIndex>> {
        let session = self.session;
        let sql = "SELECT t.name, i.name, group_concat(c.name, ',' ORDER BY c.seqno)
                   FROM pragma_table_list AS t, pragma_index_list(t.name) AS i, pragma_index_info(i.name) AS c
                   WHERE t.schema = 'main' AND NOT t.wr AND NOT i.partial AND t.name NOT IN ('contents', 'commits')
                   GROUP BY t.name, i.name";
        let indexes: Vec<(String, String, String)> =
            session.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let mut told = Vec::new();
        for (table, index, columns) in indexes {
            let sealed = match tables::named(&table) {
                Some(known) if known.is_sealed => known.listed(),
                _ => continue,
            };
            // Others can be made again.
            if !sealed.starts_with("id,") {
                continue;
            }
            let columns: Vec<&str> = columns.split(',').collect();
            let named = columns.join(", ");
            let as_told = sealed.split(',').map(|column| {
                if columns.contains(&column) {
                    format!("told.{column}")
                } else {
                    format!("{table}.{column}")
                }
            });
            let as_told: Vec<String> = as_told.collect();
            let sql = format!(
                "WITH told AS MATERIALIZED (SELECT id, {named} FROM {table} INDEXED BY {index})
                 SELECT {table}.id, {told} FROM {table} NOT INDEXED JOIN told ON told.id = {table}.id
                 WHERE {table}.seal IS NOT sealed({own}) AND {table}.seal IS sealed({as_told})",
                told = columns.iter().map(|column| format!("told.{column}")).collect::<Vec<_>>().join(", "),
                own = sealed.split(',').map(|column| format!("{table}.{column}")).collect::<Vec<_>>().join(", "),
                as_told = as_told.join(", "),
            );
            told.extend(session.all(&sql, [], |row| {
                let values = columns.iter().enumerate();
                let values =
                    values.map(|(at, column)| Ok(((*column).to_owned(), row.value(at + 1)?)));
                Ok(ToldByIndex {
                    table: table.clone(),
                    id: row.get(0)?,
                    columns: values.collect::<Result<_>>()?,
                })
            })?);
        }
        Ok(told)
    }

    /// Names and listings of contents and commits, and the indexes of all tables.
    fn objects(&mut self) -> Result<Kept> {
        let session = self.session;
        let contents = broken_contents(session)?;
        let commits = broken_commits(session)?;
        let kept = Kept {
            contents: contents.iter().any(|(_, mend)| mend.is_none()),
            commits: commits.iter().any(|(_, mend)| mend.is_none()),
        };
        let tables = "SELECT DISTINCT tbl_name FROM sqlite_schema WHERE type = 'index'";
        let tables: Vec<String> = session.all(tables, [], |row| row.get(0))?;
        for table in tables {
            let stays = match table.as_str() {
                "contents" => kept.contents,
                "commits" => kept.commits,
                _ => false,
            };
            if !stays {
                session.execute(&format!("REINDEX {table}"), [])?;
            }
        }
        for (id, mend) in contents {
            match mend {
                Some(Mend::Name(hash)) if !kept.contents => {
                    let sql = "UPDATE contents SET hash = ?2 WHERE id = ?1";
                    session.execute(sql, params![id, ContentHash::from_bytes(hash)])?;
                }
                Some(Mend::Listing(message, size_bytes)) => {
                    session.show(id, &Shown::of_size(&message, size_bytes))?;
                }
                Some(Mend::Body) => {
                    let rows = session.set_aside("bodies", &format!("content = {id}"))?;
                    self.took("bodies", rows);
                }
                Some(Mend::Lost(hash)) if !kept.contents => {
                    let rows = session.set_aside("bodies", &format!("content = {id}"))?;
                    self.took("bodies", rows);
                    let rows = session.keep_aside("contents", &format!("id = {id}"))?;
                    self.took("contents", rows);
                    let sql = "UPDATE contents SET hash = ?2 WHERE id = ?1";
                    session.execute(sql, params![id, ContentHash::from_bytes(hash)])?;
                    let nothing = Message::text(Role::User, "");
                    let preview = LOST.to_owned();
                    session.show(
                        id,
                        &Shown {
                            preview,
                            ..Shown::of_size(&nothing, 0)
                        },
                    )?;
                }
                Some(Mend::Name(_) | Mend::Lost(_)) | None => {}
            }
        }
        for (id, mend) in commits {
            if let Some(Mend::Name(hash)) = mend
                && !kept.commits
            {
                let sql = "UPDATE commits SET hash = ?2 WHERE id = ?1";
                session.execute(sql, params![id, CommitHash::from_bytes(hash)])?;
            }
        }
        Ok(kept)
    }

    /// Gives a dictionary or a pack that bodies name its number back, where that is what was damaged: `named` is the
    /// number as a body's row tells it, `others` are the columns behind it.
    fn numbers_of(&self, table: &str, named: &str, others: &str) -> Result<()> {
        let lost = format!(
            "FROM bodies WHERE {named} > 0 AND (encoding > 1 OR encoding < 0)
                 AND {named} NOT IN (SELECT id FROM {table}) AND seal = sealed({named}, {others})"
        );
        self.session.execute(
            &format!(
                "UPDATE {table} SET id = (SELECT {named} {lost})
                 WHERE seal IS NOT sealed(id, {others}) AND EXISTS (SELECT 1 {lost})"
            ),
            [],
        )
    }

    /// What leans on a damaged dictionary, or stands in a damaged pack, stands alone from now on, where it can still
    /// be read. What cannot was set aside, as the dictionary or the pack is.
    fn leaning(&self) -> Result<()> {
        for (table, named) in [("dictionaries", "encoding"), ("packs", "-encoding")] {
            let broken = unlike(table);
            let leaning = format!("{named} IN (SELECT id FROM {table} WHERE {broken})");
            self.session.stand_alone(&leaning)?;
        }
        Ok(())
    }

    /// Where commits stand, and on which lineages: all of it follows from their texts.
    fn places(&self, kept: &Kept) -> Result<()> {
        let session = self.session;
        let broken = unlike("lineages");
        let lineages = format!("SELECT id FROM lineages WHERE {broken}");
        let lineages: Vec<i64> = session.all(&lineages, [], |row| row.get(0))?;
        for lineage in lineages {
            let above =
                "SELECT p.lineage, p.depth FROM commits c LEFT JOIN commits p ON p.id = c.parent
                 WHERE c.lineage = ?1 ORDER BY c.depth LIMIT 1";
            let above = session.first(above, [lineage], |row| {
                Ok((row.get::<Option<i64>>(0)?, row.get::<Option<i64>>(1)?))
            })?;
            if let Some((parent, depth)) = above {
                session.execute(
                    "UPDATE lineages
                     SET parent = ?2, fork_depth = ?3, seal = sealed(?1, ?2, ?3, changes)
                     WHERE id = ?1",
                    params![lineage, parent, depth],
                )?;
            }
        }
        if kept.commits {
            return session.count_changes();
        }
        // By their ids: a parent was there before its children.
        let broken = unlike("commits");
        let sql = format!("SELECT id, hash, canonical FROM commits WHERE {broken} ORDER BY id");
        let commits: Vec<(i64, CommitHash, String)> =
            session.all(&sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        for (id, hash, text) in commits {
            let Some(commit) = Commit::from_canonical(&text)
                .ok()
                .filter(|_| hash.names(text.as_bytes()))
            else {
                continue;
            };
            let above = "SELECT id, lineage, depth FROM commits WHERE hash = ?1";
            let parent = commit
                .parent
                .map(|parent| session.first(above, [parent], |row| rows::place(row, 0)));
            let parent: Option<Place> = match parent.transpose()? {
                Some(None) => continue,
                found => found.flatten(),
            };
            let appended = match commit.operation {
                Operation::Append { content } => session.content_id(&content)?,
                _ => None,
            };
            let depth = parent.map_or(0, |parent| parent.depth + 1);
            // It goes on along its parent's lineage, unless another child does.
            let lineage = "SELECT l FROM (
                     SELECT ?1 AS l, 0 AS last WHERE ?1 IS NOT NULL
                     UNION ALL SELECT id, 1 FROM lineages WHERE parent IS ?1 AND fork_depth IS ?2)
                 WHERE NOT EXISTS (SELECT 1 FROM commits
                     WHERE lineage = l AND depth = ?3 AND id <> ?4)
                 ORDER BY (SELECT lineage FROM commits WHERE id = ?4) IS NOT l, last, l LIMIT 1";
            let lineage = session.first(
                lineage,
                params![
                    parent.map(|at| at.lineage),
                    parent.map(|at| at.depth),
                    depth,
                    id
                ],
                |row| row.get::<i64>(0),
            )?;
            if let Some(lineage) = lineage {
                session.execute(
                    "UPDATE commits SET lineage = ?2, depth = ?3, parent = ?4, content = ?5,
                         seal = sealed(id, hash, ?2, ?3, ?4, ?5)
                     WHERE id = ?1",
                    params![id, lineage, depth, parent.map(|at| at.id), appended],
                )?;
            }
        }
        session.count_changes()
    }

    /// Kept files whose rows say nothing any more, with their bytes and what says where in them commits came
    /// from. One of which only bytes are damaged stays: they are refused where they are read, and it is
    /// still known which session each commit came from.
    fn sources(&mut self) -> Result<()> {
        let row = format!("SELECT id FROM sources WHERE {}", unlike("sources"));
        let broken: Vec<i64> = self.session.all(&row, [], |row| row.get(0))?;
        for id in broken {
            for (table, column) in [
                ("commit_records", "source"),
                ("source_blocks", "source"),
                ("sources", "id"),
            ] {
                let condition = format!("{column} = {id}");
                let rows = self.session.set_aside(table, &condition)?;
                self.took(table, rows);
            }
        }
        Ok(())
    }

    /// The operations: their numbers have no gap, so one that is damaged stays as one of which nothing
    /// is known.
    fn operations(&mut self) -> Result<()> {
        let broken = unlike("operations");
        let rows = self.session.keep_aside("operations", &broken)?;
        self.took("operations", rows);
        self.session.execute(
            &format!(
                "UPDATE operations SET time = coalesce((SELECT time FROM operations AS before
                         WHERE before.id < operations.id ORDER BY before.id DESC LIMIT 1), 0),
                     what = ?1, undoes = NULL, redoes = NULL WHERE {broken}"
            ),
            [UNKNOWN],
        )?;
        let seal = sealed("operations");
        self.session.execute(
            &format!("UPDATE operations SET seal = sealed({seal}) WHERE {broken}"),
            [],
        )
    }

    /// The log of moves: a move that is damaged is known by those before and after it, where one ref's
    /// log alone has a gap in its place.
    fn log(&mut self) -> Result<()> {
        let session = self.session;
        let broken = unlike("reflog");
        let rows = format!(
            "SELECT id, CAST(name AS TEXT), operation FROM reflog WHERE {broken} ORDER BY id"
        );
        let rows: Vec<(i64, Option<String>, i64)> = session.all(&rows, [], |row| {
            Ok((row.get(0)?, row.get(1).ok(), row.get(2)?))
        })?;
        if rows.is_empty() {
            return Ok(());
        }
        let aside = session.keep_aside("reflog", &broken)?;
        self.took("reflog", aside);
        let mut lost: BTreeSet<i64> = rows.iter().map(|row| row.0).collect();
        for (id, name, operation) in rows {
            let gaps = self.gaps(id)?;
            let own = gaps.iter().position(|gap| Some(&gap.name) == name.as_ref());
            let gap = match (own, gaps.len()) {
                (Some(own), _) => &gaps[own],
                (None, 1) => &gaps[0],
                _ => continue,
            };
            let sql = "SELECT coalesce(
                     (SELECT id FROM operations WHERE id = ?2
                        AND id >= coalesce((SELECT max(operation) FROM reflog WHERE id < ?1), 0)
                        AND id <= coalesce((SELECT min(operation) FROM reflog WHERE id > ?1), ?2)),
                     (SELECT operation FROM reflog WHERE id < ?1 ORDER BY id DESC LIMIT 1),
                     (SELECT operation FROM reflog WHERE id > ?1 ORDER BY id LIMIT 1),
                     (SELECT max(id) FROM operations))";
            let operation: Option<i64> = session
                .first(sql, params![id, operation], |row| row.get(0))?
                .flatten();
            let Some(operation) = operation else { continue };
            session.execute(
                "UPDATE reflog SET operation = ?2, name = ?3, old_target = ?4, old_symbolic = ?5,
                     new_target = ?6, new_symbolic = ?7,
                     seal = sealed(?1, ?2, ?3, ?4, ?5, ?6, ?7) WHERE id = ?1",
                params![
                    id,
                    operation,
                    gap.name,
                    gap.before.0,
                    gap.before.1,
                    gap.after.0,
                    gap.after.1
                ],
            )?;
            lost.remove(&id);
        }
        for id in lost {
            session.execute("DELETE FROM reflog WHERE id = ?1", [id])?;
        }
        Ok(())
    }

    /// The refs in whose logs something is missing in this place.
    fn gaps(&self, at: i64) -> Result<Vec<Gap>> {
        let (log, refs) = (unlike("reflog"), unlike("refs"));
        let sql = format!(
            "SELECT n.name, b.id IS NULL, b.new_target, b.new_symbolic,
                 a.id, a.old_target, a.old_symbolic, r.name, r.target, r.symbolic
             FROM (SELECT name FROM reflog WHERE NOT ({log})
                   UNION SELECT name FROM refs WHERE NOT ({refs})) AS n
             LEFT JOIN reflog AS b ON b.id =
                 (SELECT max(id) FROM reflog WHERE name = n.name AND id < ?1 AND NOT ({log}))
             LEFT JOIN reflog AS a ON a.id =
                 (SELECT min(id) FROM reflog WHERE name = n.name AND id > ?1 AND NOT ({log}))
             LEFT JOIN refs AS r ON r.name = n.name AND a.id IS NULL
                 AND r.name IN (SELECT name FROM refs WHERE NOT ({refs}))"
        );
        let value = |row: &Row<'_>, at: usize| -> Result<(Value, Value)> {
            Ok((row.value(at)?, row.value(at + 1)?))
        };
        let gaps = self.session.all(&sql, [at], |row| {
            let before = value(row, 2)?;
            let is_followed = row.get::<Option<i64>>(4)?.is_some();
            let after = value(row, if is_followed { 5 } else { 8 })?;
            Ok(Gap {
                name: row.get(0)?,
                before,
                after,
            })
        })?;
        Ok(gaps
            .into_iter()
            .filter(|gap| gap.before != gap.after)
            .collect())
    }

    /// Rows that stand for themselves alone.
    fn rows(&mut self) -> Result<()> {
        for table in tables::TABLES.iter().filter(|table| table.is_sealed) {
            let (name, broken) = (table.name, unlike(table.name));
            match table.repair {
                Repair::Again | Repair::Drop => {}
                // Their bytes are what they are by now.
                Repair::Reseal => {
                    let columns = table.listed();
                    let sql = format!("UPDATE {name} SET seal = sealed({columns}) WHERE {broken}");
                    self.session.execute(&sql, [])?;
                }
                Repair::Aside => {
                    let sql = "SELECT wr FROM pragma_table_list WHERE name = ?1";
                    let is_keyed = self.session.first(sql, [name], |row| row.get(0))?;
                    if is_keyed == Some(true) {
                        self.anew(name, true)?;
                    } else {
                        let rows = self.session.set_aside(name, &broken)?;
                        self.took(name, rows);
                    }
                }
            }
        }
        Ok(())
    }

    /// What collections have forgotten: the log says where it begins.
    fn collections(&self) -> Result<()> {
        let (broken, oldest) = (
            unlike("collections"),
            "SELECT nullif(min(id), 1) FROM operations",
        );
        self.session.execute(
            &format!(
                "UPDATE collections SET operation = ({oldest}),
                     seal = sealed(id, times, ({oldest})) WHERE {broken}"
            ),
            [],
        )
    }

    /// The refs: where a ref's log is whole, its last move says where the ref is.
    fn refs(&mut self) -> Result<()> {
        self.anew("refs", true)?;
        self.session.execute(
            "INSERT OR IGNORE INTO refs (name, target, symbolic, seal)
             SELECT name, new_target, new_symbolic, sealed(name, new_target, new_symbolic)
             FROM reflog WHERE id IN (SELECT max(id) FROM reflog GROUP BY name)
               AND (new_target IS NULL) <> (new_symbolic IS NULL)",
            [],
        )
    }

    /// What listings and searches know of messages.
    fn listings(&self, kept: &Kept) -> Result<()> {
        let session = self.session;
        // Of a message whose body is gone, this is all that is known.
        session.execute(
            "DELETE FROM tool_uses WHERE content IN (SELECT content FROM bodies)
                 OR seal IS NOT sealed(content, uses)",
            [],
        )?;
        let using =
            "SELECT id, encoding, body, size_bytes FROM contents JOIN bodies ON content = id
             WHERE calls + results > 0 ORDER BY id";
        let using: Vec<(i64, Option<ToolUses>)> = session.all(using, [], |row| {
            let bytes = body(session, row.get(1)?, row.get(2)?, row.get(3)?);
            let message = bytes
                .and_then(|bytes| Message::from_canonical(std::str::from_utf8(&bytes).ok()?).ok());
            Ok((row.get(0)?, message.as_ref().and_then(ToolUses::of)))
        })?;
        for (id, uses) in using {
            if let Some(uses) = uses {
                session.execute(
                    "INSERT INTO sealed!(tool_uses)",
                    params![id, uses.to_text()],
                )?;
            }
        }
        if !kept.contents {
            session.execute("INSERT INTO search (search) VALUES ('delete-all')", [])?;
        }
        Ok(())
    }
}

/// A place in a ref's log where a move is missing.
struct Gap {
    name: String,
    /// Where the move began: target and symbolic.
    before: (Value, Value),
    after: (Value, Value),
}
