//! Where one is, what there was, and what a model would be sent.

mod diff;
mod find;
mod log;
mod reflog;
mod show;
mod status;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use diff::{
    ChangedSetting, ComparedCommits, DiffAnswer, DiffParams, FirstByte, MessageChange, SentChanges,
    SystemChange,
};
pub use find::{FindAnswer, FindParams, Finds, FoundBeside, FoundMessage, Retraction};
pub use log::{ListedRequest, LogAnswer, LogParams};
pub use reflog::{ReflogAnswer, ReflogMove, ReflogParams, Reflogged};
pub use show::{
    ChangedSince, CommitPiece, CommitWhole, HiddenPart, PriorityChange, ShowAnswer, ShowParams,
    SourceRecords, StillCovered, WrittenMedia,
};
pub use status::{
    Filling, LargestMessage, RunningFacts, SessionFacts, StatusAnswer, StatusParams, UnreadFacts,
    UpstreamFacts, prunes,
};

use super::facts::ContextMessage;
use super::{ApiError, At, Method};
use crate::ingest;
use crate::model::call;
use crate::model::pattern::Pattern;
use crate::model::{HideKind, Priority};

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

/// `KEY` or `KEY=VALUE`.
fn named_setting(typed: &str) -> (String, Option<String>) {
    match typed.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (typed.to_owned(), None),
    }
}

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
    /// Whether an agent of another session did it: it is counted with that one.
    pub is_agents: bool,
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
            is_agents: session.is_agents,
        });
        Ok(SessionsAnswer {
            sessions: sessions.collect(),
        })
    }
}
