//! Where messages came from, and what was done to files for which prompt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cost::{price_list, prices};
use super::facts::AuthorFacts;
use super::{ApiError, At, Deed, Method};
use crate::hash::CommitHash;
use crate::model::{EntryId, RefName};
use crate::query::{
    BlameRow, BlameStep, CalledEdit, EditedFile, FileEditOptions, FileEditRow, FileFate, Manifest,
    PromptBefore, Words,
};
use crate::render::edit::{EditKind, Edits};
use crate::repo::Repo;

/// Say where messages came from
///
/// Each visible message is listed with the commit that gave it its text, its time, its role, and its session. One
/// message alone also shows its model, the prompt before it, its author, and its edits and moves. A summary shows the
/// messages that it replaced. Each line of a summary is shown with the hidden message that has most of its words, so
/// that it can be checked; a line that no message has is the summary's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract blame                  every message of the context
  tract blame :12              the 12th message
  tract blame 3f2a91c          the message of this commit, hidden or not
  tract blame --at main~50     the context of 50 commits ago
  tract blame | grep codex     what came from a session of Codex")
)]
pub struct BlameParams {
    /// One message, hidden or not: :N, REV:N, or its commit; all that are visible unless given
    #[cfg_attr(feature = "cli", arg(value_name = "MESSAGE"))]
    pub message: Option<String>,
    /// In the context of this commit; HEAD's unless given
    #[cfg_attr(feature = "cli", arg(long, value_name = "REV"))]
    pub at: Option<String>,
}

/// Where messages came from.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BlameAnswer {
    /// They, in the conversation's order.
    pub messages: Vec<BlamedMessage>,
    /// Of one message that is a summary: its lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<BlamedLine>,
}

/// A message, and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BlamedMessage {
    /// Its name.
    pub id: String,
    /// Its number among the visible messages, from 1; none if it is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// Who speaks.
    pub role: &'static str,
    /// Whether a client says it in the user's name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub injected: bool,
    /// One line of it. What somebody else wrote: escape it before it is shown.
    pub preview: String,
    /// The commit that gave it the text that it has.
    pub commit: String,
    /// What that commit does: append, edit, or a kind of hide.
    pub operation: &'static str,
    /// When that was, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// The commit that brought the message first: another one where it was edited since.
    pub origin: String,
    /// The session whose file that came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Its title. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The program that it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The model in force then; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who made the commit, where that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<AuthorFacts>,
    /// What the user had typed last before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<SaidBefore>,
    /// How it came here, the newest step first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ProvenanceStep>,
}

/// What somebody said before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SaidBefore {
    /// The message.
    pub id: String,
    /// What it says. What somebody else wrote: escape it before it is shown.
    pub text: String,
}

impl From<&PromptBefore> for SaidBefore {
    fn from(prompt: &PromptBefore) -> Self {
        Self {
            id: prompt.hash.to_string(),
            text: prompt.preview.clone(),
        }
    }
}

impl From<&Words> for SaidBefore {
    fn from(words: &Words) -> Self {
        Self {
            id: words.hash.to_string(),
            text: words.text.clone(),
        }
    }
}

/// What was done with a message on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum ProvenanceStep {
    /// An edit gave it its text.
    Edited {
        /// The edit.
        by: String,
    },
    /// It was moved or copied from another place.
    From {
        /// The message that it was there.
        id: String,
        /// The session of that.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// It came with a merge.
    Merged {
        /// The commit whose path the merge brought in.
        tip: String,
    },
    /// It stands for hidden messages.
    StandsFor {
        /// The hide that put it in place.
        by: String,
        /// The hide's kind.
        kind: &'static str,
        /// How many messages it hid.
        messages: usize,
        /// The first of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        first: Option<String>,
        /// The last of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        last: Option<String>,
    },
}

impl From<&BlameStep> for ProvenanceStep {
    fn from(step: &BlameStep) -> Self {
        match step {
            BlameStep::Edited { by } => Self::Edited { by: by.to_string() },
            BlameStep::From { entry, session } => Self::From {
                id: entry.to_string(),
                session: session.as_ref().map(ToString::to_string),
            },
            BlameStep::Merged { tip } => Self::Merged {
                tip: tip.to_string(),
            },
            BlameStep::StandsFor {
                by,
                kind,
                messages,
                ends,
            } => Self::StandsFor {
                by: by.to_string(),
                kind: kind.as_str(),
                messages: *messages,
                first: ends.map(|(first, _)| first.to_string()),
                last: ends.map(|(_, last)| last.to_string()),
            },
        }
    }
}

/// A line of a summary.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BlamedLine {
    /// The line. What somebody else wrote: escape it before it is shown.
    pub text: String,
    /// The hidden message with most of its words; none: no message has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<SaidBefore>,
    /// What part of its words that message has, by what they are worth, up to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f32>,
}

impl From<&BlameRow> for BlamedMessage {
    fn from(row: &BlameRow) -> Self {
        let (session, title) = row.session.clone().unzip();
        Self {
            id: row.entry.to_string(),
            number: row.number,
            role: row.role.as_str(),
            injected: row.injected,
            preview: row.preview.clone(),
            commit: row.hash.to_string(),
            operation: row.commit.operation.verb(),
            time_ms: row.time().map(|time| time.0),
            origin: row.origin.to_string(),
            session: session.map(|name| name.to_string()),
            title: title.flatten(),
            client: row.client().map(str::to_owned),
            model: row.model.clone(),
            author: row.author().map(Into::into),
            prompt: row.prompt.as_ref().map(Into::into),
            steps: row.steps.iter().map(Into::into).collect(),
        }
    }
}

impl Method for BlameParams {
    const NAME: &'static str = "blame";
    const CHANGES: bool = false;
    type Answer = BlameAnswer;

    fn act(self, at: &mut At<'_>) -> Result<BlameAnswer, ApiError> {
        let Some(message) = &self.message else {
            let tip = at.resolve(self.at.as_deref())?;
            return Ok(BlameAnswer {
                messages: at.repo.blame(&tip, None)?.iter().map(Into::into).collect(),
                lines: Vec::new(),
            });
        };
        let (tip, entry): (_, EntryId) = match &self.at {
            Some(rev) => (
                at.resolve(Some(rev))?,
                at.repo.resolve_entry(&at.on, message)?,
            ),
            None => {
                let picked = at.repo.resolve_picked(&at.on, message)?;
                (picked.tip, picked.entry)
            }
        };
        let rows = at.repo.blame(&tip, Some(&entry))?;
        let lines = at.repo.derived_lines(&tip, &entry)?.into_iter();
        let lines = lines.map(|line| BlamedLine {
            text: line.text,
            share: line.from.as_ref().map(|from| from.share),
            from: line.from.map(|from| SaidBefore {
                id: from.entry.to_string(),
                text: from.preview,
            }),
        });
        Ok(BlameAnswer {
            messages: rows.iter().map(Into::into).collect(),
            lines: lines.collect(),
        })
    }
}

impl Deed for BlameParams {
    const PLACES: &'static [&'static str] = &["message"];
    const REVISIONS: &'static [&'static str] = &["message", "at"];
}

/// An edit of a file. What others wrote: escape it before it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileEditFacts {
    /// The message that calls.
    pub id: String,
    /// Its number among the visible messages, from 1; none if it is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// When, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// The tool.
    pub tool: String,
    /// The file, as the call spells it.
    pub path: String,
    /// In what way: changed, written, deleted, moved.
    pub kind: &'static str,
    /// What it is called since, where it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// How many lines came.
    pub lines_added: usize,
    /// How many lines went.
    pub lines_removed: usize,
    /// What came of it: done, failed, unanswered.
    pub outcome: &'static str,
    /// What the user had typed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<SaidBefore>,
    /// What the assistant said last before it, since that prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<SaidBefore>,
}

/// What was done to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EditedFileFacts {
    /// The file, as the calls spell it. What others wrote.
    pub path: String,
    /// How many edits there were that did not fail.
    pub edits: usize,
    /// How many failed.
    pub failed: usize,
    /// How many lines came in those that did not fail.
    pub lines_added: usize,
    /// How many lines went.
    pub lines_removed: usize,
    /// The newest edit.
    pub last: String,
    /// When that was, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ms: Option<i64>,
}

impl From<&FileEditRow> for FileEditFacts {
    fn from(row: &FileEditRow) -> Self {
        let (kind, moved_to) = match &row.edit.fate {
            FileFate::Changed => ("changed", None),
            FileFate::Written => ("written", None),
            FileFate::Deleted => ("deleted", None),
            FileFate::Moved(to) => ("moved", Some(to.clone())),
        };
        Self {
            id: row.hash.to_string(),
            number: row.number,
            time_ms: row.time.map(|time| time.0),
            tool: row.tool.clone(),
            path: row.edit.path.clone(),
            kind,
            moved_to,
            lines_added: row.edit.lines_added,
            lines_removed: row.edit.lines_removed,
            outcome: row.outcome.as_str(),
            prompt: row.prompt.as_ref().map(Into::into),
            reason: row.reason.as_ref().map(Into::into),
        }
    }
}

impl From<&EditedFile> for EditedFileFacts {
    fn from(file: &EditedFile) -> Self {
        let (last, time) = file.last;
        Self {
            path: file.path.clone(),
            edits: file.edits,
            failed: file.failed,
            lines_added: file.lines_added,
            lines_removed: file.lines_removed,
            last: last.to_string(),
            last_ms: time.map(|time| time.0),
        }
    }
}

/// What a call does to files, by its tool and arguments.
pub(super) fn called_edits(tool: &str, arguments: &str) -> Vec<CalledEdit> {
    let edits = Edits::of_call(tool, arguments).into_iter();
    let files = edits.flat_map(|edits| edits.files).filter_map(|file| {
        let (lines_added, lines_removed) = file.tally();
        Some(CalledEdit {
            path: file.path?,
            fate: match file.kind {
                EditKind::Changed => FileFate::Changed,
                EditKind::Written => FileFate::Written,
                EditKind::Deleted => FileFate::Deleted,
                EditKind::Moved(to) => FileFate::Moved(to),
            },
            lines_added,
            lines_removed,
        })
    });
    files.collect()
}

/// The edits of files on a path, newest first, and whether there are older ones.
///
/// # Errors
///
/// The store's.
pub fn file_edits(
    repo: &Repo,
    tip: &CommitHash,
    options: &FileEditOptions,
) -> crate::Result<(Vec<FileEditRow>, bool)> {
    let found = repo.file_edits(tip, options, &called_edits)?;
    if found.0.is_empty()
        && let Some(path) = &options.path
    {
        repo.check_file(&crate::repo::On::Head, path)?;
    }
    Ok(found)
}

/// Say what a run was, to be signed
///
/// Writes a manifest of a branch. It has one hash over all commits, times, authors, programs, models with their
/// tokens, the cost, and tools. It also has the files of sessions, and the requests with the clients' own hashes. It
/// follows from the commits alone, so whoever has them makes the same text again. docs/attest.md says how to verify a
/// signed one without tract.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct AttestParams {
    /// The branch, session or commit; HEAD unless given
    #[cfg_attr(feature = "cli", arg(value_name = "REV"))]
    pub rev: Option<String>,
}

/// What a run was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttestAnswer {
    /// The manifest, as docs/attest.md has it: the text that is signed, byte for byte.
    pub manifest: String,
}

impl Method for AttestParams {
    const NAME: &'static str = "attest";
    const CHANGES: bool = false;
    type Answer = AttestAnswer;

    fn act(self, at: &mut At<'_>) -> Result<AttestAnswer, ApiError> {
        let tip = at.resolve(self.rev.as_deref())?;
        let name = match &self.rev {
            Some(rev) => at.repo.reference_named(rev).ok(),
            None => at.repo.head(&at.on)?.branch().cloned(),
        };
        let name = name.filter(|name| !name.is_position());
        let manifest = manifest(at.repo, name, &tip)?.text()?;
        Ok(AttestAnswer { manifest })
    }
}

impl Deed for AttestParams {
    const PLACES: &'static [&'static str] = &["rev"];
    const REVISIONS: &'static [&'static str] = &["rev"];
}

/// The manifest of the path to a commit, by the prices that are meant.
///
/// # Errors
///
/// As [`Repo::manifest`], and where the prices cannot be read.
pub fn manifest(
    repo: &Repo,
    name: Option<RefName>,
    tip: &CommitHash,
) -> Result<Manifest, ApiError> {
    let (prices, list) = (prices(repo)?, price_list(repo)?);
    Ok(repo.manifest(name, tip, &prices, &list)?)
}
