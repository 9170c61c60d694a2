//! What a session's record tells of agents and shells in the background that have no end in it.
//!
//! The index of words names the messages that may tell of a start; from the first of them on the session is read.
//! Deliberately absent: what a message says of it ([`crate::model::background`]), and whether anything runs on the machine.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::background::{OpenWork, Register, tells_of_start};
use crate::model::query::Query;
use crate::model::{EntryId, Millis, RefName};
use crate::repo::kept::{KeptSource, format_of};
use crate::repo::repository::Repo;
use crate::repo::{load, path};
use crate::store::{CommitRow, Ranking, View};

/// Work in the background with no end in the record, with the message that told of its start, and when.
pub type RunningWork = OpenWork<(EntryId, Option<Millis>)>;

/// One of these words is in each message that tells of a start, or in the call for it.
const WORDS: &str = "background backgrounded session shellid agentid resumedagentid monitor";
/// More than this that is in no index is not looked through for a start.
const UNINDEXED_BYTES: u64 = 1 << 20;
/// How many messages before a start its call stands at most.
const BEFORE: u64 = 64;
/// A path with fewer commits is read without asking the index.
const FEW: u64 = 512;
/// How many messages are read together.
const TOGETHER: usize = 256;
/// How many of the newest messages are read where no index names any.
const MOST: u64 = 4_096;

impl Repo {
    /// What was started in the background in the session at `tip` and has no end there, in the order of the starts. A
    /// conversation that came from no session has none. Where something is damaged on the way, nothing is told: who asks how
    /// things stand still learns the rest, and `fsck` names the damage.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn running(&self, tip: &CommitHash) -> Result<Vec<RunningWork>> {
        match self.open_work(tip) {
            Err(Error::Damaged { .. }) => Ok(Vec::new()),
            told => told,
        }
    }

    fn open_work(&self, tip: &CommitHash) -> Result<Vec<RunningWork>> {
        let view = self.store.read()?;
        let Some(end) = view.commit(tip)?.map(|row| row.depth) else {
            return Ok(Vec::new());
        };
        let Some((session, _)) = path::session_of(&*view, tip)? else {
            return Ok(Vec::new());
        };
        let Some(first) = first(&*view, tip, end)? else {
            return Ok(Vec::new());
        };
        let mut register = Register::default();
        let count = usize::try_from(end - first + 1).unwrap_or(usize::MAX);
        let mut rows = view.ancestors(tip, None, count)?;
        rows.sort_by_key(|row| row.depth);
        for some in rows.chunks(TOGETHER) {
            for (row, message) in said(&*view, some)? {
                register.take(&message, (EntryId::of(row.hash), row.commit.time));
            }
        }
        let mut open = register.open();
        if !open.is_empty() {
            let ended = ended(&*view, &session)?;
            open.retain(|work| !ended.contains(&work.id));
        }
        Ok(open)
    }
}

/// What the records of a session say to have ended, beside its messages.
fn ended(view: &dyn View, session: &RefName) -> Result<HashSet<String>> {
    let mut ended = HashSet::new();
    for source in view.sources(session)? {
        let format = format_of(view, source.id)?;
        if let Some(read) = format.and_then(|format| format.ended) {
            ended.extend(read(&KeptSource::new(view, source.id, source.size_bytes))?);
        }
    }
    Ok(ended)
}

/// How far from the root the first message may stand that tells of a start; none: none does.
fn first(view: &dyn View, tip: &CommitHash, end: u64) -> Result<Option<u64>> {
    // What the index has of a word grows with the repository, and a short session is read sooner.
    if end < FEW {
        return Ok(Some(0));
    }
    if view.unweighed_bytes()? > UNINDEXED_BYTES {
        return Ok(Some(end.saturating_sub(MOST)));
    }
    let query = Query::parse(WORDS)?;
    let ranking = Ranking {
        query: &query,
        role: None,
        most: usize::MAX,
    };
    let found = view.ranked(ranking, &[*tip], true)?.found;
    let hits = found.iter().flat_map(|one| &one.hits);
    let hits: Vec<CommitHash> = hits.map(|hit| hit.commit).collect();
    let mut rows: Vec<CommitRow> = view.commits(&hits)?.into_iter().flatten().collect();
    rows.sort_by_key(|row| row.depth);
    for some in rows.chunks(TOGETHER) {
        let told = said(view, some)?;
        let start = told.iter().find(|(_, message)| tells_of_start(message));
        if let Some((row, _)) = start {
            return Ok(Some(row.depth.saturating_sub(BEFORE)));
        }
    }
    Ok(None)
}

/// The messages that commits append.
fn said<'r>(
    view: &dyn View,
    rows: &'r [CommitRow],
) -> Result<Vec<(&'r CommitRow, crate::model::Message)>> {
    let appended = rows.iter().filter_map(|row| Some((row, row.appended()?)));
    let (rows, contents): (Vec<_>, Vec<_>) = appended.unzip();
    Ok(rows
        .into_iter()
        .zip(load::contents(view, &contents)?)
        .collect())
}
