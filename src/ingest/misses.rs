//! What a provider's cache had of each reply's request, and why it did not have what it was given before: the
//! provider's word, the requests as they were sent, or what happened in between.
//!
//! Deliberately absent: what it says to people.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::error::Result;
use crate::formats::shared::sent::{
    Compared, Lack, ReadSent, SaidMiss, SentDifference, SentRequest, Wanted,
};
use crate::hash::CommitHash;
use crate::model::price::Prices;
use crate::query::requests::{kept, requests};
use crate::query::{BilledReply, missed};
use crate::repo::Repo;
use crate::repo::kept::format_of;
use crate::store::{SourceRow, View};

/// A reply, and what the cache had of its request.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedReply {
    /// The reply.
    pub reply: BilledReply,
    /// What of its input the request before had left in the cache, and was not read from there.
    pub missed_tokens: u64,
    /// What that cost beyond reading it, in US dollars; none where the model has no price.
    pub missed_dollars: Option<f64>,
    /// Why; none where nothing was missed.
    pub cause: Option<MissCause>,
}

/// Why a cache did not have what it was given before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissCause {
    /// The provider says it.
    Said {
        /// What it says.
        said: SaidMiss,
        /// The first difference to the request before, where both are recorded. Hostile until escaped.
        differs: Option<String>,
    },
    /// This is the first difference to the request before. Hostile until escaped.
    Sent(String),
    /// Another model answered. Hostile until escaped.
    Model([String; 2]),
    /// The context was changed.
    Changed {
        /// By this commit, the first behind the reply before.
        commit: CommitHash,
        /// Which did this.
        verb: &'static str,
    },
    /// The request before was too long ago.
    Age {
        /// How long.
        age_ms: i64,
        /// How long the cache keeps what it has.
        life_ms: i64,
    },
    /// Both requests are recorded, and nothing in them differs: the provider had let go of it before its time.
    Alike,
    /// Nothing tells.
    Unknown,
}

impl MissCause {
    /// Its kind, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Said { .. } => "said",
            Self::Sent(_) => "sent",
            Self::Model(_) => "model",
            Self::Changed { .. } => "changed",
            Self::Age { .. } => "age",
            Self::Alike => "alike",
            Self::Unknown => "unknown",
        }
    }
}

/// What caches did for replies.
#[derive(Debug, Default)]
pub struct Misses {
    /// The replies, as [`Repo::billed`] gives them.
    pub replies: Vec<CachedReply>,
    /// How many are left out, for what is said of them can be no counts.
    pub uncounted: u64,
    /// How many misses have a cause that history suggests, or none, for their session file is not here: it may say another.
    pub without_file: u64,
    /// Why requests that are recorded cannot be told, each once.
    pub lacks: Vec<Lack>,
}

/// Every reply that a provider counted, with what the cache had of its request.
///
/// # Errors
///
/// The store's.
pub fn misses(repo: &Repo, tip: Option<&CommitHash>, prices: &Prices) -> Result<Misses> {
    let mut replies = repo.billed(tip, prices)?;
    let all = replies.len();
    replies.retain(|reply| reply.usage.is_count());
    let mut found = Misses {
        uncounted: (all - replies.len()) as u64,
        ..Misses::default()
    };
    let places = replies.iter().enumerate();
    let places: HashMap<CommitHash, usize> = places.map(|(at, it)| (it.commit, at)).collect();
    let view = repo.store.read()?;
    let recorded = Recorded::of(&*view, &replies)?;
    let before = |reply: &BilledReply| {
        let before = reply.before.as_ref().and_then(|before| places.get(before));
        before.map(|at| &replies[*at])
    };
    let missed = missed(&replies);
    let asked = replies.iter().zip(&missed).filter_map(|(reply, missed)| {
        let is_asked = *missed > 0 || recorded.said.contains_key(&reply.commit);
        Some([before(reply).filter(|_| is_asked)?.commit, reply.commit])
    });
    let (mut differ, mut compared) = (HashMap::new(), HashSet::new());
    for (reply, differs) in recorded.differences(&*view, &asked.collect::<Vec<_>>())? {
        match differs {
            Ok(differs) => {
                compared.insert(reply);
                let says = recorded.said.get(&reply).map(|said| said.reason.as_str());
                differ.insert(reply, differs.cause(says));
            }
            Err(lack) if !found.lacks.contains(&lack) => found.lacks.push(lack),
            Err(_) => {}
        }
    }
    for (reply, missed) in replies.iter().zip(missed) {
        let differs = differ.remove(&reply.commit).flatten();
        let cause = match (recorded.said.get(&reply.commit), differs, before(reply)) {
            (Some(said), differs, _) => Some(MissCause::Said {
                said: said.clone(),
                differs,
            }),
            (None, Some(differs), _) if missed > 0 => Some(MissCause::Sent(differs)),
            (None, _, Some(before)) if missed > 0 => Some(by_history(&*view, before, reply)?),
            _ => None,
        };
        let cause = match cause {
            Some(MissCause::Unknown) if compared.contains(&reply.commit) => Some(MissCause::Alike),
            cause => cause,
        };
        found.replies.push(CachedReply {
            missed_tokens: missed,
            missed_dollars: extra_dollars(prices, reply, missed),
            cause,
            reply: reply.clone(),
        });
    }
    let worked_out = found.replies.iter().filter(|row| {
        let told = |cause: &MissCause| matches!(cause, MissCause::Said { .. } | MissCause::Sent(_));
        row.reply.session.is_some() && row.cause.as_ref().is_some_and(|cause| !told(cause))
    });
    let worked_out: Vec<CommitHash> = worked_out.map(|row| row.reply.commit).collect();
    let records = view.records(&worked_out)?;
    found.without_file = records.iter().filter(|it| it.is_empty()).count() as u64;
    Ok(found)
}

/// What it cost that so much was not read from the cache; none where the model has no price.
fn extra_dollars(prices: &Prices, reply: &BilledReply, missed: u64) -> Option<f64> {
    let paid = reply.paid.as_ref()?.own;
    let read = reply.usage.if_read(missed);
    let least = prices.of(reply.served()?, &read, reply.time)?;
    Some((paid - least).max(0.0))
}

/// What between two replies can be why the cache did not have the beginning.
fn by_history(view: &dyn View, before: &BilledReply, reply: &BilledReply) -> Result<MissCause> {
    if before.model != reply.model {
        let name = |reply: &BilledReply| reply.model.clone().unwrap_or_default();
        return Ok(MissCause::Model([name(before), name(reply)]));
    }
    let mut between = view.ancestors(&reply.commit, Some(&before.commit), usize::MAX)?;
    between.reverse();
    let changed = between.iter().find(|row| row.appended().is_none());
    if let Some(row) = changed {
        return Ok(MissCause::Changed {
            commit: row.hash,
            verb: row.commit.operation.verb(),
        });
    }
    let age_ms = match (before.time, reply.time) {
        (Some(before), Some(now)) => now.0.saturating_sub(before.0),
        _ => 0,
    };
    let life_ms = before.usage.cache_life_ms();
    Ok(if age_ms >= life_ms {
        MissCause::Age { age_ms, life_ms }
    } else {
        MissCause::Unknown
    })
}

/// What kept files tell of replies beyond their messages.
#[derive(Default)]
struct Recorded {
    sources: BTreeMap<u64, (SourceRow, &'static ReadSent)>,
    /// The requests that replies answered, with the sources that hold them.
    requests: HashMap<CommitHash, Vec<(u64, String)>>,
    /// What the provider said of its cache.
    said: HashMap<CommitHash, SaidMiss>,
}

impl Recorded {
    fn of(view: &dyn View, replies: &[BilledReply]) -> Result<Self> {
        let commits: Vec<CommitHash> = replies.iter().map(|reply| reply.commit).collect();
        let mut found = Self::default();
        let mut places: BTreeMap<u64, HashMap<u64, CommitHash>> = BTreeMap::new();
        for (commit, records) in commits.iter().zip(view.records(&commits)?) {
            for (source, spans) in records {
                let begins = spans.iter().map(|span| (span.offset, *commit));
                places.entry(source).or_default().extend(begins);
            }
        }
        for (source, places) in places {
            let read = format_of(view, source)?.and_then(|format| format.sent);
            let (Some(read), Some(row)) = (read, view.source(source)?) else {
                continue;
            };
            let told = requests(view, &row, read, Wanted::Heads)?;
            for request in told.requests {
                let reply = request.reply.and_then(|begin| places.get(&begin));
                if let Some(reply) = reply {
                    let known = found.requests.entry(*reply).or_default();
                    known.push((source, request.id));
                }
            }
            for (begin, said) in told.said_misses {
                if let Some(reply) = places.get(&begin) {
                    found.said.insert(*reply, said);
                }
            }
            found.sources.insert(source, (row, read));
        }
        Ok(found)
    }

    /// How the requests of these pairs of replies differ, with the second of each.
    fn differences(
        &self,
        view: &dyn View,
        pairs: &[[CommitHash; 2]],
    ) -> Result<Vec<(CommitHash, Compared)>> {
        let mut asked: BTreeMap<u64, Vec<(CommitHash, [String; 2])>> = BTreeMap::new();
        let mut found = Vec::new();
        for [before, after] in pairs {
            let all = |reply| self.requests.get(reply).into_iter().flatten();
            let both = all(before).find_map(|(source, old)| {
                let (_, new) = all(after).find(|(other, _)| other == source)?;
                Some((*source, [old.clone(), new.clone()]))
            });
            if let Some((source, ids)) = both {
                asked.entry(source).or_default().push((*after, ids));
            } else if let (Some(old), Some(new)) = (all(before).next(), all(after).next()) {
                // The first own request of a fork stands in its file, the one before in its parent's.
                let (old, new) = (self.whole(view, old)?, self.whole(view, new)?);
                found.push((*after, SentDifference::of(&old, &new)));
            }
        }
        for (source, asked) in asked {
            let (row, read) = &self.sources[&source];
            let ids: Vec<[String; 2]> = asked.iter().map(|(_, ids)| ids.clone()).collect();
            let input = kept(view, row);
            let replies = asked.into_iter().map(|(reply, _)| reply);
            found.extend(replies.zip((read.differences)(&input, &ids)?));
        }
        Ok(found)
    }

    /// A request, whole; an empty one where its source does not hold it any more.
    fn whole(&self, view: &dyn View, (source, id): &(u64, String)) -> Result<SentRequest> {
        let (row, read) = &self.sources[source];
        let told = requests(view, row, read, Wanted::Whole(id))?;
        let mut told = told.requests.into_iter();
        Ok(told.find(|request| request.id == *id).unwrap_or_default())
    }
}

/// What of the input of the second of two replies the request of the first had left in the cache, and was not read
/// from there; none where one of them is not counted.
///
/// # Errors
///
/// The store's.
pub fn missed_between(
    repo: &Repo,
    replies: [&CommitHash; 2],
    prices: &Prices,
) -> Result<Option<CachedReply>> {
    let counted = |commit: &CommitHash| -> Result<Option<BilledReply>> {
        let reply = repo.counted_reply(commit)?;
        Ok(reply.filter(|reply| reply.usage.is_count()))
    };
    let (Some(before), Some(mut reply)) = (counted(replies[0])?, counted(replies[1])?) else {
        return Ok(None);
    };
    reply.price(prices);
    let missed_tokens = reply.usage.missed_after(&before.usage);
    Ok(Some(CachedReply {
        missed_tokens,
        missed_dollars: extra_dollars(prices, &reply, missed_tokens),
        cause: None,
        reply,
    }))
}
