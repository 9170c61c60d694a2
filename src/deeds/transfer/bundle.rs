//! Commits in one file, for a repository elsewhere.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::advice::command;
use crate::deeds::secrets::SecretChoice;
use crate::deeds::{ApiError, At, Deed, Method};
use crate::hash::CommitHash;
use crate::model::{Head, RefName, RefValue};
use crate::render::shell_word;
use crate::repo::Repo;
use crate::sync::{BundleTip, Bundled};

/// Write commits to one file, for another repository
///
/// A branch, a tag or a session is written with everything that it needs. A..B writes what comes after
/// A, for someone who has A already. An unbundle reads the file. Request settings and notes are part
/// of their commits; session files and titles are written only with sources.
///
/// If there are secrets, in hidden messages too, nothing is written unless redact or allow-secrets
/// is given. With redact it is another history from the first secret on: it cannot continue a history that
/// still has the secrets. So it is with anonymous, which also gives each person and host another name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct BundleParams {
    /// The file to write
    pub file: PathBuf,
    /// Branches, tags, sessions, or ranges up to one; by default where HEAD is
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(value_name = "WHAT"))]
    pub what: Vec<String>,
    /// All branches, tags and sessions
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "what"))]
    pub all: bool,
    /// Also write the session files that were imported, and sessions' titles
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub sources: bool,
    /// Overwrite an existing file
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
    /// Write `[redacted:KIND]` in place of secrets
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub redact: bool,
    /// Write secrets, too
    #[serde(default)]
    #[cfg_attr(
        feature = "cli",
        arg(long, conflicts_with_all = ["redact", "anonymous"])
    )]
    pub allow_secrets: bool,
    /// As redact, and write person-1 and host-1 for logins, homes, hosts, mail addresses and names
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub anonymous: bool,
}

/// What a bundle holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BundleAnswer {
    /// Commits.
    pub commits: u64,
    /// Messages.
    pub messages: u64,
    /// Kept session files.
    pub session_files: u64,
    /// The commits that whoever reads it must have already.
    pub needs: Vec<String>,
    /// How many secrets, or other names with `anonymous`, were replaced.
    pub replaced: usize,
}

impl BundleParams {
    const fn secrets(&self) -> SecretChoice {
        SecretChoice {
            redact: self.redact,
            allow_secrets: self.allow_secrets,
            anonymous: self.anonymous,
        }
    }

    /// The file's bytes, and what is in it.
    ///
    /// # Errors
    ///
    /// Where something that is named cannot be in one; as [`Repo::bundle_leaving`].
    pub fn carry_out(&self, at: &At<'_>) -> Result<(Vec<u8>, Bundled), ApiError> {
        let tips = match self.what.as_slice() {
            _ if self.all => all(at.repo)?,
            [] => vec![tip(at, "HEAD")?],
            some => some
                .iter()
                .map(|what| tip(at, what))
                .collect::<Result<_, _>>()?,
        };
        let commits: Vec<CommitHash> = tips.iter().map(|tip| tip.commit).collect();
        let secrets = self.secrets().finder(at, &commits)?;
        let leaving = self.secrets().leaving(&secrets);
        Ok(at.repo.bundle_leaving(&tips, self.sources, leaving)?)
    }
}

/// Every ref that may go into a bundle.
fn all(repo: &Repo) -> Result<Vec<BundleTip>, ApiError> {
    let mut tips = Vec::new();
    for folder in [RefName::HEADS, RefName::TAGS, RefName::SESSIONS] {
        for (name, value) in repo.references(folder)? {
            if let RefValue::Commit(commit) = value {
                tips.push(BundleTip::new(name, commit));
            }
        }
    }
    match tips.is_empty() {
        true => Err(ApiError::refused("there are no commits here")),
        false => Ok(tips),
    }
}

/// What is named: a ref, or a range up to one.
fn tip(at: &At<'_>, what: &str) -> Result<BundleTip, ApiError> {
    let (end, is_range) = match what.rsplit_once("..") {
        Some((_, end)) => (end, true),
        None => (what, false),
    };
    let name = match end {
        "" | "HEAD" | "@" => match at.repo.head(&at.on)? {
            Head::Attached { branch, tip: None } => {
                return Err(at.repo.without_commits(&branch)?.into());
            }
            Head::Attached { branch, .. } => branch,
            Head::Detached(commit) => return Err(nameless(&commit.short())),
        },
        end => match at.repo.reference_named(end) {
            Ok(name) => name,
            // It may be a commit all the same.
            Err(error) => match at.repo.resolve(&at.on, end) {
                Ok(_) => return Err(nameless(end)),
                Err(_) => return Err(error.into()),
            },
        },
    };
    let Some(mut tip) = BundleTip::of(at.repo, &name)? else {
        return Err(nameless(end));
    };
    if is_range {
        let from = &what[..what.len() - end.len()];
        let range = format!("{from}{}", tip.commit);
        tip.after = at.repo.resolve_range(&at.on, &range)?.1;
    }
    Ok(tip)
}

/// What arrives elsewhere must have a name there.
fn nameless(what: &str) -> ApiError {
    let fault = ApiError::params(format!("'{what}' is not a branch, tag or session"));
    let word = shell_word(what);
    fault.with_hint(format!(
        "{} gives it a name",
        command(&format!("branch NAME {word}"))
    ))
}

impl Method for BundleParams {
    const NAME: &'static str = "bundle";
    const CHANGES: bool = false;
    type Answer = BundleAnswer;

    fn check(&self) -> Result<(), ApiError> {
        if self.all && !self.what.is_empty() {
            return Err(ApiError::params("'what' names some, and 'all' means all"));
        }
        self.secrets().check()
    }

    fn act(self, at: &mut At<'_>) -> Result<BundleAnswer, ApiError> {
        let (bytes, done) = self.carry_out(at)?;
        at.host.write_file(&self.file, self.force, &bytes)?;
        Ok(BundleAnswer {
            commits: done.commits,
            messages: done.contents,
            session_files: done.sources,
            needs: done.needs.iter().map(ToString::to_string).collect(),
            replaced: match self.allow_secrets {
                true => 0,
                false => done.secrets.values().sum(),
            },
        })
    }
}

impl Deed for BundleParams {
    const PLACES: &'static [&'static str] = &["file", "what"];
    const REVISIONS: &'static [&'static str] = &["what"];
}
