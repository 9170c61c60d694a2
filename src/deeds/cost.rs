//! What replies cost, and how a provider's cache stands.

use std::collections::HashMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ApiError, At, Counted, Method};
use crate::error::Error;
use crate::hash::CommitHash;
use crate::ingest::projects_of;
use crate::model::RefName;
use crate::model::price::{LIST, Prices};
use crate::query::{
    Bearer, Bill, BillShare, BilledReply, CacheUse, Unlisted, bills, bills_by_model, unlisted,
};
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
    let hint = "tract config --unset prices.file goes back to the list that comes along";
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostBy {
    /// A session, with its sub-agents.
    #[default]
    Session,
    /// A model.
    Model,
    /// A working directory, however it is spelt.
    Directory,
    /// A working directory with its worktrees, and the links to it.
    Project,
    /// A program whose sessions these are, such as claude-code.
    Client,
    /// A tool: what its results have cost in the requests that sent them.
    Tool,
    /// A message: what the requests that sent it were billed for it.
    Message,
}

/// What is no message, among messages and tools.
const REST: &str = "(system prompt and tools)";
/// Requests that no reply shows.
const OTHER_REQUESTS: &str = "(other requests)";
/// What is no result of a tool, among tools.
const OTHERS: &str = "(other messages)";

/// Which replies, and by what they are summed up.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CostParams {
    /// Only replies on the path to this commit; all, unless given.
    pub rev: Option<String>,
    /// What a row stands for; a session unless given.
    pub by: CostBy,
    /// Only replies from this time on, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Only replies up to this time.
    pub until_ms: Option<i64>,
}

/// What replies cost at list prices.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CostAnswer {
    /// Whose prices.
    pub list: String,
    /// All of them.
    pub total: CostRow,
    /// The rows, the dearest first.
    pub rows: Vec<CostRow>,
    /// What the list does not have of what the replies were billed for.
    pub unlisted: Vec<UnlistedCount>,
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
    fn of((what, count): (Unlisted, u64)) -> Self {
        let name = match what {
            Unlisted::Way(what, word) => format!("{what} {word}"),
            Unlisted::Count(name) => name,
        };
        Self { name, count }
    }
}

/// What some replies cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CostRow {
    /// What they have in common: a session's ref, a model, a directory, a message's commit. Empty where none is known.
    pub name: String,
    /// How many replies; of a message, in how many requests it was sent.
    pub replies: u64,
    /// How many of them have no price. They are not in the sum.
    pub unpriced: u64,
    /// In US dollars.
    pub dollars: f64,
    /// What was counted.
    pub counted: Counted,
}

impl CostRow {
    fn of(name: String, bill: &Bill) -> Self {
        Self {
            name,
            replies: bill.replies,
            unpriced: bill.unpriced,
            dollars: bill.dollars,
            counted: bill.usage.into(),
        }
    }

    fn shared(name: String, share: &BillShare) -> Self {
        Self {
            name,
            replies: share.requests(),
            unpriced: share.unpriced(),
            dollars: share.dollars(),
            counted: share.usage().into(),
        }
    }

    fn of_share(bearer: Bearer, share: &BillShare) -> Self {
        let name = match bearer {
            Bearer::Tool(name) => name,
            Bearer::Messages => OTHERS.to_owned(),
            Bearer::Rest => REST.to_owned(),
        };
        Self::shared(name, share)
    }
}

impl Method for CostParams {
    const NAME: &'static str = "cost";
    const ABOUT: &'static str = "Says what replies cost at list prices, by session, model, directory, project, client, tool or message.";
    const CHANGES: bool = false;
    type Answer = CostAnswer;

    fn act(self, at: &mut At<'_>) -> Result<CostAnswer, ApiError> {
        let tip = self.rev.as_deref().map(|rev| at.resolve(Some(rev)));
        let tip = tip.transpose()?;
        let prices = prices(at.repo)?;
        let is_wanted = |reply: &BilledReply| {
            let is_after = |since| reply.time.is_some_and(|time| time.0 >= since);
            let is_before = |until| reply.time.is_some_and(|time| time.0 <= until);
            self.since_ms.is_none_or(is_after) && self.until_ms.is_none_or(is_before)
        };
        let (mut rows, replies) = if matches!(self.by, CostBy::Message | CostBy::Tool) {
            let encoding = at.encoding()?;
            let shares = at
                .repo
                .shares(tip.as_ref(), &prices, encoding, &is_wanted)?;
            let rows: Vec<CostRow> = if self.by == CostBy::Tool {
                let tools = at.repo.shares_by_tool(&shares, encoding)?.into_iter();
                tools
                    .map(|(bearer, (_, share))| CostRow::of_share(bearer, &share))
                    .collect()
            } else {
                let own = shares.messages.iter();
                let own = own.map(|one| CostRow::shared(one.entry.to_string(), &one.share));
                own.chain([CostRow::shared(REST.to_owned(), &shares.rest)])
                    .collect()
            };
            (rows, shares.replies)
        } else {
            let mut replies = at.repo.billed(tip.as_ref(), &prices)?;
            replies.retain(is_wanted);
            let directories = replies
                .iter()
                .filter_map(|reply| reply.directory.as_deref());
            let projects = match self.by {
                CostBy::Project => projects_of(directories),
                _ => HashMap::new(),
            };
            let rows = match self.by {
                CostBy::Model => {
                    bills_by_model(&replies, |model| model.unwrap_or_default().to_owned())
                }
                by => bills(&replies, |reply| word(reply, by, &projects)),
            };
            let rows = rows
                .into_iter()
                .map(|(name, bill)| CostRow::of(name, &bill));
            (rows.collect::<Vec<_>>(), replies)
        };
        // Nobody says when they were made, or behind which reply.
        let is_all = tip.is_none() && self.since_ms.is_none() && self.until_ms.is_none();
        let others = match is_all {
            true => at.repo.other_requests(&replies, &prices)?,
            false => Bill::default(),
        };
        let mut total = Bill::of(&replies);
        total.plus(&others);
        if others != Bill::default() {
            rows.push(CostRow::of(OTHER_REQUESTS.to_owned(), &others));
        }
        rows.sort_by(|a, b| b.dollars.total_cmp(&a.dollars));
        Ok(CostAnswer {
            list: price_list(at.repo)?,
            total: CostRow::of("total".to_owned(), &total),
            rows,
            unlisted: unlisted(&replies, &prices)
                .into_iter()
                .map(UnlistedCount::of)
                .collect(),
        })
    }
}

/// What a reply has in common with others.
fn word(reply: &BilledReply, by: CostBy, projects: &HashMap<String, String>) -> String {
    let session = reply.session.as_ref().and_then(RefName::as_session);
    let word = match by {
        CostBy::Session | CostBy::Message | CostBy::Tool => session.map(|(tool, id)| {
            // A sub-agent counts with who started it.
            let root = id.split('/').next().unwrap_or(id);
            format!("{}{tool}/{root}", RefName::SESSIONS)
        }),
        CostBy::Model => reply.model.clone(),
        CostBy::Directory => reply.directory.clone(),
        CostBy::Project => reply
            .directory
            .as_ref()
            .and_then(|it| projects.get(it).cloned()),
        CostBy::Client => session.map(|(tool, _)| tool.to_owned()),
    };
    word.unwrap_or_default()
}
