//! Messages found by their text, hidden ones among them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LISTED, alone, known_operations, named_setting, pattern};
use crate::deeds::advice::Exit;
use crate::deeds::at::still;
use crate::deeds::{ApiError, At, Deed, Method, Spelled, WorkProgress, WrittenTime};
use crate::error::Error;
use crate::model::pattern::Pattern;
use crate::model::query::Query;
use crate::model::{EntryId, Operation, Speaker};
use crate::query::{
    AlikeQuery, FindProgress, Found, HiddenBy, Neighbour, RankedQuery, SearchOptions, TakenBack,
};
use crate::render::calendar::Edge;
use crate::repo::Repo;

/// How many lines are told of a message that is found by what it means.
const LINES_ALIKE: usize = 5;
/// How many letters a word has at least that is searched for as it is where no message has it as a word.
const LEAST_ALONE: usize = 3;

/// Search all messages, hidden ones too
///
/// Finds messages by their words, the best answer first, over the history of all branches, tags and sessions. The words
/// may stand in any order and form. "WORDS IN QUOTES" must stand like that, WORD* is any word that begins so, and what
/// has -WORD in it is left out. If no message has a single word, it is searched for as it is. With `exact` the text is
/// always searched for as it is, with `regex` as a regular expression: then no match is missed, and the newest comes
/// first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct FindParams {
    /// The words to find
    pub text: String,
    /// Only in the history of this commit or branch
    #[serde(default)]
    pub rev: Option<String>,
    /// Find TEXT as it is, letter by letter
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(short = 'F', long, conflicts_with = "regex"))]
    pub exact: bool,
    /// TEXT is a regular expression
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(short = 'E', long))]
    pub regex: bool,
    /// TEXT is a question or a sentence: find what means much the same, too, by the model that recall.model names
    #[serde(default)]
    #[cfg_attr(
        feature = "cli",
        arg(long, conflicts_with_all = ["exact", "regex"])
    )]
    pub like: bool,
    /// Show N messages before and after each
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(short = 'C', long, value_name = "N"))]
    pub context: Option<usize>,
    /// Only what is hidden
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub hidden: bool,
    /// Only in this session and its sub-agents: its id or the beginning of it, or a branch of it
    #[serde(default)]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "NAME", conflicts_with = "rev")
    )]
    pub session: Option<String>,
    /// Only in sessions that ran in this directory or below it
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, conflicts_with_all = ["rev", "directory"]))]
    pub here: bool,
    /// Only in sessions that ran in DIR or below it: a path, or the name that lists show
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR", conflicts_with = "rev"))]
    pub directory: Option<String>,
    /// Only messages of this role; `user` leaves out what a client says in the user's name, which `injected` selects
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "ROLE"))]
    pub role: Option<String>,
    /// Only what these brought: append, edit, hide, or a kind of hide as log lists it
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "LIST", value_delimiter = ','))]
    pub op: Vec<String>,
    /// Only calls of this tool, and their results
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub tool: Option<String>,
    /// Only calls that name this file, or the end of its path, and their results
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub path: Option<String>,
    /// Only messages of commits with a note that has this in it, whatever its case
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub note: Option<String>,
    /// Only replies of a model with this in its name, whatever its case
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub model: Option<String>,
    /// Only messages of commits that set this: a request setting, or KEY=VALUE
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEY"))]
    pub setting: Option<String>,
    /// Only from then on: a date, or an age such as 3w
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHEN"))]
    pub since: Option<Spelled<WrittenTime>>,
    /// Only up to then
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHEN"))]
    pub until: Option<Spelled<WrittenTime>>,
    /// At most N messages; by default 20; 0: all
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(short = 'n', long, value_name = "N"))]
    pub limit: Option<usize>,
    /// Pass over the first N answers
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub offset: Option<usize>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FindAnswer {
    /// The messages.
    pub found: Vec<FoundMessage>,
    /// Whether there are more: worse answers, or with `exact` and `regex` older ones.
    pub more: bool,
    /// Whether the text was searched for as it is, so that the newest comes first: with `exact`, and where no message has
    /// the one word that was asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
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
    /// Whether a client says it in the user's name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub injected: bool,
    /// The branch, tag or session that it was found on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Its number among the visible messages there, from 1; none if it is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// Why the text is not in the context there: the kind of a hide, part, edit, skip or restore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_by: Option<&'static str>,
    /// The commit that hides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hide: Option<String>,
    /// That it was taken back: by a rewind, a drop, a skip or an edit. Such answers of a ranked search come last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<Retraction>,
    /// What the commit does, where it does not append: edit, or the kind of a hide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<&'static str>,
    /// The tool calls that the message answers, in a line. What somebody else wrote: escape it before it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// Whether it only repeats what tract, or another memory, told an agent; such answers come last.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
    /// The session that it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The directory that the session ran in. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The session that it went on from, or was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub went_on_from: Option<String>,
    /// The title of the session that it stands in. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The lines that match, in order; of a query, the best ones. What somebody else wrote: escape it before it is shown.
    pub lines: Vec<String>,
    /// With `context` the messages before it, oldest first, hidden ones included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<FoundBeside>,
    /// With `context` the messages after it, likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<FoundBeside>,
}

/// That a text was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Retraction {
    /// When, in milliseconds since 1970, where something says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// What shows the message that was chosen instead, where there is one: of an edit its commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// One line of that. What somebody else wrote: escape it before it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

impl From<&TakenBack> for Retraction {
    fn from(one: &TakenBack) -> Self {
        let instead = one.instead.as_ref();
        Self {
            time_ms: one.time.map(|time| time.0),
            id: instead.map(|chosen| chosen.shown_by.to_string()),
            instead: instead.map(|chosen| chosen.preview.clone()),
        }
    }
}

/// A message beside one that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundBeside {
    /// Its name.
    pub id: String,
    /// Its number among the visible messages, from 1; none if it is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// Who speaks.
    pub role: &'static str,
    /// One line of it. What somebody else wrote: escape it before it is shown.
    pub preview: String,
}

impl From<&Neighbour> for FoundBeside {
    fn from(one: &Neighbour) -> Self {
        Self {
            id: one.entry.to_string(),
            number: one.number,
            role: one.role.as_str(),
            preview: one.preview.clone(),
        }
    }
}

/// What a search found, with all that is known of it.
pub struct Finds {
    /// The messages.
    pub found: Vec<Found>,
    /// Whether there are more.
    pub more: bool,
    /// Whether the text was searched for as it is.
    pub exact: bool,
}

impl Finds {
    fn facts(&self, repo: &Repo) -> crate::Result<FindAnswer> {
        let entries: Vec<EntryId> = self.found.iter().map(|one| one.entry).collect();
        let found = self.found.iter().zip(repo.calls_of(&entries)?);
        let found = found.map(|(one, answers)| FoundMessage {
            answers,
            ..one.into()
        });
        Ok(FindAnswer {
            found: found.collect(),
            more: self.more,
            exact: self.exact,
        })
    }
}

impl From<&Found> for FoundMessage {
    fn from(found: &Found) -> Self {
        let (hidden_by, hide) = match found.hidden_by {
            None => (None, None),
            Some(HiddenBy::Hide { kind, commit }) => (Some(kind.as_str()), Some(commit)),
            Some(HiddenBy::Part) => (Some("part"), None),
            Some(HiddenBy::Edit) => (Some("edit"), None),
            Some(HiddenBy::Skip) => (Some("skip"), None),
            Some(HiddenBy::Restore) => (Some("restore"), None),
        };
        let session = &found.session;
        let before = session.before.as_ref();
        Self {
            commit: found.hash.to_string(),
            id: found.entry.to_string(),
            time_ms: found.commit.time.map(|time| time.0),
            role: found.role.as_str(),
            injected: found.is_injected,
            branch: found.branch.as_ref().map(ToString::to_string),
            number: found.number,
            hidden_by,
            hide: hide.map(|hide| hide.to_string()),
            taken_back: found.taken_back.as_ref().map(Into::into),
            operation: match &found.commit.operation {
                Operation::Append { .. } => None,
                other => Some(other.verb()),
            },
            answers: None,
            is_own: found.is_own,
            session: session.name.as_ref().map(ToString::to_string),
            directory: session.directory.clone(),
            went_on_from: before.map(|(name, _)| name.to_string()),
            title: session.title.clone(),
            lines: found.lines.iter().map(|line| line.text.clone()).collect(),
            before: found.before.iter().map(Into::into).collect(),
            after: found.after.iter().map(Into::into).collect(),
        }
    }
}

impl FindParams {
    /// Whether the best answer comes first, and not the newest.
    pub const fn is_ranked(&self) -> bool {
        !self.exact && !self.regex
    }

    /// Searches; of a ranked search each message with so many lines. `told` hears how far it has come, and may end it.
    ///
    /// # Errors
    ///
    /// Where a name or a time is none, or the text is no query; where `told` ends it.
    pub fn search(
        &self,
        at: &At<'_>,
        lines: Option<usize>,
        told: &mut dyn FnMut(FindProgress) -> crate::Result<()>,
    ) -> Result<Finds, ApiError> {
        let (places, repo) = (self.places(at)?, at.repo);
        let (limit, offset) = (self.limit.unwrap_or(LISTED), self.offset.unwrap_or(0));
        // One more tells whether there are more.
        let most = if limit == 0 {
            0
        } else {
            limit.saturating_add(1)
        };
        let places = SearchOptions {
            limit: most,
            ..places
        };
        let mut exact = self.exact;
        let mut found = if self.like {
            let none = || {
                let hint = "`tract config --global recall.model FOLDER` names one: model.safetensors and tokenizer.json";
                ApiError::refused("there is no model to find meanings by").with_hint(hint)
            };
            let asked = AlikeQuery {
                text: self.text.clone(),
                model: at.host.meaning_model()?.ok_or_else(none)?,
                offset,
                lines: lines.unwrap_or(LINES_ALIKE),
            };
            repo.find_alike(&at.on, &places.clone().asking(asked), told)?
        } else if self.is_ranked() {
            let query = Query::parse(&self.text).map_err(|error| {
                ApiError::from(error).with_hint("`tract find -F TEXT` finds any text as it is")
            })?;
            let usual = RankedQuery::new(query);
            let asked = RankedQuery {
                offset,
                lines: lines.unwrap_or(usual.lines),
                ..usual
            };
            let mut ranked = |asked: RankedQuery, limit| {
                let places = SearchOptions {
                    limit,
                    ..places.clone()
                };
                repo.find_ranked(&at.on, &places.asking(asked), told)
            };
            let found = ranked(asked.clone(), most)?;
            // A page behind the last one is empty, too.
            let first = RankedQuery { offset: 0, ..asked };
            let is_none = found.is_empty() && (offset == 0 || ranked(first, 1)?.is_empty());
            match self.alone().filter(|_| is_none) {
                Some(word) => {
                    exact = true;
                    self.newest(at, &places, &pattern(word, false)?, told)?
                }
                None => found,
            }
        } else {
            self.newest(at, &places, &pattern(&self.text, self.regex)?, told)?
        };
        if found.is_empty() {
            repo.check_names(&at.on, &places)?;
        }
        let more = limit > 0 && found.len() > limit;
        if more {
            found.truncate(limit);
        }
        Ok(Finds { found, more, exact })
    }

    /// The newest messages that a pattern matches, behind those that are passed over.
    fn newest(
        &self,
        at: &At<'_>,
        places: &SearchOptions<()>,
        pattern: &Pattern,
        told: &mut dyn FnMut(FindProgress) -> crate::Result<()>,
    ) -> Result<Vec<Found>, ApiError> {
        let offset = self.offset.unwrap_or(0);
        let limit = match places.limit {
            0 => 0,
            limit => limit.saturating_add(offset),
        };
        let places = SearchOptions {
            limit,
            ..places.clone()
        };
        let found = at
            .repo
            .find_messages(&at.on, &places.asking(pattern.clone()), told)?;
        Ok(found.into_iter().skip(offset).collect())
    }

    /// The one word that is asked for, without what says that words may begin so. The index has no keys and no hashes, so of
    /// such a word it tells nothing.
    fn alone(&self) -> Option<&str> {
        let word = self.text.trim().trim_end_matches('*');
        let is_one = !word.contains(|it: char| it.is_whitespace() || it == '"');
        (is_one && word.chars().count() >= LEAST_ALONE).then_some(word)
    }

    fn places(&self, at: &At<'_>) -> Result<SearchOptions<()>, ApiError> {
        known_operations(&self.op)?;
        let within = self.rev.as_deref().map(|rev| at.resolve(Some(rev)));
        let session = self.session.as_deref();
        let session = session.map(|name| at.repo.session_named(&at.on, name));
        let directory = match &self.directory {
            Some(named) => {
                let base = at.host.directory().unwrap_or_default();
                Some(at.repo.directory_named(named, &base)?)
            }
            None if self.here => {
                let here = at.host.directory()?;
                let named = at.repo.directory_named("", &here);
                Some(named.map_err(|error| match error {
                    Error::UnknownName { .. } => {
                        let what = format!("no session here ran in {} or below it", here.display());
                        let hint = "without `--here`, all sessions are searched";
                        ApiError::refused(what).with_hint(hint)
                    }
                    error => error.into(),
                })?)
            }
            None => None,
        };
        let within = within.transpose()?;
        let commits = self.model.as_deref().map(|model| match &within {
            Some(tip) => at.repo.replies_of_model(tip, model),
            None => at.repo.all_replies_of_model(model),
        });
        Ok(SearchOptions {
            within,
            commits: commits.transpose()?.map(Arc::new),
            session: session.transpose()?,
            directory,
            role: self
                .role
                .as_deref()
                .map(str::parse::<Speaker>)
                .transpose()?,
            operations: self.op.clone(),
            tool: self.tool.clone(),
            path: self.path.clone(),
            note: self.note.clone(),
            setting: self.setting.as_deref().map(named_setting),
            since: at.moment(self.since.as_ref(), Edge::Start)?,
            until: at.moment(self.until.as_ref(), Edge::End)?,
            hidden: self.hidden,
            neighbours: self.context.unwrap_or(0),
            ..SearchOptions::of(())
        })
    }
}

impl Method for FindParams {
    const NAME: &'static str = "find";
    const CHANGES: bool = false;
    type Answer = FindAnswer;

    fn check(&self) -> Result<(), ApiError> {
        let (here, directory) = (self.here, self.directory.is_some());
        if self.rev.is_some() {
            let session = self.session.is_some();
            let places = [
                ("session", session),
                ("here", here),
                ("directory", directory),
            ];
            alone("rev", &places)?;
        }
        if here {
            alone("here", &[("directory", directory)])?;
        }
        if self.exact {
            alone("exact", &[("regex", self.regex)])?;
        }
        if self.like {
            alone("like", &[("exact", self.exact), ("regex", self.regex)])?;
        }
        Ok(())
    }

    fn exit(answer: &FindAnswer) -> Option<Exit> {
        answer.found.is_empty().then_some(Exit::NotAllowed)
    }

    fn act(self, at: &mut At<'_>) -> Result<FindAnswer, ApiError> {
        let mut goes_on = std::mem::replace(&mut at.goes_on, Box::new(|_| true));
        let mut told = |progress: FindProgress| {
            let (done, total) = match progress {
                FindProgress::Indexing { bytes, total_bytes } => (bytes, total_bytes),
                FindProgress::Reading { messages, total } => (messages as u64, total as u64),
            };
            let total = Some(total);
            still(goes_on(WorkProgress { done, total }))
        };
        Ok(self.search(at, None, &mut told)?.facts(at.repo)?)
    }
}

impl Deed for FindParams {
    const PLACES: &'static [&'static str] = &["text", "rev"];
    const SHORT: &'static [(&'static str, &'static str)] = &[
        ("exact", "-F"),
        ("regex", "-E"),
        ("context", "-C"),
        ("limit", "-n"),
    ];
}
