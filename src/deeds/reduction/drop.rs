//! Single messages or parts out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Changed, Deed, Method};
use crate::repo::{Named, Repo};

/// Hide the messages, or parts of messages, that you name
///
/// With a message that calls tools, their results go too. With a result, only its own call goes; the text next to
/// that call, and calls made in parallel, stay with their results. If one of these is pinned, nothing is done. A
/// message whose parts are all dropped is hidden. Parts are counted from 0, as show prints them.
///
/// See also: prune (tool outputs), truncate (the oldest), compact (a summary), clear (everything).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract drop :7 :9             the 7th and the 9th visible message
  tract drop a1b2c3d           the message that this commit brought
  tract drop :7#0              its first part
  tract drop :8                a tool's result, and the call that it answers
  tract drop :-1 --dry-run     say what would go")
)]
pub struct DropParams {
    /// Messages, or REV#PART for a part
    #[cfg_attr(feature = "cli", arg(value_name = "REV", required = true))]
    pub revs: Vec<String>,
    /// Allow the last user message and the task to go too
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
    /// Say what would go, and change nothing
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

impl DropParams {
    /// What is named.
    ///
    /// # Errors
    ///
    /// Where nothing is, or what is not there.
    pub fn named(&self, at: &At<'_>) -> Result<Vec<Named>, ApiError> {
        at.each(&self.revs, "'revs' names no message", Repo::resolve_named)
    }
}

impl Method for DropParams {
    const NAME: &'static str = "drop";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn act(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let named = self.named(at)?;
        let (line, options) = (self.line(), at.surgery(self.dry_run, self.limit)?);
        let done = at
            .repo
            .drop_named(at.call(&line), &named, self.force, &options)?;
        Ok(Changed::of(&done))
    }
}

impl Deed for DropParams {
    const PLACES: &'static [&'static str] = &["revs"];
    const REVISIONS: &'static [&'static str] = &["revs"];
}
