//! What a session's record tells of agents and shells in the background that have no end in it.
//!
//! What was looked at once is kept ([`crate::repo::open_work`]). A first look at a long session begins where the index of words
//! names the first message that may tell of a start.
//! Deliberately absent: what a message says of it ([`crate::model::background`]), and whether anything runs on the machine.

use std::cmp::Reverse;

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

/// Work in the background with no end in the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningWork {
    /// The client's name for it.
    pub id: String,
    /// What it is.
    pub kind: WorkKind,
    /// Its command or its prompt. Hostile until escaped.
    pub what: String,
    /// The message that told of its start.
    pub entry: EntryId,
    /// When that was.
    pub since: Option<Millis>,
    /// When the call for it was made: its end may be recorded before the result that names it.
    pub called: Option<Millis>,
    /// The session of the sub-agent that started it, if one did.
    pub agent: Option<RefName>,
    /// The time of the newest message of the session, and of those of its agents that were looked at.
    pub last_record: Option<Millis>,
}

/// A session whose newest message is older than this says nothing of what runs. No client ends what it started in a record
/// once it is gone, and few live on in silence for a day.
const SILENT_MS: i64 = 24 * 60 * 60 * 1000;

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
/// How many of the newest messages are read where no index names any, and of all sub-agents together.
const MOST: u64 = 4_096;

impl Repo {
    /// What was started in the background in the session at `tip`, or by a sub-agent of it, and has no end there: in the
    /// order of the starts, the session's own first. A conversation that came from no session has none. Where something is
    /// damaged on the way, nothing is told: who asks how things stand still learns the rest, and `fsck` names the damage.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn running(&self, tip: &CommitHash) -> Result<Vec<RunningWork>> {
        match self.running_below(tip) {
            Err(Error::Damaged { .. }) => Ok(Vec::new()),
            told => told,
        }
    }

    fn running_below(&self, tip: &CommitHash) -> Result<Vec<RunningWork>> {
        let view = self.store.read()?;
        let Some(session) = path::file_of(&*view, tip)? else {
            return Ok(Vec::new());
        };
        let agents = agents(&*view, &session)?;
        let last_record = newest(&*view, &session, &agents)?;
        drop(view);
        let mut running = self.running_on(tip, &session, None)?;
        let mut of_agents = Vec::new();
        for (agent, tip) in agents {
            of_agents.extend(self.running_on(&tip, &agent, Some(&agent))?);
        }
        if !of_agents.is_empty() {
            let view = self.store.read()?;
            // A fork begins with what its parent did.
            let starts: Vec<CommitHash> = of_agents.iter().map(|work| work.entry.commit).collect();
            let mut are_own = view.are_ancestors(&starts, tip)?.into_iter();
            of_agents.retain(|_| are_own.next() == Some(false));
            let ended = ended(&*view, &session)?;
            of_agents.retain(|work| {
                let agent = work.agent_id().unwrap_or_default();
                !is_over(&ended, agent, work) && !is_over(&ended, &work.id, work)
            });
            of_agents.sort_by_key(|work| work.since);
            running.extend(of_agents);
        }
        for work in &mut running {
            work.last_record = last_record;
        }
        Ok(running)
    }

    /// What was started on the path to `tip`, which ends with a session's newest message, and has no end there.
    fn running_on(
        &self,
        tip: &CommitHash,
        session: &RefName,
        agent: Option<&RefName>,
    ) -> Result<Vec<RunningWork>> {
        let view = self.store.read()?;
        let purge = view.last_purge()?;
        let Some(end) = view.commit(tip)?.map(|row| row.depth + 1) else {
            return Ok(Vec::new());
        };
        let (known, is_whole) = match open_work::known(&*view, tip)? {
            Some(known) => (known, true),
            None => first(&*view, tip, end)?,
        };
        let from = known.covered;
        let (open, known) = open_work::gone_on(&*view, tip, &known, end)?;
        let mut running = timed(&*view, open, agent)?;
        if !running.is_empty() {
            let mut ended = ended(&*view, session)?;
            let agents = running.iter().filter(|work| work.kind == WorkKind::Agent);
            for agent in agents.filter_map(|work| named_as(session, &work.id)) {
                ended.extend(self::ended(&*view, &agent)?);
            }
            running.retain(|work| !is_over(&ended, &work.id, work));
        }
        drop(view);
        if is_whole && end - from >= KEPT_EACH {
            self.keep_work(tip, known, purge)?;
        }
        Ok(running)
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
fn timed(
    view: &dyn View,
    open: Vec<OpenWork<Place>>,
    agent: Option<&RefName>,
) -> Result<Vec<RunningWork>> {
    let times = |place: fn(&OpenWork<Place>) -> Place| -> Result<Vec<Option<Millis>>> {
        let commits: Vec<CommitHash> = open.iter().map(|it| place(it).entry.commit).collect();
        let rows = view.commits(&commits)?.into_iter();
        Ok(rows.map(|row| row?.commit.time).collect())
    };
    let (called, since) = (times(|it| it.called)?, times(|it| it.at)?);
    let times = called.into_iter().zip(since);
    let running = open.into_iter().zip(times);
    let running = running.map(|(work, (called, since))| RunningWork {
        id: work.id,
        kind: work.kind,
        what: work.what,
        entry: work.at.entry,
        since,
        called,
        agent: agent.cloned(),
        last_record: None,
    });
    Ok(running.collect())
}

/// The time of the newest message of a session and of these agents of it.
fn newest(
    view: &dyn View,
    session: &RefName,
    agents: &[(RefName, CommitHash)],
) -> Result<Option<Millis>> {
    let own = load::tip(view, session)?.into_iter();
    let tips: Vec<CommitHash> = own.chain(agents.iter().map(|(_, tip)| *tip)).collect();
    let rows = view.commits(&tips)?.into_iter().flatten();
    Ok(rows.filter_map(|row| row.commit.time).max())
}

/// Whether records say that what goes by this id has ended since the call for this work was made. A short process has ended
/// before the result that names it is written.
fn is_over(ended: &EndedWork, id: &str, work: &RunningWork) -> bool {
    match (ended.get(id), work.called.or(work.since)) {
        (None, _) => false,
        (Some(Some(end)), Some(since)) => *end >= since,
        (Some(_), _) => true,
    }
}

/// The sessions of the sub-agents of a session and where they end, the newest first, as far as there is time to look.
fn agents(view: &dyn View, session: &RefName) -> Result<Vec<(RefName, CommitHash)>> {
    // What a rewind left of an agent's session is none.
    let is_agents = |(name, _): &(RefName, CommitHash)| last(name).starts_with(RefName::AGENT);
    let below = |name: &RefName| load::tips(view, &format!("{name}/"));
    let mut agents: Vec<_> = below(session)?.into_iter().filter(is_agents).collect();
    // Of a tool whose agents have sessions of their own, their branches stand below the session's.
    if let Some(branch) = view.follower(session)? {
        for (_, tip) in below(&branch)?.into_iter().filter(is_agents) {
            let own = path::file_of(view, &tip)?
                .filter(|own| own.root_session() != session.root_session());
            if let Some(own) = own
                && let Some(tip) = load::tip(view, &own)?
            {
                agents.push((own, tip));
            }
        }
    }
    let tips: Vec<CommitHash> = agents.iter().map(|(_, tip)| *tip).collect();
    let rows = view.commits(&tips)?.into_iter();
    let timed = rows.zip(agents);
    let mut timed: Vec<_> = timed
        .filter_map(|(row, agent)| Some((row?, agent)))
        .collect();
    timed.sort_by_key(|(row, _)| Reverse(row.commit.time));
    let mut left = MOST;
    let looked = timed.into_iter().take_while(|(row, _)| {
        left = left.saturating_sub((row.depth + 1).min(FEW));
        left > 0
    });
    Ok(looked.map(|(_, agent)| agent).collect())
}

impl RunningWork {
    /// Whether the session has been silent so long by `now` that nothing tells whether the work still runs.
    pub fn is_stale(&self, now: Millis) -> bool {
        let silent = |last: Millis| now.0.saturating_sub(last.0) > SILENT_MS;
        self.last_record.is_some_and(silent)
    }

    /// What the client calls the agent that started it, if one did.
    pub fn agent_id(&self) -> Option<&str> {
        let last = last(self.agent.as_ref()?);
        Some(last.strip_prefix(RefName::AGENT).unwrap_or(last))
    }
}

fn last(name: &RefName) -> &str {
    name.as_str().rsplit('/').next().unwrap_or_default()
}

/// The session of an agent that is named as its session is, whose own record may say that it has ended.
fn named_as(starter: &RefName, id: &str) -> Option<RefName> {
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
