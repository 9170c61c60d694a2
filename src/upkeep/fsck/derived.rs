//! What is kept and follows from the rest, held against it: checkpoints and totals against a fold from the
//! root, counts of tokens against another count.

use std::collections::{HashMap, HashSet};

use super::BODIES;
use crate::compile::{Beginning, Provider};
use crate::context::{Context, Entry, Mask, Order};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash, HashBytes};
use crate::model::background::KnownWork;
use crate::model::tokens::Counter;
use crate::model::{Encoding, PathSums, RefValue, Standouts, Summed, TokenCount, Total};
use crate::repo::counts::{key, key_of};
use crate::repo::load::{self, Fresh};
use crate::repo::{open_work, path_sums, standouts, sums};
use crate::store::{CommitRow, CountKey, Derived, Fault, View};

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
pub(super) fn check(
    view: &dyn View,
    counts: bool,
    progress: &mut dyn FnMut() -> Result<()>,
) -> Result<Checked> {
    let derived = match view.derived() {
        Ok(derived) => derived,
        // Rows that are damaged were told of.
        Err(_) => return Ok(Checked::default()),
    };
    let mut checked = Checked::default();
    let masks = contexts(view, &derived, &mut checked.faults, progress)?;
    if counts {
        recount(view, &derived, &masks, &mut checked, progress)?
    } else {
        checked.uncounted = derived.counts.len() as u64
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
    progress: &mut dyn FnMut() -> Result<()>,
) -> Result<Masks> {
    let kept = Kept::of(view, derived)?;
    let mut left: Vec<(u64, CommitHash)> = Vec::new();
    for commit in kept.commits.keys() {
        if let Ok(Some(row)) = view.commit(commit) {
            left.push((row.depth, *commit));
        }
    }
    // The deepest first: whatever is on its path is done with it.
    left.sort_unstable();
    let mut found = Found::default();
    while let Some((_, tip)) = left.pop() {
        if found.done.contains(&tip) {
            continue;
        }
        if let Ok(path) = view.ancestors(&tip, None, usize::MAX) {
            found.along(&kept, path.into_iter().rev(), progress)?;
        }
    }
    let wrong = [
        ("checkpoints", found.checkpoints),
        ("totals", found.totals),
        ("summaries", found.summaries),
    ];
    let wrong = wrong.into_iter().filter(|(_, rows)| *rows > 0);
    faults.extend(wrong.map(|(what, rows)| Fault::Derived { what, rows }));
    Ok(found.masks)
}

/// What is kept, by the commit that it is of.
struct Kept<'a> {
    view: &'a dyn View,
    counts: HashMap<(CountKey, Encoding), TokenCount>,
    /// The tips of refs are among them.
    commits: HashMap<CommitHash, OfCommit<'a>>,
}

#[derive(Default)]
struct OfCommit<'a> {
    is_tip: bool,
    has_checkpoint: bool,
    totals: Vec<(Encoding, Total)>,
    summaries: Vec<(Encoding, Option<&'a Summed>)>,
}

impl<'a> Kept<'a> {
    fn of(view: &'a dyn View, derived: &'a Derived) -> Result<Self> {
        let counts = derived.counts.iter();
        let counts = counts.map(|(key, encoding, count)| ((*key, *encoding), *count));
        let mut commits: HashMap<CommitHash, OfCommit<'_>> = HashMap::new();
        for commit in &derived.checkpoints {
            commits.entry(*commit).or_default().has_checkpoint = true;
        }
        for (commit, encoding, total) in &derived.totals {
            let of = commits.entry(*commit).or_default();
            of.totals.push((*encoding, *total));
        }
        for (commit, encoding, summary) in &derived.summaries {
            let of = commits.entry(*commit).or_default();
            of.summaries.push((*encoding, summary.as_ref()));
        }
        // A ref that cannot be read is told of as such; the others' paths are looked at all the same.
        for name in view.sound_references()? {
            if let Ok(Some(RefValue::Commit(tip))) = view.reference(&name) {
                commits.entry(tip).or_default().is_tip = true;
            }
        }
        Ok(Self {
            view,
            counts: counts.collect(),
            commits,
        })
    }

    /// The counts of a context's messages; none where one has none.
    fn counted(&self, context: Option<&Context>, encoding: Encoding) -> Option<Vec<TokenCount>> {
        let count = |entry: &Entry| self.count(key(entry), encoding);
        context?.entries.iter().map(count).collect()
    }

    /// A count, which is kept without a rule for pictures where nothing is estimated.
    fn count(&self, key: CountKey, encoding: Encoding) -> Option<TokenCount> {
        let plain = self.counts.get(&(key, encoding.plain())).copied();
        let exact = plain.filter(|count| !count.estimated);
        exact.or_else(|| self.counts.get(&(key, encoding)).copied())
    }

    fn total(&self, context: Option<&Context>, encoding: Encoding) -> Option<Total> {
        let mut total = Total::default();
        total.extend(self.counted(context, encoding)?);
        Some(total)
    }

    /// A context summed up; none where a message has no count, or its row is damaged.
    fn summary(
        &self,
        (commit, context): (&CommitHash, Option<&Context>),
        encoding: Encoding,
        kept: Option<&Summed>,
        before: &Before,
    ) -> Option<Summed> {
        let counted = self.counted(context, encoding)?;
        let mut right = sums::of_context(self.view, commit, context?, &counted).ok()?;
        if let Some(kept) = kept.and_then(|kept| kept.standouts.as_ref()) {
            let before = before.standouts.as_ref();
            let are_sound = standouts::are_sound(self.view, commit, kept, before).ok()?;
            right.standouts = are_sound.then(|| kept.clone());
        }
        if let Some(kept) = kept.and_then(|kept| kept.background.as_ref()) {
            let before = before.background.as_ref();
            let is_sound = open_work::is_sound(self.view, commit, kept, before).ok()?;
            right.background = is_sound.then(|| kept.clone());
        }
        if let Some(kept) = kept.and_then(|kept| kept.sums.as_ref()) {
            let before = before.sums.as_ref();
            let before = before.filter(|(of, _)| *of == encoding);
            let before = before.map(|(_, sums)| sums);
            let are_sound = path_sums::are_sound(self.view, commit, kept, before, encoding);
            right.sums = are_sound.ok()??.then(|| kept.clone());
        }
        if kept.is_some_and(|kept| kept.settings.is_some()) {
            right.settings = Some(context?.settings.clone());
        }
        if let Some(kept) = kept.and_then(|kept| kept.written) {
            let first = context?.entries.iter().take(kept.messages as usize);
            let mut beginning = Beginning::new(Provider::OpenAi);
            load::tell_beginning(self.view, first, &mut beginning).ok()?;
            right.written = beginning.written();
        }
        Some(right)
    }
}

/// What is known to be right of the path up to a commit.
#[derive(Default)]
struct Before {
    standouts: Option<Standouts>,
    background: Option<KnownWork>,
    sums: Option<(Encoding, PathSums)>,
}

/// What was found, and how many rows of each kind are wrong.
#[derive(Default)]
struct Found {
    done: HashSet<CommitHash>,
    masks: Masks,
    checkpoints: u64,
    totals: u64,
    summaries: u64,
}

impl Found {
    /// Holds what is kept of the commits of a path, from its root on, against what they make.
    fn along(
        &mut self,
        kept: &Kept<'_>,
        path: impl Iterator<Item = CommitRow>,
        progress: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let mut order = Order::default();
        // What the messages come to since the newest commit that was no append: a context is made for
        // the first total behind that alone.
        let mut running: HashMap<Encoding, Total> = HashMap::new();
        let mut before = Before::default();
        for row in path {
            if order.apply(row.hash, &row.commit).is_err() {
                break;
            }
            match row.appended() {
                Some(content) => running.retain(|encoding, total| {
                    let count = kept.count(key_of(content), *encoding);
                    count.is_some_and(|count| {
                        total.add(count);
                        true
                    })
                }),
                None => running.clear(),
            }
            let of = kept.commits.get(&row.hash);
            let Some(of) = of.filter(|_| self.done.insert(row.hash)) else {
                continue;
            };
            progress()?;
            let is_new = |(encoding, _): &(Encoding, Total)| !running.contains_key(encoding);
            let is_needed = of.is_tip
                || of.has_checkpoint
                || !of.summaries.is_empty()
                || of.totals.iter().any(is_new);
            let context = is_needed.then(|| order.context());
            let context = context.as_ref();
            for entry in context.iter().flat_map(|context| &context.entries) {
                if let Some(key) = entry.mask.key() {
                    let mask = || entry.mask.clone();
                    self.masks.entry(key).or_insert_with(mask);
                }
            }
            if of.has_checkpoint {
                let read = kept.view.checkpoint(&row.hash);
                let is_right = matches!(read, Ok(Some((at, kept))) if at == row.hash && Some(&kept) == context);
                self.checkpoints += u64::from(!is_right);
            }
            for (encoding, total) in &of.totals {
                let known = running.get(encoding).copied();
                let right = known.or_else(|| kept.total(context, *encoding));
                running.extend(right.map(|right| (*encoding, right)));
                self.totals += u64::from(right.is_some_and(|right| right != *total));
            }
            for (encoding, summary) in &of.summaries {
                let at = (&row.hash, context);
                let right = kept.summary(at, *encoding, *summary, &before);
                let Some(right) = right else { continue };
                self.summaries += u64::from(Some(&right) != *summary);
                before = Before {
                    standouts: right.standouts.or(before.standouts),
                    background: right.background.or(before.background),
                    sums: right.sums.map(|sums| (*encoding, sums)).or(before.sums),
                };
            }
        }
        Ok(())
    }
}

/// Counts every message again that has a count.
fn recount(
    view: &dyn View,
    derived: &Derived,
    masks: &Masks,
    checked: &mut Checked,
    progress: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    for (at, some) in derived.counts.chunks(BODIES).enumerate() {
        if at % STEP == 0 {
            progress()?;
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
            let right = Counter::of(*encoding).message(&message);
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
