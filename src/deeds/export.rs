//! Sessions, out: as a file, and as a new session of a tool.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::at::calendar;
use super::cost::prices;
use super::files::write_new;
use super::page::{GuardedPage, PageKind};
use super::secrets::SecretChoice;
use super::{ApiError, At, Deed, Host, Method, guard};
use crate::error::Error;
use crate::formats::registry::FORMATS;
use crate::formats::{Format, Resume};
use crate::hash::CommitHash;
use crate::ingest::{self, ExportOptions, NewSession, Scope, session_format, session_meant};
use crate::model::secret::{Leaving, Secrets};
use crate::repo::Repo;

/// Write a session file, or a page to read
///
/// Messages that were imported and have not changed come back JSON-equal, with their ids and links.
/// Changed and new messages are written as valid records. Hidden messages are left out.
///
/// The format html is one self-contained page for a browser: the whole conversation, with hidden
/// messages folded under their marker. The format markdown is the same as text.
///
/// Where secrets are found, nothing is written unless `redact` or `allow_secrets` is given. `anonymous` is for what is
/// shared with others: one person has one other name in all that is written, whatever the spelling. First names alone, and
/// what a reader can infer, stay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ExportParams {
    /// The commit whose context is written; HEAD unless given
    #[cfg_attr(feature = "cli", arg(value_name = "REV"))]
    pub rev: Option<String>,
    /// One of the formats that import reads, html or markdown; by default the session's own
    #[cfg_attr(feature = "cli", arg(long, value_name = "F"))]
    pub format: Option<String>,
    /// Write `[redacted:KIND]` in place of secrets
    #[cfg_attr(feature = "cli", arg(long))]
    pub redact: bool,
    /// Write secrets, too
    #[cfg_attr(
        feature = "cli",
        arg(long, conflicts_with_all = ["redact", "anonymous"])
    )]
    pub allow_secrets: bool,
    /// As redact, and write person-1 and host-1 for logins, homes, hosts, mail addresses and names
    #[cfg_attr(feature = "cli", arg(long))]
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
    /// How many were written anew, or stand on a page.
    pub written: u64,
    /// What the format could not hold, or what was left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl ExportParams {
    const fn secrets(&self) -> SecretChoice {
        SecretChoice {
            redact: self.redact,
            allow_secrets: self.allow_secrets,
            anonymous: self.anonymous,
        }
    }

    /// The commit whose context is written.
    ///
    /// # Errors
    ///
    /// As [`At::commit`].
    pub fn commit(&self, at: &At<'_>) -> Result<CommitHash, ApiError> {
        at.commit(self.rev.as_deref().unwrap_or("HEAD"))
    }

    /// What finds secrets in it.
    ///
    /// # Errors
    ///
    /// The host's, and the store's.
    pub fn finder(&self, at: &At<'_>, commit: &CommitHash) -> Result<Secrets, ApiError> {
        self.secrets().finder(at, &[*commit])
    }

    /// What is done about them.
    pub const fn leaving<'a>(&self, secrets: &'a Secrets) -> Leaving<'a> {
        self.secrets().leaving(secrets)
    }

    /// The form of a page, where that is asked for and not a session's file. Without a format, the ending of the file's
    /// name asks for one, as in `git archive`; not where sessions of the same format end so.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn page(
        &self,
        at: &At<'_>,
        commit: &CommitHash,
        file: Option<&Path>,
    ) -> Result<Option<PageKind>, ApiError> {
        if let Some(name) = &self.format {
            return Ok(PageKind::named(name));
        }
        let kind = file.and_then(PageKind::of_file);
        if kind != Some(PageKind::Markdown) {
            return Ok(kind);
        }
        let own = session_format(at.repo, commit)?;
        Ok(kind.filter(|_| own.is_none_or(|format| format.text.is_none())))
    }

    /// How the session's file is written.
    ///
    /// # Errors
    ///
    /// Where there is no such format, or no session.
    pub fn options(&self, at: &At<'_>, commit: &CommitHash) -> Result<ExportOptions, ApiError> {
        let format = match &self.format {
            Some(name) => Format::named(name)?,
            None => session_format(at.repo, commit)?.ok_or_else(|| {
                let fault = ApiError::params("this history came from no session file");
                fault
                    .with_hint("`tract export --format F`, with one that tract import --help lists")
            })?,
        };
        Ok(ExportOptions {
            format,
            now: at.host.now(),
            session: session_meant(at.repo, &at.on, self.rev.as_deref().unwrap_or("HEAD"))?,
            prices: match format.tells_costs {
                true => Some(Arc::new(prices(at.repo)?)),
                false => None,
            },
        })
    }
}

impl Method for ExportParams {
    const NAME: &'static str = "export";
    const CHANGES: bool = false;
    type Answer = ExportAnswer;

    fn check(&self) -> Result<(), ApiError> {
        self.secrets().check()
    }

    fn act(self, at: &mut At<'_>) -> Result<ExportAnswer, ApiError> {
        let commit = self.commit(at)?;
        let secrets = self.finder(at, &commit)?;
        if let Some(form) = self.page(at, &commit, None)? {
            let (of, leaving) = ((at.repo, &commit), self.leaving(&secrets));
            let page = GuardedPage::of(of, Scope::All, form, leaving, &at.calendar())?;
            return Ok(ExportAnswer {
                format: form.as_str(),
                content: String::from_utf8_lossy(&page.bytes).into_owned(),
                untouched: 0,
                written: page.messages as u64,
                remarks: Vec::new(),
            });
        }
        let options = self.options(at, &commit)?;
        let mut make = |out: &mut dyn Write| ingest::export(at.repo, &commit, &options, out);
        let (of, leaving) = ((at.repo, &commit), self.leaving(&secrets));
        let mut bytes = Vec::new();
        let (done, _) = guard(of, leaving, &mut make, &mut bytes)?;
        let content = String::from_utf8(bytes);
        Ok(ExportAnswer {
            format: options.format.name,
            content: content.map_err(|_| ApiError::refused("the session's file is no text"))?,
            untouched: done.untouched,
            written: done.written,
            remarks: done.remarks,
        })
    }
}

impl Deed for ExportParams {
    const PLACES: &'static [&'static str] = &["rev"];
    const REVISIONS: &'static [&'static str] = &["rev"];
}

/// The names of the tools that can go on with a session.
fn resumable(between: &str) -> String {
    let can = FORMATS
        .into_iter()
        .filter(|format| format.resume().is_some());
    let names: Vec<_> = can.map(|format| format.name).collect();
    names.join(between)
}

/// What the option says.
#[cfg(feature = "cli")]
fn tool_help() -> String {
    let tools = resumable(" or ");
    format!("The tool: {tools}; by default the one that the session came from")
}

/// Continue from a commit in a new session of a tool
///
/// Writes the context at `rev` as a new session where that tool looks for its sessions, and tells the commands that
/// continue it. The session has new ids, and no file is overwritten. When that session is imported later, its new
/// messages follow `rev`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ResumeParams {
    /// The commit whose context is written; HEAD unless given
    #[cfg_attr(feature = "cli", arg(value_name = "REV"))]
    pub rev: Option<String>,
    /// The tool; by default the one that the session came from
    #[serde(rename = "in")]
    #[cfg_attr(feature = "cli", arg(long = "in", value_name = "TOOL", help = tool_help()))]
    pub tool: Option<String>,
    /// The directory where it is to run; by default that of the session, if it is there, or else the one here
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub directory: Option<PathBuf>,
    /// Write `[redacted:KIND]` in place of secrets
    #[cfg_attr(feature = "cli", arg(long))]
    pub redact: bool,
    /// Write secrets, too
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "redact"))]
    pub allow_secrets: bool,
    /// Say what would be written where, and write nothing; the id is another one each time
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
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

impl ResumeParams {
    /// The commit whose context is written.
    ///
    /// # Errors
    ///
    /// As [`At::commit`].
    pub fn commit(&self, at: &At<'_>) -> Result<CommitHash, ApiError> {
        at.commit(self.rev.as_deref().unwrap_or("HEAD"))
    }

    /// The tool that is to go on.
    ///
    /// # Errors
    ///
    /// Where there is none, or it cannot.
    pub fn tool(
        &self,
        at: &At<'_>,
        commit: &CommitHash,
    ) -> Result<(&'static Format, &'static Resume), ApiError> {
        let tool = match &self.tool {
            Some(name) => Some(Format::named(name).map_err(|error| {
                ApiError::from(error).with_hint(format!("`--in {}`", resumable("`, or `--in ")))
            })?),
            None => session_format(at.repo, commit)?,
        };
        let way = tool.and_then(|tool| Some((tool, tool.resume()?)));
        way.ok_or_else(|| {
            let fault = ApiError::params(match tool {
                Some(other) => format!("tract cannot resume sessions of {other}"),
                None => "this history does not say which tool to resume in".to_owned(),
            });
            fault.with_hint(format!("`--in {}`", resumable("`, or `--in ")))
        })
    }

    /// Where it is to run.
    fn directory(&self, at: &At<'_>, commit: &CommitHash) -> Result<PathBuf, ApiError> {
        let here = at.host.directory().ok();
        if let Some(named) = &self.directory {
            let named = at.host.path(named)?;
            let named = here.map_or_else(|| named.clone(), |here| here.join(&named));
            // Tools know a directory by where it leads.
            let found = std::fs::canonicalize(&named).map_err(Error::io(&named))?;
            return match found.is_dir() {
                true => Ok(found),
                false => Err(ApiError::params(format!(
                    "{} is no directory",
                    named.display()
                ))),
            };
        }
        let session = at.repo.session_of(commit)?;
        let begun_in = session.and_then(|(_, session)| session.cwd);
        let own = [ingest::moved_to(at.repo, commit)?, begun_in];
        let own: Vec<PathBuf> = own.into_iter().flatten().map(PathBuf::from).collect();
        let there = own.iter().find(|own| own.is_dir()).cloned();
        let found = there.or(here).or_else(|| own.into_iter().next());
        found.ok_or_else(|| ApiError::params("'directory' says where the session is to run"))
    }
}

impl Method for ResumeParams {
    const NAME: &'static str = "resume";
    const CHANGES: bool = true;
    type Answer = ResumeAnswer;

    fn check(&self) -> Result<(), ApiError> {
        let (redact, allow_secrets) = (self.redact, self.allow_secrets);
        let choice = SecretChoice {
            redact,
            allow_secrets,
            ..SecretChoice::default()
        };
        choice.check()
    }

    fn act(self, at: &mut At<'_>) -> Result<ResumeAnswer, ApiError> {
        let commit = self.commit(at)?;
        let (format, how) = self.tool(at, &commit)?;
        let cwd = self.directory(at, &commit)?;
        let choice = SecretChoice {
            redact: self.redact,
            allow_secrets: self.allow_secrets || !self.redact && at.host.resumes_secrets()?,
            ..SecretChoice::default()
        };
        let secrets = choice.finder(at, &[commit])?;
        let (what, way) = (self.line(), (format, how));
        let call = (what.as_str(), choice.leaving(&secrets));
        let written = if self.dry_run {
            session_forecast(at.repo, &commit, way, &cwd, call, at.host)?
        } else {
            write_session(at.repo, &commit, way, &cwd, call, at.host)?
        };
        let path = written.path.display().to_string();
        let brought_in = how.brought_in_by.map(|words| [words, &[&*path]].concat());
        let commands = brought_in
            .into_iter()
            .chain([[how.command, &[&*written.id]].concat()]);
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        Ok(ResumeAnswer {
            commands: commands.map(owned).collect(),
            id: written.id,
            path,
            directory: cwd.display().to_string(),
            remarks: written.remarks,
        })
    }
}

/// A session that was written where its tool looks for sessions.
pub struct WrittenSession {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// What of the context it lacks.
    pub remarks: Vec<String>,
}

/// Writes a commit's context as a session that its tool goes on with in the directory `cwd`, and remembers whose context
/// it has. `what` is the command, for the operations.
///
/// # Errors
///
/// Where the tool's folder is not known, and as [`ingest::resume`] and the system.
pub fn write_session(
    repo: &Repo,
    commit: &CommitHash,
    (format, how): (&'static Format, &Resume),
    cwd: &Path,
    (what, leaving): (&str, Leaving<'_>),
    host: &dyn Host,
) -> Result<WrittenSession, ApiError> {
    let (new, path) = new_session((format, how), cwd, (what, leaving), host)?;
    let ingest::Resumed {
        bytes,
        mut remarks,
        files,
    } = ingest::resume(repo, commit, &new)?;
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(Error::io(directory))?;
    }
    write_new(&path, &bytes)?;
    let dirs = host.tool_dirs()?;
    dirs.take_along(format, &files)?;
    remarks.extend(ingest::gone_files(dirs.gone_files(format, &files)));
    Ok(WrittenSession {
        id: new.id,
        path,
        remarks,
    })
}

/// The session that [`write_session`] would write.
///
/// # Errors
///
/// As [`write_session`], but for what a disk refuses.
fn session_forecast(
    repo: &Repo,
    commit: &CommitHash,
    way: (&'static Format, &Resume),
    cwd: &Path,
    call: (&str, Leaving<'_>),
    host: &dyn Host,
) -> Result<WrittenSession, ApiError> {
    let (new, path) = new_session(way, cwd, call, host)?;
    let ingest::Resumed {
        mut remarks, files, ..
    } = ingest::resume_forecast(repo, commit, &new)?;
    let gone = host.tool_dirs()?.gone_files(way.0, &files);
    remarks.extend(ingest::gone_files(gone));
    Ok(WrittenSession {
        id: new.id,
        path,
        remarks,
    })
}

/// A session with an id of its own, and its file.
fn new_session<'l>(
    (format, how): (&'static Format, &Resume),
    cwd: &Path,
    (what, leaving): (&str, Leaving<'l>),
    host: &dyn Host,
) -> Result<(NewSession<'l>, PathBuf), ApiError> {
    let (now, seed) = (host.now(), host.seed()?);
    let dirs = host.tool_dirs()?;
    let new = NewSession {
        format,
        provider: dirs.provider(format),
        id: (how.new_id)(now, &seed),
        cwd: cwd.display().to_string(),
        now,
        seed,
        what: what.to_owned(),
        leaving,
    };
    let local_time = calendar(host).for_file_name(now);
    let path = dirs.new_session(format, cwd, &new.id, &local_time);
    let unknown = || {
        let what = format!("HOME is not set, so {format}'s directory is not known");
        ApiError::refused(what)
    };
    Ok((new, path.ok_or_else(unknown)?))
}

impl Deed for ResumeParams {
    const PLACES: &'static [&'static str] = &["rev"];
    const REVISIONS: &'static [&'static str] = &["rev"];
}
