//! What each message has cost: what every request was billed for, shared over the messages that were sent in it.
//!
//! The messages of a request are laid out in their order, each as long as its tokens, and behind what is no message:
//! the system prompt and the tools. What was read from a cache is the front of that, then comes what was written to
//! one, then the rest. A reply bears its output. The shares of a request come to what it was billed for, to the last
//! fraction. Deliberately absent: what a request without a reply cost, for nobody counted it.

use std::collections::{BTreeMap, HashMap};

use imbl::Vector;

use crate::context::Entry;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::price::{Paid, Price, Prices, UNITS};
use crate::model::provider_count::least_overhead;
use crate::model::tokens::{CONTEXT_OVERHEAD, Counter};
use crate::model::{CountedReply, Encoding, EntryId, Part, Role};
use crate::query::cost::{BilledReply, KnownReplies, NewPath, each_path, mark_short};
use crate::query::newest_request::shape_at;
use crate::query::spread::{BillShare, Spread};
use crate::repo::calls;
use crate::repo::counts::{Counting, Counts, key};
use crate::repo::load::{self, Fresh, UsageDetails};
use crate::repo::pictures;
use crate::repo::repository::Repo;
use crate::store::{ContentRow, View};

/// How many commits of a reply are looked for before the one that its provider counted.
const OWN: usize = 64;

/// A message with its share of what requests were billed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageShare {
    /// The message.
    pub entry: EntryId,
    /// What it was when it was sent last.
    pub content: ContentHash,
    /// Its share.
    pub share: BillShare,
}

/// What requests were billed for, by what was sent in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    /// The messages, in the order in which they were sent first.
    pub messages: Vec<MessageShare>,
    /// What is no message: the system prompt and the tools.
    pub rest: BillShare,
    /// The replies, each once.
    pub replies: Vec<BilledReply>,
}

/// Who bears a share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bearer {
    /// What a tool gave back. Hostile until escaped.
    Tool(String),
    /// Messages that hold no results.
    Messages,
    /// What is no message.
    Rest,
}

/// A stretch of a path on which messages are only appended, and the requests on it.
struct Stand {
    /// What is visible at its end.
    entries: Vector<Entry>,
    requests: Vec<Request>,
}

struct Request {
    /// How many of the entries were sent.
    sent: usize,
    /// Up to which entry the reply goes.
    end: usize,
    reply: BilledReply,
    price: Option<Price>,
}

impl Repo {
    /// What each message has cost in the requests that are `wanted`, of those that [`Repo::billed`] tells.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn shares(
        &self,
        tip: Option<&CommitHash>,
        prices: &Prices,
        encoding: Encoding,
        wanted: &dyn Fn(&BilledReply) -> bool,
    ) -> Result<Shares> {
        let view = self.store.read()?;
        let mut found = Found {
            view: &*view,
            prices,
            encoding,
            counting: Counting::new(encoding),
            counts: Counts::default(),
            places: HashMap::new(),
            known: KnownReplies::of(&*view),
            details: UsageDetails::of(&*view),
            shares: Shares::default(),
        };
        each_path(&*view, tip, &mut |path| found.path(&path, wanted))?;
        let mut shares = found.shares;
        mark_short(&*view, &mut shares.replies, prices)?;
        Ok(shares)
    }

    /// What a list shows of messages, and the calls that they answer. Hostile until escaped.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn shared_messages(
        &self,
        messages: &[MessageShare],
    ) -> Result<Vec<(ContentRow, Option<String>)>> {
        let view = self.store.read()?;
        let entries: Vec<EntryId> = messages.iter().map(|one| one.entry).collect();
        let contents: Vec<ContentHash> = messages.iter().map(|one| one.content).collect();
        let rows = load::rows(&*view, &contents)?;
        let calls = calls::lines(&*view, &entries)?.into_iter();
        let shown = contents.iter().zip(calls);
        Ok(shown
            .map(|(content, call)| (rows[content].clone(), call))
            .collect())
    }

    /// The same by tool: a message bears its share for the tools whose results it holds.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn shares_by_tool(
        &self,
        shares: &Shares,
        encoding: Encoding,
    ) -> Result<BTreeMap<Bearer, (u64, BillShare)>> {
        let view = self.store.read()?;
        let contents: Vec<ContentHash> = shares.messages.iter().map(|one| one.content).collect();
        let uses = view.tool_uses(&contents)?;
        let counter = Counter::of(encoding);
        // Ids may repeat: the call before a result is the one.
        let mut called: HashMap<String, String> = HashMap::new();
        let mut found: BTreeMap<Bearer, (u64, BillShare)> = BTreeMap::new();
        let mut add = |bearer, share: &BillShare| {
            let (messages, sum) = found.entry(bearer).or_default();
            *messages += 1;
            sum.add(share);
        };
        for (one, uses) in shares.messages.iter().zip(uses) {
            let uses = uses.unwrap_or_default();
            let name = |id: &String| called.get(id).cloned().unwrap_or_default();
            let mut tools: Vec<String> = uses.answers.iter().map(name).collect();
            tools.dedup();
            match tools.len() {
                0 => add(Bearer::Messages, &one.share),
                1 => add(Bearer::Tool(tools.remove(0)), &one.share),
                _ => {
                    let message = load::content(&*view, &one.content)?;
                    let results = message.parts.iter().filter_map(|part| match part {
                        Part::ToolResult { call, .. } => Some((name(call), part)),
                        _ => None,
                    });
                    let mut tokens: BTreeMap<String, u64> = BTreeMap::new();
                    for (tool, part) in results {
                        *tokens.entry(tool).or_default() += counter.part(part).tokens + 1;
                    }
                    let weights: Vec<u64> = tokens.values().copied().collect();
                    let parts = one.share.split(&weights);
                    for (tool, part) in tokens.into_keys().zip(parts) {
                        add(Bearer::Tool(tool), &part);
                    }
                }
            }
            called.extend(uses.calls.into_iter().map(|call| (call.id, call.name)));
        }
        if shares.rest != BillShare::default() {
            found.insert(Bearer::Rest, (0, shares.rest));
        }
        Ok(found)
    }
}

struct Found<'a> {
    view: &'a dyn View,
    prices: &'a Prices,
    encoding: Encoding,
    /// The same with the rule for pictures on the path that is looked at.
    counting: Counting,
    counts: Counts,
    places: HashMap<EntryId, usize>,
    /// The replies that were met.
    known: KnownReplies<'a>,
    details: UsageDetails<'a>,
    shares: Shares,
}

impl Found<'_> {
    fn path(&mut self, path: &NewPath<'_>, wanted: &dyn Fn(&BilledReply) -> bool) -> Result<()> {
        if let Some(tip) = path.rows.last() {
            let counting = Counting::new(pictures::at(self.view, &tip.hash, self.encoding)?);
            if counting.encoding() != self.counting.encoding() {
                (self.counting, self.counts) = (counting, Counts::default());
            }
        }
        let stands = self.stands(path, wanted)?;
        self.count(&stands)?;
        let laid = stands.iter().map(|stand| {
            let tokens = stand
                .entries
                .iter()
                .map(|entry| self.counts.get(entry).tokens);
            Spread::new(tokens)
        });
        let mut laid: Vec<Spread> = laid.collect();
        let least = self.overheads(&stands, &laid);
        let counter = Counter::of(self.counting.encoding());
        let tip = path.rows.last().filter(|_| !stands.is_empty());
        let shape = tip.map(|tip| shape_at(self.view, &tip.hash, &counter));
        let shape = shape.transpose()?.flatten().map(|shape| shape.tokens());
        for (stand, spread) in stands.into_iter().zip(&mut laid) {
            for request in stand.requests {
                let (sent, end) = (request.sent, request.end);
                let input = u128::from(request.reply.usage.input_tokens);
                // Where it is recorded what stood beside the messages, all is laid out by our count.
                let least = match shape {
                    Some(shape) => {
                        let all = shape + CONTEXT_OVERHEAD + spread.tokens(sent);
                        (input * u128::from(shape) / u128::from(all.max(1))) as u64
                    }
                    None => least.get(&request.reply.model).copied().unwrap_or(0),
                };
                let rest = spread.add(sent..end, &request.reply.usage, request.price, least);
                self.shares.rest.add(&rest);
                let beside = request.reply.paid.as_ref().map_or(0.0, Paid::beside);
                let beside = (beside.max(0.0) * UNITS).round() as u128;
                spread.beside(end - 1, &request.reply.detail.iterated(), beside);
                self.shares.replies.push(request.reply);
            }
            for (entry, share) in stand.entries.iter().zip(spread.shares()) {
                if share == BillShare::default() {
                    continue;
                }
                let messages = &mut self.shares.messages;
                let at = *self.places.entry(entry.id).or_insert_with(|| {
                    messages.push(MessageShare {
                        entry: entry.id,
                        content: entry.content,
                        share: BillShare::default(),
                    });
                    messages.len() - 1
                });
                messages[at].content = entry.content;
                messages[at].share.add(&share);
            }
        }
        Ok(())
    }

    /// The requests that the new commits of a path answer, and what was visible for them.
    fn stands(
        &mut self,
        path: &NewPath<'_>,
        wanted: &dyn Fn(&BilledReply) -> bool,
    ) -> Result<Vec<Stand>> {
        let mut replies = HashMap::new();
        for reply in path.replies(self.view, &self.details, self.prices)? {
            // A copy of a reply was paid for once.
            let count = self.known.count();
            if self.known.place(&reply)?.0 == count {
                replies.insert(reply.commit, reply.timed());
            }
        }
        let mut stands = Vec::new();
        let (before, new) = path.rows.split_at(path.known);
        let Some(first) = new.first().filter(|_| !replies.is_empty()) else {
            return Ok(stands);
        };
        // A reply of several commits is counted at its last: those before it were not sent for it.
        let before = &before[before.len().saturating_sub(OWN)..];
        let hashes: Vec<_> = before.iter().map(|row| row.hash).collect();
        let counted = self.view.usage(&hashes)?.into_iter();
        let counted = counted.map(|usage| usage.is_some());
        let all = before.iter().chain(new);
        let contents: Vec<_> = all.filter_map(|row| row.appended()).collect();
        let spoken = load::rows(self.view, &contents)?;
        let mut own = 0;
        for (row, is_counted) in before.iter().zip(counted) {
            let speaker = row.appended().map(|content| spoken[&content].role);
            own = own_after(own, speaker, is_counted);
        }
        let mut context = match &first.commit.parent {
            Some(parent) => load::context(self.view, parent)?,
            None => Default::default(),
        };
        let mut requests = Vec::new();
        for row in new {
            let content = row.appended();
            let reply = replies.remove(&row.hash);
            let speaker = content.map(|content| spoken[&content].role);
            let visible = context.entries.len();
            let sent = visible.saturating_sub(own);
            own = own_after(own, speaker, reply.is_some());
            if content.is_none() && !requests.is_empty() {
                stands.push(Stand {
                    entries: context.entries.clone(),
                    requests: std::mem::take(&mut requests),
                });
            }
            if let Some(reply) = reply.filter(|reply| content.is_some() && wanted(reply)) {
                let served = reply.served();
                let price =
                    served.and_then(|served| self.prices.apart(served, &reply.usage, reply.time));
                requests.push(Request {
                    sent,
                    end: visible + 1,
                    reply,
                    price,
                });
            }
            context = load::next(self.view, context, row.hash, &row.commit)?;
        }
        if !requests.is_empty() {
            let entries = context.entries;
            stands.push(Stand { entries, requests });
        }
        Ok(stands)
    }

    /// Counts what has no count yet, for this once.
    fn count(&mut self, stands: &[Stand]) -> Result<()> {
        for stand in stands {
            let unknown = stand.entries.iter();
            let unknown = unknown.filter(|entry| self.counts.find(&key(entry)).is_none());
            let unknown: Vec<&Entry> = unknown.collect();
            let (counts, _) = self.counting.fill(self.view, &unknown, &Fresh::new())?;
            self.counts.add(unknown, counts);
        }
        Ok(())
    }

    /// What is no message in the requests to each model, at the least.
    fn overheads(&self, stands: &[Stand], laid: &[Spread]) -> HashMap<Option<String>, u64> {
        let mut replies: HashMap<Option<String>, Vec<CountedReply>> = HashMap::new();
        for (stand, spread) in stands.iter().zip(laid) {
            for request in &stand.requests {
                let usage = &request.reply.usage;
                if usage.is_count() {
                    let model = request.reply.model.clone();
                    replies.entry(model).or_default().push(CountedReply {
                        ours: CONTEXT_OVERHEAD + spread.tokens(request.sent),
                        thinking: 0,
                        counted: usage.input_tokens,
                    });
                }
            }
        }
        let least = replies.into_iter();
        least
            .map(|(model, replies)| (model, least_overhead(&replies)))
            .collect()
    }
}

/// How many commits at the end are a reply that is not counted yet, after one more commit.
fn own_after(own: usize, speaker: Option<Role>, is_counted: bool) -> usize {
    match speaker {
        Some(Role::Assistant) if !is_counted => own + 1,
        _ => 0,
    }
}
