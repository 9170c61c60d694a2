//! Secrets go out of the context.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Changed, Deed, Method};
use crate::model::EntryId;
use crate::model::secret::SecretCounts;
use crate::repo::{Call, Named};
use crate::rewrite::{Surgery, SurgeryOptions};

/// Replace secrets in the context with `[redacted:KIND]`
///
/// Looks for keys, tokens and passwords of well-known forms in the visible messages, or in the messages
/// that you name. Each message with one is edited, as `tract commit --edit` does it. The history and the
/// kept session files still hold the secrets: only purge erases them. To allow a text that only
/// looks like a secret, set secrets.allow: `tract config --global secrets.allow REGEX`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract redact                 all visible messages
  tract redact :7 a1b2c3d      only these messages
  tract redact --dry-run       say which would change")
)]
pub struct RedactParams {
    /// Only these messages
    #[cfg_attr(feature = "cli", arg(value_name = "REV"))]
    pub revs: Vec<String>,
    /// All visible messages, as without `revs`
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "revs"))]
    pub all: bool,
    /// Say what would change, and change nothing
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
    /// In a dry run, list at most N messages of each kind; 0: all
    #[cfg_attr(
        feature = "cli",
        arg(short = 'n', long, value_name = "N", requires = "dry_run")
    )]
    pub limit: Option<usize>,
}

impl RedactParams {
    /// Does it; with how many secrets of which kind it found.
    ///
    /// # Errors
    ///
    /// Where it says both all and some; as [`crate::Repo::redact`].
    pub fn carry_out(
        &self,
        at: &At<'_>,
        call: Call<'_>,
        options: &SurgeryOptions,
    ) -> Result<(Surgery, SecretCounts), ApiError> {
        if self.all && !self.revs.is_empty() {
            return Err(ApiError::params(
                "'revs' names some messages, and 'all' means all",
            ));
        }
        let named = self
            .revs
            .iter()
            .map(|rev| at.repo.resolve_named(&at.on, rev));
        let entry = |named| match named {
            Named::Entry(entry) | Named::Part(entry, _) => entry,
        };
        let named: Vec<EntryId> = named
            .map(|named| named.map(entry))
            .collect::<crate::Result<_>>()?;
        let named = (!named.is_empty()).then_some(&named[..]);
        let secrets = at.host.secrets()?;
        let done = at.repo.redact(call, named, &secrets, options)?;
        if !self.dry_run {
            // A vector tells of its text, secrets and all.
            at.repo.forget_vectors()?;
        }
        Ok(done)
    }
}

/// What was changed, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RedactAnswer {
    /// The messages.
    #[serde(flatten)]
    pub changed: Changed,
    /// How many secrets of which kind they held.
    pub secrets: std::collections::BTreeMap<String, usize>,
}

impl Method for RedactParams {
    const NAME: &'static str = "redact";
    const CHANGES: bool = true;
    type Answer = RedactAnswer;

    fn act(self, at: &mut At<'_>) -> Result<RedactAnswer, ApiError> {
        let (line, options) = (self.line(), at.surgery(self.dry_run, self.limit)?);
        let (done, counts) = self.carry_out(at, at.call(&line), &options)?;
        let counts = counts.into_iter();
        Ok(RedactAnswer {
            changed: Changed::of(&done),
            secrets: counts
                .map(|(kind, count)| (kind.to_string(), count))
                .collect(),
        })
    }
}

impl Deed for RedactParams {
    const PLACES: &'static [&'static str] = &["revs"];
    const REVISIONS: &'static [&'static str] = &["revs"];
}
