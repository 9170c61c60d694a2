//! A summary in place of a span.

use std::collections::BTreeSet;

use crate::context::plan::PlanInput;
use crate::error::{Error, Refusal, Result};
use crate::model::{Draft, EntryId, HideKind, Message, Role};

/// What a summary replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All but the system messages.
    All,
    /// All but the system messages and the newest so many others.
    KeepLast(usize),
    /// All but the system messages and the current turn: the newest user message and what follows
    /// it.
    KeepTurn,
    /// From one visible entry to another, both included.
    Range(EntryId, EntryId),
}

/// The entries that a summary of `span` replaces, visible ones and those hidden among them: for
/// a caller that shows them to a summariser.
///
/// # Errors
///
/// [`Error::Refused`] where there is nothing to compact or an end
/// isn't visible.
pub fn replaced(input: &PlanInput, span: &Extent) -> Result<BTreeSet<usize>> {
    let others: Vec<usize> = input
        .visible()
        .filter(|at| !input.order[*at].role.is_system())
        .collect();
    let until = |tail: usize| (0, others.get(tail).copied().unwrap_or(input.order.len()));
    let (from, to) = match span {
        Extent::All => (0, input.order.len()),
        Extent::KeepLast(keep) => until(others.len().saturating_sub(*keep)),
        Extent::KeepTurn => {
            let said = |at: &usize| input.order[*at].is_users();
            until(others.iter().rposition(said).unwrap_or(0))
        }
        Extent::Range(first, last) => {
            let (first, last) = (input.place(first)?, input.place(last)?);
            if !input.order[first].visible() || !input.order[last].visible() {
                return Err(Error::Refused(Refusal::EndNotVisible));
            }
            if first > last {
                return Err(Error::Refused(Refusal::EndsBeforeItBegins));
            }
            (first, last + 1)
        }
    };
    if !matches!(span, Extent::Range(..)) {
        let is_summary = |at: &usize| input.order[*at].placed_by(HideKind::Compaction);
        let since = match others.iter().rposition(is_summary) {
            Some(summary) => others.len() - summary - 1,
            None => others.len(),
        };
        if since <= 1 {
            return Err(Error::Refused(Refusal::CompactedAlready));
        }
    }
    let wanted = (from..to).filter(|at| !input.order[*at].role.is_system());
    settled(input, &wanted.collect()).map_err(|refused| match (refused, span) {
        (Error::Refused(Refusal::NothingToCompact), Extent::KeepTurn) => {
            Error::Refused(Refusal::OnlyTheTurn)
        }
        (Error::Refused(Refusal::NothingToCompact), Extent::KeepLast(keep @ 2..)) => {
            Error::Refused(Refusal::OnlyTheNewest { keep: *keep })
        }
        (refused, _) => refused,
    })
}

/// How many visible messages of a range stay where a summary replaces it: those that are pinned, and calls and results of
/// which the other half is outside. None of what is no range: that is said otherwise, see [`replaced`].
///
/// # Errors
///
/// As [`replaced`].
pub fn staying(input: &PlanInput, span: &Extent) -> Result<usize> {
    let Extent::Range(first, last) = span else {
        return Ok(0);
    };
    let chosen = replaced(input, span)?;
    let range = input.place(first)?..=input.place(last)?;
    let stays = |at: &usize| {
        let entry = &input.order[*at];
        entry.visible() && !entry.role.is_system() && !chosen.contains(at)
    };
    Ok(input.count(&range.filter(stays).collect::<Vec<usize>>()))
}

/// Which of `wanted` can go, and nothing beside them.
fn settled(input: &PlanInput, wanted: &BTreeSet<usize>) -> Result<BTreeSet<usize>> {
    let chosen = input.settle(wanted, true, |at| !wanted.contains(&at));
    if chosen.iter().any(|at| input.order[*at].visible()) {
        Ok(chosen)
    } else {
        Err(Error::Refused(Refusal::NothingToCompact))
    }
}

/// Replaces a span by a summary, a user message placed where the span was. Pinned messages and
/// calls still open stay in their places.
///
/// # Errors
///
/// As [`replaced`].
pub fn compact(input: &PlanInput, span: &Extent, summary: &str) -> Result<Option<Draft>> {
    let chosen = replaced(input, span)?;
    Ok(Some(draft(input, &chosen, Some(summary))))
}

/// Replaces entries that were chosen earlier, by [`replaced`]: what came after them since stays,
/// and so does what was pinned since. Without a summary nothing stands in their place.
///
/// # Errors
///
/// [`Error::NotOnPath`] where they are on another path,
/// [`Error::Refused`] where nothing of them is visible any more.
pub fn entries(
    input: &PlanInput,
    chosen: &BTreeSet<EntryId>,
    summary: Option<&str>,
) -> Result<Draft> {
    let wanted = input.places(chosen)?.into_iter().collect();
    Ok(draft(input, &settled(input, &wanted)?, summary))
}

/// The hide of entries that may go, see [`replaced`], with a summary in their place.
pub(crate) fn draft(input: &PlanInput, chosen: &BTreeSet<usize>, summary: Option<&str>) -> Draft {
    let last = chosen.iter().rev().find(|at| input.order[**at].visible());
    let before = last.and_then(|last| input.slot_after(*last, chosen));
    let summary = summary.map(|text| (before, Message::text(Role::User, text)));
    input.hide(HideKind::Compaction, chosen, Vec::new(), summary)
}
