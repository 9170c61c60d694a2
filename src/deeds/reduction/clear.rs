//! A fresh start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Changed, Deed, ErasedFacts, Method};

/// Hide everything but the system messages, to start over
///
/// Pinned messages stay, and so do calls that wait for a result. Nothing is lost: undo brings
/// everything back.
///
/// With `purge`, what came before is erased for good, kept session files included. It reads `[purged]` from then on.
/// No undo brings it back. Importing the session again does not bring it back either, unless that import was undone
/// before; a message that is written again is a new message. Messages that other branches, tags and sessions need
/// stay, and are reported. Notes and reasons are erased, too. Each is hashed with its commit, so that this commit and
/// all later ones get other names. undo reaches back no further. Request settings (model, tools) stay.
///
/// See also: prune (tool outputs), drop (messages you name), truncate (the oldest), compact (a
/// summary).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract clear                   all but the system messages
  tract clear --all             those too
  tract clear --dry-run         what would go
  tract clear --purge --force   also erase everything else for good")
)]
pub struct ClearParams {
    /// Hide the system messages too
    #[cfg_attr(feature = "cli", arg(long))]
    pub all: bool,
    /// Change nothing; say what would go
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "purge"))]
    pub dry_run: bool,
    /// In a dry run, list at most N messages of each kind; 0: all
    #[cfg_attr(
        feature = "cli",
        arg(short = 'n', long, value_name = "N", requires = "dry_run")
    )]
    pub limit: Option<usize>,
    /// Erase what came before, for good
    #[cfg_attr(feature = "cli", arg(long))]
    pub purge: bool,
    /// Confirm that it is erased for good
    #[cfg_attr(feature = "cli", arg(long, requires = "purge"))]
    pub force: bool,
}

/// What was hidden and, of a purge, what was erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClearAnswer {
    /// What was hidden.
    #[serde(flatten)]
    pub changed: Changed,
    /// What the purge erased, and what stays; none without a purge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erased: Option<ErasedFacts>,
}

impl Method for ClearParams {
    const NAME: &'static str = "clear";
    const CHANGES: bool = true;
    type Answer = ClearAnswer;

    fn check(&self) -> Result<(), ApiError> {
        if self.force && !self.purge {
            return Err(ApiError::params("'force' confirms a 'purge'"));
        }
        if self.purge && self.dry_run {
            return Err(ApiError::params("'purge' has no dry run"));
        }
        if self.purge && !self.force {
            let what = "a purge erases for good: no command brings it back";
            return Err(ApiError::params(what).with_hint("`tract clear --purge --force`"));
        }
        Ok(())
    }

    fn act(self, at: &mut At<'_>) -> Result<ClearAnswer, ApiError> {
        let (line, options) = (self.line(), at.surgery(self.dry_run, self.limit)?);
        let done = at.repo.clear(at.call(&line), self.all, &options)?;
        let erased = if self.purge {
            let purged = at.repo.purge(at.call(&line)).map_err(|error| {
                ApiError::from(error)
                    .with_hint("nothing is erased yet: `tract clear --purge --force`")
            })?;
            Some(ErasedFacts::of(&purged))
        } else {
            None
        };
        Ok(ClearAnswer {
            changed: Changed::of(&done),
            erased,
        })
    }
}

impl Deed for ClearParams {}
