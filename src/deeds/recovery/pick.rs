//! Copies of messages from anywhere, at the end; and what commits of other branches do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Changed, Deed, Method};
use crate::repo::Repo;
use crate::rewrite::Pickable;

/// Copy messages from anywhere to the end
///
/// The messages may be on other branches or sessions, before a compaction, or on no branch at all. A
/// copy of each is appended, with its tool calls and results and with all its parts. Nothing before it
/// changes, so a provider's prompt cache stays valid. To put a hidden message back in its own place
/// instead: restore.
///
/// A commit that is no message is picked for what it does: an edit, a compaction, a drop, a restore, a
/// pin. The same is done here, to the messages that both branches have and to copies of them. If those
/// are not here, or were changed differently, nothing is done and the error says which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract pick a1b2c3d               this message, as tract find lists it
  tract pick idea:12 idea:14       two of the branch idea
  tract pick claude-code/6b6f:-1   the last one of a session
  tract pick a1b2c3d#1             one part of it; of a call, its result too
  tract cherry-pick 9f8e7d6        a compaction or an edit of another branch, done here
  tract pick :3 --dry-run          say what would be copied")
)]
pub struct PickParams {
    /// Messages, REV#PART, or commits that edit, hide, restore or pin
    #[cfg_attr(feature = "cli", arg(value_name = "REV", required = true))]
    pub revs: Vec<String>,
    /// Say what would be copied, and change nothing
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

impl PickParams {
    /// What is named.
    ///
    /// # Errors
    ///
    /// Where nothing is, or what is not there.
    pub fn picked(&self, at: &At<'_>) -> Result<Vec<Pickable>, ApiError> {
        at.each(
            &self.revs,
            "'revs' names no message",
            Repo::resolve_pickable,
        )
    }
}

impl Method for PickParams {
    const NAME: &'static str = "pick";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn act(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let picked = self.picked(at)?;
        let (line, options) = (self.line(), at.surgery(self.dry_run, self.limit)?);
        let done = at.repo.cherry_pick(at.call(&line), &picked, &options)?;
        Ok(Changed::of(&done.surgery))
    }
}

impl Deed for PickParams {
    const PLACES: &'static [&'static str] = &["revs"];
    const REVISIONS: &'static [&'static str] = &["revs"];
}
