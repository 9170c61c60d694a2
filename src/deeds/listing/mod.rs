//! Where one is, what there was, and what a model would be sent.

mod find;
mod log;
mod reflog;
mod show;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use find::{FindAnswer, FindParams, Finds, FoundBeside, FoundMessage};
pub use log::{ListedRequest, LogAnswer, LogParams};
pub use reflog::{ReflogAnswer, ReflogMove, ReflogParams, Reflogged};
pub use show::{
    ChangedSince, CommitPiece, CommitWhole, HiddenPart, PriorityChange, ShowAnswer, ShowParams,
    SourceRecords, StillCovered, WrittenMedia,
};

use super::cost::{CacheState, cache_state};
use super::facts::{ContextMessage, Position, Tokens};
use super::{ApiError, At, Method};
use crate::ingest;
use crate::model::call;
use crate::model::pattern::Pattern;
use crate::model::{HideKind, Priority};

/// Nothing is asked.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusParams {}

/// Where one is, and how full the context is.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// Where HEAD, or the branch that is meant, stands.
    pub position: Position,
    /// Visible messages.
    pub messages: u64,
    /// Hidden messages.
    pub hidden: u64,
    /// The active hides of each kind that has any.
    pub hides: Vec<(&'static str, u32)>,
    /// The context's tokens, by tract's own count.
    pub tokens: Tokens,
    /// The least and the most that it may have by the provider's count, where replies tell that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_tokens: Option<(u64, u64)>,
    /// The budget (`budget.max`), in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// The tokens of each role that speaks; what a client says in the user's name is `injected`.
    pub by_role: Vec<(&'static str, u64)>,
    /// The largest message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<LargestMessage>,
    /// The session that this history came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionFacts>,
    /// How many messages of that session came in after the branch left it.
    pub session_new: u64,
    /// Whether the provider's cache still has the context, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheState>,
    /// What is merged there and has conflicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merging: Option<String>,
}

/// The largest message of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LargestMessage {
    /// Its number among the visible ones, from 1.
    pub number: usize,
    /// Who speaks.
    pub role: &'static str,
    /// Its tokens.
    pub tokens: Tokens,
    /// One line of it. What somebody else wrote: escape it before it is shown.
    pub preview: String,
    /// The tool calls that it answers, in a line; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

/// What is known of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionFacts {
    /// Its ref.
    pub name: String,
    /// Its title. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The working directory that it ran in; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// What its file lacks of what the model was sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
}

impl Method for StatusParams {
    const NAME: &'static str = "status";
    const ABOUT: &'static str = "Says where HEAD is and how full the context is.";
    const CHANGES: bool = false;
    type Answer = StatusAnswer;

    fn act(self, at: &mut At<'_>) -> Result<StatusAnswer, ApiError> {
        let status = at.repo.status(&at.on, at.encoding()?)?;
        let counted = status.provider.count().is_some();
        let cache = match status.head.commit() {
            Some(tip) => cache_state(at, &tip)?,
            None => None,
        };
        let hides = HideKind::ALL.into_iter().zip(status.summary.hides);
        let hides = hides.filter(|(_, count)| *count > 0);
        let by_role = status
            .by_role
            .iter()
            .map(|(role, count)| (role.as_str(), *count));
        let injected = status.summary.injected;
        let injected = (injected > 0).then_some(("injected", injected));
        Ok(StatusAnswer {
            position: (&status.head).into(),
            messages: status.summary.total.messages,
            hidden: status.summary.hidden,
            hides: hides.map(|(kind, count)| (kind.as_str(), count)).collect(),
            tokens: status.total.into(),
            provider_tokens: counted.then(|| status.provider.range(status.total)),
            budget: status.budget,
            by_role: by_role.chain(injected).collect(),
            largest: status.largest.map(|it| LargestMessage {
                number: it.number,
                role: it.role.as_str(),
                tokens: it.tokens.into(),
                preview: it.preview,
                answers: it.call,
            }),
            session: status.session.map(|(name, session)| SessionFacts {
                name: name.to_string(),
                title: session.title,
                directory: session.cwd,
                absent: session.absent,
            }),
            session_new: status.session_new,
            cache,
            merging: at.repo.merge_under_way(&at.on)?.map(|it| it.name),
        })
    }
}

/// How many are listed unless somebody says.
const LISTED: usize = 20;

/// A text as it is, or a regular expression.
fn pattern(text: &str, is_regex: bool) -> crate::Result<Pattern> {
    match is_regex {
        true => Pattern::regex(text),
        false => Pattern::text(text),
    }
}

/// Refuses the first option that is given beside another.
fn alone(what: &str, others: &[(&str, bool)]) -> Result<(), ApiError> {
    match others.iter().find(|(_, is_given)| *is_given) {
        Some((other, _)) => Err(ApiError::params(format!("'{what}' or '{other}', not both"))),
        None => Ok(()),
    }
}

/// The operations that a list can be of, beside kinds of hides and their commands.
const OPERATIONS: [&str; 6] = ["append", "edit", "hide", "restore", "annotate", "move"];

/// Refuses a word that no operation or kind of hide goes by.
fn known_operations(words: &[String]) -> Result<(), ApiError> {
    let commands = HideKind::ALL.map(HideKind::verb);
    let kinds = HideKind::ALL.map(HideKind::as_str);
    let all = [&OPERATIONS[..], &commands, &kinds].concat();
    match words.iter().find(|word| !all.contains(&word.as_str())) {
        None => Ok(()),
        Some(wrong) => {
            let fault = ApiError::params(format!("unknown operation '{wrong}'"));
            Err(fault.with_hint([&OPERATIONS[..], &commands].concat().join(", ")))
        }
    }
}

/// Which context, and which of its messages.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ContextParams {
    /// The commit whose context it is; HEAD's unless given.
    pub rev: Option<String>,
    /// From this message on, counted from 1; from the end, if negative. All unless given.
    pub from: Option<i64>,
    /// At most so many messages.
    pub limit: Option<usize>,
}

/// The visible messages at a commit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ContextAnswer {
    /// The commit; none: there is none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// How many visible messages there are, with those that are not in this answer.
    pub total: usize,
    /// The messages that were asked for, in their order.
    pub messages: Vec<ContextMessage>,
    /// The request settings in force.
    #[serde(skip_serializing_if = "super::JsonSettings::is_empty")]
    pub settings: super::JsonSettings,
}

impl Method for ContextParams {
    const NAME: &'static str = "context";
    const ABOUT: &'static str = "Gives the messages that a model would be sent, in order.";
    const CHANGES: bool = false;
    type Answer = ContextAnswer;

    fn act(self, at: &mut At<'_>) -> Result<ContextAnswer, ApiError> {
        let commit = match &self.rev {
            Some(rev) => Some(at.resolve(Some(rev))?),
            None => at.repo.head(&at.on)?.commit(),
        };
        let Some(commit) = commit else {
            return Ok(ContextAnswer {
                commit: None,
                total: 0,
                messages: Vec::new(),
                settings: super::JsonSettings::new(),
            });
        };
        let mut context = at.repo.context(&commit)?;
        let settings = super::facts::settings(&at.repo.settings(&context)?);
        let total = context.entries.len();
        let from = match self.from {
            None | Some(0) => 0,
            Some(from) if from > 0 => (from as usize - 1).min(total),
            Some(from) => total.saturating_sub(from.unsigned_abs() as usize),
        };
        let upto = self
            .limit
            .map_or(total, |limit| from.saturating_add(limit).min(total));
        context.entries = context.entries.slice(from..upto);
        let counts = at.repo.counts(&context, at.encoding()?)?;
        let messages = at.repo.messages(&context)?;
        let entries = context.entries.iter().zip(counts).zip(messages).enumerate();
        let messages = entries.map(|(at, ((entry, count), message))| ContextMessage {
            number: from + at + 1,
            id: entry.id.to_string(),
            tokens: count.into(),
            priority: (entry.priority != Priority::Normal).then(|| entry.priority.as_str()),
            placed: entry.placed.map(HideKind::as_str),
            edited: entry.edited,
            masked: !entry.mask.is_empty(),
            message,
        });
        Ok(ContextAnswer {
            commit: Some(commit.to_string()),
            total,
            messages: messages.collect(),
            settings,
        })
    }
}

/// Which sessions.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SessionsParams {
    /// Only those that ran in this directory or below it: by its path, or by its own name, as lists show it.
    pub directory: Option<String>,
}

/// Sessions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SessionsAnswer {
    /// Those that came in, by their refs' names.
    pub sessions: Vec<SessionHere>,
}

/// A session that came in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionHere {
    /// Its ref, which is a revision.
    pub name: String,
    /// The working directory that it ran in. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Whether its file is gone.
    pub is_gone: bool,
}

impl Method for SessionsParams {
    const NAME: &'static str = "sessions";
    const ABOUT: &'static str = "Lists the sessions that were imported.";
    const CHANGES: bool = false;
    type Answer = SessionsAnswer;

    fn act(self, at: &mut At<'_>) -> Result<SessionsAnswer, ApiError> {
        let mut held = ingest::held(at.repo)?;
        if let Some(directory) = &self.directory {
            let directory = at.repo.directory_named(directory, Path::new(""))?;
            held.retain(|session| {
                let cwd = session.cwd.as_deref();
                cwd.is_some_and(|cwd| call::is_below(cwd, &directory))
            });
        }
        let sessions = held.into_iter().map(|session| SessionHere {
            name: session.name.to_string(),
            directory: session.cwd,
            is_gone: session.is_gone,
        });
        Ok(SessionsAnswer {
            sessions: sessions.collect(),
        })
    }
}
