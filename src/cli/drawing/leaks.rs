//! Secrets in what leaves, for people: what is done about them, and what was replaced.

use tract::hash::CommitHash;
use tract::model::secret::{Leaving, PERSONAL, SecretCounts, Secrets};
use tract::render::{counted_kinds, counted_secrets};
use tract::repo::Repo;

use crate::cli::{App, Result};

/// What is done about secrets.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Flags {
    /// Write [redacted:KIND] in place of secrets
    #[arg(long)]
    redact: bool,
    /// Write secrets, too
    #[arg(long, conflicts_with = "redact")]
    allow_secrets: bool,
}

impl Flags {
    /// The same where nothing was said and the user's settings let sessions be resumed with their secrets.
    pub fn for_resume(mut self, app: &App) -> Result<Self> {
        self.allow_secrets |= !self.redact && app.resumes_secrets()?;
        Ok(self)
    }

    /// Whether anything was said about secrets.
    pub const fn is_given(&self) -> bool {
        self.redact || self.allow_secrets
    }

    /// The same for the library.
    pub const fn leaving<'a>(&self, secrets: &'a Secrets) -> Leaving<'a> {
        match (self.redact, self.allow_secrets) {
            (true, _) => Leaving::Redacted(secrets),
            (_, true) => Leaving::Allowed,
            _ => Leaving::Refused(secrets),
        }
    }
}

/// What is done about secrets, and about who and where, in what is written to be shared.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct SharedFlags {
    #[command(flatten)]
    secrets: Flags,
    /// As --redact, and write person-1 and host-1 for logins, homes, hosts, mail addresses and names
    #[arg(long, conflicts_with = "allow_secrets")]
    anonymous: bool,
}

impl SharedFlags {
    /// Whether anything was said about it.
    pub const fn is_given(&self) -> bool {
        self.anonymous || self.secrets.is_given()
    }

    /// What finds it in what leads to these commits.
    pub fn finder(&self, repo: &Repo, tips: &[CommitHash], app: &App) -> Result<Secrets> {
        let secrets = app.secrets()?;
        if !self.anonymous {
            return Ok(secrets);
        }
        let mut people = app.people()?;
        repo.meet_people(tips, &mut people)?;
        Ok(secrets.anonymous(&people))
    }

    /// The same for the library.
    pub const fn leaving<'a>(&self, secrets: &'a Secrets) -> Leaving<'a> {
        match self.anonymous {
            true => Leaving::Redacted(secrets),
            false => self.secrets.leaving(secrets),
        }
    }
}

/// Says what was replaced.
pub fn tell(counts: &SecretCounts, app: &mut App) {
    let (people, secrets): (SecretCounts, SecretCounts) =
        counts.iter().partition(|(kind, _)| PERSONAL.contains(kind));
    if !secrets.is_empty() {
        app.ui
            .status(format!("Redacted {}", counted_secrets(&secrets)));
    }
    if !people.is_empty() {
        app.ui
            .status(format!("Renamed {}", counted_kinds(&people).join(", ")));
    }
}
