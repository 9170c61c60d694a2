//! Old tool outputs become one-line stubs; the calls stay.

use std::collections::BTreeSet;

use crate::context::plan::{GonePart, PartLink, PlanEntry, PlanInput};
use crate::model::{Draft, HideKind, Message, Part, Role, Sealed};

/// What is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The newest user turns that are left alone.
    pub turns: usize,
    /// Before them, the newest tokens of tool output that are left alone.
    pub protect: u64,
    /// Acts only if it saves so many tokens.
    pub min: u64,
    /// Stops, the oldest outputs first, once it has saved so many tokens.
    pub enough: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: 2,
            protect: 40_000,
            min: 20_000,
            enough: u64::MAX,
        }
    }
}

/// Puts a stub in the place of each old tool output, the oldest first, until they have saved enough; see `outputs`. None:
/// it would save too little.
pub fn prune(
    input: &PlanInput,
    limits: Limits,
    whole: bool,
    is_kept: impl Fn(&PlanEntry, usize) -> bool,
    stub: impl Fn(&PlanEntry, usize) -> Option<(String, u64)>,
) -> Option<Draft> {
    let found = outputs(input, limits, whole, is_kept, stub);
    let mut saved = 0_u64;
    let mut parts = Vec::new();
    for (saves, gone) in found.into_iter().rev() {
        if saved >= limits.enough {
            break;
        }
        saved += saves;
        parts.push(gone);
    }
    if parts.is_empty() || saved < limits.min {
        return None;
    }
    Some(input.hide(HideKind::Prune, &BTreeSet::new(), parts, None))
}

/// The old tool outputs, newest first, each with a stub in its place and the tokens that it saves. `stub` gives the text for a
/// part and its tokens, or none to leave that part alone; what `is_kept` is not even counted. What was pruned before
/// ends the walk, unless it is to be `whole`.
pub(crate) fn outputs(
    input: &PlanInput,
    limits: Limits,
    whole: bool,
    is_kept: impl Fn(&PlanEntry, usize) -> bool,
    stub: impl Fn(&PlanEntry, usize) -> Option<(String, u64)>,
) -> Vec<(u64, GonePart)> {
    let is_turn = |at: &usize| {
        let entry = &input.order[*at];
        let said = entry.is_users() && entry.links.results.is_empty();
        said && !entry.placed_by(HideKind::Truncation)
    };
    let end = match limits.turns {
        0 => Some(input.order.len()),
        turns => input.visible().rev().filter(is_turn).nth(turns - 1),
    };
    let Some(end) = end else { return Vec::new() };
    let mut newest = 0_u64;
    let mut found = Vec::new();
    'walk: for at in input.visible().rev().filter(|at| *at < end) {
        let entry = &input.order[at];
        for (index, part) in entry.parts.iter().enumerate().rev() {
            let PartLink::Result(call) = &part.link else {
                continue;
            };
            let mut hidden = entry.entry.mask.parts().iter();
            match hidden.find(|masked| masked.part as usize == index) {
                Some(masked) if masked.stub.is_some() && !whole => break 'walk,
                Some(_) => continue,
                None => {}
            }
            if is_kept(entry, index) {
                continue;
            }
            newest = newest.saturating_add(part.tokens);
            if newest <= limits.protect || entry.pinned() {
                continue;
            }
            let Some((text, tokens)) = stub(entry, index) else {
                continue;
            };
            if tokens >= part.tokens {
                continue;
            }
            let result = Part::ToolResult {
                call: call.clone(),
                content: vec![Part::text(text)],
                is_error: false,
            };
            let stub = Sealed::new(Message::new(Role::Tool, vec![result]));
            let gone = GonePart {
                at,
                part: index,
                stub: Some(stub),
            };
            found.push((part.tokens - tokens, gone));
        }
    }
    found
}
