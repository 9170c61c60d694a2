//! What was hidden or edited, as it was; everything later stays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Changed, Deed, Method};
use crate::repo::{Call, Repo};
use crate::rewrite::{Restored, SurgeryOptions};

/// Un-hide messages; everything later stays
///
/// If REV is a hide or an edit, all of it is reversed. If REV is a hidden message, that message alone
/// comes back in its place, with its tool calls and results; the hide keeps the rest. If REV is a
/// visible message, its hidden parts come back; REV#PART brings back what the same hide took of it.
/// With `at_end` the message stays hidden and a copy is appended. With `before` it is moved there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract restore a1b2c3d           undo this truncation, compaction, drop, prune or edit
  tract restore a1b2c3d^:5        the message that was the 5th before it
  tract restore :2                what the marker or summary at :2 stands for
  tract restore 9f8e7d6 5d4c3b2   these two messages
  tract restore a1b2c3d --at-end  copies of what it hid at the end: the prompt cache keeps the rest
  tract restore :2 --before :40   what :2 stands for, right before :40
  tract restore :9 --dry-run      say what would come back")
)]
pub struct RestoreParams {
    /// Hides, edits, messages, or REV#PART
    #[cfg_attr(feature = "cli", arg(value_name = "REV", required = true))]
    pub revs: Vec<String>,
    /// Leave it hidden and append a copy; earlier messages do not change
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub at_end: bool,
    /// Move it to right before this visible message; earlier messages do not change
    #[serde(default)]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "REV", conflicts_with = "at_end")
    )]
    pub before: Option<String>,
    /// Say what would come back, and change nothing
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
    /// In a dry run, list at most N messages of each kind; 0: all
    #[serde(default)]
    #[cfg_attr(
        feature = "cli",
        arg(short = 'n', long, value_name = "N", requires = "dry_run")
    )]
    pub limit: Option<usize>,
}

impl RestoreParams {
    /// Does it; copies and what was moved leave nothing hidden.
    ///
    /// # Errors
    ///
    /// Where nothing is named, or what is not there; as [`crate::repo::Repo::restore`].
    pub fn carry_out(
        &self,
        at: &At<'_>,
        call: Call<'_>,
        options: &SurgeryOptions,
    ) -> Result<Restored, ApiError> {
        let lost = at.each(&self.revs, "'revs' names nothing", Repo::resolve_lost)?;
        let surgery = match (&self.before, self.at_end) {
            (Some(_), true) => return Err(ApiError::params("'at_end' or 'before', not both")),
            (Some(before), false) => {
                let place = at.repo.resolve_entry(&at.on, before)?;
                at.repo.restore_before(call, &lost, place, options)?
            }
            (None, true) => {
                let picked = at.repo.lost_messages(&at.on, &lost)?;
                at.repo.pick(call, &picked, options)?
            }
            (None, false) => return Ok(at.repo.restore(call, &lost, options)?),
        };
        Ok(Restored {
            surgery,
            still_hidden: Vec::new(),
        })
    }
}

impl Method for RestoreParams {
    const NAME: &'static str = "restore";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn act(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let (line, options) = (self.line(), at.surgery(self.dry_run, self.limit)?);
        let done = self.carry_out(at, at.call(&line), &options)?;
        Ok(Changed {
            still_hidden: done.still_hidden.iter().map(Into::into).collect(),
            ..Changed::of(&done.surgery)
        })
    }
}

impl Deed for RestoreParams {
    const PLACES: &'static [&'static str] = &["revs"];
    const REVISIONS: &'static [&'static str] = &["revs", "before"];
}
