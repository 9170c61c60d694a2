//! Secrets in what leaves, for people: what is done about them, and what was replaced.

use tract::model::secret::{Leaving, SecretCounts, Secrets};
use tract::render::counted_secrets;

use super::{App, Result};

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

/// Says what was replaced.
pub fn tell(counts: &SecretCounts, app: &mut App) {
    if !counts.is_empty() {
        app.ui
            .status(format!("Redacted {}", counted_secrets(counts)));
    }
}
