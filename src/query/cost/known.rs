//! Replies known again by their copies.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::reply::BilledReply;
use crate::error::Result;
use crate::formats::{Format, LOOSE};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Millis, RefName, Usage};
use crate::repo::copies::{Copies, as_kept};
use crate::repo::kept;
use crate::store::View;

/// What a reply has in common with its copies: what it says, its counts, and the number of how it was served.
type ReplyBody = (ContentHash, Usage, usize);

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

/// A reply that was met, of whatever words: its number, its commit, the one that it stands behind, and what was counted.
#[derive(Clone)]
struct BegunReply {
    at: usize,
    commit: CommitHash,
    behind: Option<CommitHash>,
    usage: Usage,
    session: Option<RefName>,
}

/// What several replies have in common: one that shares neither its words nor its moment with another has no copy.
#[derive(Debug)]
pub(super) struct SharedMarks {
    bodies: HashSet<ContentHash>,
    times: HashSet<Millis>,
}

impl SharedMarks {
    /// Those of replies, of which one may come several times.
    pub(super) fn of<'r>(replies: impl Iterator<Item = &'r BilledReply> + Clone) -> Self {
        let bodies = replies.clone().map(|it| (it.content, it.commit));
        let times = replies.map(|it| (it.time, it.commit));
        Self {
            bodies: of_several(bodies),
            times: of_several(times),
        }
    }

    fn has(&self, reply: &BilledReply) -> bool {
        let has_body = |body| self.bodies.contains(&body);
        let has_time = |time| self.times.contains(&time);
        reply.content.is_some_and(has_body) || reply.time.is_some_and(has_time)
    }
}

/// The marks that stand beside more than one commit.
fn of_several<M: Copy + Eq + Hash>(
    marked: impl Iterator<Item = (Option<M>, CommitHash)>,
) -> HashSet<M> {
    let (mut first, mut several) = (HashMap::new(), HashSet::new());
    for (mark, commit) in marked {
        let Some(mark) = mark else { continue };
        if *first.entry(mark).or_insert(commit) != commit {
            several.insert(mark);
        }
    }
    several
}

/// The replies that were met, each known again by its copies: those that answer the same request, by its name. Where
/// names are not known, those that say the same at the same moment, or for which the same was counted at that moment in
/// another client's session or in one that shares such a reply, and, for some clients write another time into a copy, those
/// of a session that says whose copy it is.
pub(crate) struct KnownReplies<'v> {
    view: &'v dyn View,
    pub(super) copies: Copies<'v>,
    by_body: HashMap<ReplyBody, Vec<Met>>,
    /// Those made at a moment: a copy may end in the middle of a reply.
    by_time: HashMap<Millis, Vec<BegunReply>>,
    requests: HashMap<CommitHash, Option<String>>,
    /// Pairs of sessions that say the same at the same moment: one is a copy of the other.
    alike: HashSet<[RefName; 2]>,
    /// The moments of the replies of each session.
    moments: HashMap<RefName, Vec<Millis>>,
    /// Numbers that turned out to be copies, each with the one that it is a copy of.
    merged: HashMap<usize, usize>,
    /// What replies that will be met have in common, where all of them are known.
    shared: Option<SharedMarks>,
    /// The numbers of their replies, by the session and the message.
    by_message: HashMap<(RefName, String), usize>,
    /// Each model with its tier, speed and region.
    ways: Vec<[Option<String>; 4]>,
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
            alike: HashSet::new(),
            moments: HashMap::new(),
            merged: HashMap::new(),
            shared: None,
            by_message: HashMap::new(),
            ways: Vec::new(),
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
        self.know(&reply.commit)?;
        if self.request(&reply.commit).is_none() {
            return Ok(None);
        }
        self.know(met)?;
        let (Some(own), Some(met)) = (self.request(&reply.commit), self.request(met)) else {
            return Ok(None);
        };
        // What `resume` wrote of a reply without a name has one of its own.
        let is_loose = own.contains(LOOSE) || met.contains(LOOSE);
        Ok((own == met || !is_loose).then_some(own == met))
    }

    /// The request that a reply answers, as far as it was looked up.
    fn request(&self, commit: &CommitHash) -> Option<&str> {
        self.requests.get(commit)?.as_deref()
    }

    /// Looks up which request a reply answers.
    fn know(&mut self, commit: &CommitHash) -> Result<()> {
        if !self.requests.contains_key(commit) {
            let found = kept::request_of(self.view, commit)?;
            self.requests.insert(*commit, found);
        }
        Ok(())
    }

    /// The number of how a reply was served, among the ways that were met: there are few.
    fn way(&mut self, reply: &BilledReply) -> usize {
        let served = [&reply.model, &reply.tier, &reply.speed, &reply.region];
        let known = self.ways.iter().position(|way| way.each_ref() == served);
        known.unwrap_or_else(|| {
            self.ways.push(served.map(Option::clone));
            self.ways.len() - 1
        })
    }

    /// The number of a reply among those that differ; a new one's is the next. Beside it the numbers of others that turn
    /// out to be copies, each with that of its original: two forks say nothing of each other, and only their parent tells
    /// that they say the same.
    pub(crate) fn place(&mut self, reply: &BilledReply) -> Result<(usize, Vec<[usize; 2]>)> {
        let (mut place, mut copies) = (None, Vec::new());
        let mut alike = Vec::new();
        let message = self.message(reply)?;
        if let Some(message) = &message {
            let is_stream = reply
                .session
                .as_ref()
                .is_some_and(|it| as_kept(it).is_some());
            let is_named = self.request(&reply.commit).is_some();
            let known = self
                .by_message
                .get(message)
                .filter(|_| is_stream || is_named);
            place = known.map(|at| self.original(*at));
        } else if self.shared.as_ref().is_some_and(|it| !it.has(reply)) {
            self.count += 1;
            return Ok((self.count - 1, copies));
        }
        if let Some(content) = reply.content {
            let body = (content, reply.usage, self.way(reply));
            let mut known = self.by_body.remove(&body).unwrap_or_default();
            // Two of one session that say the same at one moment have one copy each.
            let own = known.iter().filter(|met| is_of_one(&met.session, reply));
            let taken: Vec<usize> = own.map(|met| self.original(met.at)).collect();
            let mut sessions = Vec::new();
            for met in &mut known {
                let is_same_time = met.time.is_some() && met.time == reply.time;
                let has_copy = taken.contains(&self.original(met.at))
                    || met.session.is_some() && sessions.contains(&met.session);
                let is_one = match self.is_one_request(&met.commit, reply)? {
                    Some(is_one) => is_one,
                    None if has_copy => false,
                    None if is_same_time => true,
                    None => match (&met.session, &reply.session) {
                        (Some(one), Some(other)) if one != other => {
                            self.copies.are_kin(one, other)?
                        }
                        _ => false,
                    },
                };
                if is_one {
                    sessions.push(met.session.clone());
                    let at = self.original(met.at);
                    let first = *place.get_or_insert(at);
                    met.at = first;
                    copies.extend(self.merge(at, first));
                    if is_same_time && let Some(pair) = pair(&met.session, &reply.session) {
                        alike.push(pair);
                    }
                }
            }
            if place.is_none() {
                // One of another client's may tell that two of one client are one.
                for at in self.begun_at(reply)? {
                    let first = *place.get_or_insert(at);
                    copies.extend(self.merge(at, first));
                }
            }
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
                if let Some(session) = &reply.session {
                    self.moments.entry(session.clone()).or_default().push(time);
                }
                let begun = BegunReply {
                    at,
                    commit: reply.commit,
                    behind: reply.behind,
                    usage: reply.usage,
                    session: reply.session.clone(),
                };
                self.by_time.entry(time).or_default().push(begun);
            }
        }
        if place.is_none() {
            self.count += 1;
        }
        if let Some(message) = message {
            self.by_message
                .insert(message, place.unwrap_or(self.count - 1));
        }
        for pair in alike {
            copies.extend(self.liken(pair)?);
        }
        let place = place.unwrap_or(self.count - 1);
        Ok((self.original(place), copies))
    }

    /// The message that a reply is, of a session that is here in two forms: what a client streams tells less of a reply than
    /// its file, and the message has one id in both. None of any other session.
    fn message(&mut self, reply: &BilledReply) -> Result<Option<(RefName, String)>> {
        let kept = match &reply.session {
            Some(session) => self.copies.in_two_forms(session)?,
            None => None,
        };
        let Some(kept) = kept else { return Ok(None) };
        self.know(&reply.commit)?;
        let message = self.request(&reply.commit).map(kept::message_in);
        Ok(match (message, reply.content) {
            (Some(message), _) => Some((kept, message.to_owned())),
            // Where no record is here, what was streamed is in what is kept if that says the same.
            (None, Some(content)) => Some((kept, content.to_string())),
            (None, None) => None,
        })
    }

    /// The number of which this one turned out to be a copy, or itself.
    fn original(&self, mut at: usize) -> usize {
        while let Some(original) = self.merged.get(&at) {
            at = *original;
        }
        at
    }

    /// Notes that a number is a copy of another, if they differ; gives both.
    fn merge(&mut self, copy: usize, original: usize) -> Option<[usize; 2]> {
        let is_new = copy != original;
        is_new.then(|| {
            self.merged.insert(copy, original);
            [copy, original]
        })
    }

    /// Notes that one of two sessions is a copy of the other. Replies that were met in both and differ in words, as where a
    /// part was taken out of the copy, turn out to be one.
    fn liken(&mut self, pair: [RefName; 2]) -> Result<Vec<[usize; 2]>> {
        if !self.alike.insert(pair.clone()) {
            return Ok(Vec::new());
        }
        let of = |name| self.moments.get(name).map_or(&[][..], Vec::as_slice);
        let fewer = pair.iter().map(of).min_by_key(|moments| moments.len());
        let mut copies = Vec::new();
        for time in fewer.unwrap_or_default().to_vec() {
            let met = self.by_time.get(&time).cloned().unwrap_or_default();
            let of = |name| {
                met.iter()
                    .filter(move |it| it.session.as_ref() == Some(name))
            };
            // Those that are one already have each other.
            let numbers = |name| {
                of(name)
                    .map(|it| self.original(it.at))
                    .collect::<HashSet<_>>()
            };
            let both = pair.each_ref().map(numbers);
            let is_open =
                |it: &&BegunReply| !both.iter().all(|of| of.contains(&self.original(it.at)));
            let mut open: Vec<&BegunReply> = of(&pair[1]).filter(is_open).collect();
            let ones: Vec<&BegunReply> = of(&pair[0]).filter(is_open).collect();
            for one in ones {
                let mut found = None;
                for (at, other) in open.iter().enumerate() {
                    let is_named = || -> Result<bool> {
                        Ok(kept::request_of(self.view, &one.commit)?.is_some()
                            && kept::request_of(self.view, &other.commit)?.is_some())
                    };
                    if counts(&one.usage) == counts(&other.usage) && !is_named()? {
                        found = Some(at);
                        break;
                    }
                }
                if let Some(at) = found {
                    let other = open.remove(at);
                    let [first, second] = [one.at, other.at].map(|at| self.original(at));
                    copies.extend(self.merge(first.max(second), first.min(second)));
                }
            }
        }
        Ok(copies)
    }

    /// The numbers of those of which a reply has another part of the same answer, for a copy was made while it came, or
    /// which it tells in other words: one of each session.
    fn begun_at(&mut self, reply: &BilledReply) -> Result<Vec<usize>> {
        let then = reply.time.and_then(|time| self.by_time.get(&time)).cloned();
        let then = then.unwrap_or_default();
        let own = then.iter().filter(|met| is_of_one(&met.session, reply));
        let taken: Vec<usize> = own.map(|met| self.original(met.at)).collect();
        let (mut found, mut sessions) = (Vec::new(), Vec::new());
        for met in then {
            if sessions.contains(&met.session) || taken.contains(&self.original(met.at)) {
                continue;
            }
            let is_one = self.is_one_request(&met.commit, reply)?;
            let is_like = || (met.behind, met.usage) == (reply.behind, reply.usage);
            let is_one = match is_one {
                Some(is_one) => is_one,
                None if is_like() => true,
                None if counts(&met.usage) == counts(&reply.usage) => {
                    self.are_of_one(met.session.as_ref(), reply.session.as_ref())?
                }
                None => false,
            };
            if is_one {
                found.push(self.original(met.at));
                sessions.push(met.session);
            }
        }
        Ok(found)
    }

    /// Whether one of two sessions may say in another form what the other one said: they are of two clients, or one names
    /// the other, or they share a reply to the word.
    fn are_of_one(&self, one: Option<&RefName>, other: Option<&RefName>) -> Result<bool> {
        let Some((one, other)) = one.zip(other) else {
            return Ok(false);
        };
        let tools = [one, other].map(|name| name.as_session().map(|(tool, _)| tool));
        let is_alike = || pair(&Some(one.clone()), &Some(other.clone()));
        let is_alike = || is_alike().is_some_and(|pair| self.alike.contains(&pair));
        Ok(tools[0] != tools[1] || is_alike() || self.copies.are_kin(one, other)?)
    }

    /// Says which request a reply answers, so that nobody looks it up.
    pub(super) fn answers(&mut self, reply: CommitHash, request: Option<String>) {
        self.requests.insert(reply, request);
    }

    /// Says what all replies have in common that will be met.
    pub(super) fn will_meet(&mut self, shared: SharedMarks) {
        self.shared = Some(shared);
    }

    /// How many differ.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

/// Whether a reply that was met is another one of the session that has this one.
fn is_of_one(met: &Option<RefName>, reply: &BilledReply) -> bool {
    met.is_some() && *met == reply.session
}

/// Two sessions, in the order of their names; none where there is one.
fn pair(one: &Option<RefName>, other: &Option<RefName>) -> Option<[RefName; 2]> {
    let (one, other) = one.as_ref().zip(other.as_ref())?;
    let (first, second) = (one.min(other), one.max(other));
    (first != second).then(|| [first.clone(), second.clone()])
}

/// What every form of a reply says that was counted for it: input and output. What of that a cache held, not all of them say.
fn counts(usage: &Usage) -> [u64; 2] {
    [usage.input_tokens, usage.output_tokens]
}
