//! Priorities of messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Changed, Deed, Method};
use crate::model::{EntryId, Priority};
use crate::repo::{Call, Repo};
use crate::rewrite::{Annotated, SurgeryOptions};

/// Pin messages, skip them, or make them normal again
///
/// Pinned messages stay through truncations, compactions and clears. Skipped messages are out of the
/// context until they are normal again; a call goes together with its results. `tract pin REV` and
/// `tract unpin REV` are short for `pin` and `normal`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract annotate :1 :4 --pin --reason 'the house rules'
  tract annotate :7 --skip
  tract pin :4
  tract unpin :4")
)]
#[cfg_attr(feature = "cli", command(group(clap::ArgGroup::new("priority").required(true))))]
pub struct AnnotateParams {
    /// Messages
    #[cfg_attr(feature = "cli", arg(value_name = "REV", required = true))]
    pub revs: Vec<String>,
    /// Never hide these messages
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, group = "priority"))]
    pub pin: bool,
    /// Leave these messages out of the context
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, group = "priority"))]
    pub skip: bool,
    /// Neither pin nor skip them
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, group = "priority"))]
    pub normal: bool,
    /// Why
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub reason: Option<String>,
    /// Say what would change, and change nothing
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
    /// Refuse (exit 4) unless the branch is at REV; none: unless it has no commit
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "REV|none"))]
    pub expect: Option<String>,
}

impl AnnotateParams {
    /// What the messages are to be.
    ///
    /// # Errors
    ///
    /// Where that is not said, or twice.
    pub fn priority(&self) -> Result<Priority, ApiError> {
        match (self.pin, self.skip, self.normal) {
            (true, false, false) => Ok(Priority::Pinned),
            (false, true, false) => Ok(Priority::Skip),
            (false, false, true) => Ok(Priority::Normal),
            _ => Err(ApiError::params("one of 'pin', 'skip' and 'normal'")),
        }
    }

    /// The messages that are named.
    ///
    /// # Errors
    ///
    /// Where none is, or one that is not there.
    pub fn named(&self, at: &At<'_>) -> Result<Vec<EntryId>, ApiError> {
        at.each(&self.revs, "'revs' names no message", Repo::resolve_entry)
    }

    /// Does it to `named`.
    ///
    /// # Errors
    ///
    /// As [`AnnotateParams::priority`] and [`Repo::annotate`].
    pub fn carry_out(
        &self,
        at: &At<'_>,
        call: Call<'_>,
        named: &[EntryId],
        options: SurgeryOptions,
    ) -> Result<Annotated, ApiError> {
        let options = SurgeryOptions {
            expect: at.expected(self.expect.as_deref())?,
            ..options
        };
        let (priority, reason) = (self.priority()?, self.reason.as_deref());
        Ok(at.repo.annotate(call, named, priority, reason, &options)?)
    }
}

impl Method for AnnotateParams {
    const NAME: &'static str = "annotate";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn act(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let named = self.named(at)?;
        let (line, options) = (self.line(), at.surgery(self.dry_run, self.limit)?);
        let done = self.carry_out(at, at.call(&line), &named, options)?;
        Ok(Changed::of(&done.surgery))
    }
}

impl Deed for AnnotateParams {
    const PLACES: &'static [&'static str] = &["revs"];
    const SAID: &'static [&'static str] = &["reason"];
    const REVISIONS: &'static [&'static str] = &["revs", "expect"];
}
