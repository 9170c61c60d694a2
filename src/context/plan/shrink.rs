//! As many tool outputs become one line as it takes; where all of them are not enough, the oldest messages go too.

use std::collections::BTreeSet;

use crate::context::plan::{GonePart, PlanInput};
use crate::error::Result;
use crate::model::{Draft, HideKind, Operation};

/// Takes `over` tokens out. `outputs` are those that a line may stand for, in the order in which they go, each with what it
/// saves. Where they are not enough, `truncate` takes the rest from what they leave. No drafts: nothing is over.
///
/// # Errors
///
/// Those of `truncate`.
pub(crate) fn shrink(
    input: &PlanInput,
    over: u64,
    mut outputs: Vec<(u64, GonePart)>,
    truncate: impl FnOnce(PlanInput) -> Result<Option<Draft>>,
) -> Result<Vec<Draft>> {
    let mut saved = 0_u64;
    let enough = outputs.iter().position(|(saves, _)| {
        let is_enough = saved >= over;
        saved += saves;
        is_enough
    });
    let truncated = match enough {
        Some(enough) => {
            outputs.truncate(enough);
            None
        }
        None if saved >= over => None,
        None => {
            let mut left = input.clone();
            for (saves, gone) in &outputs {
                let tokens = &mut left.order[gone.at].tokens.tokens;
                *tokens = tokens.saturating_sub(*saves);
            }
            truncate(left)?
        }
    };
    // What goes whole needs no line.
    let whole = truncated.as_ref().map(|draft| hidden(input, draft));
    let whole = whole.unwrap_or_default();
    let mut lines: Vec<GonePart> = outputs
        .into_iter()
        .map(|(_, gone)| gone)
        .filter(|gone| !whole.contains(&gone.at))
        .collect();
    lines.sort_by_key(|gone| (gone.at, gone.part));
    let pruned =
        (!lines.is_empty()).then(|| input.hide(HideKind::Prune, &BTreeSet::new(), lines, None));
    Ok(pruned.into_iter().chain(truncated).collect())
}

/// The places of the entries that a draft hides whole.
fn hidden(input: &PlanInput, draft: &Draft) -> BTreeSet<usize> {
    let Operation::Hide(hide) = &draft.operation else {
        return BTreeSet::new();
    };
    let (mut places, mut until) = (BTreeSet::new(), None);
    for (at, entry) in input.order.iter().enumerate() {
        let id = entry.entry.id;
        if until.is_none() {
            let begins = hide.intervals.iter().find(|one| one.first == id);
            until = begins.map(|one| one.last);
        }
        let Some(last) = until else { continue };
        if !hide.keep.contains(&id) {
            places.insert(at);
        }
        let ends = entry.run.map_or(id, |run| run.last);
        until = Some(last).filter(|last| *last != id && *last != ends);
    }
    places
}
