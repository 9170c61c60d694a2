//! What a session's record tells of agents and shells in the background that have no end in it.
//!
//! What was looked at once is kept ([`crate::repo::open_work`]). A first look at a long session begins where the index of words
//! names the first message that may tell of a start.
//! Deliberately absent: what a message says of it ([`crate::model::background`]), and whether anything runs on the machine.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::formats::shared::running::EndedWork;
use crate::hash::CommitHash;
use crate::model::background::{KnownWork, OpenWork, WorkKind, tells_of_start};
use crate::model::query::Query;
use crate::model::{Encoding, EntryId, Message, Millis, RefName};
use crate::repo::kept::{KeptSource, format_of};
use crate::repo::open_work::{self, BEFORE, Place};
use crate::repo::repository::Repo;
use crate::repo::{load, path};
use crate::store::{CommitRow, Ranking, View};

/// Work in the background with no end in the record, with the message that told of its start, and when.
pub type RunningWork = OpenWork<(EntryId, Option<Millis>)>;

/// One of these words is in each message that tells of a start, or in the call for it.
const WORDS: &str = "background backgrounded session shellid agentid resumedagentid monitor";
/// More than this that is in no index is not looked through for a start.
const UNINDEXED_BYTES: u64 = 1 << 20;
/// A path with fewer commits is read without asking the index.
const FEW: u64 = 512;
/// How many messages are read together where a first start is looked for.
const TOGETHER: usize = 256;
/// How many commits are looked at before what they tell is kept.
const KEPT_EACH: u64 = if cfg!(test) { 2 } else { 64 };
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
        let purge = view.last_purge()?;
        let Some(end) = view.commit(tip)?.map(|row| row.depth + 1) else {
            return Ok(Vec::new());
        };
        let Some(file) = path::file_of(&*view, tip)? else {
            return Ok(Vec::new());
        };
        let (known, is_whole) = match open_work::known(&*view, tip)? {
            Some(known) => (known, true),
            None => first(&*view, tip, end)?,
        };
        let from = known.covered;
        let (open, known) = open_work::gone_on(&*view, tip, &known, end)?;
        let mut open = timed(&*view, open)?;
        if !open.is_empty() {
            let mut ended = ended(&*view, &file)?;
            let agents = open.iter().filter(|work| work.kind == WorkKind::Agent);
            for agent in agents.filter_map(|work| agent(&file, &work.id)) {
                ended.extend(self::ended(&*view, &agent)?);
            }
            open.retain(|work| match (ended.get(&work.id), work.at.1) {
                (None, _) => true,
                (Some(Some(end)), Some(since)) => *end < since,
                (Some(_), _) => false,
            });
        }
        drop(view);
        if is_whole && end - from >= KEPT_EACH {
            self.keep_work(tip, known, purge)?;
        }
        Ok(open)
    }

    /// Keeps what was found with the context summed up at `tip`, where that is known.
    fn keep_work(&self, tip: &CommitHash, known: KnownWork, purge: Option<u64>) -> Result<()> {
        for encoding in Encoding::ALL {
            if let Some(mut summary) = self.summary_near(tip, encoding)? {
                summary.background = Some(known);
                self.keep_summary(tip, encoding, &summary, purge);
                break;
            }
        }
        Ok(())
    }
}

/// Open work with the times of the messages that told of it.
fn timed(view: &dyn View, open: Vec<OpenWork<Place>>) -> Result<Vec<RunningWork>> {
    let commits: Vec<CommitHash> = open.iter().map(|work| work.at.entry.commit).collect();
    let rows = view.commits(&commits)?;
    let times: HashMap<CommitHash, Option<Millis>> = rows
        .into_iter()
        .flatten()
        .map(|row| (row.hash, row.commit.time))
        .collect();
    let told = |place: Place| {
        (
            place.entry,
            times.get(&place.entry.commit).copied().flatten(),
        )
    };
    let open = open.into_iter().map(|work| OpenWork {
        id: work.id,
        kind: work.kind,
        what: work.what,
        called: told(work.called),
        at: told(work.at),
    });
    Ok(open.collect())
}

/// The session of an agent that is named as its session is, whose own record may say that it has ended.
fn agent(starter: &RefName, id: &str) -> Option<RefName> {
    let (tool, _) = starter.as_session()?;
    Some(RefName::session(tool, id))
}

/// What the records of a session say to have ended, beside its messages.
fn ended(view: &dyn View, session: &RefName) -> Result<EndedWork> {
    let mut ended = EndedWork::new();
    for source in view.sources(session)? {
        let format = format_of(view, source.id)?;
        if let Some(read) = format.and_then(|format| format.ended) {
            ended.extend(read(&KeptSource::new(view, source.id, source.size_bytes))?);
        }
    }
    Ok(ended)
}

/// Where a first look at the `end` commits of the path to `tip` begins, and whether nothing started before that is open.
fn first(view: &dyn View, tip: &CommitHash, end: u64) -> Result<(KnownWork, bool)> {
    let from = |covered| KnownWork {
        covered,
        ..KnownWork::default()
    };
    // What the index has of a word grows with the repository, and a short session is read sooner.
    if end < FEW {
        return Ok((from(0), true));
    }
    if view.unweighed_bytes()? > UNINDEXED_BYTES {
        return Ok((from(end.saturating_sub(MOST)), end <= MOST));
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
            return Ok((from(row.depth.saturating_sub(BEFORE)), true));
        }
    }
    Ok((from(end.saturating_sub(BEFORE)), true))
}

/// The messages that commits append.
fn said<'r>(view: &dyn View, rows: &'r [CommitRow]) -> Result<Vec<(&'r CommitRow, Message)>> {
    let appended = rows.iter().filter_map(|row| Some((row, row.appended()?)));
    let (rows, contents): (Vec<_>, Vec<_>) = appended.unzip();
    Ok(rows
        .into_iter()
        .zip(load::contents(view, &contents)?)
        .collect())
}
