//! Which of several sessions that hold one message made it: the others are copies, by a fork or a resume.
//!
//! A copy never owns what it shares: its cost, its name, its requests are the original's. A session that `resume` wrote
//! here is a copy of the one from which it went on, and so are the forks of it; so is one whose records name another session
//! here; else the one that began first is the original, and of two that began at once the one that came in first. Deliberately absent: how a record names another session;
//! its format knows.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::formats::Format;
use crate::formats::registry::FORMATS;
use crate::formats::shared::origin::{FRONT_BYTES, FirstRecords};
use crate::hash::CommitHash;
use crate::model::{Millis, RefName, Span};
use crate::repo::kept::{format_of, newest_imported, request_of};
use crate::repo::load;
use crate::store::{OriginRow, Tx, View};

/// How long a UUID is.
const UUID_CHARS: usize = 36;

/// How many forks of forks are told apart.
const FORKS: usize = 16;

/// How a session lies to others that share messages with it: an original is less than its copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// How often `resume` wrote anything of which it came.
    resumes: usize,
    /// Whether it is what a client printed: the same client's file of the session tells more.
    is_stream: bool,
    /// How many sessions it is a copy of, one of the other: those that its records name.
    copies: usize,
    began: Millis,
    source: u64,
}

/// What a session's first records say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Front {
    pub(crate) began: Option<Millis>,
    pub(crate) forked_from: Option<RefName>,
    pub(crate) started_by: Option<RefName>,
    pub(crate) source: u64,
    /// How many bytes of that source were looked at.
    pub(crate) read_bytes: u64,
}

/// Tells originals from copies; what it has found out of a session is kept.
pub(crate) struct Copies<'v> {
    view: &'v dyn View,
    /// What was read of sessions' files, here or before.
    fronts: RefCell<HashMap<RefName, Front>>,
    ranks: RefCell<HashMap<RefName, Rank>>,
    parents: RefCell<HashMap<RefName, Vec<RefName>>>,
    resumes: RefCell<HashMap<RefName, usize>>,
    /// The sessions that are here in two forms, as their clients keep them.
    twice: RefCell<Option<HashSet<RefName>>>,
    /// Who started sessions whose files are not here.
    starters: RefCell<Option<HashMap<RefName, RefName>>>,
    /// By each commit from which `resume` wrote a session, the sessions on whose paths it is and whose files are not here.
    fileless: RefCell<Option<HashMap<CommitHash, Vec<RefName>>>>,
}

impl<'v> Copies<'v> {
    pub(crate) fn of(view: &'v dyn View) -> Self {
        Self {
            view,
            fronts: RefCell::default(),
            ranks: RefCell::default(),
            parents: RefCell::default(),
            resumes: RefCell::default(),
            twice: RefCell::default(),
            starters: RefCell::default(),
            fileless: RefCell::default(),
        }
    }

    /// Whether one session made what both hold.
    pub(crate) fn is_older(&self, one: &RefName, other: &RefName) -> Result<bool> {
        Ok(self.rank(one)? < self.rank(other)?)
    }

    /// Puts originals before their copies.
    pub(crate) fn sort(&self, sessions: &mut Vec<RefName>) -> Result<()> {
        let mut ranked = Vec::with_capacity(sessions.len());
        for name in sessions.drain(..) {
            ranked.push((self.rank(&name)?, name));
        }
        ranked.sort();
        sessions.extend(ranked.into_iter().map(|(_, name)| name));
        Ok(())
    }

    /// The session whose agent did a session, as that one's file says; of one whose file is not here, as was told of it.
    pub(crate) fn starter(&self, name: &RefName) -> Result<Option<RefName>> {
        let tool = name
            .as_session()
            .and_then(|(tool, _)| Format::named(tool).ok());
        let home = tool.and_then(|format| format.home.as_ref());
        // Nothing is read of the files of other tools.
        let front = match home.is_some_and(|home| home.names_starters) {
            true => self.front(name)?,
            false => Front::default(),
        };
        if front.read_bytes > 0 {
            return Ok(front.started_by);
        }
        if self.starters.borrow().is_none() {
            *self.starters.borrow_mut() = Some(self.view.starters()?.into_iter().collect());
        }
        let told = self.starters.borrow();
        Ok(told.iter().find_map(|it| it.get(name).cloned()))
    }

    fn rank(&self, name: &RefName) -> Result<Rank> {
        if let Some(known) = self.ranks.borrow().get(name) {
            return Ok(*known);
        }
        let front = self.front(name)?;
        let rank = Rank {
            resumes: self.resumes(name)?,
            copies: self.parents(name)?.len(),
            is_stream: as_kept(name).is_some(),
            began: front.began.unwrap_or(Millis(i64::MAX)),
            source: front.source,
        };
        self.ranks.borrow_mut().insert(name.clone(), rank);
        Ok(rank)
    }

    /// How often `resume` wrote anything of which a session came. Files may name each other in a circle: that counts once.
    fn resumes(&self, name: &RefName) -> Result<usize> {
        if let Some(known) = self.resumes.borrow().get(name) {
            return Ok(*known);
        }
        self.resumes.borrow_mut().insert(name.clone(), 0);
        let count = self.count_resumes(name)?;
        self.resumes.borrow_mut().insert(name.clone(), count);
        Ok(count)
    }

    fn count_resumes(&self, name: &RefName) -> Result<usize> {
        let Some(commit) = resumed_at(self.view, name)? else {
            // What was forked off a resumed session began with what that one made.
            for parent in self.parents(name)? {
                if is_written(self.view, &parent)? {
                    return self.resumes(&parent);
                }
            }
            return Ok(0);
        };
        let mut before = Vec::new();
        for other in self.imported_to(&commit)? {
            if root(&other) != root(name) && !self.came_after(&other, &commit)? {
                before.push(self.resumes(&other)?);
            }
        }
        Ok(1 + before.into_iter().min().unwrap_or(0))
    }

    /// The sessions that a commit came from, from which `resume` wrote one. Behind the commits of those whose files are not
    /// here stands no record: the paths to their ends are left.
    fn imported_to(&self, commit: &CommitHash) -> Result<Vec<RefName>> {
        if self.fileless.borrow().is_none() {
            *self.fileless.borrow_mut() = Some(fileless(self.view)?);
        }
        let known = self.fileless.borrow();
        let sessions = known.iter().find_map(|it| it.get(commit).cloned());
        let mut sessions = sessions.unwrap_or_default();
        if let Some((newest, others)) = newest_imported(self.view, commit)?
            && (newest == *commit || sessions.is_empty())
        {
            sessions.extend(others);
        }
        Ok(sessions)
    }

    /// Whether a session came of what `resume` wrote at a commit, or behind it.
    fn came_after(&self, name: &RefName, commit: &CommitHash) -> Result<bool> {
        let parents = self.parents(name)?;
        for session in std::iter::once(name).chain(&parents) {
            if let Some(at) = resumed_at(self.view, session)?
                && (at == *commit || self.view.is_ancestor(commit, &at)?)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The name under which a client keeps a session that is here both as it keeps it and as it streamed it; none for any
    /// other session.
    pub(crate) fn in_two_forms(&self, session: &RefName) -> Result<Option<RefName>> {
        if self.twice.borrow().is_none() {
            *self.twice.borrow_mut() = Some(kept_and_streamed(self.view)?);
        }
        let kept = as_kept(session).unwrap_or_else(|| root(session));
        let twice = self.twice.borrow();
        Ok(Some(kept).filter(|kept| twice.iter().any(|it| it.contains(kept))))
    }

    /// Whether one of two sessions says that it began as a copy of the other, or of a copy of that.
    pub(crate) fn are_kin(&self, one: &RefName, other: &RefName) -> Result<bool> {
        let (one, other) = (root(one), root(other));
        Ok(self.parents(&one)?.contains(&other) || self.parents(&other)?.contains(&one))
    }

    /// The sessions here of which one is a copy, each of the next.
    pub(crate) fn parents(&self, name: &RefName) -> Result<Vec<RefName>> {
        if let Some(known) = self.parents.borrow().get(name) {
            return Ok(known.clone());
        }
        let mut parents: Vec<RefName> = Vec::new();
        let mut next = self.front(name)?.forked_from;
        while let Some(parent) = next.filter(|it| it != name && !parents.contains(it)) {
            let front = self.front(&parent)?;
            if front.source == 0 || parents.len() == FORKS {
                break;
            }
            parents.push(parent);
            next = front.forked_from;
        }
        let kept = parents.clone();
        self.parents.borrow_mut().insert(name.clone(), kept);
        Ok(parents)
    }

    /// Says what was read of a session's file before. It is read again where that has changed.
    pub(crate) fn has_read(&self, name: RefName, front: Front) {
        self.fronts.borrow_mut().insert(name, front);
    }

    /// What was read of sessions' files, here or before.
    pub(crate) fn fronts(&self) -> HashMap<RefName, Front> {
        self.fronts.borrow().clone()
    }

    /// What the first file of a session begins with; of what stands below one without a file of its own, that one's.
    fn front(&self, name: &RefName) -> Result<Front> {
        let own = self.view.sources(name)?.pop();
        let above = root(name);
        let row = match own {
            None if above != *name => self.view.sources(&above)?.pop(),
            own => own,
        };
        let Some(row) = row else {
            let told = self.view.origin(&above)?;
            return Ok(told.map_or_else(Front::default, |told| Front {
                began: told.began,
                forked_from: told.copied_from,
                started_by: None,
                source: told.source.unwrap_or(u64::MAX),
                read_bytes: 0,
            }));
        };
        let len = row.size_bytes.min(FRONT_BYTES);
        let is_read = |front: &Front| (front.source, front.read_bytes) == (row.id, len);
        if let Some(front) = self.fronts.borrow().get(name).filter(|it| is_read(it)) {
            return Ok(front.clone());
        }
        let mut front = Front {
            source: row.id,
            read_bytes: len,
            ..Front::default()
        };
        let Some(format) = format_of(self.view, row.id)? else {
            return Ok(front);
        };
        let bytes = self.view.source_bytes(row.id, Span { offset: 0, len })?;
        let told = FirstRecords::of(format, &String::from_utf8_lossy(&bytes));
        front.began = told.began;
        front.forked_from = told.copied_from;
        front.started_by = told.started_by;
        self.has_read(name.clone(), front.clone());
        Ok(front)
    }
}

/// By each commit from which `resume` wrote a session, the sessions on whose paths it is and whose files are not here.
fn fileless(view: &dyn View) -> Result<HashMap<CommitHash, Vec<RefName>>> {
    let resumed = view.all_resumed()?.into_iter();
    let resumed: Vec<CommitHash> = resumed.map(|(_, _, row)| row.commit).collect();
    let told: HashSet<RefName> = view.with_origins()?.into_iter().collect();
    let mut found: HashMap<CommitHash, Vec<RefName>> = HashMap::new();
    if resumed.is_empty() || told.is_empty() {
        return Ok(found);
    }
    for (name, tip) in load::tips(view, RefName::SESSIONS)? {
        if !told.contains(&name) {
            continue;
        }
        for (commit, is_before) in resumed.iter().zip(view.are_ancestors(&resumed, &tip)?) {
            let sessions = is_before.then(|| found.entry(*commit).or_default());
            if let Some(sessions) = sessions.filter(|it| !it.contains(&name)) {
                sessions.push(name.clone());
            }
        }
    }
    Ok(found)
}

/// Keeps what the file of a session begins with, before what is kept of it is erased.
pub(crate) fn keep_origin(tx: &dyn Tx, session: &RefName) -> Result<()> {
    if tx.origin(session)?.is_some() {
        return Ok(());
    }
    let copies = Copies::of(tx);
    let Some(origin) = origin_of(&copies, session)? else {
        return Ok(());
    };
    if let Some(starter) = copies.starter(session)? {
        tx.put_starter(session, &starter)?;
    }
    tx.put_origin(session, &origin)
}

/// The names of the requests that some of these replies answer: those of sessions that a client streams, or that are here in two
/// forms. Of these copies are told by that, be there records or not.
pub(crate) fn telling_requests(
    view: &dyn View,
    replies: &[CommitHash],
    copies: &Copies<'_>,
) -> Result<Vec<(CommitHash, String)>> {
    let (mut told, mut telling) = (Vec::new(), HashMap::new());
    for (reply, records) in replies.iter().zip(view.records(replies)?) {
        let Some((source, _)) = records.last() else {
            continue;
        };
        let tells = match telling.get(source) {
            Some(tells) => *tells,
            None => {
                let session = view.source(*source)?.map(|row| row.session);
                let tells = match session {
                    Some(it) => as_kept(&it).is_some() || copies.in_two_forms(&it)?.is_some(),
                    None => false,
                };
                telling.insert(*source, tells);
                tells
            }
        };
        if tells && let Some(request) = request_of(view, reply)? {
            told.push((*reply, request));
        }
    }
    Ok(told)
}

/// Keeps which requests these replies answered, before their records are erased.
pub(crate) fn keep_requests(tx: &dyn Tx, commits: &[CommitHash]) -> Result<()> {
    let counted = commits.iter().zip(tx.usage(commits)?);
    let replies: Vec<CommitHash> = counted
        .filter_map(|(commit, usage)| usage.map(|_| *commit))
        .collect();
    let mut details = tx.usage_details(&replies)?;
    for (reply, request) in telling_requests(tx, &replies, &Copies::of(tx))? {
        let mut detail = details.remove(&reply).unwrap_or_default();
        detail.request = Some(request);
        tx.put_usage_detail(&reply, &detail)?;
    }
    Ok(())
}

/// What the file of a session begins with, be it here or not; none where nothing is known of one, or it cannot be read any
/// more.
pub(crate) fn origin_of(copies: &Copies<'_>, session: &RefName) -> Result<Option<OriginRow>> {
    let front = match copies.front(session) {
        Err(Error::Damaged { .. }) => return Ok(None),
        front => front?,
    };
    Ok((front.source != 0).then(|| OriginRow {
        source: Some(front.source).filter(|source| *source != u64::MAX),
        began: front.began,
        copied_from: front.forked_from,
    }))
}

/// Whether `resume` wrote a session, as far as is known here.
pub(crate) fn is_written(view: &dyn View, name: &RefName) -> Result<bool> {
    Ok(resumed_at(view, name)?.is_some())
}

/// The commit whose context `resume` wrote as a session.
fn resumed_at(view: &dyn View, name: &RefName) -> Result<Option<CommitHash>> {
    let resumed = match root(name).as_session() {
        Some((tool, id)) => view.resumed(tool, id)?,
        None => None,
    };
    Ok(resumed.map(|resumed| resumed.commit))
}

/// The name of a session that a client streamed in the format in which the client keeps it; none of any other session. What
/// came in as a further stream of the session goes by a number.
pub(crate) fn as_kept(name: &RefName) -> Option<RefName> {
    let root = root(name);
    let (tool, id) = root.as_session()?;
    let streamed = Format::named(tool).ok()?.streamed?;
    let numbered = id.rsplit_once('-').filter(|(first, number)| {
        first.len() == UUID_CHARS && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let id = numbered.map_or(id, |(first, _)| first);
    Some(RefName::session(streamed.kept_as, id))
}

/// The sessions that are here as a client streamed them and as it keeps them, by the latter's names.
fn kept_and_streamed(view: &dyn View) -> Result<HashSet<RefName>> {
    let mut both = HashSet::new();
    let streams = FORMATS
        .into_iter()
        .filter(|format| format.streamed.is_some());
    for format in streams {
        let prefix = format!("{}{}/", RefName::SESSIONS, format.name);
        for (name, _) in load::tips(view, &prefix)? {
            if let Some(kept) = as_kept(&name)
                && load::tip(view, &kept)?.is_some()
            {
                both.insert(kept);
            }
        }
    }
    Ok(both)
}

/// The session below which one stands: itself, or that of an agent, or of what was taken back.
pub(crate) fn root(name: &RefName) -> RefName {
    let root = name.root_session().and_then(|root| root.parse().ok());
    root.unwrap_or_else(|| name.clone())
}
