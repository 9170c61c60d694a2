//! What several answers say.

use schemars::JsonSchema;
use serde::Serialize;

use super::RawJson;
use crate::model::{Author, Head, Message, Operation, RefValue, TokenCount, Usage};
use crate::query::LogRow;
use crate::repo::{Touched, TouchedList};
use crate::rewrite::{Size, StillHidden, Surgery};

/// A number of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tokens {
    /// How many.
    pub tokens: u64,
    /// Whether part of it is an estimate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl From<TokenCount> for Tokens {
    fn from(count: TokenCount) -> Self {
        Self {
            tokens: count.tokens,
            estimated: count.estimated,
        }
    }
}

/// Whether a count goes without being written.
pub(super) fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

/// How large a context is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContextSize {
    /// Visible messages.
    pub messages: usize,
    /// Their tokens, framing included.
    pub tokens: Tokens,
}

impl From<Size> for ContextSize {
    fn from(size: Size) -> Self {
        Self {
            messages: size.messages,
            tokens: size.tokens.into(),
        }
    }
}

/// Where HEAD, or the branch that is meant, stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Position {
    /// The branch; none: HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit; none: the branch has no commits yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl From<&Head> for Position {
    fn from(head: &Head) -> Self {
        Self {
            branch: head.branch().map(|name| name.short().to_owned()),
            commit: head.commit().map(|commit| commit.to_string()),
        }
    }
}

/// What a ref holds: a commit's hash, or the name of the ref that it stands for.
pub fn held(value: &RefValue) -> String {
    match value {
        RefValue::Commit(commit) => commit.to_string(),
        RefValue::Symbolic(name) => name.to_string(),
    }
}

/// A commit, as a log lists it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LogEntry {
    /// Its hash, 64 hex digits.
    pub hash: String,
    /// The commit before it; none of a first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The end of the other branch that it merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
    /// The commit of another branch of which it is a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// When, in milliseconds since 1970; none where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// What it does: append, edit, hide, restore or annotate.
    pub operation: &'static str,
    /// The kind of a hide: truncation, compaction, clear, drop or prune.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Who speaks in the message that it brings or is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// Whether a client says that in the user's name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub injected: bool,
    /// One line of that message. What somebody else wrote: escape it before it is shown.
    pub preview: String,
    /// The tool calls that this message answers, in a line; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// The number of that message among the visible ones, from 1; none if it is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// The change in the context's tokens.
    pub delta_tokens: i64,
    /// The change in the number of visible messages.
    pub delta_messages: i64,
    /// The context's tokens at this commit.
    pub context_tokens: Tokens,
    /// The request settings that it sets.
    #[serde(skip_serializing_if = "super::JsonSettings::is_empty")]
    pub settings: super::JsonSettings,
    /// A remark for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who made it, where that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<AuthorFacts>,
    /// The refs that point here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<String>,
}

/// Who made a commit. What somebody else wrote: escape it before it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuthorFacts {
    /// A person, or a program in their place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The program that committed, and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// An id of what it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

impl From<&Author> for AuthorFacts {
    fn from(author: &Author) -> Self {
        Self {
            name: author.name.clone(),
            client: author.client.clone(),
            run: author.run.clone(),
        }
    }
}

impl LogEntry {
    pub(super) fn of(row: &LogRow) -> Self {
        let commit = &row.commit;
        Self {
            hash: row.hash.to_string(),
            parent: commit.parent.map(|parent| parent.to_string()),
            merged: commit.merged.map(|merged| merged.to_string()),
            origin: commit.origin.map(|origin| origin.to_string()),
            time_ms: commit.time.map(|time| time.0),
            operation: commit.operation.type_name(),
            kind: match &commit.operation {
                Operation::Hide(hide) => Some(hide.kind.as_str()),
                _ => None,
            },
            role: row.role.map(|role| role.as_str()),
            injected: row.injected,
            preview: row.preview.clone(),
            answers: row.call.clone(),
            number: row.number,
            delta_tokens: row.delta,
            delta_messages: row.messages,
            context_tokens: row.running.into(),
            settings: settings(&commit.settings),
            note: commit.note.clone(),
            author: commit.author.as_ref().map(Into::into),
            refs: row.refs.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Request settings as JSON.
pub(super) fn settings(settings: &crate::model::Settings) -> super::JsonSettings {
    let settings = settings.iter();
    settings
        .map(|(key, value)| (key.clone(), RawJson::of(value.clone())))
        .collect()
}

/// A message that a change hides, brings back or alters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TouchedMessage {
    /// Its name, for `restore`, `pick`, `show` and all that takes a revision.
    pub id: String,
    /// Its number among the visible messages, from 1: before the change; of one that comes, after it.
    pub number: usize,
    /// Who speaks.
    pub role: &'static str,
    /// One line of it. What somebody else wrote: escape it before it is shown.
    pub preview: String,
    /// Its tokens.
    pub tokens: Tokens,
}

impl TouchedMessage {
    pub(super) fn all(list: &TouchedList) -> Vec<Self> {
        Self::of(list.told())
    }

    pub(super) fn of(touched: &[Touched]) -> Vec<Self> {
        let one = |one: &Touched| Self {
            id: one.id.to_string(),
            number: one.number,
            role: one.role.as_str(),
            preview: one.preview.clone(),
            tokens: one.tokens.into(),
        };
        touched.iter().map(one).collect()
    }
}

/// What a method changed in the context or, in a dry run, would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changed {
    /// The commits that it made, oldest first; none in a dry run, or where there was nothing to do.
    pub commits: Vec<String>,
    /// The messages that went, oldest first.
    pub hidden: Vec<TouchedMessage>,
    /// The messages that came, or came back, oldest first.
    pub shown: Vec<TouchedMessage>,
    /// The messages that stay with other parts or another text.
    pub changed: Vec<TouchedMessage>,
    /// The context before.
    pub before: ContextSize,
    /// The context after.
    pub after: ContextSize,
    /// How much of the beginning stays as it is: what a provider's prompt cache can still use.
    pub kept: ContextSize,
    /// Which other hides still cover messages that a restore was to bring back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub still_hidden: Vec<StillHiddenFacts>,
    /// How many messages of a range stay beside the summary that replaces it: they are pinned, or calls and results of which
    /// the other half is outside.
    #[serde(skip_serializing_if = "is_zero")]
    pub staying: usize,
}

/// A hide because of which a restore does not bring back all that it uncovers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StillHiddenFacts {
    /// Its commit; a restore of it brings them back.
    pub by: String,
    /// Its kind.
    pub kind: &'static str,
    /// How many messages it covers.
    pub messages: usize,
}

impl From<&StillHidden> for StillHiddenFacts {
    fn from(still: &StillHidden) -> Self {
        Self {
            by: still.by.to_string(),
            kind: still.kind.verb(),
            messages: still.messages,
        }
    }
}

impl Changed {
    pub(super) fn of(surgery: &Surgery) -> Self {
        let commits = surgery.commits.iter();
        Self {
            commits: commits.map(|made| made.hash.to_string()).collect(),
            hidden: TouchedMessage::all(&surgery.hidden),
            shown: TouchedMessage::all(&surgery.shown),
            changed: TouchedMessage::all(&surgery.changed),
            before: surgery.before.into(),
            after: surgery.after.into(),
            kept: surgery.kept.into(),
            still_hidden: Vec::new(),
            staying: 0,
        }
    }
}

/// A visible message.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ContextMessage {
    /// Its number, from 1: `:N` is the revision that names it.
    pub number: usize,
    /// Its name, which stays whatever becomes of the context.
    pub id: String,
    /// Its tokens.
    pub tokens: Tokens,
    /// Its priority, where it is not normal: pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<&'static str>,
    /// The kind of hide that put it in place of others; none of an appended message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placed: Option<&'static str>,
    /// Whether it was edited.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
    /// Whether parts of it are hidden, or have a stub in their place.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
    /// The message, in the form of docs/object-format.md, "Content".
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub message: Message,
}

/// What a provider counted, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counted {
    /// All input, cached or not.
    pub input_tokens: u64,
    /// What of the input was read from the provider's cache.
    pub cached_tokens: u64,
    /// What of the input was written to it.
    pub written_tokens: u64,
    /// What of that is kept for an hour; the rest is kept for minutes.
    pub written_hour_tokens: u64,
    /// The replies, reasoning included.
    pub output_tokens: u64,
    /// What of the replies was reasoning.
    pub reasoning_tokens: u64,
}

impl Counted {
    /// Adds what was counted for another.
    pub(super) const fn plus(&mut self, other: &Self) {
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.written_tokens += other.written_tokens;
        self.written_hour_tokens += other.written_hour_tokens;
        self.output_tokens += other.output_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
    }
}

impl From<Usage> for Counted {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            cached_tokens: usage.cached_tokens,
            written_tokens: usage.written_tokens,
            written_hour_tokens: usage.written_hour_tokens,
            output_tokens: usage.output_tokens,
            reasoning_tokens: usage.reasoning_tokens,
        }
    }
}
