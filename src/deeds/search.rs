//! Messages found by their text, hidden ones among them.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::at::still;
use super::listing::pattern;
use super::{ApiError, At, Method, WorkProgress};
use crate::model::query::Query;
use crate::model::{Millis, Role};
use crate::query::{FindProgress, Found, HiddenBy, RankedQuery, SearchOptions};

/// What to find: one of `query`, `text`, `regex`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FindParams {
    /// Words in any order and form; the best answer comes first. `"words in quotes"` stand like that, `word*` begins so,
    /// what has `-word` in it is left out.
    pub query: Option<String>,
    /// A text as it is, whatever its case; the newest message comes first, and none that has it is missed.
    pub text: Option<String>,
    /// A regular expression, in place of the text.
    pub regex: Option<String>,
    /// Only in the history of this commit; in that of every branch, tag and session unless given.
    pub rev: Option<String>,
    /// Only in this session and its sub-agents, and on branches that came from them: any name that lists show.
    pub session: Option<String>,
    /// Only where the session ran in this directory or below it.
    pub directory: Option<String>,
    /// Only calls that name this file, or the end of its path, and their results.
    pub path: Option<String>,
    /// Only what is hidden.
    pub hidden: bool,
    /// How many of the best answers to a query to pass over.
    pub offset: usize,
    /// Only messages of this role.
    pub role: Option<String>,
    /// Only calls of this tool and their results.
    pub tool: Option<String>,
    /// Only from this time on, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Only up to this time.
    pub until_ms: Option<i64>,
    /// At most so many messages; 20 unless given, 0: all.
    pub limit: Option<usize>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FindAnswer {
    /// The messages.
    pub found: Vec<FoundMessage>,
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundMessage {
    /// The commit that brought the text: a revision for `show`, `pick` and `restore`.
    pub commit: String,
    /// The message's name.
    pub id: String,
    /// When, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// Who speaks.
    pub role: &'static str,
    /// The branch, tag or session that it was found on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Its number among the visible messages there, from 1; none if it is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// Why the text is not in the context there: the kind of a hide, part, edit, skip or restore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_by: Option<&'static str>,
    /// Whether it only repeats what tract told an agent; such answers come last.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
    /// The title of the session that it stands in. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The lines that match, in order; of a query, the best ones. What somebody else wrote: escape it before it is shown.
    pub lines: Vec<String>,
}

/// How many are found unless somebody says.
const FOUND: usize = 20;

impl FoundMessage {
    fn of(found: &Found) -> Self {
        Self {
            commit: found.hash.to_string(),
            id: found.entry.to_string(),
            time_ms: found.commit.time.map(|time| time.0),
            role: found.role.as_str(),
            branch: found.branch.as_ref().map(ToString::to_string),
            number: found.number,
            hidden_by: found.hidden_by.map(|why| match why {
                HiddenBy::Hide { kind, .. } => kind.as_str(),
                HiddenBy::Part => "part",
                HiddenBy::Edit => "edit",
                HiddenBy::Skip => "skip",
                HiddenBy::Restore => "restore",
            }),
            is_own: found.is_own,
            title: found.session.title.clone(),
            lines: found.lines.iter().map(|line| line.text.clone()).collect(),
        }
    }
}

impl Method for FindParams {
    const NAME: &'static str = "find";
    const ABOUT: &'static str = "Finds messages over all history, hidden ones included: by words, the best first; or by a text or regular expression, the newest first.";
    const CHANGES: bool = false;
    type Answer = FindAnswer;

    fn act(self, at: &mut At<'_>) -> Result<FindAnswer, ApiError> {
        let within = self.rev.as_deref().map(|rev| at.resolve(Some(rev)));
        let session = self.session.as_deref();
        let session = session.map(|name| at.repo.session_named(&at.on, name));
        let directory = self.directory.as_deref();
        let directory = directory.map(|it| at.repo.directory_named(it, Path::new("")));
        let places = SearchOptions {
            within: within.transpose()?,
            session: session.transpose()?,
            directory: directory.transpose()?,
            role: self.role.as_deref().map(str::parse::<Role>).transpose()?,
            tool: self.tool,
            path: self.path,
            since: self.since_ms.map(Millis),
            until: self.until_ms.map(Millis),
            hidden: self.hidden,
            limit: self.limit.unwrap_or(FOUND),
            ..SearchOptions::of(())
        };
        let goes_on = &mut at.goes_on;
        let mut told = |progress: FindProgress| {
            let (done, total) = match progress {
                FindProgress::Indexing { bytes, total_bytes } => (bytes, total_bytes),
                FindProgress::Reading { messages, total } => (messages as u64, total as u64),
            };
            let total = Some(total);
            still(goes_on(WorkProgress { done, total }))
        };
        let (text, regex) = (self.text.as_deref(), self.regex.as_deref());
        let wanted = match (text, regex) {
            (Some(_), Some(_)) => {
                return Err(ApiError::params("a text or a regular expression, not both"));
            }
            (text, None) => text.map(|text| pattern(text, false)).transpose()?,
            (None, Some(regex)) => Some(pattern(regex, true)?),
        };
        let found = match (&self.query, wanted) {
            (Some(words), None) => {
                let asked = RankedQuery {
                    offset: self.offset,
                    ..RankedQuery::new(Query::parse(words)?)
                };
                at.repo
                    .find_ranked(&at.on, &places.clone().asking(asked), &mut told)?
            }
            (None, Some(pattern)) => {
                at.repo
                    .find_messages(&at.on, &places.clone().asking(pattern), &mut told)?
            }
            _ => return Err(ApiError::params("one of 'query', 'text', 'regex'")),
        };
        if found.is_empty() {
            at.repo.check_names(&at.on, &places)?;
        }
        Ok(FindAnswer {
            found: found.iter().map(FoundMessage::of).collect(),
        })
    }
}
