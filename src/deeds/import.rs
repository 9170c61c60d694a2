//! Sessions of tools, in.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ApiError, At, Method, WorkProgress};
use crate::formats::Format;
use crate::ingest::{
    self, BranchOutcome, FamilyReport, ImportRequest, ImportedSession, Outcome, Reading, Redaction,
    Waiting, adopt, called,
};
use crate::model::RefName;
use crate::model::tokens::Counter;
use crate::render::plural;
use crate::repo::On;

/// Which session, and how.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImportParams {
    /// The session's file.
    pub path: Option<String>,
    /// In place of a file: the session of this id, as a tool of this machine keeps it.
    pub session: Option<String>,
    /// Its format, instead of recognising it.
    pub format: Option<String>,
    /// The name of the branch that follows it.
    #[serde(rename = "as")]
    pub branch: Option<String>,
    /// Append what is new to this branch, after its own commits.
    pub onto: Option<String>,
    /// Write `[redacted:KIND]` in place of secrets.
    pub redact: bool,
    /// Read only what has come since the last import, where that is enough.
    pub new_only: bool,
}

/// What came in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ImportAnswer {
    /// The format.
    pub format: &'static str,
    /// The sessions in the file.
    pub sessions: Vec<ImportedFacts>,
    /// Those of their sub-agents that came in with it, from files of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<ImportedFacts>,
    /// How many problems the file has. They are no reason not to take the rest.
    pub problem_count: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// How many commits `onto` got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appended: Option<u64>,
}

/// A session that came in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedFacts {
    /// Its ref, which is a revision.
    pub name: String,
    /// How it relates to what was here: new, grown, unchanged, rewritten, or gone on elsewhere.
    pub outcome: &'static str,
    /// Its title. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its messages, hidden ones included; of a grown file, those of its end.
    pub messages: u64,
    /// Commits that were not here before.
    pub new_commits: u64,
    /// Its newest commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The branch that follows it, or that has gone its own way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether that branch is where the session is.
    pub follows: bool,
}

impl ImportAnswer {
    fn of(family: &FamilyReport) -> Self {
        let report = &family.own;
        let problem = |it: &crate::formats::Problem| format!("line {}: {}", it.line, it.reason);
        let facts = |session: &ImportedSession| ImportedFacts {
            name: session.name.to_string(),
            outcome: match session.outcome {
                Outcome::New => "new",
                Outcome::Grown => "grown",
                Outcome::Unchanged => "unchanged",
                Outcome::Rewritten => "rewritten",
                Outcome::Elsewhere => "elsewhere",
            },
            title: session.end.title.clone(),
            messages: session.messages,
            new_commits: session.new_commits,
            commit: session.tip.map(|tip| tip.to_string()),
            branch: session.branch.name().map(|name| name.short().to_owned()),
            follows: matches!(session.branch, BranchOutcome::Follows(_)),
        };
        let kin = family.kin.iter().flat_map(|(_, report)| &report.sessions);
        let agents = kin.filter(|session| session.parent.is_some());
        Self {
            format: report.format.name,
            sessions: report.sessions.iter().map(facts).collect(),
            agents: agents.map(facts).collect(),
            problem_count: report.problem_count,
            problems: report.problems.iter().map(problem).collect(),
            appended: None,
        }
    }
}

impl ImportParams {
    /// The file that is meant.
    fn file(&self, at: &At<'_>) -> Result<PathBuf, ApiError> {
        match (&self.path, &self.session) {
            (Some(path), None) => Ok(PathBuf::from(path)),
            (None, Some(id)) => session_file(at, id),
            _ => Err(ApiError::params("'path' or 'session' says what comes in")),
        }
    }
}

/// The file of a session by its id, or the beginning of it, where a tool of this machine keeps it.
pub(super) fn session_file(at: &At<'_>, id: &str) -> Result<PathBuf, ApiError> {
    let mut found = called(id, at.host.tool_dirs()?.sessions());
    match found.len() {
        0 => Err(ApiError::refused(format!(
            "no tool here keeps a session '{id}'"
        ))),
        1 => Ok(found.swap_remove(0).path),
        count => {
            let sessions = plural(count as u64, "session");
            Err(ApiError::refused(format!(
                "'{id}' fits the ids of {sessions}"
            )))
        }
    }
}

/// Takes one file in with what belongs to it, as the method does.
///
/// # Errors
///
/// As [`ingest::import_family`].
pub(super) fn take_in(
    at: &mut At<'_>,
    file: &Path,
    params: &ImportParams,
) -> Result<FamilyReport, ApiError> {
    let format = params.format.as_deref().map(Format::named).transpose()?;
    let secrets = at.host.secrets()?;
    let what = format!("import {}", file.display());
    let request = ImportRequest {
        format,
        branch: params.branch.as_deref(),
        counter: Some(Counter::of(at.encoding()?)),
        secrets: Some(&secrets),
        redaction: match params.redact {
            true => Redaction::Always,
            false if ingest::redacts(at.repo)? => Redaction::AsBefore,
            false => Redaction::Never,
        },
        reading: if params.new_only {
            Reading::New
        } else {
            Reading::Whole
        },
        moves_head: at.on == On::Head,
        ..ImportRequest::at(at.host.now(), &what)
    };
    import_watched(at, file, &request)
}

/// Takes one file in with what belongs to it, as is asked. Whoever waits for it is told how far it has come, and may end
/// it: then nothing of it is here.
///
/// # Errors
///
/// [`crate::Error::Cancelled`], and as [`ingest::import_family`].
pub fn import_watched(
    at: &mut At<'_>,
    file: &Path,
    request: &ImportRequest<'_>,
) -> Result<FamilyReport, ApiError> {
    let (is_ended, last) = (Cell::new(false), Cell::new(WorkProgress::default()));
    let goes_on = RefCell::new(&mut at.goes_on);
    let tell = || {
        let goes = (goes_on.borrow_mut())(last.get());
        is_ended.set(is_ended.get() || !goes);
    };
    let is_stopped = || is_ended.get() || (at.is_cancelled)();
    let request = ImportRequest {
        waiting: Waiting {
            is_stopped: Some(&is_stopped),
            between: Some(&tell),
        },
        ..*request
    };
    let mut told = |progress: ingest::Progress| {
        last.set(WorkProgress {
            done: progress.bytes,
            total: Some(progress.total_bytes),
        });
        tell();
    };
    Ok(ingest::import_family(at.repo, file, &request, &mut told)?)
}

impl Method for ImportParams {
    const NAME: &'static str = "import";
    const ABOUT: &'static str = "Takes a tool's session in; again, it adds only what is new.";
    const CHANGES: bool = true;
    type Answer = ImportAnswer;

    fn act(self, at: &mut At<'_>) -> Result<ImportAnswer, ApiError> {
        let file = self.file(at)?;
        let report = take_in(at, &file, &self)?;
        let mut answer = ImportAnswer::of(&report);
        if let Some(onto) = &self.onto {
            let branch = RefName::branch(onto)?;
            let what = format!("import --onto {onto}");
            let mut appended = 0;
            for session in &report.own.sessions {
                appended += adopt(at.repo, &session.name, &branch, at.host.now(), &what)?;
            }
            answer.appended = Some(appended);
        }
        Ok(answer)
    }
}
