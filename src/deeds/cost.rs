//! What replies cost.

mod blocks;
mod budget;
mod cache;
mod groups;
mod list;
mod meant;
mod misses;
mod prices;
mod row;
mod stated;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::budget::{MoneyBudget, MonthForecast, Spending, spending};
pub(super) use self::cache::cache_state;
pub use self::cache::{CacheAnswer, CacheParams, CacheState};
pub use self::groups::CostBy;
pub use self::list::CostList;
pub use self::misses::{CacheMiss, CacheMissCause, MissSum};
pub(super) use self::prices::{price_list, prices};
pub use self::row::CostRow;
pub use self::stated::{ShortOutputFacts, StatedSessionCost, UnlistedCount};
use super::advice::Exit;
use super::{ApiError, At, Deed, Method, Spelled, WrittenTime};
use crate::query::ShortOutputs;

/// Show what the replies of models cost
///
/// Every reply that a provider counted is priced once, by the list price of its day. Those are all that sessions,
/// branches and tags lead to, or those on the path to `rev`. A sub-agent counts with the session that started it, unless
/// rows are `by` agent. It is not on the path to `rev`: there, a note gives its cost. With a subscription, the figures are API-equivalent: what the same work costs by the API.
/// Requests that no reply shows, such as those for summaries and titles, are a row of their own. They are known where
/// the client gives the sum of its requests. Output of which a stream gives only the sum is in that row, too.
///
/// Where each directory has a HEAD of its own, as in a home's repository, it counts this directory, its worktrees, and
/// what HEAD leads to. `all` counts everything.
///
/// Each row has replies, input, the part of it that came from a cache, output, and US dollars. The setting
/// `prices.file` names a newer list, as genai-prices publishes it.
///
/// By message, it is what each message has cost so far. The input of each request is shared over the messages that
/// were sent in it, by their tokens. Their front is what was read from the cache. A
/// reply bears its output. The count says in how many requests a message had a part. By tool, the same is summed
/// up for the results of each tool. System prompt and tools are a row of their own. It is as they
/// were sent, where the client recorded that, else the least that a request had beyond its messages.
///
/// With `misses`, it is of each reply: time, input, what of it was read from the cache and what was written to it. Then
/// come what was missed, what that cost, and why. The sum of each cause comes first. Behind it are the 20 replies
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
    /// At most N rows, of times the newest, and one for the rest; 0: all. By default 20 messages or misses, or all of anything else
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
    /// What is missing in the recorded output of the replies, and so in their price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_outputs: Option<ShortOutputFacts>,
    /// What clients say that their sessions cost, where the list says otherwise; told where all replies count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<StatedSessionCost>,
    /// The directory of which it is alone, where each has a HEAD of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Whether other requests are left out of which no reply tells: of their sessions only some replies are meant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub without_other_requests: bool,
    /// With `rev`: what sub-agents of its session came to. They are not on the path to it, and in no sum here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_agents: Option<CostRow>,
    /// With `since` or `until`: what replies came to that have no time, as those of an imported stream. They are in no sum here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untimed: Option<CostRow>,
    /// Where no reply of `directory` is meant: the directories that have some in that time, the one with most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub away: Vec<CostRow>,
    /// With `check`: how budgets of money stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spending: Option<Spending>,
}

impl CostParams {
    /// What a row stands for.
    pub fn by(&self) -> CostBy {
        self.by.unwrap_or_default()
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
            short_outputs: None,
            stated: Vec::new(),
            directory: None,
            without_other_requests: false,
            sub_agents: None,
            untimed: None,
            away: Vec::new(),
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
                away: match found.is_empty() {
                    true => self.away(at, &prices)?,
                    false => Vec::new(),
                },
                ..answer
            });
        }
        let found = self.table(at, &prices)?;
        Ok(CostAnswer {
            directory: found.directory,
            short_outputs: ShortOutputs::of(&found.replies).map(Into::into),
            unlisted: UnlistedCount::all(&found.replies, &found.unpriced_others, &prices),
            without_other_requests: found.is_without_others,
            sub_agents: found.beside,
            untimed: found.untimed,
            away: found.away,
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
