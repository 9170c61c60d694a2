//! The commits of a path; what its calls did to files; and which requests its client sent.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LISTED, alone, known_operations, named_setting, pattern};
use crate::deeds::{
    ApiError, At, Deed, EditedFileFacts, FileEditFacts, LogEntry, Method, Spelled, WrittenTime,
    file_edits, problem,
};
use crate::hash::CommitHash;
use crate::model::{Priority, Speaker};
use crate::query::{EditedFile, FileEditOptions, LogOptions, requests_on};
use crate::render::calendar::Edge;

/// List commits, newest first
///
/// Each has what it did to the context. `role`, `tool` and `grep` select messages that a commit brings in: appended,
/// edited, or put in place of what it hides. A message must match all of them. `file` and `files` list edits of files
/// instead, and `requests` what the client sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct LogParams {
    /// Where to begin, instead of HEAD; A..B: the commits from A to B; :3..5: those from message 3 to 5
    #[cfg_attr(
        feature = "cli",
        arg(value_name = "REV|A..B", allow_negative_numbers = true)
    )]
    pub rev: Option<String>,
    /// At most N; by default 20, with `files` all; 0: all
    #[cfg_attr(feature = "cli", arg(short = 'n', long, value_name = "N"))]
    pub limit: Option<usize>,
    /// Only these: append, edit, hide, restore, annotate, or a kind of hide as listed
    #[cfg_attr(feature = "cli", arg(long, value_name = "LIST", value_delimiter = ','))]
    pub op: Vec<String>,
    /// Only messages of this role; `user` leaves out what a client says in the user's name, which `injected` selects
    #[cfg_attr(feature = "cli", arg(long, value_name = "ROLE"))]
    pub role: Option<String>,
    /// Only what the user typed: no reminders, notices or echoes of commands
    #[cfg_attr(feature = "cli", arg(long))]
    pub prompts: bool,
    /// Only calls of this tool, and their results
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub tool: Option<String>,
    /// Only messages with this text in them, whatever its case
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub grep: Option<String>,
    /// The text of `grep` is a regular expression
    #[cfg_attr(feature = "cli", arg(short = 'E', long, requires = "grep"))]
    pub regex: bool,
    /// Only from then on: a date, or an age such as 3w or '2 days ago'
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHEN"))]
    pub since: Option<Spelled<WrittenTime>>,
    /// Only up to then
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHEN"))]
    pub until: Option<Spelled<WrittenTime>>,
    /// Only commits whose author has this in their name, program or run, whatever its case
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub author: Option<String>,
    /// Only commits with a note that has this in it, whatever its case
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub note: Option<String>,
    /// Only replies of a model with this in its name, whatever its case
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub model: Option<String>,
    /// Only commits that set this: a request setting, or KEY=VALUE
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEY"))]
    pub setting: Option<String>,
    /// Only messages that are pinned
    #[cfg_attr(feature = "cli", arg(long))]
    pub pinned: bool,
    /// Only what started agents and shells in the background that have no end in the session
    #[cfg_attr(feature = "cli", arg(long))]
    pub running: bool,
    /// Oldest first
    #[cfg_attr(feature = "cli", arg(long))]
    pub reverse: bool,
    /// Each edit of this file, by its path or the end of it
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "PATH", conflicts_with_all = ["op", "role", "prompts", "tool", "grep", "author", "note", "model", "setting", "pinned", "running"])
    )]
    pub file: Option<String>,
    /// The files that were edited, and how many lines came and went
    #[cfg_attr(
        feature = "cli",
        arg(long, conflicts_with_all = ["file", "op", "role", "prompts", "tool", "grep", "author", "note", "model", "setting", "pinned", "running"])
    )]
    pub files: bool,
    /// The requests that the client sent, newest first
    #[cfg_attr(
        feature = "cli",
        arg(long, conflicts_with_all = [
            "file", "files", "op", "role", "prompts", "tool", "grep", "author", "note", "model", "setting", "pinned", "running", "since", "until",
        ])
    )]
    pub requests: bool,
}

/// Commits, or what was asked for instead, newest first unless `reverse` is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LogAnswer {
    /// The commits.
    pub commits: Vec<LogEntry>,
    /// With `file` and `files` the edits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<FileEditFacts>,
    /// With `file` and `files` what these edits come to, by file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<EditedFileFacts>,
    /// With `requests` what the client sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<ListedRequest>,
    /// What is wrong with the records of requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Whether there are older ones.
    pub more: bool,
    /// With `prompts` or the role `user`: how many prompts are on paths that merges brought in, and so are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_prompts: Option<usize>,
}

/// A request that a client recorded. What others wrote: escape it before it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedRequest {
    /// Its id in the session's file.
    pub id: String,
    /// When it was sent, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many messages it has.
    pub messages: u64,
    /// How many of them the request before it did not have.
    pub added: u64,
    /// What of the client asked, in the client's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// Whether it was answered, here or on another path.
    pub is_answered: bool,
    /// The commit that answered it on this path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
}

/// The only commits of a path that are listed, if not all are, and those of other paths.
type Listed = (Option<HashSet<CommitHash>>, Vec<CommitHash>);

impl LogParams {
    /// Whether it is of commits, and not of what they did to files or what was sent.
    pub const fn is_of_commits(&self) -> bool {
        self.file.is_none() && !self.files && !self.requests
    }

    /// What narrows the list of commits, and whether that is given.
    pub fn filters(&self) -> [(&'static str, bool); 11] {
        [
            ("op", !self.op.is_empty()),
            ("role", self.role.is_some()),
            ("prompts", self.prompts),
            ("tool", self.tool.is_some()),
            ("grep", self.grep.is_some()),
            ("author", self.author.is_some()),
            ("note", self.note.is_some()),
            ("model", self.model.is_some()),
            ("setting", self.setting.is_some()),
            ("pinned", self.pinned),
            ("running", self.running),
        ]
    }

    /// The commit that it starts at, and which commits it lists.
    ///
    /// # Errors
    ///
    /// Where a name or a time is none.
    pub fn commits(&self, at: &At<'_>) -> Result<(CommitHash, LogOptions), ApiError> {
        known_operations(&self.op)?;
        let (tip, until) = self.range(at)?;
        let grep = self.grep.as_deref();
        let pattern = grep.map(|text| pattern(text, self.regex)).transpose()?;
        let (only, beside) = self.only(at, &tip)?;
        let options = LogOptions {
            limit: self.limit.unwrap_or(LISTED),
            until,
            operations: self.op.clone(),
            role: self
                .role
                .as_deref()
                .map(str::parse::<Speaker>)
                .transpose()?,
            prompts: self.prompts,
            tool: self.tool.clone(),
            since: at.moment(self.since.as_ref(), Edge::Start)?,
            up_to: at.moment(self.until.as_ref(), Edge::End)?,
            author: self.author.clone(),
            note: self.note.clone(),
            setting: self.setting.as_deref().map(named_setting),
            only,
            beside,
            pattern,
            encoding: at.encoding()?,
            parts: false,
            numbers: true,
        };
        Ok((tip, options))
    }

    /// The commits that are listed alone: those that started what runs still, those of pinned messages, and replies of a
    /// model. Behind them those of sub-agents that started something, the newest last.
    fn only(&self, at: &At<'_>, tip: &CommitHash) -> Result<Listed, ApiError> {
        let mut only: Option<HashSet<CommitHash>> = None;
        let mut beside = Vec::new();
        let mut narrow = |found: HashSet<CommitHash>| {
            only = Some(match only.take() {
                Some(only) => &only & &found,
                None => found,
            });
        };
        if self.running {
            let running = at.repo.running(tip)?;
            let of_agents = running.iter().filter(|work| work.agent.is_some());
            beside = of_agents.map(|work| work.entry.commit).collect();
            beside.dedup();
            narrow(running.iter().map(|work| work.entry.commit).collect());
        }
        if self.pinned {
            let context = at.repo.context(tip)?;
            let pinned = context.entries.iter();
            let pinned = pinned.filter(|entry| entry.priority == Priority::Pinned);
            narrow(pinned.map(|entry| entry.id.commit).collect());
        }
        if let Some(model) = &self.model {
            narrow(at.repo.replies_of_model(tip, model)?);
        }
        if self.pinned || self.model.is_some() {
            beside.clear();
        }
        Ok((only, beside))
    }

    fn range(&self, at: &At<'_>) -> Result<(CommitHash, Option<CommitHash>), ApiError> {
        let rev = self.rev.as_deref().unwrap_or("HEAD");
        let Some(messages) = at.messages_of(rev)? else {
            return Ok(at.repo.resolve_range(&at.on, rev)?);
        };
        let commits = messages.map(|message| at.repo.resolve(&at.on, &message));
        let commits: Vec<CommitHash> = commits.collect::<crate::Result<_>>()?;
        Ok(at.repo.span_of(&commits)?)
    }

    fn of_commits(&self, at: &At<'_>) -> Result<LogAnswer, ApiError> {
        let (tip, options) = self.commits(at)?;
        let rows = at.repo.log(&tip, &options)?;
        if rows.is_empty() {
            at.repo.check_names_of_log(&at.on, &tip, &options)?;
        }
        let before = rows.last().and_then(|oldest| oldest.commit.parent);
        let more = options.leaves_out(rows.len(), before);
        let merged = at.repo.count_merged_prompts(&tip, &options)?;
        Ok(LogAnswer {
            commits: rows.iter().map(LogEntry::of).collect(),
            more,
            merged_prompts: (merged > 0).then_some(merged),
            ..LogAnswer::default()
        })
    }

    fn of_files(&self, at: &At<'_>) -> Result<LogAnswer, ApiError> {
        let (tip, until) = self.range(at)?;
        let options = FileEditOptions {
            path: self.file.clone(),
            until,
            limit: self.limit.unwrap_or(if self.files { 0 } else { LISTED }),
            since: at.moment(self.since.as_ref(), Edge::Start)?,
            up_to: at.moment(self.until.as_ref(), Edge::End)?,
        };
        let (rows, more) = file_edits(at.repo, &tip, &options)?;
        Ok(LogAnswer {
            edits: rows.iter().map(Into::into).collect(),
            files: EditedFile::of(&rows).iter().map(Into::into).collect(),
            more,
            ..LogAnswer::default()
        })
    }

    fn of_requests(&self, at: &At<'_>) -> Result<LogAnswer, ApiError> {
        let (tip, _) = self.range(at)?;
        let Some(on) = requests_on(at.repo, &tip)? else {
            return Ok(LogAnswer::default());
        };
        let most = match self.limit.unwrap_or(LISTED) {
            0 => usize::MAX,
            limit => limit,
        };
        let requests = on.found.requests.iter().rev().take(most);
        let requests = requests.map(|sent| ListedRequest {
            id: sent.id.clone(),
            time_ms: sent.time.map(|time| time.0),
            model: sent.model.clone(),
            messages: sent.messages,
            added: sent.messages.saturating_sub(sent.shared),
            asked_by: sent.asked_by.clone(),
            is_answered: sent.reply.is_some(),
            reply: on.replies.get(&sent.id).map(ToString::to_string),
        });
        Ok(LogAnswer {
            requests: requests.collect(),
            problems: on.found.problems.iter().map(problem).collect(),
            more: on.found.requests.len() > most,
            ..LogAnswer::default()
        })
    }
}

impl Method for LogParams {
    const NAME: &'static str = "log";
    const CHANGES: bool = false;
    type Answer = LogAnswer;

    fn check(&self) -> Result<(), ApiError> {
        if self.regex && self.grep.is_none() {
            return Err(ApiError::params("'regex' says how 'grep' is read"));
        }
        let of_commits = self.filters();
        let of_edits = [
            ("file", self.file.is_some()),
            ("files", self.files),
            ("since", self.since.is_some()),
            ("until", self.until.is_some()),
        ];
        if self.file.is_some() {
            alone("file", &of_commits)?;
            alone("file", &of_edits[1..2])?;
        }
        if self.files {
            alone("files", &of_commits)?;
        }
        if self.requests {
            alone("requests", &of_commits)?;
            alone("requests", &of_edits)?;
        }
        Ok(())
    }

    fn act(self, at: &mut At<'_>) -> Result<LogAnswer, ApiError> {
        let mut answer = match (self.requests, self.is_of_commits()) {
            (true, _) => self.of_requests(at)?,
            (_, true) => self.of_commits(at)?,
            (_, false) => self.of_files(at)?,
        };
        if self.reverse {
            answer.commits.reverse();
            answer.edits.reverse();
            answer.requests.reverse();
        }
        Ok(answer)
    }
}

impl Deed for LogParams {
    const PLACES: &'static [&'static str] = &["rev"];
    const SHORT: &'static [(&'static str, &'static str)] = &[("limit", "-n"), ("regex", "-E")];
}
