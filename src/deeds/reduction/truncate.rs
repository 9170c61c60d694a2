//! The oldest messages go, and a marker says how many.

use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Changed, Deed, Method, Spelled, token_budget};
use crate::model::{Message, Role};
use crate::render::Share;
use crate::repo::Repo;
use crate::rewrite::{Fraction, Marker, Reach, Truncate};

/// Hide the oldest messages; the task and pinned ones stay
///
/// The task stays: the first user message, or the summary with which the context begins. System messages, pinned
/// messages and calls that wait for a result stay too. A call and its results go together. A message in their place
/// tells the model how many are hidden.
///
/// If nothing says how far, the context is made to fit budget.max. A budget hides whole exchanges, oldest
/// first. If those before the newest prompt are not enough, the oldest messages after it go too; that
/// prompt and the newest message stay.
///
/// Nothing is lost: undo brings everything back, restore single messages. See also: prune
/// (tool outputs), drop (messages you name), compact (a summary), clear (everything).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract truncate --keep 20              all but the newest 20
  tract truncate --fraction 0.5         the older half
  tract truncate --to-budget 80%        until it fits 80% of budget.max
  tract truncate --keep 20 --dry-run    say what would go")
)]
pub struct TruncateParams {
    /// Hide all but the newest N
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", group = "reach"))]
    pub keep: Option<NonZeroUsize>,
    /// Hide this share of the messages, from 0 to 1, rounded down to an even number
    #[cfg_attr(feature = "cli", arg(long, value_name = "F", group = "reach"))]
    pub fraction: Option<Spelled<Fraction>>,
    /// Hide the oldest exchanges until N tokens, or P% of budget.max, are enough, by the provider's
    /// count
    #[cfg_attr(feature = "cli", arg(long, value_name = "N|P%", group = "reach"))]
    pub to_budget: Option<Spelled<Share>>,
    /// Measure a budget by tract's own count, not by the provider's
    #[cfg_attr(feature = "cli", arg(long, conflicts_with_all = ["fraction", "keep"]))]
    pub by_our_count: bool,
    /// Allow the task to go too
    #[cfg_attr(feature = "cli", arg(long))]
    pub drop_first: bool,
    /// The text of the marker, instead of `[Sliding window truncation: N messages hidden …]`
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub marker: Option<String>,
    /// The role of the marker; by default user
    #[cfg_attr(feature = "cli", arg(long, value_name = "ROLE"))]
    pub marker_role: Option<String>,
    /// Leave no marker
    #[cfg_attr(feature = "cli", arg(long, conflicts_with_all = ["marker", "marker_role"]))]
    pub no_marker: bool,
    /// Say what would go, and change nothing
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
    /// In a dry run, list at most N messages of each kind; 0: all
    #[cfg_attr(
        feature = "cli",
        arg(short = 'n', long, value_name = "N", requires = "dry_run")
    )]
    pub limit: Option<usize>,
}

impl TruncateParams {
    /// What is to be done.
    ///
    /// # Errors
    ///
    /// Where nothing says how far, or more than one thing does; where the marker is none.
    pub fn plan(&self, repo: &Repo) -> Result<Truncate, ApiError> {
        let budget = |share| token_budget(repo, share, self.by_our_count).map(Reach::ToBudget);
        let reach = match (self.keep, self.fraction, self.to_budget) {
            (Some(keep), None, None) => Reach::Keep(keep.get()),
            (None, Some(fraction), None) => Reach::Fraction(fraction.0),
            (None, None, Some(share)) => budget(share.0)?,
            (None, None, None) => match repo.config()?.budget_max()? {
                Some(max) => budget(Share::Tokens(max))?,
                None => {
                    let fault =
                        ApiError::params("how much? 'fraction', 'keep' or 'to_budget' says it");
                    let hint =
                        "with `tract config budget.max 128k`, `tract truncate` alone fits that";
                    return Err(fault.with_hint(hint));
                }
            },
            _ => return Err(ApiError::params("one of 'keep', 'fraction', 'to_budget'")),
        };
        Ok(Truncate {
            reach,
            drop_first: self.drop_first,
            marker: self.placed()?,
        })
    }

    fn placed(&self) -> Result<Marker, ApiError> {
        let role = match &self.marker_role {
            Some(role) => role.parse()?,
            None => Role::User,
        };
        if role == Role::Tool {
            let what = "a marker answers no call: it cannot be a tool's";
            return Err(ApiError::params(what));
        }
        Ok(match &self.marker {
            _ if self.no_marker => Marker::None,
            Some(text) if text.trim().is_empty() => {
                return Err(
                    ApiError::params("the marker is empty").with_hint("`--no-marker`: none")
                );
            }
            Some(text) => Marker::Message(Message::text(role, text)),
            None if role == Role::User => Marker::Default,
            None => Marker::By(role),
        })
    }
}

impl Method for TruncateParams {
    const NAME: &'static str = "truncate";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn check(&self) -> Result<(), ApiError> {
        let what = match self {
            _ if self.by_our_count && (self.fraction.is_some() || self.keep.is_some()) => {
                "'by_our_count' is about a budget"
            }
            _ if self.no_marker && (self.marker.is_some() || self.marker_role.is_some()) => {
                "'no_marker' leaves none, and 'marker' says what it is"
            }
            _ => return Ok(()),
        };
        Err(ApiError::params(what))
    }

    fn act(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let plan = self.plan(at.repo)?;
        let options = at.surgery(self.dry_run, self.limit)?;
        let done = at.repo.carry_out(at.call(&self.line()), &plan, &options)?;
        Ok(Changed::of(&done))
    }
}

impl Deed for TruncateParams {
    const SAID: &'static [&'static str] = &["marker"];
}
