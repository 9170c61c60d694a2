//! Single messages and parts.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::plan::{GonePart, PartLink, PlanEntry, PlanInput};
use crate::error::{Error, Refusal, Result};
use crate::model::{Draft, EntryId, HideKind};

/// Hides the named entries and parts, all or nothing. A message that calls takes its results along,
/// and they what else they answer; a message of results takes its own calls, part for part, and no
/// more; a part that is a call or a result takes the other parts of its pair; a message whose parts
/// are all dropped is hidden. None: everything named is hidden already.
///
/// # Errors
///
/// [`Error::NotOnPath`] for an unknown entry; [`Error::Refused`] for an unknown part, a pinned
/// message or partner, and a call still open; [`Error::Essential`], without `force`, for the task
/// and the last user message.
pub fn drop(
    input: &PlanInput,
    entries: &[EntryId],
    parts: &[(EntryId, u32)],
    force: bool,
) -> Result<Option<Draft>> {
    let pairs = input.pairs();
    let mut chosen = BTreeSet::new();
    let mut parts = parts.to_vec();
    for id in entries {
        let at = input.place(id)?;
        match results(&input.order[at]) {
            Some(results) => parts.extend(results.map(|part| (*id, part))),
            None => chosen.extend(pairs.group_of(at).iter().copied()),
        }
    }
    let mut gone: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (id, part) in &parts {
        let (at, part) = (input.place(id)?, *part as usize);
        let Some(found) = input.order[at].parts.get(part) else {
            let last = input.order[at].parts.len().saturating_sub(1);
            return Err(Error::Refused(Refusal::NoSuchPart { part, last }));
        };
        if input.order[at].lacks(part) || !input.order[at].visible() {
            continue;
        }
        gone.entry(at).or_default().insert(part);
        for pair in pairs.pairs() {
            let call = input.part_of(pair.call, true);
            let result = input.part_of(pair.result, false);
            let ends = [(pair.call.0, call), (pair.result.0, result)];
            if found.link != PartLink::None && ends.contains(&(at, Some(part))) {
                for (at, part) in ends {
                    if let Some(part) = part {
                        gone.entry(at).or_default().insert(part);
                    }
                }
            }
        }
    }
    for (at, parts) in &gone {
        let all = (0..input.order[*at].parts.len())
            .all(|p| parts.contains(&p) || input.order[*at].lacks(p));
        if all {
            // The other ends of its pairs are parts that go as well.
            chosen.insert(*at);
        }
    }
    chosen.retain(|at| input.order[*at].visible());
    gone.retain(|at, _| !chosen.contains(at));
    let last_user = input.visible().rfind(|at| input.order[*at].is_users());
    for at in chosen.iter().chain(gone.keys()) {
        let commit = input.order[*at].commit();
        if input.order[*at].pinned() {
            return Err(Error::Refused(Refusal::Pinned { commit }));
        }
        if pairs.is_open(*at) {
            return Err(Error::Refused(Refusal::CallOpen { commit }));
        }
        if !force && input.task() == Some(*at) {
            return Err(Error::Essential { what: "the task" });
        }
        if !force && last_user == Some(*at) {
            let what = "the last user message";
            return Err(Error::Essential { what });
        }
    }
    let attached = input.attached_to(&chosen).into_iter();
    let attached: Vec<usize> = attached.filter(|at| input.order[*at].visible()).collect();
    chosen.extend(attached);
    gone.retain(|at, _| !chosen.contains(at));
    if chosen.is_empty() && gone.is_empty() {
        return Ok(None);
    }
    let parts = gone.into_iter().flat_map(|(at, parts)| {
        let parts = parts.into_iter();
        parts.map(move |part| GonePart {
            at,
            part,
            stub: None,
        })
    });
    let parts = parts.collect();
    Ok(Some(input.hide(HideKind::Drop, &chosen, parts, None)))
}

/// The parts that a visible entry shows, where they are results all of them.
fn results(entry: &PlanEntry) -> Option<impl Iterator<Item = u32> + use<'_>> {
    let shown = || (0..entry.parts.len()).filter(|part| !entry.lacks(*part));
    let is_result = |part: usize| matches!(entry.parts[part].link, PartLink::Result(_));
    let all = entry.visible() && shown().next().is_some() && shown().all(is_result);
    all.then(|| shown().map(|part| part as u32))
}
