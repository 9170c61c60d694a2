//! The opposite of one commit; what came later stays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Changed, Deed, Method};

/// Do the opposite of one commit; what came later stays
///
/// A message is dropped, with its tool calls and results. An edit, a truncation, a compaction, a clear, a drop or a
/// prune is undone, as restore does. Messages that a restore brought back are hidden again, or edited again. A pin
/// gives way to the priority before it. The commit itself stays in the history, and a revert can be reverted. To take
/// the last command back instead: undo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract revert a1b2c3d            a compaction: the messages are back, later ones stay
  tract revert :7                 the 7th message goes
  tract revert HEAD               the last commit
  tract revert :7 --dry-run       say what would change")
)]
pub struct RevertParams {
    /// The commit
    #[cfg_attr(feature = "cli", arg(value_name = "REV"))]
    pub rev: String,
    /// Even if it is the task or the last user message
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
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
}

impl Method for RevertParams {
    const NAME: &'static str = "revert";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn act(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let commit = at.commit(&self.rev)?;
        let (line, options) = (self.line(), at.surgery(self.dry_run, self.limit)?);
        let done = at
            .repo
            .revert(at.call(&line), &commit, self.force, &options)?;
        Ok(Changed::of(&done.surgery))
    }
}

impl Deed for RevertParams {
    const PLACES: &'static [&'static str] = &["rev"];
    const REVISIONS: &'static [&'static str] = &["rev"];
}
