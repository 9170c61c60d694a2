//! Whose change of a message holds, in a merge that is under way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::merge::{ConflictFacts, side};
use crate::deeds::{ApiError, At, Deed, Method};
use crate::model::EntryId;
use crate::repo::Call;
use crate::rewrite::MergeConflict;

/// Settle conflicts of a merge
///
/// Where merge has found messages that both branches changed differently, this says whose change holds of each.
/// Nothing is written before the merge goes on, by `tract merge --continue`. Without a message, it lists what is still in conflict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract resolve                what is in conflict
  tract resolve :4 --theirs    the fourth message becomes what it is on the other branch
  tract resolve :7 :9 --ours   these two stay as they are here
  tract merge --continue")
)]
pub struct ResolveParams {
    /// Messages in conflict
    #[cfg_attr(feature = "cli", arg(value_name = "REV"))]
    pub revs: Vec<String>,
    /// Keep this branch's text
    #[cfg_attr(
        feature = "cli",
        arg(long, requires = "revs", conflicts_with = "theirs")
    )]
    pub ours: bool,
    /// Take the other branch's text
    #[cfg_attr(feature = "cli", arg(long, requires = "revs"))]
    pub theirs: bool,
}

impl ResolveParams {
    /// Settles what is named. Gives the conflicts that are left.
    ///
    /// # Errors
    ///
    /// Where nothing says whose change holds; as [`crate::Repo::merge_resolve`].
    pub fn carry_out(&self, at: &At<'_>, call: Call<'_>) -> Result<Vec<MergeConflict>, ApiError> {
        let whose = side(self.ours, self.theirs)?;
        if self.revs.is_empty() {
            return Ok(at.repo.merge_conflicts(call)?);
        }
        let whose =
            whose.ok_or_else(|| ApiError::params("'ours' or 'theirs' says whose change holds"))?;
        let entries = self
            .revs
            .iter()
            .map(|rev| at.repo.resolve_entry(&at.on, rev));
        let entries: Vec<EntryId> = entries.collect::<crate::Result<_>>()?;
        Ok(at.repo.merge_resolve(call, &entries, whose)?)
    }
}

/// What is still in conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ResolveAnswer {
    /// The messages that both branches changed differently, as far as that is not settled.
    pub conflicts: Vec<ConflictFacts>,
}

impl Method for ResolveParams {
    const NAME: &'static str = "resolve";
    const CHANGES: bool = true;
    type Answer = ResolveAnswer;

    fn check(&self) -> Result<(), ApiError> {
        match self.revs.is_empty() && (self.ours || self.theirs) {
            true => Err(ApiError::params("'revs' says which messages")),
            false => Ok(()),
        }
    }

    fn act(self, at: &mut At<'_>) -> Result<ResolveAnswer, ApiError> {
        let left = self.carry_out(at, at.call(&self.line()))?;
        Ok(ResolveAnswer {
            conflicts: ConflictFacts::all(&left),
        })
    }
}

impl Deed for ResolveParams {
    const PLACES: &'static [&'static str] = &["revs"];
    const REVISIONS: &'static [&'static str] = &["revs"];
}
