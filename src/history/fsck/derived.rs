//! What is kept and follows from the rest, held against it: checkpoints and totals against a fold from the
//! root, counts of tokens against another count.

use std::collections::{HashMap, HashSet};

use super::BODIES;
use crate::context::{Context, Mask, Order};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash, HashBytes};
use crate::history::counts::key;
use crate::history::load::{self, Fresh};
use crate::history::status::sum_up;
use crate::model::tokens::Counter;
use crate::model::{Encoding, RefName, RefValue, Role, Summed, TokenCount, Total};
use crate::store::{CountKey, Derived, Fault, View};

/// How many contents are gone through between two words of progress.
const STEP: usize = 16;

/// What was found.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) faults: Vec<Fault>,
    /// How many counts were not made again.
    pub(super) uncounted: u64,
    /// Counts that are wrong, as they should be.
    pub(super) miscounted: Vec<(CountKey, Encoding, TokenCount)>,
}

/// Holds it all against the rest; where the rest is damaged, that is for others to say.
pub(super) fn check(view: &dyn View, counts: bool, progress: &mut dyn FnMut()) -> Result<Checked> {
    let derived = match view.derived() {
        Ok(derived) => derived,
        // Rows that are damaged were told of.
        Err(_) => return Ok(Checked::default()),
    };
    let mut checked = Checked::default();
    let masks = contexts(view, &derived, &mut checked.faults, progress)?;
    match counts {
        true => recount(view, &derived, &masks, &mut checked, progress)?,
        false => checked.uncounted = derived.counts.len() as u64,
    }
    Ok(checked)
}

/// The masks that contexts have, by their keys.
type Masks = HashMap<HashBytes, Mask>;

/// Folds every path with a checkpoint, a total or a summary on it, each once. Gives the masks that were met.
fn contexts(
    view: &dyn View,
    derived: &Derived,
    faults: &mut Vec<Fault>,
    progress: &mut dyn FnMut(),
) -> Result<Masks> {
    let counts: HashMap<(CountKey, Encoding), TokenCount> = derived
        .counts
        .iter()
        .map(|(key, encoding, count)| ((*key, *encoding), *count))
        .collect();
    let mut totals: HashMap<CommitHash, Vec<(Encoding, Total)>> = HashMap::new();
    for (commit, encoding, total) in &derived.totals {
        totals.entry(*commit).or_default().push((*encoding, *total));
    }
    let mut summaries: HashMap<CommitHash, Vec<(Encoding, Option<&Summed>)>> = HashMap::new();
    for (commit, encoding, summary) in &derived.summaries {
        let of = summaries.entry(*commit).or_default();
        of.push((*encoding, summary.as_ref()));
    }
    let roles: HashMap<ContentHash, Role> = match summaries.is_empty() {
        true => HashMap::new(),
        false => {
            let sizes = view.content_sizes().unwrap_or_default().into_iter();
            sizes.map(|size| (size.hash, size.role)).collect()
        }
    };
    let checkpoints: HashSet<CommitHash> = derived.checkpoints.iter().copied().collect();
    // A ref that cannot be read is told of as such; the others' paths are looked at all the same.
    let names = view.sound_references()?;
    let tip = |name: &RefName| match view.reference(name) {
        Ok(Some(RefValue::Commit(tip))) => Some(tip),
        _ => None,
    };
    let tips: HashSet<CommitHash> = names.iter().filter_map(tip).collect();
    let wanted: HashSet<CommitHash> = checkpoints
        .iter()
        .chain(totals.keys())
        .chain(summaries.keys())
        .chain(&tips)
        .copied()
        .collect();
    let mut left: Vec<(u64, CommitHash)> = Vec::new();
    for commit in wanted {
        if let Ok(Some(row)) = view.commit(&commit) {
            left.push((row.depth, commit));
        }
    }
    // The deepest first: whatever is on its path is done with it.
    left.sort_unstable();
    let (mut done, mut masks) = (HashSet::new(), Masks::new());
    let (mut wrong_checkpoints, mut wrong_totals, mut wrong_summaries) = (0, 0, 0);
    while let Some((_, tip)) = left.pop() {
        if done.contains(&tip) {
            continue;
        }
        let mut order = Order::default();
        let Ok(path) = view.ancestors(&tip, None, usize::MAX) else {
            continue;
        };
        // What the messages come to since the newest commit that was no append: a context is made for
        // the first total behind that alone.
        let mut running: HashMap<Encoding, Total> = HashMap::new();
        for row in path.iter().rev() {
            if order.apply(row.hash, &row.commit).is_err() {
                break;
            }
            match row.appended() {
                Some(content) => running.retain(|encoding, total| {
                    let key = CountKey {
                        content,
                        mask: None,
                    };
                    let count = counts.get(&(key, *encoding));
                    count.is_some_and(|count| {
                        total.add(*count);
                        true
                    })
                }),
                None => running.clear(),
            }
            let kept = totals.get(&row.hash);
            let is_kept = checkpoints.contains(&row.hash);
            let summed = summaries.get(&row.hash);
            let is_of_interest =
                is_kept || kept.is_some() || summed.is_some() || tips.contains(&row.hash);
            if !is_of_interest || !done.insert(row.hash) {
                continue;
            }
            progress();
            let is_new = |(encoding, _): &&(Encoding, Total)| !running.contains_key(encoding);
            let unknown = kept.into_iter().flatten().any(|kept| is_new(&kept));
            let is_needed = is_kept || unknown || summed.is_some() || tips.contains(&row.hash);
            let context = is_needed.then(|| order.context());
            for entry in context.iter().flat_map(|context| &context.entries) {
                if let Some(key) = entry.mask.key() {
                    masks.entry(key).or_insert_with(|| entry.mask.clone());
                }
            }
            if is_kept {
                let context = context.as_ref();
                let read = view.checkpoint(&row.hash);
                let is_right = matches!(read, Ok(Some((at, kept))) if at == row.hash && Some(&kept) == context);
                wrong_checkpoints += u64::from(!is_right);
            }
            for (encoding, kept) in kept.into_iter().flatten() {
                let sum = match (running.get(encoding), &context) {
                    (Some(total), _) => Some(*total),
                    (None, context) => sum(context.as_ref(), *encoding, &counts),
                };
                running.extend(sum.map(|sum| (*encoding, sum)));
                wrong_totals += u64::from(sum.is_some_and(|sum| sum != *kept));
            }
            for (encoding, kept) in summed.into_iter().flatten() {
                let sum = summary(context.as_ref(), *encoding, &counts, &roles);
                wrong_summaries += u64::from(sum.is_some_and(|sum| Some(&sum) != *kept));
            }
        }
    }
    for (what, rows) in [
        ("checkpoints", wrong_checkpoints),
        ("totals", wrong_totals),
        ("summaries", wrong_summaries),
    ] {
        if rows > 0 {
            faults.push(Fault::Derived { what, rows });
        }
    }
    Ok(masks)
}

/// What the visible messages come to; none where one has no count.
fn sum(
    context: Option<&Context>,
    encoding: Encoding,
    counts: &HashMap<(CountKey, Encoding), TokenCount>,
) -> Option<Total> {
    let mut total = Total::default();
    for entry in &context?.entries {
        total.add(*counts.get(&(key(entry), encoding))?);
    }
    Some(total)
}

/// A context summed up; none where a message has no count, or its row is damaged.
fn summary(
    context: Option<&Context>,
    encoding: Encoding,
    counts: &HashMap<(CountKey, Encoding), TokenCount>,
    roles: &HashMap<ContentHash, Role>,
) -> Option<Summed> {
    let context = context?;
    let entries = context.entries.iter();
    let is_known = |content| roles.contains_key(content);
    if !context.entries.iter().all(|entry| is_known(&entry.content)) {
        return None;
    }
    let counted = entries.map(|entry| counts.get(&(key(entry), encoding)).copied());
    let counted: Vec<TokenCount> = counted.collect::<Option<_>>()?;
    Some(sum_up(context, &counted, |content| roles[content]))
}

/// Counts every message again that has a count.
fn recount(
    view: &dyn View,
    derived: &Derived,
    masks: &Masks,
    checked: &mut Checked,
    progress: &mut dyn FnMut(),
) -> Result<()> {
    let counters = Encoding::ALL.map(Counter::load);
    let counter = |encoding| {
        let of = counters
            .iter()
            .find(|counter| counter.encoding() == encoding);
        of.expect("one for each")
    };
    for (at, some) in derived.counts.chunks(BODIES).enumerate() {
        if at % STEP == 0 {
            progress();
        }
        let names: Vec<ContentHash> = some.iter().map(|(key, _, _)| key.content).collect();
        let whole = load::contents(view, &names);
        for (nth, (key, encoding, kept)) in some.iter().enumerate() {
            // Where one of them is damaged, the others can still be read.
            let message = match &whole {
                Ok(messages) => Some(messages[nth].clone()),
                Err(_) => view.content(&key.content).ok().flatten(),
            };
            let mask = match key.mask {
                None => Some(Mask::default()),
                Some(mask) => masks.get(&mask).cloned(),
            };
            let (Some(message), Some(mask)) = (message, mask) else {
                checked.uncounted += 1;
                continue;
            };
            let Ok(stubs) = load::stubs(view, [&mask].into_iter(), &Fresh::new()) else {
                checked.uncounted += 1;
                continue;
            };
            let message = mask.apply(message, |stub| stubs.get(stub).cloned());
            let right = counter(*encoding).message(&message);
            if right != *kept {
                checked.miscounted.push((*key, *encoding, right));
            }
        }
    }
    if !checked.miscounted.is_empty() {
        checked.faults.push(Fault::Derived {
            what: "token counts",
            rows: checked.miscounted.len() as u64,
        });
    }
    Ok(())
}
