//! Messages are erased for good.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::advice::command;
use crate::deeds::{ApiError, At, Deed, Method};
use crate::model::pattern::Pattern;
use crate::model::{EntryId, RefName};
use crate::render::{listed, plural, shell_word};
use crate::repo::Named;
use crate::upkeep::{Erasing, Erasure, Purged};

/// Erase messages from history, for good
///
/// Erases the messages that you name, or those that `match` finds, on every branch, hidden or not. They read
/// `[purged]` from then on. Commits keep their hashes, but for notes. No undo brings the messages back, and neither
/// does importing the session again; an undo that would show them is refused from then on, all others still work, and
/// a dry run lists those that end. Kept files of sessions that hold any of it are erased too, and so are titles and
/// tags' notes that contain it; names of branches and other refs stay, and are listed. A commit's note, and the
/// reason of a pin, are hashed with it. Where one matches, that commit and all later ones get other names. Branches
/// and tags follow, and undo reaches back no further. Clones and bundles keep such a note, and a fetch from one brings it
/// back: purge there as well. Request settings cannot be erased: if the text is there,
/// nothing is done.
///
/// The expression is read as `tract find -E` reads it: case does not matter, unless it begins with (?-i).
/// It is matched against the text itself, however JSON spells it. `tract redact` is the gentler deed:
/// it takes secrets out of the context only, and undo brings them back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract purge --match 'ghp_[a-z0-9]{36}' --dry-run    what would go
  tract purge --match 'ghp_[a-z0-9]{36}' --force
  tract purge :7 a1b2c3d --force                      the 7th visible message, and that one")
)]
pub struct PurgeParams {
    /// The messages to erase
    #[cfg_attr(
        feature = "cli",
        arg(value_name = "REV", required_unless_present = "pattern")
    )]
    pub revs: Vec<String>,
    /// All messages that match this
    #[serde(rename = "match")]
    #[cfg_attr(
        feature = "cli",
        arg(long = "match", value_name = "REGEX", conflicts_with = "revs")
    )]
    pub pattern: Option<String>,
    /// Confirm that it is erased for good
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
    /// Say what would go, and change nothing
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "force"))]
    pub dry_run: bool,
}

/// What a purge did or, in a dry run, would do.
pub enum PurgeOutcome {
    /// What would be erased.
    Would(Erasure),
    /// What was erased.
    Done(Purged),
}

impl PurgeParams {
    /// Does it, or foretells it.
    ///
    /// # Errors
    ///
    /// Where nothing says what, or nobody has confirmed it.
    pub fn carry_out(&self, at: &At<'_>) -> Result<PurgeOutcome, ApiError> {
        let pattern = self.pattern.as_deref().map(Pattern::regex).transpose()?;
        let entries = match (&pattern, self.force && self.dry_run) {
            (_, true) => {
                return Err(ApiError::params(
                    "'force' confirms, and a dry run does nothing",
                ));
            }
            (Some(_), _) if !self.revs.is_empty() => {
                return Err(ApiError::params("'revs' or 'match' says what, not both"));
            }
            (Some(_), _) => Vec::new(),
            (None, _) => self.entries(at)?,
        };
        let what = Erasing {
            entries,
            pattern: pattern.as_ref(),
            ..Erasing::default()
        };
        if self.force {
            let line = self.line();
            return Ok(PurgeOutcome::Done(at.repo.erase(at.call(&line), &what)?));
        }
        let erasure = at.repo.erasure(&what)?;
        if self.dry_run || erasure.is_nothing() {
            return Ok(PurgeOutcome::Would(erasure));
        }
        let size = counted(&erasure);
        let fault = ApiError::refused(format!("{size} would be erased for good"));
        let confirmed = Self {
            force: true,
            ..self.clone()
        };
        let words = confirmed.words();
        let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
        let words = words.join(" ");
        Err(fault.with_hint(format!("{}; `--dry-run` lists them", command(&words))))
    }

    fn entries(&self, at: &At<'_>) -> Result<Vec<EntryId>, ApiError> {
        let none = "'revs' or 'match' says what is erased";
        let named = at.each(&self.revs, none, crate::repo::Repo::resolve_named)?;
        let entry = |named| match named {
            Named::Entry(entry) => Ok(entry),
            Named::Part(..) => {
                let fault = ApiError::params("parts are not erased, only messages");
                Err(fault.with_hint("`tract drop` takes parts out of the context"))
            }
        };
        named.into_iter().map(entry).collect()
    }
}

/// How much would go: `3 messages and 1 kept session file`.
pub fn counted(erasure: &Erasure) -> String {
    let copied: u64 = erasure.asides.iter().map(|aside| aside.messages).sum();
    let counts = [
        (erasure.messages.len(), "message"),
        (copied as usize, "copied message"),
        (erasure.sources.len(), "kept session file"),
        (erasure.titles.len(), "title"),
        (erasure.noted.len(), "commit note"),
        (erasure.notes.len(), "tag note"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, noun)| plural(count as u64, noun))
        .collect();
    listed(&counts)
}

/// What was erased or, in a dry run, would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PurgeAnswer {
    /// What was erased, and what stays; none in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erased: Option<ErasedFacts>,
    /// What would go; none where it went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would: Option<ErasureFacts>,
}

/// What a purge erased, and what stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErasedFacts {
    /// The messages that read `[purged]` now.
    pub messages: u64,
    /// The kept session files that were erased.
    pub session_files: u64,
    /// Titles of sessions and notes of tags that said it.
    pub titles: u64,
    /// Notes and reasons of commits that said it.
    pub notes: u64,
    /// The commits that have other names now, for a note of one before them was erased.
    pub renamed: u64,
    /// The messages that stay, for other history or the context needs them.
    pub shared: u64,
    /// The sessions whose kept file stays, for they have commits of their own.
    pub kept_sessions: Vec<String>,
    /// The refs whose names say it, and stay.
    pub names: Vec<String>,
    /// The commits whose messages say all that an erased one said, and stay: a merge's, say.
    pub quoting: Vec<String>,
    /// Whether files of the repository still hold what was erased, for others are at work. The next call that writes
    /// rewrites them.
    pub is_held: bool,
}

impl ErasedFacts {
    pub(in crate::deeds) fn of(purged: &Purged) -> Self {
        let is_copied = purged.asides.iter().any(|aside| aside.failed.is_some());
        Self {
            messages: purged.contents,
            session_files: purged.sources,
            titles: purged.words,
            notes: purged.notes,
            renamed: purged.renamed,
            shared: purged.shared,
            kept_sessions: names(&purged.kept_sessions),
            names: names(&purged.names),
            quoting: purged.quoting.iter().map(ToString::to_string).collect(),
            is_held: purged.unfinished.is_some() || is_copied,
        }
    }
}

/// What a purge would erase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErasureFacts {
    /// The messages, oldest first: the beginning of each.
    pub messages: Vec<ErasureMessage>,
    /// The sessions whose kept files hold any of it.
    pub session_files: Vec<String>,
    /// The sessions whose titles say it.
    pub titles: Vec<String>,
    /// The commits whose notes say it. These and all behind them get other names.
    pub notes: Vec<String>,
    /// The tags whose notes say it.
    pub tag_notes: Vec<String>,
    /// The refs whose names say it, and stay.
    pub names: Vec<String>,
    /// The commits whose messages say all that one of these says, and stay.
    pub quoting: Vec<String>,
    /// The operations that could be undone, and could not any more, newest first.
    pub ends: Vec<u64>,
}

/// A message that would be erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErasureMessage {
    /// The commit that brings it; none where no commit does any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Who said it.
    pub role: String,
    /// Its beginning.
    pub preview: String,
}

impl ErasureFacts {
    fn of(erasure: &Erasure) -> Self {
        let messages = erasure.messages.iter().map(|message| ErasureMessage {
            commit: message.commit.as_ref().map(ToString::to_string),
            role: message.role.to_string(),
            preview: message.preview.clone(),
        });
        Self {
            messages: messages.collect(),
            session_files: names(&erasure.sources),
            titles: names(&erasure.titles),
            notes: erasure.noted.iter().map(ToString::to_string).collect(),
            tag_notes: names(&erasure.notes),
            names: names(&erasure.names),
            quoting: erasure.quoting.iter().map(ToString::to_string).collect(),
            ends: erasure.ends.iter().map(|one| one.operation.id).collect(),
        }
    }
}

fn names(refs: &[RefName]) -> Vec<String> {
    refs.iter().map(ToString::to_string).collect()
}

impl Method for PurgeParams {
    const NAME: &'static str = "purge";
    const CHANGES: bool = true;
    type Answer = PurgeAnswer;

    fn act(self, at: &mut At<'_>) -> Result<PurgeAnswer, ApiError> {
        Ok(match self.carry_out(at)? {
            PurgeOutcome::Would(erasure) => PurgeAnswer {
                would: Some(ErasureFacts::of(&erasure)),
                ..PurgeAnswer::default()
            },
            PurgeOutcome::Done(purged) => PurgeAnswer {
                erased: Some(ErasedFacts::of(&purged)),
                ..PurgeAnswer::default()
            },
        })
    }
}

impl Deed for PurgeParams {
    const PLACES: &'static [&'static str] = &["revs"];
    const SAID: &'static [&'static str] = &["match"];
    const REVISIONS: &'static [&'static str] = &["revs"];
}
