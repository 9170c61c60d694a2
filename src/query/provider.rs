//! What the provider counts at the end of a path, learnt from the replies there.
//!
//! Replies count since the newest commit that was no append: what was sent before a hide or an edit was
//! another context. While none has come since, how the provider counted before is the best guess, so that
//! what a shrink is measured in stays the same before and after it. One place works it out, for the bar
//! of `status`, for budgets, and for whatever is to fit one.

use crate::context::{Context, Entry};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::tokens::{CONTEXT_OVERHEAD, Counter, context_total};
use crate::model::{
    CountedReply, Encoding, EntryId, ProviderCount, Role, TokenCount, Total, Usage,
};
use crate::query::newest_request::shape_at;
use crate::repo::counts::{Counting, Counts, key_of};
use crate::repo::load::Fresh;
use crate::repo::repository::Repo;
use crate::repo::stretches::Outline;
use crate::repo::{load, pictures, totals};
use crate::store::{CommitRow, CountKey, View};

/// How many commits at the beginning of a path are looked at for what its first requests had on top.
const FIRST: u64 = 64;

/// How many commits back replies are looked for.
pub(crate) const COMMITS: usize = 256;

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
    /// Nothing since the newest hide or edit, but something before it that nothing can be learnt from.
    NothingSince,
    /// Nothing since the newest hide or edit; this is how it counted before.
    Before(ProviderCount),
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
            Self::Counts { count, .. } | Self::Before(count) => Some(count),
            Self::Nothing | Self::NothingSince | Self::NoCount => None,
        }
    }

    /// The same for whoever looks at another context than the newest request's: see [`bounded_by_shape`].
    pub(crate) fn with_shape(
        mut self,
        view: &dyn View,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Self> {
        // What was learnt from before a hide is held to it already.
        if let Self::Counts { count, .. } = &mut self {
            *count = bounded_by_shape(view, tip, *count, encoding)?;
        }
        Ok(self)
    }

    /// What a context has in its count, where that is known, else in ours.
    pub fn total(&self, ours: TokenCount) -> TokenCount {
        match self.count() {
            Some(count) => TokenCount::estimate(count.of(ours.tokens)),
            None => ours,
        }
    }

    /// The least and the most that this may be: after a hide or an edit, nobody knows what went with the messages.
    pub fn range(&self, ours: TokenCount) -> (u64, u64) {
        match self {
            Self::Before(count) => count.range(ours.tokens),
            _ => {
                let total = self.total(ours).tokens;
                (total, total)
            }
        }
    }

    /// How many tokens of ours fit into so many of the provider's.
    pub fn ours_within(&self, tokens: u64) -> u64 {
        self.count()
            .map_or(tokens, |count| count.ours_within(tokens))
    }
}

/// What the provider says at `tip`; `counts` are those of its context.
pub(crate) fn says(
    view: &dyn View,
    tip: &CommitHash,
    context: &Context,
    counts: &[TokenCount],
    encoding: Encoding,
) -> Result<ProviderSays> {
    says_of(view, tip, &Tail::of(context, counts), encoding)
}

/// The end of a context: as much of it as replies are looked for in.
pub(crate) struct Tail {
    /// The newest visible entries, oldest first, with their tokens.
    pub(crate) entries: Vec<(EntryId, TokenCount)>,
    /// How many stand before them, and their tokens.
    pub(crate) before: usize,
    pub(crate) before_tokens: u64,
    /// Whether any message is hidden.
    pub(crate) hides: bool,
    /// The newest commits, newest first, where they are read already.
    pub(crate) rows: Option<Vec<CommitRow>>,
}

impl Tail {
    pub(crate) fn of(context: &Context, counts: &[TokenCount]) -> Self {
        let before = counts.len().saturating_sub(COMMITS);
        let newest = context.entries.iter().zip(counts).rev().take(COMMITS);
        let mut entries: Vec<_> = newest.map(|(entry, count)| (entry.id, *count)).collect();
        entries.reverse();
        Self {
            entries,
            before,
            before_tokens: sum(&counts[..before]),
            hides: context.hidden_entries() > 0,
            rows: None,
        }
    }

    /// That of a context that comes to so much, of which nothing else is read.
    pub(crate) fn of_outline(
        view: &dyn View,
        outline: &Outline,
        total: Total,
        encoding: Encoding,
    ) -> Result<Self> {
        let visible = outline.visible();
        let before = visible.len().saturating_sub(COMMITS);
        let newest = visible.read_in(view, before..visible.len())?;
        let entries: Vec<&Entry> = newest.iter().map(|one| &one.entry).collect();
        let counting = Counting::new(encoding);
        let counts = counting.fill(view, &entries, &Fresh::new())?.0;
        Ok(Self {
            before,
            before_tokens: total.tokens.saturating_sub(sum(&counts)),
            entries: entries.iter().map(|entry| entry.id).zip(counts).collect(),
            hides: outline.entries() > total.messages,
            rows: None,
        })
    }
}

/// The same of a context of which the end is known.
pub(crate) fn says_of(
    view: &dyn View,
    tip: &CommitHash,
    tail: &Tail,
    encoding: Encoding,
) -> Result<ProviderSays> {
    let newest = tail.entries.iter().map(|(id, _)| id.commit);
    let newest: Vec<CommitHash> = newest.collect();
    let is_silent = view.usage(&newest)?.iter().all(Option::is_none);
    // Most contexts that a program writes itself hold no such reply: that is all it costs them.
    if is_silent && !tail.hides {
        return Ok(ProviderSays::Nothing);
    }
    let read;
    let rows = match &tail.rows {
        Some(rows) => rows,
        None => {
            read = view.ancestors(tip, None, COMMITS)?;
            &read
        }
    };
    if !is_silent {
        let mut entries = tail.entries.iter().rev();
        let is_last = |row: &&CommitRow| {
            let entry = entries.next();
            row.appended().is_some() && entry.is_some_and(|(id, _)| *id == EntryId::of(row.hash))
        };
        let since = rows.iter().take_while(is_last).count();
        let counts: Vec<TokenCount> = tail.entries.iter().map(|(_, count)| *count).collect();
        let (others, own) = counts.split_at(counts.len() - since);
        let before = tail.before + others.len();
        let learnt = Run {
            rows: rows[..since].iter().rev().collect(),
            counts: own,
            ours: CONTEXT_OVERHEAD + tail.before_tokens + sum(others),
        };
        let learnt = learnt.told(view)?;
        if let (Some(count), Some((at, usage))) = (learnt.count(), learnt.last) {
            let number = before + at + 1;
            return Ok(ProviderSays::Counts {
                count: bounded(view, tip, count, encoding)?,
                number,
                usage,
            });
        }
        if learnt.is_told {
            return Ok(ProviderSays::NoCount);
        }
    }
    // What was hidden since may have been pictures.
    let encoding = pictures::at(view, tip, encoding)?;
    Ok(match (before(view, rows, encoding)?, is_silent) {
        (Some(count), _) => {
            let count = bounded(view, tip, count, encoding)?;
            ProviderSays::Before(bounded_by_shape(view, tip, count, encoding)?)
        }
        (None, true) => ProviderSays::Nothing,
        (None, false) => ProviderSays::NothingSince,
    })
}

/// The same count, held to what the first requests on the path had on top.
fn bounded(
    view: &dyn View,
    tip: &CommitHash,
    mut count: ProviderCount,
    encoding: Encoding,
) -> Result<ProviderCount> {
    let depth = load::commit(view, tip)?.depth.min(FIRST - 1);
    let Some(last) = view.ancestor_at(tip, depth)?.filter(|_| count.least > 0) else {
        return Ok(count);
    };
    let mut rows = view.ancestors(&last, None, FIRST as usize)?;
    rows.reverse();
    let appends = rows.iter().take_while(|row| row.appended().is_some());
    let rows: Vec<&CommitRow> = appends.collect();
    let mut counts = known(view, rows.iter().copied(), encoding)?;
    let is_estimated = pictures::are_among(&counts);
    if let Some(by_rule) = pictures::other(view, tip, encoding, is_estimated)? {
        counts = known(view, rows.iter().copied(), by_rule)?;
    }
    let first = Run {
        rows,
        counts: &counts,
        ours: CONTEXT_OVERHEAD,
    };
    count.bound(&first.told(view)?.replies);
    Ok(count)
}

/// The same count, held to what was sent beside the messages in the newest request on the path, where its client
/// recorded that. Reads the session's file.
fn bounded_by_shape(
    view: &dyn View,
    tip: &CommitHash,
    mut count: ProviderCount,
    encoding: Encoding,
) -> Result<ProviderCount> {
    if count.least > 0
        && let Some(shape) = shape_at(view, tip, &Counter::of(encoding))?
    {
        count.bound_by_shape(shape.tokens());
    }
    Ok(count)
}

/// How the provider counted before the newest hide or edit; `rows` are the newest commits, newest first.
fn before(
    view: &dyn View,
    rows: &[CommitRow],
    encoding: Encoding,
) -> Result<Option<ProviderCount>> {
    let hashes: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
    let told = view.usage(&hashes)?;
    let is_told = |usage: &Option<Usage>| usage.as_ref().is_some_and(Usage::is_count);
    let Some(reply) = told.iter().position(is_told) else {
        return Ok(None);
    };
    let is_hide = |row: &CommitRow| row.appended().is_none();
    let newer = rows[..reply].iter().rposition(is_hide);
    let from = newer.map_or(0, |at| at + 1);
    let older = rows[reply..].iter().position(is_hide);
    let run = &rows[from..older.map_or(rows.len(), |at| reply + at)];
    let total = total(view, &rows[from].hash, encoding)?;
    let counts = known(view, run.iter().rev(), encoding)?;
    let learnt = Run {
        rows: run.iter().rev().collect(),
        counts: &counts,
        ours: total.saturating_sub(sum(&counts)),
    };
    let count = learnt.told(view)?.count();
    // Where somebody has spoken since, the turn is over in which the thinking was sent again.
    let contents: Vec<_> = rows[..from]
        .iter()
        .filter_map(CommitRow::appended)
        .collect();
    let spoken = view.content_rows(&contents)?;
    let is_new_turn = spoken.iter().flatten().any(|row| row.role == Role::User);
    Ok(count.map(|count| ProviderCount {
        thinking: if is_new_turn { 0 } else { count.thinking },
        ..count
    }))
}

/// What a context comes to: as it is kept, else summed up.
fn total(view: &dyn View, tip: &CommitHash, encoding: Encoding) -> Result<u64> {
    if let Some(total) = totals::at_commit(view, tip, &Counts::default(), encoding)? {
        return Ok(total.count().tokens);
    }
    let context = load::context(view, tip)?;
    let entries: Vec<&Entry> = context.entries.iter().collect();
    let (counts, _) = Counting::new(encoding).fill(view, &entries, &Default::default())?;
    Ok(context_total(counts).tokens)
}

/// The counts of appended messages: as they are kept, else counted, for what is derived may be missing.
fn known<'a>(
    view: &dyn View,
    rows: impl Iterator<Item = &'a CommitRow>,
    encoding: Encoding,
) -> Result<Vec<TokenCount>> {
    let contents: Vec<ContentHash> = rows.filter_map(CommitRow::appended).collect();
    let keys: Vec<CountKey> = contents.iter().copied().map(key_of).collect();
    let kept = view.counts(&keys, encoding)?;
    let counting = Counting::new(encoding);
    let counts = contents.iter().zip(kept).map(|(content, kept)| match kept {
        Some(count) => Ok(count),
        None => Ok(counting.counter().message(&load::content(view, content)?)),
    });
    counts.collect()
}

/// Messages that were appended one after the other, oldest first.
struct Run<'a> {
    rows: Vec<&'a CommitRow>,
    counts: &'a [TokenCount],
    /// What the context came to before them, by our count.
    ours: u64,
}

/// What the replies of a run tell.
#[derive(Default)]
struct Told {
    /// The replies of its newest model, with what each was sent.
    replies: Vec<CountedReply>,
    /// What would be sent of the turn's thinking at the end.
    thinking: u64,
    /// The place of the newest reply with a count, from 0, and that count.
    last: Option<(usize, Usage)>,
    /// Whether any reply bears numbers, be they counts or not.
    is_told: bool,
}

impl Told {
    fn count(&self) -> Option<ProviderCount> {
        ProviderCount::learn(&self.replies, self.thinking)
    }
}

impl Run<'_> {
    fn told(&self, view: &dyn View) -> Result<Told> {
        let hashes: Vec<CommitHash> = self.rows.iter().map(|row| row.hash).collect();
        let contents: Vec<_> = self.rows.iter().filter_map(|row| row.appended()).collect();
        let spoken = view.content_rows(&contents)?;
        let told = view.usage(&hashes)?;
        let mut ours = self.ours;
        let mut turn = TurnSoFar::default();
        let (mut model, mut model_of_replies) = (None, None);
        let mut found = Told::default();
        for (at, (row, (shown, usage))) in self.rows.iter().zip(spoken.iter().zip(told)).enumerate()
        {
            found.is_told |= usage.is_some();
            let usage = usage.filter(Usage::is_count);
            let tokens = self.counts[at].tokens;
            model = row.commit.settings.get("model").or(model);
            if let Some(usage) = usage {
                if model != model_of_replies {
                    found.replies.clear();
                    model_of_replies = model;
                }
                found.replies.push(CountedReply {
                    ours: ours - turn.reply,
                    thinking: turn.thinking,
                    counted: usage.input_tokens,
                });
                found.last = Some((at, usage));
            }
            turn.add(shown.as_ref().map(|shown| shown.role), tokens, usage);
            ours += tokens;
        }
        found.thinking = turn.thinking;
        Ok(found)
    }
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
        let encoding = pictures::within(&*self.store.read()?, &context, encoding)?;
        let counts = self.counts_in(&context, encoding)?;
        says(&*self.store.read()?, tip, &context, &counts, encoding)
    }
}
