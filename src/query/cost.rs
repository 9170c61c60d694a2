//! What replies were billed: every reply that a provider counted, once, with what its price depends on.
//!
//! Deliberately absent: prices ([`crate::model::price`]), and by what people want it summed up.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::error::Result;
use crate::formats::Format;
use crate::hash::{CommitHash, ContentHash};

use crate::model::call::one_spelling;
use crate::model::price::{Paid, Prices, Served};
use crate::model::{Millis, RefName, StatedUsage, Usage, UsageDetail};
use crate::repo::copies::Copies;
use crate::repo::served::{ServedBy, go_on, served_at};
use crate::repo::{Repo, kept, load, path};
use crate::store::{CommitRow, View};

/// A reply that a provider counted.
#[derive(Clone, Debug, PartialEq)]
pub struct BilledReply {
    /// The commit that appends it.
    pub commit: CommitHash,
    /// The session that made it; of several that have it the original.
    pub session: Option<RefName>,
    /// The working directory of that session. Hostile until escaped.
    pub directory: Option<String>,
    /// When it came.
    pub time: Option<Millis>,
    /// The model that made it. Hostile until escaped.
    pub model: Option<String>,
    /// The tier of service where it is not the usual one. Hostile until escaped.
    pub tier: Option<String>,
    /// The speed where it is not the usual one. Hostile until escaped.
    pub speed: Option<String>,
    /// Where the model was run, where that has a price of its own. Hostile until escaped.
    pub region: Option<String>,
    /// What was counted for the request whose context it was given.
    pub usage: Usage,
    /// What its usage record says beyond that.
    pub detail: UsageDetail,
    /// What it cost, in US dollars; none where its model has no price. By the standard price where its tier, its speed or
    /// its region has none.
    pub dollars: Option<f64>,
    /// The same by what it was for.
    pub paid: Option<Paid>,
    /// The one that was counted before it on its path.
    pub before: Option<CommitHash>,
    /// What it says.
    content: Option<ContentHash>,
    /// The commit that it stands behind.
    behind: Option<CommitHash>,
}

/// What a reply has in common with its copies: what it says, its counts, its model and tier.
type ReplyBody = (ContentHash, Usage, [Option<String>; 4]);

/// A reply that was met.
#[derive(PartialEq)]
struct Met {
    /// Its number.
    at: usize,
    commit: CommitHash,
    time: Option<Millis>,
    /// The session that had it first.
    session: Option<RefName>,
}

/// What a client says that a session cost, and what it comes to by a list of prices.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedCost {
    /// The session.
    pub session: RefName,
    /// By its client, in US dollars.
    pub dollars: f64,
    /// By the list, in US dollars: what has no price there is not in it.
    pub listed: f64,
}

/// What some replies come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bill {
    /// How many replies.
    pub replies: u64,
    /// What was counted for them.
    pub usage: Usage,
    /// What those cost whose model has a price, in US dollars.
    pub dollars: f64,
    /// How many have a model without one.
    pub unpriced: u64,
}

/// A reply that was met, of whatever words: its number, its commit, the one that it stands behind, and what was counted.
#[derive(Clone)]
struct BegunReply {
    at: usize,
    commit: CommitHash,
    behind: Option<CommitHash>,
    usage: Usage,
    session: Option<RefName>,
}

impl Bill {
    /// What all of these replies come to.
    pub fn of<'r>(replies: impl IntoIterator<Item = &'r BilledReply>) -> Self {
        let mut bill = Self::default();
        for reply in replies {
            bill.add(reply);
        }
        bill
    }

    /// Adds another bill.
    pub fn plus(&mut self, more: &Self) {
        self.replies += more.replies;
        self.usage = self.usage.plus(more.usage);
        self.dollars += more.dollars;
        self.unpriced += more.unpriced;
    }

    fn add(&mut self, reply: &BilledReply) {
        self.replies += 1;
        self.usage = self.usage.plus(reply.counted());
        match reply.dollars {
            Some(dollars) => self.dollars += dollars,
            None => self.unpriced += 1,
        }
    }
}

impl Repo {
    /// Every reply that a provider counted, each once and with its price, oldest first on each path: those on the path
    /// to `tip`, or all that sessions, branches and tags lead to.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn billed(&self, tip: Option<&CommitHash>, prices: &Prices) -> Result<Vec<BilledReply>> {
        let view = self.store.read()?;
        let mut billed = Billed::of(&*view);
        each_path(&*view, tip, &mut |path| billed.add(&path, prices))?;
        Ok(billed.done())
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
                    before: None,
                    content: row.appended(),
                    behind: row.commit.parent,
                };
                reply.price(prices);
                replies.push(reply);
            }
            last = Some((*commit, served));
        }
        Ok(replies)
    }

    /// The replies on the path to a commit, and those of the sub-agents of its session.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn billed_session(&self, tip: &CommitHash, prices: &Prices) -> Result<Vec<BilledReply>> {
        let view = self.store.read()?;
        let session = path::session_of(&*view, tip)?.map(|(name, _)| name);
        let mut paths = vec![(session.clone(), *tip)];
        if let Some(session) = session {
            let below = format!("{session}/");
            let agents = load::tips(&*view, &below)?.into_iter();
            paths.extend(agents.map(|(name, tip)| (Some(name), tip)));
        }
        let mut billed = Billed::of(&*view);
        each_of(&*view, paths, &HashMap::new(), &mut |path| {
            billed.add(&path, prices)
        })?;
        Ok(billed.done())
    }
}

/// Replies of one path after the other, each once and with the session that made it.
struct Billed<'v> {
    view: &'v dyn View,
    known: KnownReplies<'v>,
    replies: Vec<BilledReply>,
    /// Where each is among them.
    by_commit: HashMap<CommitHash, usize>,
    /// Those that have turned out to be copies, each with the one that it is a copy of.
    copies: HashMap<usize, usize>,
}

impl<'v> Billed<'v> {
    fn of(view: &'v dyn View) -> Self {
        Self {
            view,
            known: KnownReplies::of(view),
            replies: Vec::new(),
            by_commit: HashMap::new(),
            copies: HashMap::new(),
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

    fn done(self) -> Vec<BilledReply> {
        let replies = self.replies.into_iter().enumerate();
        let originals = replies.filter(|(at, _)| !self.copies.contains_key(at));
        originals.map(|(_, reply)| reply).collect()
    }

    fn add(&mut self, path: &NewPath<'_>, prices: &Prices) -> Result<()> {
        for row in &path.rows[..path.known] {
            if let Some(at) = self.at(&row.hash)
                && self.is_made_by(path.session, at)?
            {
                self.replies[at].session = path.session.cloned();
                self.replies[at].directory = path.directory.cloned();
            }
        }
        for reply in path.replies(self.view, prices)? {
            let (at, copies) = self.known.place(&reply)?;
            self.by_commit.insert(reply.commit, at);
            for copy in copies {
                // Both are copies of this one; each was met before.
                let other = self.replies[copy].clone();
                if self.is_made_by(other.session.as_ref(), at)? {
                    self.replies[at] = other;
                }
                self.copies.insert(copy, at);
            }
            if at == self.replies.len() {
                self.replies.push(reply);
                continue;
            }
            let mut other = reply;
            if self.is_made_by(path.session, at)? {
                std::mem::swap(&mut self.replies[at], &mut other);
            }
            self.replies[at].take_fuller(other);
        }
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

/// The replies that were met, each known again by its copies: those that answer the same request, by its name. Where
/// names are not known, those that say the same at the same moment, and, for some clients write another time into a copy,
/// those of a session that says whose copy it is.
pub(crate) struct KnownReplies<'v> {
    view: &'v dyn View,
    copies: Copies<'v>,
    by_body: HashMap<ReplyBody, Vec<Met>>,
    /// Those made at a moment: a copy may end in the middle of a reply.
    by_time: HashMap<Millis, Vec<BegunReply>>,
    requests: HashMap<CommitHash, Option<String>>,
    count: usize,
}

impl<'v> KnownReplies<'v> {
    pub(crate) fn of(view: &'v dyn View) -> Self {
        Self {
            view,
            copies: Copies::of(view),
            by_body: HashMap::new(),
            by_time: HashMap::new(),
            requests: HashMap::new(),
            count: 0,
        }
    }

    /// Whether a reply answers the same request as one that was met; none where that of either has no name that is known.
    fn is_one_request(&mut self, met: &CommitHash, reply: &BilledReply) -> Result<Option<bool>> {
        let session = reply.session.as_ref().and_then(RefName::as_session);
        let format = session.and_then(|(tool, _)| Format::named(tool).ok());
        // Of most formats no record says it: nothing is looked up.
        if format.is_some_and(|format| format.request_of.is_none()) {
            return Ok(None);
        }
        let Some(own) = self.request(&reply.commit)? else {
            return Ok(None);
        };
        Ok(self.request(met)?.map(|met| met == own))
    }

    fn request(&mut self, commit: &CommitHash) -> Result<Option<String>> {
        if let Some(known) = self.requests.get(commit) {
            return Ok(known.clone());
        }
        let found = kept::request_of(self.view, commit)?;
        self.requests.insert(*commit, found.clone());
        Ok(found)
    }

    /// The number of a reply among those that differ; a new one's is the next. Beside it the numbers of others that are
    /// its copies, too: two forks say nothing of each other, and only their parent tells that they say the same.
    pub(crate) fn place(&mut self, reply: &BilledReply) -> Result<(usize, Vec<usize>)> {
        let (mut place, mut copies) = (None, Vec::new());
        if let Some(content) = reply.content {
            let served =
                [&reply.model, &reply.tier, &reply.speed, &reply.region].map(Option::clone);
            let body = (content, reply.usage, served);
            let mut known = self.by_body.remove(&body).unwrap_or_default();
            for met in &mut known {
                let is_same_time = met.time.is_some() && met.time == reply.time;
                let is_one = match self.is_one_request(&met.commit, reply)? {
                    Some(is_one) => is_one,
                    None if is_same_time => true,
                    None => match (&met.session, &reply.session) {
                        (Some(one), Some(other)) if one != other => {
                            self.copies.are_kin(one, other)?
                        }
                        _ => false,
                    },
                };
                if is_one {
                    let first = *place.get_or_insert(met.at);
                    if met.at != first {
                        copies.push(std::mem::replace(&mut met.at, first));
                    }
                }
            }
            place = place.map_or_else(|| self.begun_at(reply), |at| Ok(Some(at)))?;
            let at = place.unwrap_or(self.count);
            let met = Met {
                at,
                commit: reply.commit,
                time: reply.time,
                session: reply.session.clone(),
            };
            let is_known =
                |it: &Met| (it.at, it.time, &it.session) == (met.at, met.time, &met.session);
            if !known.iter().any(is_known) {
                known.push(met);
            }
            self.by_body.insert(body, known);
            if let Some(time) = reply.time {
                let then = self.by_time.entry(time).or_default();
                then.push(BegunReply {
                    at,
                    commit: reply.commit,
                    behind: reply.behind,
                    usage: reply.usage,
                    session: reply.session.clone(),
                });
            }
        }
        copies.sort_unstable();
        copies.dedup();
        if place.is_none() {
            self.count += 1;
        }
        Ok((place.unwrap_or(self.count - 1), copies))
    }

    /// The number of one of which a reply has another part of the same answer, for a copy was made while it came.
    fn begun_at(&mut self, reply: &BilledReply) -> Result<Option<usize>> {
        let then = reply.time.and_then(|time| self.by_time.get(&time)).cloned();
        for met in then.unwrap_or_default() {
            let is_one = self.is_one_request(&met.commit, reply)?;
            let is_like = || (met.behind, met.usage) == (reply.behind, reply.usage);
            let is_retold = || {
                let is_other = is_another_form(met.session.as_ref(), reply.session.as_ref());
                met.usage == reply.usage && is_other
            };
            if is_one.unwrap_or_else(|| is_like() || is_retold()) {
                return Ok(Some(met.at));
            }
        }
        Ok(None)
    }

    /// How many differ.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

/// Whether two sessions are of two formats of which one may tell, in other words, what the other tells.
fn is_another_form(one: Option<&RefName>, other: Option<&RefName>) -> bool {
    let format = |session: Option<&RefName>| {
        let (tool, _) = session?.as_session()?;
        Format::named(tool).ok()
    };
    let both = format(one).zip(format(other));
    both.is_some_and(|(one, other)| one != other && (one.retells || other.retells))
}

impl BilledReply {
    /// Looks its price up.
    pub fn price(&mut self, prices: &Prices) {
        let paid = self
            .served()
            .and_then(|served| prices.paid(served, &self.usage, &self.detail, self.time));
        self.dollars = paid.as_ref().map(Paid::total);
        self.paid = paid;
    }

    /// Takes over what was counted for a copy of it, where that is of more of the answer.
    fn take_fuller(&mut self, copy: Self) {
        if copy.usage.output_tokens > self.usage.output_tokens {
            (self.usage, self.detail) = (copy.usage, copy.detail);
            (self.dollars, self.paid) = (copy.dollars, copy.paid);
        }
    }

    /// All that was counted for it, be it in several requests.
    pub fn counted(&self) -> Usage {
        self.usage.plus(self.detail.iterated())
    }

    /// What its price depends on beside its counts and its day; none where its model is not known.
    pub fn served(&self) -> Option<Served<'_>> {
        Some(Served {
            model: self.model.as_deref()?,
            tier: self.tier.as_deref(),
            speed: self.speed.as_deref(),
            region: self.region.as_deref(),
        })
    }

    /// How it was served that has no price in the list, so that it has the standard one: what that is, and the word for it.
    fn at_standard_price(&self, prices: &Prices) -> Vec<(&'static str, &str)> {
        let Some(served) = self.served() else {
            return Vec::new();
        };
        let ways = [
            ("tier", served.tier),
            ("speed", served.speed),
            ("region", served.region),
        ];
        if ways.iter().all(|(_, word)| word.is_none()) {
            return Vec::new();
        }
        let of = |served: Served<'_>| prices.of(served, &self.usage, self.time);
        let standard = of(Served::from(served.model));
        let alone = |what: &str| {
            of(Served {
                tier: served.tier.filter(|_| what == "tier"),
                speed: served.speed.filter(|_| what == "speed"),
                region: served.region.filter(|_| what == "region"),
                ..served
            })
        };
        let ways = ways
            .into_iter()
            .filter_map(|(what, word)| Some((what, word?)));
        ways.filter(|(what, _)| standard.is_some() && alone(what) == standard)
            .collect()
    }
}

/// What a list of prices does not have of what replies were billed for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unlisted {
    /// How replies were served, such as a tier, and the word for it: these have the standard price. Hostile until escaped.
    Way(&'static str, String),
    /// What a usage record counts, by its name: this is in no sum. Hostile until escaped.
    Count(String),
}

/// What the list does not have of what these replies were billed for: of a way how many replies, else the count.
pub fn unlisted<'r>(
    replies: impl IntoIterator<Item = &'r BilledReply>,
    prices: &Prices,
) -> BTreeMap<Unlisted, u64> {
    let mut found: BTreeMap<Unlisted, u64> = BTreeMap::new();
    for reply in replies {
        for (what, word) in reply.at_standard_price(prices) {
            let way = Unlisted::Way(what, word.to_owned());
            *found.entry(way).or_default() += 1;
        }
        for (name, count) in reply.paid.iter().flat_map(|paid| &paid.unpriced) {
            let sum = found.entry(Unlisted::Count(name.clone())).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    found
}

/// A path with commits that are on none before it.
pub(crate) struct NewPath<'a> {
    session: Option<&'a RefName>,
    directory: Option<&'a String>,
    /// Its commits, oldest first.
    pub(crate) rows: Vec<CommitRow>,
    /// How many of them are on a path before.
    pub(crate) known: usize,
}

/// Tells the path to `tip`, or the paths that sessions, branches and tags lead to, those of sessions first.
pub(crate) fn each_path(
    view: &dyn View,
    tip: Option<&CommitHash>,
    visit: &mut dyn FnMut(NewPath<'_>) -> Result<()>,
) -> Result<()> {
    let mut directories: HashMap<String, String> = HashMap::new();
    let mut paths: Vec<(Option<RefName>, CommitHash)> = Vec::new();
    match tip {
        Some(tip) => {
            let session = path::session_of(view, tip)?;
            paths.push((session.as_ref().map(|(name, _)| name.clone()), *tip));
            directories.extend(session.and_then(|(name, row)| Some((name.to_string(), row.cwd?))));
        }
        None => {
            let sessions = view.sessions()?.into_iter();
            // Of several spellings of a directory the first stands for all.
            let mut spelled: HashMap<String, String> = HashMap::new();
            directories.extend(sessions.filter_map(|(name, row)| {
                let cwd = row.cwd?;
                let one = spelled.entry(one_spelling(&cwd)).or_insert(cwd);
                Some((name.to_string(), one.clone()))
            }));
            let tips = load::tips(view, RefName::SESSIONS)?;
            let copied = copied_agents(view, &tips)?;
            let own = tips
                .into_iter()
                .filter(|(name, _)| !copied.contains_key(name));
            paths.extend(own.map(|(name, tip)| (Some(name), tip)));
            let copied: HashSet<CommitHash> = copied.into_values().collect();
            for prefix in [RefName::HEADS, RefName::TAGS] {
                let tips = load::tips(view, prefix)?.into_iter();
                let tips = tips.filter(|(_, tip)| !copied.contains(tip));
                paths.extend(tips.map(|(_, tip)| (None, tip)));
            }
        }
    }
    each_of(view, paths, &directories, visit)
}

/// What clients say that the sessions came to that are here: an import that was undone leaves that.
fn stated_here(view: &dyn View) -> Result<Vec<(RefName, StatedUsage)>> {
    let tips = load::tips(view, RefName::SESSIONS)?;
    let here: HashSet<RefName> = tips.into_iter().map(|(name, _)| name).collect();
    let stated = view.stated_usage()?.into_iter();
    Ok(stated
        .filter(|(session, _)| here.contains(session))
        .collect())
}

/// Where a session ran: a part of one, such as a path that a rewind left, where that ran.
fn ran_in<'d>(session: &RefName, directories: &'d HashMap<String, String>) -> Option<&'d String> {
    let mut name = session.as_str();
    loop {
        if let Some(directory) = directories.get(name) {
            return Some(directory);
        }
        name = name.rsplit_once('/')?.0;
    }
}

/// What the name of a sub-agent's ref begins with, below its session's.
const AGENT: &str = "agent-";

/// Where sub-agents are, of those that a copy's file mirrors and that ran in its original: whatever the mirror says, or
/// counts, is there.
fn copied_agents(
    view: &dyn View,
    tips: &[(RefName, CommitHash)],
) -> Result<HashMap<RefName, CommitHash>> {
    let agent = |name: &RefName| -> Option<(RefName, String)> {
        let (tool, id) = name.as_session()?;
        let (root, agent) = id.split_once('/')?;
        let is_agent = agent.starts_with(AGENT);
        is_agent.then(|| (RefName::session(tool, root), agent.to_owned()))
    };
    let mut roots: HashMap<String, Vec<RefName>> = HashMap::new();
    for (root, agent) in tips.iter().filter_map(|(name, _)| agent(name)) {
        roots.entry(agent).or_default().push(root);
    }
    let copies = Copies::of(view);
    let mut copied = HashMap::new();
    for (name, tip) in tips {
        let Some((root, agent)) = agent(name) else {
            continue;
        };
        let roots = &roots[&agent];
        if roots.len() > 1 && copies.parents(&root)?.iter().any(|it| roots.contains(it)) {
            copied.insert(name.clone(), *tip);
        }
    }
    Ok(copied)
}

/// Tells these paths, with the sessions that they are of.
fn each_of(
    view: &dyn View,
    paths: Vec<(Option<RefName>, CommitHash)>,
    directories: &HashMap<String, String>,
    visit: &mut dyn FnMut(NewPath<'_>) -> Result<()>,
) -> Result<()> {
    let mut seen: HashSet<CommitHash> = HashSet::new();
    for (session, tip) in paths {
        // A session that is on another one's path may have made what stands there.
        if session.is_none() && seen.contains(&tip) {
            continue;
        }
        let mut rows = view.ancestors(&tip, None, usize::MAX)?;
        rows.reverse();
        let known = rows.partition_point(|row| seen.contains(&row.hash));
        seen.extend(rows[known..].iter().map(|row| row.hash));
        visit(NewPath {
            directory: session.as_ref().and_then(|name| ran_in(name, directories)),
            session: session.as_ref(),
            rows,
            known,
        })?;
    }
    Ok(())
}

impl NewPath<'_> {
    /// The newest counted reply of the path that is on another before it.
    fn last_known(&self, view: &dyn View) -> Result<Option<CommitHash>> {
        for rows in self.rows[..self.known].rchunks(64) {
            let commits: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
            if let Some(at) = view.usage(&commits)?.iter().rposition(Option::is_some) {
                return Ok(Some(commits[at]));
            }
        }
        Ok(None)
    }

    /// The replies among its new commits that a provider counted, oldest first.
    pub(crate) fn replies(&self, view: &dyn View, prices: &Prices) -> Result<Vec<BilledReply>> {
        let mut served = ServedBy::default();
        let mut new = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            go_on(&mut served, row);
            if at >= self.known {
                new.push((row, served.clone()));
            }
        }
        let commits: Vec<CommitHash> = new.iter().map(|(row, _)| row.hash).collect();
        let mut before = self.last_known(view)?;
        let mut details = view.usage_details(&commits)?;
        let counted = new.into_iter().zip(view.usage(&commits)?);
        let replies = counted.filter_map(|((row, served), usage)| {
            let [model, tier, speed, region] = served.words();
            let mut reply = BilledReply {
                commit: row.hash,
                session: self.session.cloned(),
                directory: self.directory.cloned(),
                time: row.commit.time,
                model,
                tier,
                speed,
                region,
                usage: usage?,
                detail: details.remove(&row.hash).unwrap_or_default(),
                dollars: None,
                paid: None,
                before: before.replace(row.hash),
                content: row.appended(),
                behind: row.commit.parent,
            };
            reply.price(prices);
            Some(reply)
        });
        Ok(replies.collect())
    }
}

impl Repo {
    /// What clients say that their sessions cost, where the list of prices says otherwise: a session's replies, those of
    /// its sub-agents, and what else its client counts.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn stated_costs(
        &self,
        replies: &[BilledReply],
        prices: &Prices,
    ) -> Result<Vec<StatedCost>> {
        let mut found = Vec::new();
        for (session, stated) in stated_here(&*self.store.read()?)? {
            let Some(dollars) = stated.dollars.as_ref().and_then(|it| it.parse().ok()) else {
                continue;
            };
            let below = format!("{session}/");
            let own: Vec<&BilledReply> = replies
                .iter()
                .filter(|reply| {
                    let of = reply.session.as_ref();
                    of.is_some_and(|of| *of == session || of.as_str().starts_with(&below))
                })
                .collect();
            let known = |model: &str| {
                let of = own.iter().filter(|it| it.model.as_deref() == Some(model));
                of.fold(Usage::default(), |sum, it| sum.plus(it.counted()))
            };
            let others = stated.beyond(known).into_iter();
            let others = others.filter_map(|(model, usage)| prices.of(&*model, &usage, None));
            let listed = Bill::of(own.iter().copied()).dollars + others.sum::<f64>();
            let most = f64::max(dollars, listed);
            // What both round to the same is no difference.
            if (dollars - listed).abs() > f64::max(most / 100.0, 0.005) {
                found.push(StatedCost {
                    session,
                    dollars,
                    listed,
                });
            }
        }
        Ok(found)
    }

    /// What requests come to that no reply shows: compactions, titles, recaps, as far as clients say what all requests of a
    /// session came to. `replies` are all that [`Repo::billed`] tells, or, where that is said, all of some sessions.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn other_requests(
        &self,
        replies: &[BilledReply],
        of_these_sessions: bool,
        prices: &Prices,
    ) -> Result<Bill> {
        let mut stated = stated_here(&*self.store.read()?)?;
        if of_these_sessions {
            let sessions = replies.iter().filter_map(|reply| reply.session.as_ref());
            let sessions: HashSet<&RefName> = sessions.collect();
            stated.retain(|(session, _)| sessions.contains(session));
        }
        let mut known: HashMap<(&str, String), Usage> = HashMap::new();
        let mut times: HashMap<&str, Millis> = HashMap::new();
        for reply in replies {
            let Some(session) = reply.session.as_ref().map(RefName::as_str) else {
                continue;
            };
            // A sub-agent's are among its session's.
            let root = session
                .match_indices('/')
                .nth(3)
                .map_or(session, |(at, _)| &session[..at]);
            let mut add = |model: Option<&str>, usage: Usage| {
                let model = model.unwrap_or_default();
                let agent = (session != root).then_some(session);
                for of in std::iter::once(root).chain(agent) {
                    let sum = known.entry((of, model.to_owned())).or_default();
                    *sum = sum.plus(usage);
                }
            };
            add(reply.model.as_deref(), reply.usage);
            for iteration in &reply.detail.iterations {
                let model = iteration.model.as_deref().or(reply.model.as_deref());
                add(model, iteration.usage());
            }
            if let Some(time) = reply.time {
                let last = times.entry(root).or_insert(time);
                *last = time.max(*last);
            }
        }
        let mut bill = Bill::default();
        for (session, stated) in &stated {
            let of = |model: &str| known.get(&(session.as_str(), model.to_owned())).copied();
            for (model, usage) in stated.beyond(|model| of(model).unwrap_or_default()) {
                let time = times.get(session.as_str()).copied();
                bill.usage = bill.usage.plus(usage);
                match prices.of(&*model, &usage, time) {
                    Some(dollars) => bill.dollars += dollars,
                    None => bill.unpriced += 1,
                }
            }
        }
        Ok(bill)
    }
}

impl Repo {
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

/// What of the input of each reply the one before had left in the cache, and was not read from there. Replies that have
/// no counts miss nothing.
pub fn missed(replies: &[BilledReply]) -> Vec<u64> {
    let counted = || replies.iter().filter(|reply| reply.usage.is_count());
    let usages: HashMap<CommitHash, &Usage> = counted()
        .map(|reply| (reply.commit, &reply.usage))
        .collect();
    let missed = replies.iter().map(|reply| {
        let before = usages.get(reply.before.as_ref()?)?;
        usages.contains_key(&reply.commit).then_some(())?;
        Some(reply.usage.missed_after(before))
    });
    missed.map(Option::unwrap_or_default).collect()
}

/// What replies come to, by a word that each has.
pub fn bills(
    replies: &[BilledReply],
    word_of: impl Fn(&BilledReply) -> String,
) -> BTreeMap<String, Bill> {
    let mut bills: BTreeMap<String, Bill> = BTreeMap::new();
    for reply in replies {
        bills.entry(word_of(reply)).or_default().add(reply);
    }
    bills
}

/// What replies come to by model: each of several requests behind a reply counts with the model that it was for.
pub fn bills_by_model(
    replies: &[BilledReply],
    word_of: impl Fn(Option<&str>) -> String,
) -> BTreeMap<String, Bill> {
    let mut bills: BTreeMap<String, Bill> = BTreeMap::new();
    for reply in replies {
        let model = word_of(reply.model.as_deref());
        bills.entry(model.clone()).or_default().add(reply);
        let paid = reply.paid.as_ref().map(|paid| &paid.iterations[..]);
        for (at, iteration) in reply.detail.iterations.iter().enumerate() {
            let Some(other) = iteration.model.as_deref().map(|it| word_of(Some(it))) else {
                continue;
            };
            let dollars = paid.and_then(|paid| *paid.get(at)?).unwrap_or(0.0);
            let (usage, own) = (iteration.usage(), bills.entry(model.clone()).or_default());
            own.usage = own.usage.minus(usage);
            own.dollars -= dollars;
            let bill = bills.entry(other).or_default();
            bill.usage = bill.usage.plus(usage);
            bill.dollars += dollars;
        }
    }
    bills
}
