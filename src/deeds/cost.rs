//! What replies cost, and how a provider's cache stands.

mod blocks;
mod budget;

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::blocks::blocks_of;
pub use self::budget::{MoneyBudget, MonthForecast, Spending, spending};
use super::advice::Exit;
use super::{ApiError, At, Counted, Deed, Method, Spelled, WrittenTime};
use crate::error::Error;
use crate::hash::CommitHash;
use crate::ingest::{CachedReply, MissCause, Misses, accounts, misses, project_of, projects_of};
use crate::model::RefName;
use crate::model::price::{LIST, Prices};
use crate::query::{
    Bearer, Bill, BillShare, BilledReply, CacheUse, MessageShare, StatedCost, Unlisted, bills,
    bills_by_model, unlisted,
};
use crate::render::Calendar;
use crate::render::calendar::Edge;
use crate::repo::Repo;

/// What the list of these prices is called.
pub(super) fn price_list(repo: &Repo) -> Result<String, ApiError> {
    let config = repo.config()?;
    Ok(config.get("prices.file").unwrap_or(LIST).to_owned())
}

/// The prices that are meant: those of `prices.file`, else the list that comes along.
pub(super) fn prices(repo: &Repo) -> Result<Prices, ApiError> {
    let config = repo.config()?;
    let names = config.model_names()?;
    let Some(path) = config.get("prices.file") else {
        return Ok(Prices::listed().named(names));
    };
    let list = std::fs::read(path).map_err(Error::io(Path::new(path)))?;
    let hint = "`tract config --unset prices.file` goes back to the list that comes along";
    let read = Prices::read(&list).map_err(|error| ApiError::from(error).with_hint(hint));
    Ok(read?.named(names))
}

/// How a provider's cache stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CacheState {
    /// Whether it no longer has what it was given.
    pub is_cold: bool,
    /// How old the newest reply is, in milliseconds.
    pub age_ms: i64,
    /// How long the cache keeps what it has, in milliseconds.
    pub life_ms: i64,
    /// The newest reply.
    pub reply: String,
    /// What was counted for it.
    pub counted: Counted,
}

/// The last use of the provider's cache on the path to a commit, where the newest reply was counted with one.
pub(super) fn cache_state(at: &At<'_>, tip: &CommitHash) -> Result<Option<CacheState>, ApiError> {
    let last = at.repo.cache_use(tip, at.host.now())?;
    let last = last.filter(CacheUse::has_cache);
    Ok(last.map(|last| CacheState {
        is_cold: last.is_cold(),
        age_ms: last.age_ms,
        life_ms: last.life_ms(),
        reply: last.reply.to_string(),
        counted: last.usage.unwrap_or_default().into(),
    }))
}

/// Where.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheParams {
    /// The commit; HEAD's unless given.
    pub rev: Option<String>,
}

/// How the cache stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CacheAnswer {
    /// Its state; none where no reply was counted with a cache.
    pub cache: Option<CacheState>,
}

impl Method for CacheParams {
    const NAME: &'static str = "cache";
    const ABOUT: &'static str = "Says whether the provider's prompt cache still has the context.";
    const CHANGES: bool = false;
    type Answer = CacheAnswer;

    fn act(self, at: &mut At<'_>) -> Result<CacheAnswer, ApiError> {
        let tip = at.resolve(self.rev.as_deref())?;
        let cache = cache_state(at, &tip)?;
        Ok(CacheAnswer { cache })
    }
}

/// What a row stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum CostBy {
    /// A session, with its sub-agents
    #[default]
    Session,
    /// A session without its sub-agents, or a sub-agent
    Agent,
    /// A day
    Day,
    /// A week, by its number
    Week,
    /// A month
    Month,
    /// Five hours, as plans of a subscription count use
    Block,
    /// A model
    Model,
    /// A working directory, however it is spelt
    Directory,
    /// A working directory with its worktrees, and the links to it
    Project,
    /// A program whose sessions these are, such as claude-code
    Client,
    /// A home of a program, such as ~/.claude: whoever is signed in there pays
    Account,
    /// A tool that was called: what its results have cost
    Tool,
    /// A message
    Message,
}

impl CostBy {
    /// Whether rows are in the order of their times, and not of what they cost.
    fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month | Self::Block)
    }
}

/// What all rows come to.
const TOTAL: &str = "total";
/// Requests that no reply shows.
const OTHER_REQUESTS: &str = "(other requests)";

/// Show what the replies of models cost
///
/// Every reply that a provider counted is priced once, by the list price of its day: all that sessions, branches and
/// tags lead to, or what is on the path to `rev`. A sub-agent counts with the session that started it, unless rows
/// are `by` agent. With a subscription, the figures are API-equivalent: what the same work costs by the API. Requests
/// that no reply shows, such as those for summaries and titles, are a row of their own, where the client gives the
/// sum of its requests.
///
/// Where each directory has a HEAD of its own, as in a home's repository, it counts this directory, its worktrees, and
/// what HEAD leads to. `all` counts everything.
///
/// Each row has replies, input, the part of it that came from a cache, output, and US dollars. prices.file in the
/// configuration names a newer list, as genai-prices publishes it.
///
/// By message, it is what each message has cost so far: the input of each request is shared over the
/// messages that were sent in it, by their tokens; what was read from the cache is the front of them. A
/// reply bears its output. The count says in how many requests a message had a part. By tool, the same is summed
/// up for the results of each tool. System prompt and tools are a row of their own: as they were
/// sent, where the client recorded that, else the least that a request had beyond its messages.
///
/// With `misses`, it is of each reply: time, input, what of it was read from the cache, what was written to
/// the cache, what was missed, what that cost, and why. The sum of each cause comes first. Behind it are the 20 replies
/// that missed most; `limit` takes more, and 0 all. Missed is what the request before had left in the cache and this one
/// did not read. The provider's own word for the reason comes first; then the first difference to
/// the request before, where the client recorded both; then another model, a change of the context, or the age
/// of the cache: 5 minutes, or an hour where that was paid for.
///
/// With `check`, it is how budgets of money stand: `budget.day` and `budget.month` set in US dollars what all replies of a day
/// and of a month in the repository may cost. Where one of them is exceeded, the exit code is 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract cost                      all sessions, the most expensive first
  tract cost --by day --since 7d  what each of the last days cost
  tract cost --by model main      what is on the path to main, by model
  tract cost --by agent -n 10     the ten most expensive, sub-agents apart from their sessions
  tract cost --by message main    the 20 most expensive messages
  tract cost --by tool main       what the results of each tool have cost
  tract cost --misses main        what each request missed in the cache, and why
  tract cost --until 2026-10-31   up to the end of that day
  tract cost --all                in a home: every directory, not this one alone
  tract cost --check              whether budget.day and budget.month are kept to")
)]
pub struct CostParams {
    /// Only what is on the path to this commit
    #[cfg_attr(feature = "cli", arg(value_name = "REV"))]
    pub rev: Option<String>,
    /// The grouping of the rows; session unless given
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "WHAT"))]
    pub by: Option<CostBy>,
    /// A row for each reply: what its request read from the cache, wrote to it and missed, and why
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "by"))]
    pub misses: bool,
    /// In a repository where each directory has a HEAD of its own: of all directories
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "rev"))]
    pub all: bool,
    /// How budgets of money stand; the exit code is 1 where one is exceeded
    #[cfg_attr(feature = "cli", arg(long, conflicts_with_all = ["rev", "by", "misses", "all", "limit", "since", "until"]))]
    pub check: bool,
    /// At most N rows, and one for the rest; 0: all. By default 20 messages or misses, or all of anything else
    #[cfg_attr(feature = "cli", arg(short = 'n', long, value_name = "N"))]
    pub limit: Option<usize>,
    /// Only from then on: a date, or an age such as 3w or '2 days ago'
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHEN"))]
    pub since: Option<Spelled<WrittenTime>>,
    /// Only up to then
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHEN"))]
    pub until: Option<Spelled<WrittenTime>>,
}

/// What replies cost at list prices.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CostAnswer {
    /// Whose prices.
    pub list: String,
    /// All of them.
    pub total: CostRow,
    /// The rows, the dearest first; days, weeks and months in their order.
    pub rows: Vec<CostRow>,
    /// What the rows come to that `limit` leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<CostRow>,
    /// With `misses`, in place of rows: what caches had of each request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<CacheMiss>,
    /// With `misses`, what each cause comes to, the dearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<MissSum>,
    /// What the list does not have of what the replies were billed for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<UnlistedCount>,
    /// What clients say that their sessions cost, where the list says otherwise; told where all replies count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<StatedSessionCost>,
    /// The directory of which it is alone, where each has a HEAD of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// With `check`: how budgets of money stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spending: Option<Spending>,
}

/// What a client says that a session cost, and what it comes to by the list of prices.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StatedSessionCost {
    /// The session's ref.
    pub session: String,
    /// By its client, in US dollars.
    pub dollars: f64,
    /// By the list, in US dollars: what has no price there is not in it.
    pub listed: f64,
}

impl From<&StatedCost> for StatedSessionCost {
    fn from(cost: &StatedCost) -> Self {
        Self {
            session: cost.session.to_string(),
            dollars: cost.dollars,
            listed: cost.listed,
        }
    }
}

/// What misses come to that have a cause in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MissSum {
    /// The kind of the cause, as `cause.kind` of a miss.
    pub kind: &'static str,
    /// How many misses.
    pub misses: u64,
    /// What was missed.
    pub missed_tokens: u64,
    /// What that cost beyond reading it, in US dollars, where models have a price.
    pub missed_dollars: f64,
}

impl MissSum {
    /// What each cause comes to, the dearest first.
    pub fn all(found: &[CachedReply]) -> Vec<Self> {
        let mut sums: Vec<Self> = Vec::new();
        for row in found.iter().filter(|row| row.missed_tokens > 0) {
            let kind = row.cause.as_ref().map_or("unknown", MissCause::kind);
            let at = sums.iter().position(|sum| sum.kind == kind);
            let at = at.unwrap_or_else(|| {
                sums.push(Self {
                    kind,
                    ..Self::default()
                });
                sums.len() - 1
            });
            let sum = &mut sums[at];
            sum.misses += 1;
            sum.missed_tokens = sum.missed_tokens.saturating_add(row.missed_tokens);
            sum.missed_dollars += row.missed_dollars.unwrap_or_default();
        }
        sums.sort_by(|a, b| {
            let dearer = b.missed_dollars.total_cmp(&a.missed_dollars);
            dearer.then_with(|| b.missed_tokens.cmp(&a.missed_tokens))
        });
        sums
    }
}

/// What a list of prices does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnlistedCount {
    /// A count of usage records, such as `web_fetch_requests`, which is in no sum; or how replies were served, such as
    /// `speed fast`: they have the standard price.
    pub name: String,
    /// How many; of a way to serve them, how many replies.
    pub count: u64,
}

impl UnlistedCount {
    fn all(replies: &[BilledReply], prices: &Prices) -> Vec<Self> {
        let all = unlisted(replies, prices).into_iter();
        let one = |(what, count)| {
            let name = match what {
                Unlisted::Way(what, word) => format!("{what} {word}"),
                Unlisted::Count(name) => name,
            };
            Self { name, count }
        };
        all.map(one).collect()
    }
}

/// What a cache had of a request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CacheMiss {
    /// The reply.
    pub commit: String,
    /// Its session's ref.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// When it was given, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// What was counted for it.
    pub counted: Counted,
    /// What of the input the request before had left in the cache, and was not read from there.
    pub missed_tokens: u64,
    /// What that cost beyond reading it, in US dollars; none where the model has no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_dollars: Option<f64>,
    /// Why; none where nothing was missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<CacheMissCause>,
}

/// Why a cache did not have what it was given before. What others wrote: escape it before it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CacheMissCause {
    /// The provider says it.
    Said {
        /// Its word for the reason.
        reason: String,
        /// How many tokens it did not have, as the provider counts them.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// The first difference to the request before, where both are recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        differs: Option<String>,
    },
    /// The request differs from the one before.
    Sent {
        /// The first difference.
        differs: String,
    },
    /// Another model answered.
    Model {
        /// The one before.
        before: String,
        /// This one.
        after: String,
    },
    /// The context was changed.
    Changed {
        /// By this commit, the first behind the reply before.
        commit: String,
        /// What it does.
        operation: &'static str,
    },
    /// The request before was too long ago.
    Age {
        /// How long, in milliseconds.
        age_ms: i64,
        /// How long the cache keeps what it has.
        life_ms: i64,
    },
    /// Both requests are recorded and nothing in them differs, in time: the provider had let go of it.
    Alike,
    /// Nothing tells.
    Unknown,
}

impl From<&MissCause> for CacheMissCause {
    fn from(cause: &MissCause) -> Self {
        match cause.clone() {
            MissCause::Said { said, differs } => Self::Said {
                reason: said.reason,
                tokens: said.tokens,
                differs,
            },
            MissCause::Sent(differs) => Self::Sent { differs },
            MissCause::Model([before, after]) => Self::Model { before, after },
            MissCause::Changed { commit, verb } => Self::Changed {
                commit: commit.to_string(),
                operation: verb,
            },
            MissCause::Age { age_ms, life_ms } => Self::Age { age_ms, life_ms },
            MissCause::Alike => Self::Alike,
            MissCause::Unknown => Self::Unknown,
        }
    }
}

impl From<&CachedReply> for CacheMiss {
    fn from(row: &CachedReply) -> Self {
        let reply = &row.reply;
        Self {
            commit: reply.commit.to_string(),
            session: reply.session.as_ref().map(ToString::to_string),
            time_ms: reply.time.map(|time| time.0),
            counted: reply.usage.into(),
            missed_tokens: row.missed_tokens,
            missed_dollars: row.missed_dollars,
            cause: row.cause.as_ref().map(Into::into),
        }
    }
}

/// What some replies cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CostRow {
    /// What they have in common: a session's ref, a model, a directory, a message's commit. Empty where none is known.
    pub name: String,
    /// How many replies; of a message, in how many requests it was sent.
    pub replies: u64,
    /// Of a tool's results and other messages: how many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Of a session: its title. What somebody else wrote: escape it before it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Of a message: who speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// One line of it. What somebody else wrote: escape it before it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The call that it answers. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// How many of them have no price. They are not in the sum.
    pub unpriced: u64,
    /// In US dollars.
    pub dollars: f64,
    /// What was counted.
    pub counted: Counted,
}

impl CostRow {
    /// What is no message, among messages and tools.
    pub const REST: &str = "(system prompt and tools)";
    /// What is no result of a tool, among tools.
    pub const OTHERS: &str = "(other messages)";

    fn of(name: String, bill: &Bill) -> Self {
        Self {
            name,
            replies: bill.replies,
            unpriced: bill.unpriced,
            dollars: bill.dollars,
            counted: bill.usage.into(),
            ..Self::default()
        }
    }

    /// What all of these replies come to.
    pub fn total<'r>(replies: impl IntoIterator<Item = &'r BilledReply>) -> Self {
        Self::of(TOTAL.to_owned(), &Bill::of(replies))
    }

    /// What rows come to that are not told, where there are any, and how many they are.
    fn others(rows: &[Self]) -> Option<(Self, usize)> {
        let mut sum = Self {
            name: "others".to_owned(),
            ..Self::default()
        };
        for row in rows {
            sum.replies += row.replies;
            sum.unpriced += row.unpriced;
            sum.dollars += row.dollars;
            sum.counted.plus(&row.counted);
        }
        (!rows.is_empty()).then_some((sum, rows.len()))
    }

    fn shared(name: String, share: &BillShare) -> Self {
        Self {
            name,
            replies: share.requests(),
            unpriced: share.unpriced(),
            dollars: share.dollars(),
            counted: share.usage().into(),
            ..Self::default()
        }
    }

    fn of_bearer(bearer: Bearer, (messages, share): (u64, BillShare)) -> Self {
        let (name, messages) = match bearer {
            Bearer::Tool(name) => (name, Some(messages)),
            Bearer::Messages => (Self::OTHERS.to_owned(), Some(messages)),
            Bearer::Rest => (Self::REST.to_owned(), None),
        };
        let row = Self::shared(name, &share);
        Self { messages, ..row }
    }

    /// The most expensive first; where nobody knows a price, the one of most tokens.
    fn by_cost(&self, other: &Self) -> Ordering {
        let dearer = other.dollars.total_cmp(&self.dollars);
        let tokens = |row: &Self| row.counted.input_tokens;
        dearer.then_with(|| tokens(other).cmp(&tokens(self)))
    }
}

/// What replies cost, row by row.
#[derive(Default)]
pub struct CostList {
    /// The rows, the dearest first; days, weeks and months in their order.
    pub rows: Vec<CostRow>,
    /// What was no message in what messages are told of: it stands behind them, whatever the limit.
    pub rest: Option<CostRow>,
    /// What the rows come to that the limit leaves out, and how many they are.
    pub others: Option<(CostRow, usize)>,
    /// Requests that no reply shows, where all count and their client says what they came to.
    pub elsewhere: Option<CostRow>,
    /// What clients say that their sessions cost, where all count and the list says otherwise.
    pub stated: Vec<StatedCost>,
    /// All of it.
    pub total: CostRow,
    /// The replies that they are of.
    pub replies: Vec<BilledReply>,
    /// The directory of which it is alone.
    pub directory: Option<String>,
}

/// How many messages or misses are told where nobody says how many.
const MESSAGES: usize = 20;

impl CostParams {
    /// The commit on whose path replies count, where one is named.
    fn tip(&self, at: &At<'_>) -> Result<Option<CommitHash>, ApiError> {
        self.rev
            .as_deref()
            .map(|rev| at.resolve(Some(rev)))
            .transpose()
    }

    /// What a row stands for.
    pub fn by(&self) -> CostBy {
        self.by.unwrap_or_default()
    }

    /// How many rows are told; the rest are one.
    fn listed(&self) -> usize {
        match (self.limit, self.by()) {
            (Some(0), _) => usize::MAX,
            (Some(limit), _) => limit,
            (None, CostBy::Message) => MESSAGES,
            (None, _) => usize::MAX,
        }
    }

    /// Which replies count, by their time.
    fn wanted(&self, at: &At<'_>) -> Result<impl Fn(&BilledReply) -> bool + use<>, ApiError> {
        let here = self.here(at)?;
        let calendar = at.calendar();
        let read = |time: &Option<Spelled<WrittenTime>>, edge| {
            let time = time.as_ref().map(|time| time.0.read(&calendar, edge));
            time.transpose()
        };
        let since = read(&self.since, Edge::Start)?;
        let until = read(&self.until, Edge::End)?;
        Ok(move |reply: &BilledReply| {
            if here.as_ref().is_some_and(|here| !here.has(reply)) {
                return false;
            }
            let is_after = since.is_none_or(|since| reply.time.is_some_and(|time| time >= since));
            is_after && until.is_none_or(|until| reply.time.is_some_and(|time| time <= until))
        })
    }

    /// The directory of which it is alone: of the one whose HEAD this is, where each has its own.
    pub fn directory<'r>(&self, at: &At<'r>) -> Option<&'r str> {
        let is_narrow = self.rev.is_none() && !self.all;
        at.repo.seat().filter(|_| is_narrow)
    }

    fn here(&self, at: &At<'_>) -> Result<Option<Here>, ApiError> {
        let Some(directory) = self.directory(at) else {
            return Ok(None);
        };
        let led_to = match at.repo.head(&at.on)?.commit() {
            Some(tip) => at.repo.billed(Some(&tip), &Prices::none())?,
            None => Vec::new(),
        };
        Ok(Some(Here {
            project: project_of(directory),
            led_to: led_to.into_iter().map(|reply| reply.commit).collect(),
            known: RefCell::default(),
        }))
    }

    /// Those of these misses that are told: where there are more replies than that, the worst of them.
    pub fn worst<'m>(&self, found: &'m [CachedReply]) -> Vec<&'m CachedReply> {
        let most = match self.limit {
            Some(0) => usize::MAX,
            Some(limit) => limit,
            None => MESSAGES,
        };
        if found.len() <= most {
            return found.iter().collect();
        }
        let mut worst: Vec<&CachedReply> = found.iter().collect();
        worst.retain(|row| row.missed_tokens > 0);
        worst.sort_by(|a, b| {
            let dollars = |row: &CachedReply| row.missed_dollars.unwrap_or_default();
            let dearer = dollars(b).total_cmp(&dollars(a));
            dearer.then_with(|| b.missed_tokens.cmp(&a.missed_tokens))
        });
        worst.truncate(most);
        worst
    }

    /// How budgets of money stand.
    ///
    /// # Errors
    ///
    /// Where none is set; the store's.
    pub fn checked(at: &At<'_>) -> Result<Spending, ApiError> {
        spending(at)?.ok_or_else(|| {
            ApiError::params("neither budget.day nor budget.month is set")
                .with_hint("`tract config budget.day 5` allows five dollars a day")
        })
    }

    /// What caches had of each request.
    ///
    /// # Errors
    ///
    /// Where `rev`, `since` or `until` are none; the store's.
    pub fn missed(&self, at: &At<'_>, prices: &Prices) -> Result<Misses, ApiError> {
        let mut found = misses(at.repo, self.tip(at)?.as_ref(), prices)?;
        let is_wanted = self.wanted(at)?;
        found.replies.retain(|row| is_wanted(&row.reply));
        Ok(found)
    }

    /// What they cost, row by row.
    ///
    /// # Errors
    ///
    /// Where `rev`, `since` or `until` are none; the store's.
    pub fn table(&self, at: &At<'_>, prices: &Prices) -> Result<CostList, ApiError> {
        let mut found = self.listed_rows(at, prices)?;
        // Nobody says when the others were made, or behind which reply.
        let is_all = self.rev.is_none() && self.since.is_none() && self.until.is_none();
        let directory = self.directory(at);
        let others = match is_all {
            true => {
                let is_here = directory.is_some();
                at.repo.other_requests(&found.replies, is_here, prices)?
            }
            false => Bill::default(),
        };
        if is_all && directory.is_none() {
            found.stated = at.repo.stated_costs(&found.replies, prices)?;
        }
        let mut total = Bill::of(&found.replies);
        total.plus(&others);
        found.total = CostRow::of(TOTAL.to_owned(), &total);
        found.directory = directory.map(str::to_owned);
        found.elsewhere =
            (others != Bill::default()).then(|| CostRow::of(OTHER_REQUESTS.to_owned(), &others));
        Ok(found)
    }

    fn listed_rows(&self, at: &At<'_>, prices: &Prices) -> Result<CostList, ApiError> {
        let (tip, is_wanted, by) = (self.tip(at)?, self.wanted(at)?, self.by());
        if by == CostBy::Message {
            return self.messages(at, tip.as_ref(), prices, &is_wanted);
        }
        let (mut rows, replies) = if by == CostBy::Tool {
            let encoding = at.encoding()?;
            let shares = at.repo.shares(tip.as_ref(), prices, encoding, &is_wanted)?;
            let rows = at.repo.shares_by_tool(&shares, encoding)?.into_iter();
            let rows = rows.map(|(bearer, found)| CostRow::of_bearer(bearer, found));
            (rows.collect::<Vec<_>>(), shares.replies)
        } else {
            let mut replies = at.repo.billed(tip.as_ref(), prices)?;
            replies.retain(is_wanted);
            let calendar = at.calendar();
            let directories = replies
                .iter()
                .filter_map(|reply| reply.directory.as_deref());
            let mut names = CostNames::default();
            match by {
                CostBy::Project => names.projects = projects_of(directories),
                CostBy::Account => names.accounts = accounts(at.repo)?,
                CostBy::Block => names.blocks = blocks_of(&replies, &calendar),
                _ => {}
            }
            let found = match by {
                CostBy::Model => {
                    bills_by_model(&replies, |model| model.unwrap_or_default().to_owned())
                }
                by => bills(&replies, |reply| names.word(reply, by, &calendar)),
            };
            let rows = found.into_iter();
            let rows = rows.map(|(name, bill)| CostRow::of(name, &bill));
            (rows.collect(), replies)
        };
        if !by.is_time() {
            rows.sort_by(CostRow::by_cost);
        }
        let left = rows.split_off(self.listed().min(rows.len()));
        if matches!(by, CostBy::Session | CostBy::Agent) {
            let mut titles = at.repo.session_titles()?;
            for row in &mut rows {
                row.title = titles.remove(&row.name);
            }
        }
        Ok(CostList {
            others: CostRow::others(&left),
            rest: None,
            rows,
            replies,
            ..CostList::default()
        })
    }

    fn messages(
        &self,
        at: &At<'_>,
        tip: Option<&CommitHash>,
        prices: &Prices,
        is_wanted: &dyn Fn(&BilledReply) -> bool,
    ) -> Result<CostList, ApiError> {
        let mut shares = at.repo.shares(tip, prices, at.encoding()?, is_wanted)?;
        let all = std::mem::take(&mut shares.messages).into_iter();
        let row = |one: &MessageShare| CostRow::shared(one.entry.to_string(), &one.share);
        let mut all: Vec<(CostRow, MessageShare)> = all.map(|one| (row(&one), one)).collect();
        all.sort_by(|(a, _), (b, _)| a.by_cost(b));
        let left = all.split_off(self.listed().min(all.len()));
        let left: Vec<CostRow> = left.into_iter().map(|(row, _)| row).collect();
        let (rows, listed): (Vec<CostRow>, Vec<MessageShare>) = all.into_iter().unzip();
        let told = at.repo.shared_messages(&listed)?;
        let rows = rows.into_iter().zip(told);
        let rows = rows.map(|(row, (said, call))| CostRow {
            role: Some(said.role.as_str()),
            preview: Some(said.preview),
            call,
            ..row
        });
        let rest = (shares.rest != BillShare::default())
            .then(|| CostRow::shared(CostRow::REST.to_owned(), &shares.rest));
        Ok(CostList {
            others: CostRow::others(&left),
            rows: rows.collect(),
            rest,
            replies: shares.replies,
            ..CostList::default()
        })
    }
}

impl Method for CostParams {
    const NAME: &'static str = "cost";
    const CHANGES: bool = false;
    type Answer = CostAnswer;

    fn check(&self) -> Result<(), ApiError> {
        if self.misses && self.by.is_some() {
            let what = "'misses' tells of each reply: it does not take 'by'";
            return Err(ApiError::params(what));
        }
        let alone = Self {
            check: true,
            ..Self::default()
        };
        if self.check && *self != alone {
            let what = "'check' is of all replies of today and of this month: it stands alone";
            return Err(ApiError::params(what));
        }
        Ok(())
    }

    fn act(self, at: &mut At<'_>) -> Result<CostAnswer, ApiError> {
        let (prices, list) = (prices(at.repo)?, price_list(at.repo)?);
        let answer = CostAnswer {
            list,
            total: CostRow::total(&[]),
            rows: Vec::new(),
            others: None,
            misses: Vec::new(),
            causes: Vec::new(),
            unlisted: Vec::new(),
            stated: Vec::new(),
            directory: None,
            spending: None,
        };
        if self.check {
            let spending = Some(Self::checked(at)?);
            return Ok(CostAnswer { spending, ..answer });
        }
        if self.misses {
            let found = self.missed(at, &prices)?.replies;
            return Ok(CostAnswer {
                total: CostRow::total(found.iter().map(|row| &row.reply)),
                misses: self.worst(&found).into_iter().map(Into::into).collect(),
                causes: MissSum::all(&found),
                directory: self.directory(at).map(str::to_owned),
                ..answer
            });
        }
        let found = self.table(at, &prices)?;
        Ok(CostAnswer {
            directory: found.directory,
            unlisted: UnlistedCount::all(&found.replies, &prices),
            stated: found.stated.iter().map(Into::into).collect(),
            total: found.total,
            rows: found
                .rows
                .into_iter()
                .chain(found.rest)
                .chain(found.elsewhere)
                .collect(),
            others: found.others.map(|(row, _)| row),
            ..answer
        })
    }

    fn exit(answer: &CostAnswer) -> Option<Exit> {
        let is_over = answer.spending.as_ref().is_some_and(Spending::is_over);
        is_over.then_some(Exit::NotAllowed)
    }
}

impl Deed for CostParams {
    const PLACES: &'static [&'static str] = &["rev"];
    const REVISIONS: &'static [&'static str] = &["rev"];
}

/// A directory whose replies are meant.
struct Here {
    project: String,
    /// The replies that its HEAD leads to.
    led_to: HashSet<CommitHash>,
    /// Whether directories are of it that were asked for.
    known: RefCell<HashMap<String, bool>>,
}

impl Here {
    fn has(&self, reply: &BilledReply) -> bool {
        let is_here = |directory: &String| {
            let mut known = self.known.borrow_mut();
            let is_known = known.get(directory).copied();
            is_known.unwrap_or_else(|| {
                let is_here = project_of(directory) == self.project;
                known.insert(directory.clone(), is_here);
                is_here
            })
        };
        self.led_to.contains(&reply.commit) || reply.directory.as_ref().is_some_and(is_here)
    }
}

impl CostBy {
    /// The session that a reply counts with, by its ref: a sub-agent with who started it, unless agents are rows.
    pub fn session_of(self, reply: &BilledReply) -> Option<String> {
        let (tool, id) = reply.session.as_ref()?.as_session()?;
        let mut parts = id.split('/');
        let root = parts.next().unwrap_or(id);
        let name = format!("{}{tool}/{root}", RefName::SESSIONS);
        let is_row = |part: &&str| self == Self::Agent && part.starts_with("agent-");
        Some(
            parts
                .take_while(is_row)
                .fold(name, |name, part| name + "/" + part),
        )
    }
}

/// What replies have in common that they do not say themselves.
#[derive(Default)]
struct CostNames {
    projects: HashMap<String, String>,
    accounts: HashMap<String, String>,
    blocks: HashMap<CommitHash, String>,
}

impl CostNames {
    /// What a reply has in common with others.
    fn word(&self, reply: &BilledReply, by: CostBy, calendar: &Calendar) -> String {
        let word = match by {
            CostBy::Session | CostBy::Agent | CostBy::Message | CostBy::Tool => {
                by.session_of(reply)
            }
            CostBy::Day => reply.time.map(|time| calendar.date(time)),
            CostBy::Week => reply.time.map(|time| calendar.week(time)),
            CostBy::Month => reply.time.map(|time| calendar.month(time)),
            CostBy::Block => self.blocks.get(&reply.commit).cloned(),
            CostBy::Model => reply.model.clone(),
            CostBy::Directory => reply.directory.clone(),
            CostBy::Project => {
                let directory = reply.directory.as_ref();
                directory.and_then(|directory| self.projects.get(directory).cloned())
            }
            CostBy::Client => {
                let session = reply.session.as_ref().and_then(RefName::as_session);
                session.map(|(tool, _)| tool.to_owned())
            }
            CostBy::Account => {
                let session = CostBy::Session.session_of(reply);
                session.and_then(|session| self.accounts.get(&session).cloned())
            }
        };
        word.unwrap_or_default()
    }
}
