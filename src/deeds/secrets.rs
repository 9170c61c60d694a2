//! What a request says about secrets in what leaves.

use super::{ApiError, At};
use crate::hash::CommitHash;
use crate::model::secret::{Leaving, Secrets};

/// The fields of a request that say it, by their names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SecretChoice {
    pub redact: bool,
    pub allow_secrets: bool,
    pub anonymous: bool,
}

impl SecretChoice {
    /// Refuses what makes no sense together.
    pub fn check(self) -> Result<(), ApiError> {
        let what = match self {
            _ if self.allow_secrets && self.redact => "'redact' or 'allow_secrets', not both",
            _ if self.allow_secrets && self.anonymous => "'anonymous' replaces secrets, too",
            _ => return Ok(()),
        };
        Err(ApiError::params(what))
    }

    /// What finds them in what leads to these commits.
    pub fn finder(self, at: &At<'_>, tips: &[CommitHash]) -> Result<Secrets, ApiError> {
        let secrets = at.host.secrets()?;
        if !self.anonymous {
            return Ok(secrets);
        }
        let mut people = at.host.people()?;
        at.repo.meet_people(tips, &mut people)?;
        Ok(secrets.anonymous(&people))
    }

    /// What is done about them.
    pub const fn leaving(self, secrets: &Secrets) -> Leaving<'_> {
        match self.redact || self.anonymous {
            true => Leaving::Redacted(secrets),
            false if self.allow_secrets => Leaving::Allowed,
            false => Leaving::Refused(secrets),
        }
    }
}
