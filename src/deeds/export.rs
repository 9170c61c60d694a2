//! Sessions, out: as a file, and as a new session of a tool.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::write_new;
use super::{ApiError, At, Method, guard};
use crate::error::Error;
use crate::formats::Format;
use crate::ingest::{self, ExportOptions, NewSession, session_format, session_meant};
use crate::model::secret::{Leaving, Secrets};

/// What is done about secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecretsLeave {
    /// Where there are any, nothing leaves.
    #[default]
    Refuse,
    /// `[redacted:KIND]` stands in their place.
    Redact,
    /// They leave, too.
    Allow,
}

impl SecretsLeave {
    pub(super) const fn leaving<'a>(self, secrets: &'a Secrets) -> Leaving<'a> {
        match self {
            Self::Refuse => Leaving::Refused(secrets),
            Self::Redact => Leaving::Redacted(secrets),
            Self::Allow => Leaving::Allowed,
        }
    }
}

/// Which session, and how.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExportParams {
    /// The commit whose context is written; HEAD's unless given.
    pub rev: Option<String>,
    /// The format; the session's own unless given.
    pub format: Option<String>,
    /// What is done about secrets.
    pub secrets: SecretsLeave,
    /// Also give other names to persons and hosts: logins, homes, mail addresses and the names beside them. Secrets are replaced then.
    pub anonymous: bool,
}

/// A session's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExportAnswer {
    /// Its format.
    pub format: &'static str,
    /// Its text.
    pub content: String,
    /// How many messages are as they came in.
    pub untouched: u64,
    /// How many were written anew.
    pub written: u64,
    /// What the format could not hold, or what was left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl Method for ExportParams {
    const NAME: &'static str = "export";
    const ABOUT: &'static str =
        "Gives the session's file back, or writes it in another tool's format.";
    const CHANGES: bool = false;
    type Answer = ExportAnswer;

    fn act(self, at: &mut At<'_>) -> Result<ExportAnswer, ApiError> {
        let commit = at.resolve(self.rev.as_deref())?;
        let format = match &self.format {
            Some(name) => Format::named(name)?,
            None => session_format(at.repo, &commit)?.ok_or_else(|| {
                let fault = ApiError::params("this history came from no session file");
                fault.with_hint("'format' names one that tract import --help lists")
            })?,
        };
        let options = ExportOptions {
            format,
            now: at.host.now(),
            session: session_meant(at.repo, &at.on, self.rev.as_deref().unwrap_or("HEAD"))?,
        };
        let mut secrets = at.host.secrets()?;
        if self.anonymous {
            if self.secrets == SecretsLeave::Allow {
                return Err(ApiError::params("'anonymous' replaces secrets, too"));
            }
            let mut people = at.host.people()?;
            at.repo.meet_people(&[commit], &mut people)?;
            secrets = secrets.anonymous(&people);
        }
        let mut bytes = Vec::new();
        let mut make =
            |out: &mut dyn std::io::Write| ingest::export(at.repo, &commit, &options, out);
        let leaving = match self.anonymous {
            true => Leaving::Redacted(&secrets),
            false => self.secrets.leaving(&secrets),
        };
        let (done, _) = guard((at.repo, &commit), leaving, &mut make, &mut bytes)?;
        let content = String::from_utf8(bytes);
        Ok(ExportAnswer {
            format: format.name,
            content: content.map_err(|_| ApiError::refused("the session's file is no text"))?,
            untouched: done.untouched,
            written: done.written,
            remarks: done.remarks,
        })
    }
}

/// Of which context, and for which tool.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResumeParams {
    /// The commit whose context is written; HEAD's unless given.
    pub rev: Option<String>,
    /// The tool; the one that the session came from unless given.
    #[serde(rename = "in")]
    pub tool: Option<String>,
    /// The working directory that it is to run in; that of the session unless given.
    pub directory: Option<String>,
    /// What is done about secrets.
    pub secrets: SecretsLeave,
}

/// A session that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ResumeAnswer {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: String,
    /// The working directory that it is of.
    pub directory: String,
    /// The commands that go on with it, word by word, to be run there one after the other.
    pub commands: Vec<Vec<String>>,
    /// What the tool cannot hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl Method for ResumeParams {
    const NAME: &'static str = "resume";
    const ABOUT: &'static str =
        "Writes the context as a new session where a tool looks for its sessions, to go on there.";
    const CHANGES: bool = true;
    type Answer = ResumeAnswer;

    fn act(self, at: &mut At<'_>) -> Result<ResumeAnswer, ApiError> {
        let commit = at.resolve(self.rev.as_deref())?;
        let tool = match &self.tool {
            Some(name) => Some(Format::named(name)?),
            None => session_format(at.repo, &commit)?,
        };
        let Some((format, how)) = tool.and_then(|tool| Some((tool, tool.resume()?))) else {
            return Err(ApiError::params(match tool {
                Some(other) => format!("tract cannot resume sessions of {other}"),
                None => "this history does not say which tool to resume in".to_owned(),
            }));
        };
        let session = at.repo.session_of(&commit)?;
        let cwd = match self.directory {
            Some(directory) => Some(directory),
            None => {
                ingest::moved_to(at.repo, &commit)?.or(session.and_then(|(_, session)| session.cwd))
            }
        };
        let cwd =
            cwd.ok_or_else(|| ApiError::params("'directory' says where the session is to run"))?;
        let (now, seed) = (at.host.now(), at.host.seed()?);
        let dirs = at.host.tool_dirs()?;
        let secrets = at.host.secrets()?;
        let new = NewSession {
            format,
            provider: dirs.provider(format),
            id: (how.new_id)(now, &seed),
            cwd: cwd.clone(),
            now,
            seed,
            what: "resume".to_owned(),
            leaving: self.secrets.leaving(&secrets),
        };
        let local_time = at.calendar().for_file_name(now);
        let place = dirs.new_session(format, Path::new(&cwd), &new.id, &local_time);
        let unknown = || ApiError::refused(format!("{format}'s directory is not known"));
        let place = place.ok_or_else(unknown)?;
        let ingest::Resumed {
            bytes,
            mut remarks,
            files,
        } = ingest::resume(at.repo, &commit, &new)?;
        if let Some(directory) = place.parent() {
            std::fs::create_dir_all(directory).map_err(Error::io(directory))?;
        }
        write_new(&place, &bytes)?;
        remarks.extend(ingest::gone_files(dirs.take_along(format, &files)?));
        let path = place.display().to_string();
        let brought_in = how.brought_in_by.map(|words| [words, &[&*path]].concat());
        let commands = brought_in
            .into_iter()
            .chain([[how.command, &[&*new.id]].concat()]);
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        Ok(ResumeAnswer {
            commands: commands.map(owned).collect(),
            id: new.id,
            path,
            directory: cwd,
            remarks,
        })
    }
}
