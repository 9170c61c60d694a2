//! What the provider counts at the end of a path, learnt from the replies there.
//!
//! Replies count since the newest commit that was no append: what was sent before a hide or an edit was
//! another context. One place works it out, for the bar of `status`, for budgets, and for whatever is to
//! fit one.

use crate::context::Context;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::repo::Repo;
use crate::model::tokens::CONTEXT_OVERHEAD;
use crate::model::{
    CountedReply, Encoding, EntryId, Operation, ProviderCount, Role, TokenCount, Usage,
};
use crate::store::{CommitRow, View};

/// How many commits back replies are looked for.
const COMMITS: usize = 256;

/// What a context is to fit into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBudget {
    /// The tokens that a request may have.
    pub tokens: u64,
    /// By our own count alone, whatever the provider counts.
    pub as_counted: bool,
}

/// What the provider said of the replies in a context.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ProviderSays {
    /// Nothing.
    #[default]
    Nothing,
    /// Nothing since the newest hide or edit, but something before it.
    NothingSince,
    /// Numbers that are no counts: zero, or more than any context has.
    NoCount,
    /// What it counts, as far as can be learnt from it.
    Counts {
        /// In terms of our count.
        count: ProviderCount,
        /// The number of the newest such reply among the visible messages, from 1.
        number: usize,
        /// What was counted for it.
        usage: Usage,
    },
}

impl ProviderSays {
    /// What it counts, if it said so.
    pub fn count(&self) -> Option<&ProviderCount> {
        match self {
            Self::Counts { count, .. } => Some(count),
            Self::Nothing | Self::NothingSince | Self::NoCount => None,
        }
    }

    /// What a context has in its count, where that is known, else in ours.
    pub fn total(&self, ours: TokenCount) -> TokenCount {
        match self.count() {
            Some(count) => TokenCount {
                tokens: count.of(ours.tokens),
                estimated: true,
            },
            None => ours,
        }
    }

    /// How many tokens of ours fit into so many of the provider's.
    pub fn ours_within(&self, tokens: u64) -> u64 {
        self.count()
            .map_or(tokens, |count| count.ours_within(tokens))
    }
}

/// What the provider says at `tip`; `counts` are those of its context.
pub(super) fn says(
    view: &dyn View,
    tip: &CommitHash,
    context: &Context,
    counts: &[TokenCount],
) -> Result<ProviderSays> {
    let newest = context.entries.iter().rev().take(COMMITS);
    let newest: Vec<CommitHash> = newest.map(|entry| entry.id.commit).collect();
    // Most contexts that a program writes itself hold no such reply: that is all it costs them.
    if view.usage(&newest)?.iter().all(Option::is_none) {
        return Ok(ProviderSays::Nothing);
    }
    let mut rows = view.ancestors(tip, None, COMMITS)?;
    let mut entries = context.entries.iter().rev();
    let mut is_last = |row: &CommitRow| {
        let appends = matches!(row.commit.operation, Operation::Append { .. });
        let entry = entries.next();
        appends && entry.is_some_and(|entry| entry.id == EntryId::of(row.hash))
    };
    let appended = rows.iter().take_while(|row| is_last(row)).count();
    rows.truncate(appended);
    rows.reverse();
    let before = counts.len() - rows.len();
    let hashes: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
    let contents = context.entries.iter().skip(before);
    let contents: Vec<_> = contents.map(|entry| entry.content).collect();
    let spoken = view.content_rows(&contents)?;
    let told = view.usage(&hashes)?;

    let mut ours = CONTEXT_OVERHEAD + sum(&counts[..before]);
    let mut turn = TurnSoFar::default();
    let (mut model, mut model_of_replies) = (None, None);
    let mut replies: Vec<CountedReply> = Vec::new();
    let mut last = None;
    let mut is_told = false;
    for (at, (row, (shown, usage))) in rows.iter().zip(spoken.iter().zip(told)).enumerate() {
        is_told |= usage.is_some();
        let usage = usage.filter(Usage::is_count);
        let tokens = counts[before + at].tokens;
        model = row.commit.settings.get("model").or(model);
        if let Some(usage) = usage {
            if model != model_of_replies {
                replies.clear();
                model_of_replies = model;
            }
            replies.push(CountedReply {
                ours: ours - turn.reply,
                thinking: turn.thinking,
                counted: usage.input_tokens,
            });
            last = Some((before + at + 1, usage));
        }
        turn.add(shown.as_ref().map(|shown| shown.role), tokens, usage);
        ours += tokens;
    }
    let count = ProviderCount::learn(&replies, turn.thinking);
    Ok(match (count, last) {
        (Some(count), Some((number, usage))) => ProviderSays::Counts {
            count,
            number,
            usage,
        },
        _ if is_told => ProviderSays::NoCount,
        _ => ProviderSays::NothingSince,
    })
}

fn sum(counts: &[TokenCount]) -> u64 {
    counts.iter().map(|count| count.tokens).sum()
}

/// A turn while it is walked through.
#[derive(Default)]
struct TurnSoFar {
    /// What its replies were beyond our count of them: thinking that is sealed, and sent again while the
    /// turn lasts.
    thinking: u64,
    /// Our count of a reply's messages so far, which were not sent for it.
    reply: u64,
}

impl TurnSoFar {
    fn add(&mut self, role: Option<Role>, tokens: u64, usage: Option<Usage>) {
        match role {
            Some(Role::Assistant) => {
                self.reply += tokens;
                if let Some(usage) = usage {
                    self.thinking += usage.output_tokens.saturating_sub(self.reply);
                    self.reply = 0;
                }
            }
            Some(Role::User) => *self = Self::default(),
            _ => self.reply = 0,
        }
    }
}

impl Repo {
    /// What the provider says of the replies at `tip`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownRevision`](crate::Error::UnknownRevision) if it is not here, and the store's.
    pub fn provider_says(&self, tip: &CommitHash, encoding: Encoding) -> Result<ProviderSays> {
        let context = self.context(tip)?;
        let counts = self.counts(&context, encoding)?;
        says(&*self.store.read()?, tip, &context, &counts)
    }
}
