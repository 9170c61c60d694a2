//! What replies were billed: every reply that a provider counted, once, with what its price depends on.
//!
//! Deliberately absent: prices ([`crate::model::price`]), and by what people want it summed up.

mod bill;
mod cache_misses;
mod kept;
mod known;
mod paths;
mod reply;
mod short;
mod stated;
mod unpriced;

use std::collections::{BTreeSet, HashMap, HashSet};

pub use self::bill::{Bill, bills, bills_by_model};
pub use self::cache_misses::missed;
use self::kept::{PathReader, PathReply};
pub(crate) use self::known::KnownReplies;
use self::known::SharedMarks;
use self::paths::ran_in;
pub(crate) use self::paths::{NewPath, Paths, each_of, each_path};
pub use self::reply::{BilledReply, ShortOutputs};
pub use self::stated::{Billing, OtherRequests, OthersOf, StatedCost};
use self::stated::{CopiedReplies, stated_here, stated_of};
pub use self::unpriced::{Unlisted, unlisted};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::price::Prices;
use crate::model::{RefName, StatedUsage};
use crate::repo::copies::{as_kept, root};
use crate::repo::served::{ServedBy, go_on, served_at};
use crate::repo::starters::Starters;
use crate::repo::{Repo, load, path};
use crate::store::View;

impl Repo {
    /// Every reply that a provider counted, each once and with its price, oldest first on each path: those on the path
    /// to `tip`, or all that sessions, branches and tags lead to.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn billed(&self, tip: Option<&CommitHash>, prices: &Prices) -> Result<Vec<BilledReply>> {
        let Some(tip) = tip else {
            return Ok(self.billing(prices)?.replies);
        };
        let view = self.store.read()?;
        let mut billed = Billed::of(&*view);
        each_path(&*view, Some(tip), &mut |path| billed.add(&path, prices))?;
        billed.done(prices)
    }

    /// All replies that sessions, branches and tags lead to, each once and with its price, and what requests came to that no
    /// reply shows.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn billing(&self, prices: &Prices) -> Result<Billing> {
        let view = self.store.read()?;
        let mut billed = Billed::of(&*view);
        let stated = stated_here(&*view)?;
        billed.states(&stated);
        if !view.keeps_bills()? {
            each_path(&*view, None, &mut |path| billed.add(&path, prices))?;
            let starters = billed.starters()?;
            let (mut replies, copied) = billed.told(&starters);
            mark_outputs(&*view, &mut replies, &stated, prices)?;
            return Ok(Billing::of(
                replies,
                stated,
                &copied,
                &HashMap::new(),
                prices,
            ));
        }
        let mut reader = PathReader::of(&*view, prices, &billed.known.copies)?;
        let purge = view.last_purge()?;
        let paths = Paths::of_all(&*view, &billed.known.copies)?;
        let (mut ends, mut kept) = (HashSet::new(), Vec::new());
        for (name, tip) in &paths.tips {
            let session = name.as_session().map(|_| name);
            // A branch that follows a session has what that has.
            if ends.insert(*tip) || session.is_some() {
                kept.push((session, reader.replies(name, tip)?));
            }
        }
        let all = kept.iter().flat_map(|(_, replies)| replies);
        let shared = SharedMarks::of(all.map(|it| &it.reply));
        billed.known.will_meet(shared);
        for (session, replies) in kept {
            let directory = session.and_then(|name| ran_in(name, &paths.directories));
            billed.add_kept(session, directory, replies)?;
        }
        let starters = billed.starters()?;
        let fronts = billed.known.copies.fronts();
        let (mut replies, copied) = billed.told(&starters);
        mark_outputs(&*view, &mut replies, &stated, prices)?;
        let billing = Billing::of(replies, stated, &copied, &reader.sums(), prices);
        let read = reader.read(&fronts, &billing.others);
        drop(view);
        self.keep_paths(&read, purge);
        Ok(billing)
    }

    /// The reply that a commit appends, without its price; none where it is no reply that was counted.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn counted_reply(&self, commit: &CommitHash) -> Result<Option<BilledReply>> {
        let found = self.billed_at(&[*commit], &Prices::none())?;
        Ok(found.into_iter().next())
    }

    /// Those of these commits that append replies which were counted, each with its price. It isn't said which session
    /// they are of, nor what stands before them.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn billed_at(&self, commits: &[CommitHash], prices: &Prices) -> Result<Vec<BilledReply>> {
        let view = self.store.read()?;
        let rows = view.commits(commits)?.into_iter();
        let found = commits.iter().zip(rows).zip(view.usage(commits)?);
        let mut replies = Vec::new();
        // What is in force where a commit follows the one before it is known from there: to look it up reads all since
        // the newest checkpoint.
        let mut last: Option<(CommitHash, ServedBy)> = None;
        let mut details = view.usage_details(commits)?;
        for ((commit, row), usage) in found {
            let Some(row) = row else {
                match usage {
                    Some(_) => return Err(load::unknown(commit)),
                    None => continue,
                }
            };
            let served = match last.take() {
                Some((tip, mut served)) if row.commit.parent == Some(tip) => {
                    go_on(&mut served, &row);
                    served
                }
                _ if usage.is_some() => served_at(&*view, commit)?,
                _ => continue,
            };
            if let Some(usage) = usage {
                let [model, tier, speed, region] = served.clone().words();
                let mut reply = BilledReply {
                    commit: *commit,
                    session: None,
                    started_by: None,
                    directory: None,
                    time: row.commit.time,
                    model,
                    tier,
                    speed,
                    region,
                    usage,
                    detail: details.remove(commit).unwrap_or_default(),
                    dollars: None,
                    paid: None,
                    short: None,
                    before: None,
                    content: row.appended(),
                    behind: row.commit.parent,
                };
                reply.price(prices);
                replies.push(reply.timed());
            }
            last = Some((*commit, served));
        }
        short::mark(&*view, &mut replies, prices)?;
        Ok(replies)
    }

    /// The replies on the path to a commit, and those of the sub-agents of its session: of agents that are sessions of
    /// their own those whose branches stand below its branch, and those whose files name it. Where files of its client may do
    /// so, the beginning of each is read that was not read before.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn billed_session(&self, tip: &CommitHash, prices: &Prices) -> Result<Vec<BilledReply>> {
        let view = self.store.read()?;
        let session = path::session_of(&*view, tip)?.map(|(name, _)| name);
        let mut paths = vec![(session.clone(), *tip)];
        if let Some(session) = session {
            let mut starters = Starters::of(&*view)?;
            starters.read_like(&session, &*view, |copies| {
                PathReader::of(&*view, prices, copies).map(drop)
            })?;
            let mut sessions = starters.started_by(&session);
            for agent in &sessions {
                paths.extend(load::tip(&*view, agent)?.map(|tip| (Some(agent.clone()), tip)));
            }
            sessions.push(session);
            for session in sessions {
                let below = format!("{session}/");
                let agents = load::tips(&*view, &below)?.into_iter();
                paths.extend(agents.map(|(name, tip)| (Some(name), tip)));
            }
        }
        let mut billed = Billed::of(&*view);
        each_of(&*view, paths, &HashMap::new(), &mut |path| {
            billed.add(&path, prices)
        })?;
        billed.done(prices)
    }

    /// The replies of the sub-agents of the session at a commit that are not on the path to it.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn billed_agents_beside(
        &self,
        tip: &CommitHash,
        prices: &Prices,
    ) -> Result<Vec<BilledReply>> {
        let on_path = self.commits_on_path(tip)?;
        let mut replies = self.billed_session(tip, prices)?;
        replies.retain(|reply| {
            let is_agents = |session: &RefName| session.above_agent().is_some();
            let is_agents =
                reply.started_by.is_some() || reply.session.as_ref().is_some_and(is_agents);
            is_agents && !on_path.contains(&reply.commit)
        });
        Ok(replies)
    }

    /// The commits on the path to one, itself among them.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn commits_on_path(&self, tip: &CommitHash) -> Result<HashSet<CommitHash>> {
        let view = self.store.read()?;
        let mut commits = HashSet::new();
        each_path(&*view, Some(tip), &mut |path| {
            commits.extend(path.rows.iter().map(|row| row.hash));
            Ok(())
        })?;
        Ok(commits)
    }

    /// The same with what requests of the session came to that no reply shows.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn session_billing(&self, tip: &CommitHash, prices: &Prices) -> Result<Billing> {
        let mut replies = self.billed_session(tip, prices)?;
        let view = self.store.read()?;
        let session = path::session_of(&*view, tip)?.map(|(name, _)| name);
        let stated = stated_of(&*view, session.as_ref(), &replies)?;
        forget_outputs(&mut replies, &stated);
        let none = CopiedReplies::new();
        Ok(Billing::of(replies, stated, &none, &HashMap::new(), prices))
    }

    /// The titles of sessions, by their refs. Hostile until escaped.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn session_titles(&self) -> Result<HashMap<String, String>> {
        let sessions = self.store.read()?.sessions()?.into_iter();
        let titled = sessions.filter_map(|(name, row)| Some((name.to_string(), row.title?)));
        Ok(titled.collect())
    }
}

/// Notes whose output was counted for less than they say, but of sessions whose clients say what all requests came to: there,
/// the rest is among the other requests.
fn mark_outputs(
    view: &dyn View,
    replies: &mut [BilledReply],
    stated: &[(RefName, StatedUsage)],
    prices: &Prices,
) -> Result<()> {
    short::mark(view, replies, prices)?;
    forget_outputs(replies, stated);
    Ok(())
}

/// The same of replies that are found one by one, by what all clients say here.
pub(crate) fn mark_short(
    view: &dyn View,
    replies: &mut [BilledReply],
    prices: &Prices,
) -> Result<()> {
    mark_outputs(view, replies, &stated_here(view)?, prices)
}

fn forget_outputs(replies: &mut [BilledReply], stated: &[(RefName, StatedUsage)]) {
    let stated: HashSet<&str> = stated.iter().map(|(name, _)| name.as_str()).collect();
    for reply in replies {
        let session = reply.session.as_ref().and_then(RefName::root_session);
        if session.is_some_and(|session| stated.contains(session)) {
            reply.short = None;
        }
    }
}

/// Replies of one path after the other, each once and with the session that made it.
struct Billed<'v> {
    view: &'v dyn View,
    known: KnownReplies<'v>,
    details: load::UsageDetails<'v>,
    replies: Vec<BilledReply>,
    /// Where each is among them.
    by_commit: HashMap<CommitHash, usize>,
    /// Those that have turned out to be copies, each with the one that it is a copy of.
    copies: HashMap<usize, usize>,
    /// The replies of each session of which its client says what all requests came to, whoever made them.
    had: HashMap<RefName, BTreeSet<usize>>,
}

impl<'v> Billed<'v> {
    fn of(view: &'v dyn View) -> Self {
        Self {
            view,
            known: KnownReplies::of(view),
            details: load::UsageDetails::of(view),
            replies: Vec::new(),
            by_commit: HashMap::new(),
            copies: HashMap::new(),
            had: HashMap::new(),
        }
    }

    /// Says of which sessions their clients say what all requests came to.
    fn states(&mut self, stated: &[(RefName, StatedUsage)]) {
        let sessions = stated.iter().map(|(session, _)| session.clone());
        self.had = sessions.map(|it| (it, BTreeSet::new())).collect();
    }

    /// Notes that a session has a reply.
    fn has(&mut self, session: Option<&RefName>, at: usize) {
        let Some(session) = session.filter(|_| !self.had.is_empty()) else {
            return;
        };
        let kept = as_kept(session).filter(|kept| self.had.contains_key(kept));
        let session = kept.unwrap_or_else(|| root(session));
        if let Some(had) = self.had.get_mut(&session) {
            had.insert(at);
        }
    }

    /// Where the reply of a commit stands, or the one that it is a copy of.
    fn at(&self, commit: &CommitHash) -> Option<usize> {
        let mut at = *self.by_commit.get(commit)?;
        while let Some(original) = self.copies.get(&at) {
            at = *original;
        }
        Some(at)
    }

    fn done(self, prices: &Prices) -> Result<Vec<BilledReply>> {
        let (view, starters) = (self.view, self.starters()?);
        let mut replies = self.told(&starters).0;
        short::mark(view, &mut replies, prices)?;
        Ok(replies)
    }

    fn starters(&self) -> Result<Starters> {
        let mut starters = Starters::of(self.view)?;
        let sessions = self.replies.iter().filter_map(|it| it.session.as_ref());
        starters.read(sessions, (self.view, &self.known.copies))?;
        Ok(starters)
    }

    /// The replies, each once, and those that sessions have and others made.
    fn told(self, starters: &Starters) -> (Vec<BilledReply>, CopiedReplies) {
        let mut places = vec![0; self.replies.len()];
        let mut told: Vec<BilledReply> = Vec::with_capacity(self.replies.len());
        for (at, reply) in self.replies.into_iter().enumerate() {
            if !self.copies.contains_key(&at) {
                let mut reply = reply.timed();
                let starter = reply.session.as_ref().and_then(|it| starters.first(it));
                reply.started_by = starter.cloned();
                places[at] = told.len();
                told.push(reply);
            }
        }
        let place = |mut at: usize| {
            while let Some(original) = self.copies.get(&at) {
                at = *original;
            }
            places[at]
        };
        let mut copied = CopiedReplies::new();
        for (session, had) in &self.had {
            let is_made =
                |at: &usize| told[*at].session.as_ref().map(root).as_ref() == Some(session);
            let places: BTreeSet<usize> = had.iter().map(|at| place(*at)).collect();
            let others: BTreeSet<usize> = places.into_iter().filter(|at| !is_made(at)).collect();
            if !others.is_empty() {
                copied.insert(session.clone(), others);
            }
        }
        (told, copied)
    }

    fn add(&mut self, path: &NewPath<'_>, prices: &Prices) -> Result<()> {
        for row in &path.rows[..path.known] {
            if let Some(at) = self.at(&row.hash) {
                self.has(path.session, at);
                if self.is_made_by(path.session, at)? {
                    self.replies[at].session = path.session.cloned();
                    self.replies[at].directory = path.directory.cloned();
                }
            }
        }
        for reply in path.replies(self.view, &self.details, prices)? {
            self.add_reply(reply)?;
        }
        Ok(())
    }

    /// The same of the replies of a path that are kept, whether they are new or not.
    fn add_kept(
        &mut self,
        session: Option<&RefName>,
        directory: Option<&String>,
        replies: Vec<PathReply>,
    ) -> Result<()> {
        for PathReply { mut reply, request } in replies {
            match self.at(&reply.commit) {
                Some(at) => {
                    self.has(session, at);
                    if self.is_made_by(session, at)? {
                        self.replies[at].session = session.cloned();
                        self.replies[at].directory = directory.cloned();
                    }
                }
                None => {
                    reply.session = session.cloned();
                    reply.directory = directory.cloned();
                    self.known.answers(reply.commit, request);
                    self.add_reply(reply)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a reply of a commit that is new.
    fn add_reply(&mut self, reply: BilledReply) -> Result<()> {
        let (at, copies) = self.known.place(&reply)?;
        self.has(reply.session.as_ref(), at);
        self.by_commit.insert(reply.commit, at);
        let is_new = at == self.replies.len();
        if is_new {
            self.replies.push(reply.clone());
        }
        for [copy, original] in copies {
            // Each was met before.
            let other = self.replies[copy].clone();
            self.take(other, original)?;
            self.copies.insert(copy, original);
        }
        if !is_new {
            self.take(reply, at)?;
        }
        Ok(())
    }

    /// Takes a copy of a reply that was met: whichever is the original stays, with what either tells.
    fn take(&mut self, mut other: BilledReply, at: usize) -> Result<()> {
        if self.is_made_by(other.session.as_ref(), at)? {
            std::mem::swap(&mut self.replies[at], &mut other);
        }
        self.replies[at].take_fuller(other);
        Ok(())
    }

    /// Whether a session made a reply that another one was found to have.
    fn is_made_by(&self, session: Option<&RefName>, at: usize) -> Result<bool> {
        match (session, &self.replies[at].session) {
            (Some(session), Some(other)) if session != other => {
                self.known.copies.is_older(session, other)
            }
            _ => Ok(false),
        }
    }
}
