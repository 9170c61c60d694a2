//! What is foreseen: whoever asks for any of it finds it here, or learns that nobody knows yet.

use std::cell::{Cell as Held, RefCell};
use std::collections::HashMap;
use std::hash::Hash;

use tokio_postgres::Row;

use super::ahead::{APPENDED, LISTED, PLACE};
use super::columns::get;
use super::sums::{PathPart, Sums};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{RefName, RefValue};
use crate::store::MemoryRow;
use crate::store::lineage::{Place, Stretch};
use crate::store::rows::{place, value};
use crate::store::sources::{Records, SourceRow};

/// What is foreseen.
#[derive(Default)]
pub(super) struct Ahead {
    /// What refs hold, by the names under which they are kept.
    refs: RefCell<HashMap<RefName, Option<RefValue>>>,
    commits: RefCell<Vec<Row>>,
    /// Places among these.
    by_commit: RefCell<HashMap<CommitHash, usize>>,
    by_content: RefCell<HashMap<ContentHash, usize>>,
    by_place: RefCell<HashMap<(i64, i64), usize>>,
    /// The records behind commits.
    records: RefCell<HashMap<CommitHash, Records>>,
    /// Sources by their numbers, and what is known of the sessions that these are of, if anything is.
    sources: RefCell<HashMap<u64, SourceRow>>,
    sessions: RefCell<HashMap<String, Option<MemoryRow>>>,
    /// What contexts come to.
    pub(super) sums: Sums,
    /// Of lineages up to a depth, the depths of all that appends nothing.
    changes: RefCell<HashMap<i64, (i64, Vec<i64>)>>,
    /// Whether more was asked for along with a question.
    pub(super) has_asked_more: Held<bool>,
}

impl Ahead {
    /// What a ref holds, if that was foreseen.
    pub(super) fn reference(&self, name: &RefName) -> Option<Option<RefValue>> {
        self.refs.borrow().get(name).cloned()
    }

    /// What somebody was told of it.
    pub(super) fn saw_reference(&self, name: &RefName, value: Option<&RefValue>) {
        self.refs.borrow_mut().insert(name.clone(), value.cloned());
    }

    /// It is moved.
    pub(super) fn forget_reference(&self, name: &RefName) {
        self.refs.borrow_mut().remove(name);
    }

    /// Rows for all of these commits, or for none.
    pub(super) fn commits<T>(
        &self,
        hashes: &[CommitHash],
        read: impl Fn(&Row) -> Result<T>,
    ) -> Option<Result<Vec<Option<T>>>> {
        self.at(&self.by_commit, hashes, read)
    }

    /// Rows of commits that append these contents, for all of them or for none.
    pub(super) fn contents<T>(
        &self,
        hashes: &[ContentHash],
        read: impl Fn(&Row) -> Result<T>,
    ) -> Option<Result<Vec<Option<T>>>> {
        self.at(&self.by_content, hashes, read)
    }

    fn at<K: Eq + Hash, T>(
        &self,
        places: &RefCell<HashMap<K, usize>>,
        keys: &[K],
        read: impl Fn(&Row) -> Result<T>,
    ) -> Option<Result<Vec<Option<T>>>> {
        let (rows, at) = (self.commits.borrow(), places.borrow());
        let found = keys.iter().map(|key| Some(&rows[*at.get(key)?]));
        let found: Option<Vec<&Row>> = found.collect();
        Some(found?.into_iter().map(|row| read(row).map(Some)).collect())
    }

    /// Tells the rows of these parts, if all of them were foreseen: whether they were.
    pub(super) fn tells(
        &self,
        parts: &[Stretch],
        read: &mut dyn FnMut(&Row) -> Result<()>,
    ) -> Result<bool> {
        let (rows, at) = (self.commits.borrow(), self.by_place.borrow());
        let are_few = |part: &Stretch| part.last - part.first < rows.len() as i64;
        if !parts.iter().all(are_few) {
            return Ok(false);
        }
        let places = parts
            .iter()
            .flat_map(|part| (part.first..=part.last).map(|depth| (part.lineage, depth)));
        let found: Option<Vec<usize>> = places.map(|place| at.get(&place).copied()).collect();
        let Some(found) = found else {
            return Ok(false);
        };
        for place in found {
            read(&rows[place])?;
        }
        Ok(true)
    }

    /// The commit at a place.
    pub(super) fn name_at(&self, lineage: i64, depth: i64) -> Result<Option<CommitHash>> {
        let (rows, at) = (self.commits.borrow(), self.by_place.borrow());
        let row = at.get(&(lineage, depth)).map(|at| &rows[*at]);
        row.map(|row| get(row, LISTED)).transpose()
    }

    pub(super) fn saw_refs(&self, rows: &[Row]) -> Result<()> {
        let mut refs = self.refs.borrow_mut();
        for row in rows {
            refs.insert(get(row, 3)?, value(row, 0)?);
        }
        Ok(())
    }

    /// The commits that were foreseen.
    pub(super) fn foreseen_commits(&self) -> Vec<CommitHash> {
        let mut all: Vec<CommitHash> = self.by_commit.borrow().keys().copied().collect();
        all.sort_unstable();
        all
    }

    /// These are the places of what appends nothing on some parts of paths, for each lineage so many at most, or more where
    /// not all are told.
    pub(super) fn saw_changes(&self, parts: &[PathPart], places: Vec<PathPart>, most: usize) {
        let mut known: HashMap<i64, (i64, Vec<i64>)> = HashMap::new();
        for (lineage, last) in parts {
            let (up_to, _) = known.entry(*lineage).or_insert((*last, Vec::new()));
            *up_to = (*up_to).max(*last);
        }
        for (lineage, depth) in places {
            if let Some((_, depths)) = known.get_mut(&lineage) {
                depths.push(depth);
            }
        }
        known.retain(|_, (_, depths)| depths.len() <= most);
        self.changes.borrow_mut().extend(known);
    }

    /// Whether all is known that appends nothing on a path.
    pub(super) fn has_changes(&self, path: &[PathPart]) -> bool {
        let known = self.changes.borrow();
        let has =
            |(lineage, last): &PathPart| known.get(lineage).is_some_and(|(up_to, _)| up_to >= last);
        path.iter().all(has)
    }

    /// The rows of what appends nothing on a path, oldest first, where that is known.
    pub(super) fn changes<T>(
        &self,
        path: &[PathPart],
        read: impl Fn(&Row) -> Result<T>,
    ) -> Option<Result<Vec<T>>> {
        let (rows, at) = (self.commits.borrow(), self.by_place.borrow());
        let (known, mut found) = (self.changes.borrow(), Vec::new());
        for (lineage, last) in path.iter().rev() {
            let (_, depths) = known.get(lineage).filter(|(up_to, _)| up_to >= last)?;
            for depth in depths.iter().take_while(|depth| *depth <= last) {
                found.push(&rows[*at.get(&(*lineage, *depth))?]);
            }
        }
        Some(found.into_iter().map(read).collect())
    }

    pub(super) fn saw_records(&self, found: impl Iterator<Item = (CommitHash, Records)>) {
        self.records.borrow_mut().extend(found);
    }

    /// Whether the last commits of a lineage up to a depth were foreseen, so many of them.
    pub(super) fn has_places(&self, lineage: i64, depth: i64, many: i64) -> bool {
        let at = self.by_place.borrow();
        let mut depths = (depth + 1 - many).max(0)..=depth;
        depths.all(|depth| at.contains_key(&(lineage, depth)))
    }

    pub(super) fn saw_source(&self, source: SourceRow) {
        let session = source.session.as_str().to_owned();
        self.sessions.borrow_mut().entry(session).or_default();
        self.sources.borrow_mut().insert(source.id, source);
    }

    pub(super) fn source(&self, id: u64) -> Option<SourceRow> {
        self.sources.borrow().get(&id).cloned()
    }

    pub(super) fn saw_session(&self, session: MemoryRow) {
        let name = session.key.clone();
        self.sessions.borrow_mut().insert(name, Some(session));
    }

    /// What is known of all of these sessions, or none.
    pub(super) fn sessions(&self, names: &[&str]) -> Option<Vec<MemoryRow>> {
        let known = self.sessions.borrow();
        let found = names.iter().map(|name| known.get(*name).cloned());
        Some(
            found
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .flatten()
                .collect(),
        )
    }

    /// The records behind all of these commits, or none.
    pub(super) fn records(&self, commits: &[CommitHash]) -> Option<Vec<Records>> {
        let records = self.records.borrow();
        commits
            .iter()
            .map(|commit| records.get(commit).cloned())
            .collect()
    }

    /// Takes in rows of commits, and tells of each that is new where it stands.
    pub(super) fn saw_commits(
        &self,
        rows: Vec<Row>,
        mut stands: impl FnMut(CommitHash, Place),
    ) -> Result<()> {
        let mut commits = self.commits.borrow_mut();
        for row in rows {
            let (hash, place): (CommitHash, Place) = (get(&row, LISTED)?, place(&row, PLACE)?);
            if self.by_commit.borrow().contains_key(&hash) {
                continue;
            }
            let at = commits.len();
            self.by_commit.borrow_mut().insert(hash, at);
            let here = (place.lineage, place.depth);
            self.by_place.borrow_mut().insert(here, at);
            if let Some(content) = get::<Option<ContentHash>>(&row, APPENDED + 2)? {
                self.by_content.borrow_mut().insert(content, at);
            }
            stands(hash, place);
            commits.push(row);
        }
        Ok(())
    }
}
