//! Sessions of tools, in.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::advice::Exit;
use super::{ApiError, At, Deed, Method, WorkProgress};
use crate::error::Error;
use crate::formats::Format;
#[cfg(feature = "cli")]
use crate::formats::registry::{FORMATS, choices};
use crate::ingest::tool_dirs::walk_directory;
use crate::ingest::{
    self, BranchOutcome, FamilyReport, ImportRequest, ImportedSession, Outcome, Reading, Redaction,
    Trouble, Waiting, adopt, called, database,
};
use crate::model::tokens::Counter;
use crate::model::{Millis, RefName};
use crate::render::plural;
use crate::repo::{Config, On, Repo};

/// What the option says, in short.
#[cfg(feature = "cli")]
fn format_help() -> String {
    let count = FORMATS.len();
    format!("The format, instead of recognising it: one of {count}")
}

/// What the option says.
#[cfg(feature = "cli")]
fn format_long_help() -> String {
    format!("The format, instead of recognising it: {}", choices())
}

/// Bring in sessions of coding agents, and other conversations
///
/// A file's format is recognised from its content. Importing a file again adds only what is new in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ImportParams {
    /// Session files, directories of them, or session ids
    #[cfg_attr(
        feature = "cli",
        arg(
            value_name = "PATH|ID",
            help = "Session files, directories of them, session ids, or - for standard input"
        )
    )]
    pub paths: Vec<PathBuf>,
    /// The format, instead of recognising it
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "F", help = format_help(), long_help = format_long_help())
    )]
    pub format: Option<String>,
    /// The name of the branch that follows the session
    #[serde(rename = "as")]
    #[cfg_attr(feature = "cli", arg(long = "as", value_name = "NAME"))]
    pub branch: Option<String>,
    /// Append what is new to this branch, after its own commits
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "BRANCH", conflicts_with = "branch")
    )]
    pub onto: Option<String>,
    /// Write `[redacted:KIND]` in place of secrets, now and in later imports of these sessions
    #[cfg_attr(feature = "cli", arg(long))]
    pub redact: bool,
    /// Import nothing from a file that has a problem
    #[cfg_attr(feature = "cli", arg(long))]
    pub strict: bool,
    /// Read only what has come since the last import, where that is enough
    #[cfg_attr(feature = "cli", arg(long))]
    pub new_only: bool,
    /// Say what would come in, and import nothing
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "onto"))]
    pub dry_run: bool,
}

/// What came in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ImportAnswer {
    /// The sessions in the files.
    pub sessions: Vec<ImportedFacts>,
    /// Those that they begin with, which came in before them, from files of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bases: Vec<ImportedFacts>,
    /// Those of their sub-agents that came in with them, from files of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<ImportedFacts>,
    /// How many problems the files have. They are no reason not to take the rest.
    pub problem_count: u64,
    /// The first of each file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// What is odd in the files and does no harm, such as a line that is still being written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The files of named directories that are no session's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<String>,
    /// How many commits `onto` got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appended: Option<u64>,
}

/// A session that came in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedFacts {
    /// Its ref, which is a revision.
    pub name: String,
    /// The format of its file.
    pub format: &'static str,
    /// How it relates to what was here: new, grown, unchanged, rewritten, or gone on elsewhere.
    pub outcome: &'static str,
    /// Its title. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its messages, hidden ones included; of a grown file, those of its end.
    pub messages: u64,
    /// Commits that were not here before.
    pub new_commits: u64,
    /// How often its tool hid messages on its main path, by the kind of the hide.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hides: BTreeMap<&'static str, u64>,
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
    /// Adds what came with a file, which is named with what is wrong in it where it is one of several.
    fn add(&mut self, file: Option<&Path>, family: &FamilyReport) {
        let report = &family.own;
        let place = file.map_or(String::new(), |file| format!("{}: ", file.display()));
        let problem =
            |it: &crate::formats::Problem| format!("{place}line {}: {}", it.line, it.reason);
        let facts = |session: &ImportedSession| ImportedFacts {
            name: session.name.to_string(),
            format: report.format.name,
            outcome: relation(session.outcome),
            title: session.end.title.clone(),
            messages: session.messages,
            new_commits: session.new_commits,
            hides: session.hide_counts(),
            commit: session.tip.map(|tip| tip.to_string()),
            branch: session.branch.name().map(|name| name.short().to_owned()),
            follows: matches!(session.branch, BranchOutcome::Follows(_)),
        };
        let kin = family.kin.iter().flat_map(|(_, report)| &report.sessions);
        let (agents, bases): (Vec<_>, Vec<_>) = kin.partition(|session| session.parent.is_some());
        let has =
            |list: &[ImportedFacts], name: &RefName| list.iter().any(|it| it.name == name.as_str());
        // Whoever started it came before.
        let is_agents = report.sessions.iter().map(|session| {
            let before = |name| has(&self.sessions, name) || has(&self.agents, name);
            session.parent.as_ref().is_some_and(before)
        });
        let is_agents: Vec<bool> = is_agents.collect();
        for (session, is_agents) in report.sessions.iter().zip(is_agents) {
            let is_it = |known: &mut ImportedFacts| known.name == session.name.as_str();
            self.sessions.extend(self.bases.extract_if(.., is_it));
            match is_agents || has(&self.agents, &session.name) {
                true => put(&mut self.agents, facts(session)),
                false => put(&mut self.sessions, facts(session)),
            }
        }
        for session in bases {
            match has(&self.sessions, &session.name) {
                true => put(&mut self.sessions, facts(session)),
                false => put(&mut self.bases, facts(session)),
            }
        }
        for session in agents {
            put(&mut self.agents, facts(session));
        }
        self.problem_count += report.problem_count;
        self.problems.extend(report.problems.iter().map(problem));
        self.notes.extend(report.notes.iter().map(problem));
    }
}

/// Adds a session. One that came before, of another of the files, is told once: what it was then, and what it is now.
fn put(list: &mut Vec<ImportedFacts>, facts: ImportedFacts) {
    match list.iter_mut().find(|it| it.name == facts.name) {
        Some(known) => {
            *known = ImportedFacts {
                outcome: match facts.outcome == relation(Outcome::Unchanged) {
                    true => known.outcome,
                    false if known.outcome == relation(Outcome::New) => known.outcome,
                    false => facts.outcome,
                },
                messages: facts.messages.max(known.messages),
                new_commits: known.new_commits + facts.new_commits,
                ..facts
            };
        }
        None => list.push(facts),
    }
}

/// How a session relates to what was here, in a word.
fn relation(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::New => "new",
        Outcome::Grown => "grown",
        Outcome::Unchanged => "unchanged",
        Outcome::Rewritten => "rewritten",
        Outcome::Elsewhere => "elsewhere",
    }
}

impl ImportParams {
    /// What would come in from these files. A session whose secrets were left out before is compared without them.
    ///
    /// # Errors
    ///
    /// What `untaken` makes of a file, and the store's.
    pub fn forecast(
        self,
        at: &mut At<'_>,
        files: &[(PathBuf, bool)],
        untaken: &mut Untaken<'_>,
    ) -> Result<ImportAnswer, ApiError> {
        let mut answer = self.forecast_of(at, files, untaken)?;
        let is_other = |facts: &ImportedFacts| facts.outcome == relation(Outcome::Rewritten);
        if !self.redact && ingest::redacts(at.repo)? && answer.sessions.iter().any(is_other) {
            let redacted = Self {
                redact: true,
                ..self
            };
            // The first reading has told what is not taken.
            let redacted = redacted.forecast_of(at, files, &mut |_, _, _| Ok(()))?;
            let redacted = redacted.sessions;
            let others = answer.sessions.iter_mut().filter(|facts| is_other(facts));
            for facts in others {
                let same = redacted.iter().find(|it| it.name == facts.name);
                if let Some(same) = same.filter(|it| !is_other(it)) {
                    *facts = same.clone();
                }
            }
        }
        Ok(answer)
    }

    /// All of it comes to a repository in memory, and is compared with what is here.
    fn forecast_of(
        &self,
        at: &mut At<'_>,
        files: &[(PathBuf, bool)],
        untaken: &mut Untaken<'_>,
    ) -> Result<ImportAnswer, ApiError> {
        let scratch = Repo::ephemeral()?;
        // Addresses of remotes stand among the settings, and are none.
        let config = at.repo.config()?;
        let settings = config.iter().filter(|(key, _)| Config::KEYS.contains(key));
        for (key, value) in settings {
            scratch.set_config(key, Some(value))?;
        }
        let mut sessions = Vec::new();
        let params = Self {
            dry_run: false,
            new_only: false,
            ..self.clone()
        };
        let mut answer = {
            let (goes_on, is_cancelled) = (&mut at.goes_on, &at.is_cancelled);
            let mut there = At {
                goes_on: Box::new(goes_on),
                is_cancelled: Box::new(is_cancelled),
                ..At::new(&scratch, On::Head, at.host)
            };
            let mut came = |session: &ImportedSession| sessions.push(session.clone());
            params.take_all(&mut there, files, &mut came, untaken)?
        };
        let kin = answer.bases.iter_mut().chain(&mut answer.agents);
        for facts in answer.sessions.iter_mut().chain(kin) {
            let is_it = |session: &&ImportedSession| session.name.as_str() == facts.name;
            if let Some(session) = sessions.iter().rev().find(is_it) {
                let (outcome, new) = ingest::forecast(at.repo, &scratch, session)?;
                (facts.outcome, facts.new_commits) = (relation(outcome), new);
            }
            facts.commit = None;
            // Another branch than a named one that is new goes by what is here.
            facts.follows = match &self.branch {
                Some(name) if facts.outcome == relation(Outcome::New) => {
                    let name = RefName::branch(name)?;
                    let known = at.repo.references(name.as_str())?;
                    known.iter().all(|(other, _)| *other != name)
                }
                _ => false,
            };
            facts.branch = self.branch.clone().filter(|_| facts.follows);
        }
        // An import of them alone would leave out what is here.
        let is_news = |facts: &ImportedFacts| facts.outcome != relation(Outcome::Unchanged);
        answer.bases.retain(is_news);
        Ok(answer)
    }

    /// The format that is named.
    ///
    /// # Errors
    ///
    /// Where there is no such format.
    pub fn format(&self) -> crate::Result<Option<&'static Format>> {
        self.format.as_deref().map(Format::named).transpose()
    }

    /// How the log names it; of several files each has its own name behind it, and one undo takes all back.
    fn command(&self, files: &[(PathBuf, bool)]) -> String {
        let named = match (files, self.paths.as_slice()) {
            ([(file, _)], _) => file.display().to_string(),
            (_, [first, others @ ..]) if !others.is_empty() => {
                format!("{} and {} more", first.display(), others.len())
            }
            (_, paths) => paths
                .first()
                .map_or(String::new(), |path| path.display().to_string()),
        };
        format!("import {named}")
    }

    /// The files that are meant, and whether each was named itself rather than found in a directory.
    fn files(&self, at: &At<'_>) -> Result<Vec<(PathBuf, bool)>, ApiError> {
        let mut files = Vec::new();
        for typed in &self.paths {
            let path = at.host.path(typed)?;
            if database::place(&path).is_some() {
                files.push((path, true));
            } else if path.exists() {
                let is_named = !path.is_dir();
                let found = match is_named {
                    true => vec![path],
                    false => walk_directory(&path),
                };
                let found = database::unfolded(found).into_iter();
                files.extend(found.map(|file| (file, is_named)));
            } else if let Some(id) = typed.to_str().filter(|_| is_like_an_id(typed)) {
                files.push((session_file(at, id)?, true));
            } else {
                files.push((path, true));
            }
        }
        match files.is_empty() {
            true => Err(ApiError::refused("no session files in there")),
            false => Ok(files),
        }
    }
}

/// Told of a file that was not taken: why, and whether it only was none of the sessions of a named directory. An error
/// ends the import.
pub type Untaken<'a> = dyn FnMut(&Path, Error, bool) -> Result<(), ApiError> + 'a;

/// Ends an import at the first file that could not be taken.
fn ends_at_failure(_: &Path, error: Error, is_passed: bool) -> Result<(), ApiError> {
    match is_passed {
        true => Ok(()),
        false => Err(error.into()),
    }
}

/// Whether a name may be that of a session, and not of a file.
fn is_like_an_id(typed: &Path) -> bool {
    let is_one = typed.components().count() <= 2 && typed.extension().is_none();
    is_one && typed.is_relative()
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

/// Takes one file in with what belongs to it. What is wrong with the file comes by itself.
fn take_in(
    at: &mut At<'_>,
    file: &Path,
    params: &ImportParams,
    (command, now): (&str, Millis),
) -> Result<crate::Result<FamilyReport>, ApiError> {
    let format = params.format()?;
    let secrets = at.host.secrets()?;
    let file_name = file.display().to_string();
    let what = match command == format!("import {file_name}") {
        true => command.to_owned(),
        false => format!("{command}: {file_name}"),
    };
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
        ..ImportRequest::at(now, &what)
    };
    Ok(watched(at, file, &request))
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
    Ok(watched(at, file, request)?)
}

fn watched(
    at: &mut At<'_>,
    file: &Path,
    request: &ImportRequest<'_>,
) -> crate::Result<FamilyReport> {
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
    ingest::import_family(at.repo, file, &request, &mut told)
}

impl Method for ImportParams {
    const NAME: &'static str = "import";
    const CHANGES: bool = true;
    type Answer = ImportAnswer;

    fn check(&self) -> Result<(), ApiError> {
        let what = match self {
            _ if self.paths.is_empty() => "'paths' says what comes in",
            _ if self.branch.is_some() && self.onto.is_some() => "'as' or 'onto', not both",
            _ if self.dry_run && self.onto.is_some() => "'dry_run' or 'onto', not both",
            _ => return Ok(()),
        };
        Err(ApiError::params(what))
    }

    fn exit(answer: &ImportAnswer) -> Option<Exit> {
        (answer.problem_count > 0).then_some(Exit::Damaged)
    }

    fn act(self, at: &mut At<'_>) -> Result<ImportAnswer, ApiError> {
        let files = self.files(at)?;
        match self.dry_run {
            true => self.forecast(at, &files, &mut ends_at_failure),
            false => self.take_all(at, &files, &mut |_| {}, &mut ends_at_failure),
        }
    }
}

impl ImportParams {
    /// Takes all files in; each session that came is told, and each file of which none came.
    fn take_all(
        &self,
        at: &mut At<'_>,
        files: &[(PathBuf, bool)],
        came: &mut dyn FnMut(&ImportedSession),
        untaken: &mut Untaken<'_>,
    ) -> Result<ImportAnswer, ApiError> {
        let mut files = files.to_vec();
        if files.len() > 1 {
            // Each behind those that it begins with, and behind who started it.
            let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
            let order = ingest::kin::in_order(at.repo, &paths, &mut database::Listings::default())?;
            let places: HashMap<&PathBuf, usize> = order.iter().zip(0..).collect();
            files.sort_by_key(|(path, _)| places.get(path).copied());
        }
        if self.branch.is_some() && files.len() > 1 {
            let what = "'as' names the branch of one session, and there are several";
            return Err(ApiError::params(what));
        }
        let format = self.format()?;
        let is_passed =
            |is_named: bool, error: &Error| !is_named && Trouble::of(error).is_no_session();
        for (file, is_named) in files.iter().filter(|_| self.strict) {
            match ingest::check_strict(file, format) {
                Err(error) if !is_passed(*is_named, &error) => return Err(error.into()),
                _ => {}
            }
        }
        let mut answer = ImportAnswer::default();
        let mut appended = 0;
        let (command, now) = (self.command(&files), at.host.now());
        for (file, is_named) in &files {
            let report = match take_in(at, file, self, (&command, now))? {
                Ok(report) => report,
                Err(error) => {
                    let is_passed = is_passed(*is_named, &error);
                    untaken(file, error, is_passed)?;
                    if is_passed {
                        answer.passed_over.push(file.display().to_string());
                    }
                    continue;
                }
            };
            answer.add((files.len() > 1).then_some(&**file), &report);
            let kin = report.kin.iter().map(|(_, report)| report);
            let reports = std::iter::once(&report.own).chain(kin);
            reports
                .flat_map(|report| &report.sessions)
                .for_each(&mut *came);
            if let Some(onto) = &self.onto {
                let branch = RefName::branch(onto)?;
                let what = format!("import --onto {onto}");
                for session in &report.own.sessions {
                    appended += adopt(at.repo, &session.name, &branch, at.host.now(), &what)?;
                }
            }
        }
        answer.appended = self.onto.is_some().then_some(appended);
        Ok(answer)
    }
}

impl Deed for ImportParams {
    const PLACES: &'static [&'static str] = &["paths"];
}
