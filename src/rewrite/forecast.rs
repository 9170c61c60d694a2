//! What drafts would change, before they are committed.

use std::collections::HashMap;
use std::ops::Range;

use crate::context::Entry;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::percent::percent;
use crate::model::{Draft, Millis, Operation, TokenCount, Total};
use crate::query::audit::{Changes, Keep, Said, unsaid};
use crate::query::provider::ProviderSays;
use crate::repo::call::Call;
use crate::repo::chain::Foreseen;
use crate::repo::change::{Difference, TouchedList, told, told_some};
use crate::repo::commit_rows::Committed;
use crate::repo::counts::{Counting, Counts};
use crate::repo::load::{self, Fresh};
use crate::repo::repository::Repo;
use crate::repo::segments::{Segment, What, entries_at, segments};
use crate::repo::stretches::Outline;
use crate::repo::weigh::Scales;
use crate::rewrite::Plan;
use crate::rewrite::options::SurgeryOptions;
use crate::rewrite::scene::{Scene, Size};
use crate::store::View;

/// What a plan changed or, in a dry run, would change.
#[derive(Clone, Debug, Default)]
pub struct Surgery {
    /// The commits, oldest first; none in a dry run, or where nothing was to be done.
    pub commits: Vec<Committed>,
    /// The context before.
    pub before: Size,
    /// The context after.
    pub after: Size,
    /// What goes, oldest first.
    pub hidden: TouchedList,
    /// What comes back or is put in place, oldest first.
    pub shown: TouchedList,
    /// What stays with other parts or another text, oldest first.
    pub changed: TouchedList,
    /// How much of the beginning stays as it is: what a provider's prompt cache can still use.
    pub kept: Size,
    /// What the provider says of the context before.
    pub provider: ProviderSays,
}

/// What drafts would change, with what is known of the last commit by then.
pub(super) struct Foresight {
    pub(super) surgery: Surgery,
    /// It and its context, if that was folded.
    pub(super) foreseen: Option<Foreseen>,
    /// What its context comes to.
    pub(super) total: Total,
}

impl Surgery {
    /// Whether there was anything to do.
    pub fn is_nothing(&self) -> bool {
        self.hidden.is_empty() && self.shown.is_empty() && self.changed.is_empty()
    }

    /// How many single parts it hid.
    pub fn parts(&self) -> usize {
        let hidden = |made: &Committed| match &made.commit.operation {
            Operation::Hide(hide) => hide.parts.len(),
            _ => 0,
        };
        self.commits.iter().map(hidden).sum()
    }

    /// How much of the context before stays as it is from the beginning on, in percent.
    pub fn kept_percent(&self) -> String {
        percent(self.kept.tokens.tokens, self.before.tokens.tokens)
    }

    /// The change in tokens.
    pub fn delta(&self) -> i64 {
        self.after.tokens.tokens as i64 - self.before.tokens.tokens as i64
    }
}

impl Repo {
    /// What `drafts` would change, made at `now`, without committing them.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`](crate::Error::NotOnPath) and
    /// [`Error::NotRestorable`](crate::Error::NotRestorable) by the rules of the fold.
    pub fn forecast(
        &self,
        scene: &Scene,
        drafts: &[Draft],
        now: Millis,
        options: &SurgeryOptions,
    ) -> Result<Surgery> {
        Ok(self.foresee(scene, drafts, now, options)?.surgery)
    }

    /// Which facts nothing would say any more after a plan, where the call is on. None where so many messages are visible that
    /// they are not read for that.
    ///
    /// # Errors
    ///
    /// What the plan refuses, and the store's.
    pub fn would_lose(
        &self,
        call: Call<'_>,
        plan: &dyn Plan,
        options: &SurgeryOptions,
        changes: Changes,
    ) -> Result<Option<Keep>> {
        if self.shows_many(call.on)? {
            return Ok(None);
        }
        let scene = self.scene(call.on, options.encoding, &plan.needs())?;
        let drafts = plan.drafts(self, &scene, scene.encoding())?;
        let view = self.store.read()?;
        let mut chain = scene.chain();
        let drafts = drafts
            .iter()
            .map(|draft| chain.try_draft(&*view, draft, Some(call.now)));
        let drafts = drafts.collect::<Result<Vec<_>>>()?;
        let messages = drafts.iter().flat_map(|draft| &draft.messages);
        let fresh: Fresh<'_> = messages
            .map(|message| (message.hash(), &**message))
            .collect();
        let after = chain.context(&*view)?;
        let differ = Difference::between(&scene.context, after);
        let changed = differ.changed.iter().map(|(at, _)| at);
        let gone: Vec<&Entry> = differ
            .hidden
            .iter()
            .chain(changed)
            .map(|at| &scene.context.entries[*at])
            .collect();
        let said = Said::of(&load::messages_with(&*view, &after.entries, &fresh)?);
        unsaid(&*view, &gone, Vec::new(), &said, changes, None).map(Some)
    }

    /// The same, with what is known of the last commit.
    pub(super) fn foresee(
        &self,
        scene: &Scene,
        drafts: &[Draft],
        now: Millis,
        options: &SurgeryOptions,
    ) -> Result<Foresight> {
        let view = self.store.read()?;
        let mut chain = scene.chain();
        let drafts = drafts
            .iter()
            .map(|draft| chain.try_draft(&*view, draft, Some(now)));
        let drafts = drafts.collect::<Result<Vec<_>>>()?;
        let messages = drafts.iter().flat_map(|draft| &draft.messages);
        let fresh: Fresh<'_> = messages
            .map(|message| (message.hash(), &**message))
            .collect();
        if scene.is_together() {
            let after = chain.outline(&*view)?;
            let operations = drafts.iter().map(|draft| &draft.operation);
            let targets = operations.filter_map(|operation| match operation {
                Operation::Restore { target, .. } => Some(*target),
                _ => None,
            });
            let targets: Vec<CommitHash> = targets.collect();
            let (surgery, total) =
                of_stretches(&*view, scene, after.as_ref(), &targets, options, &fresh)?;
            return Ok(Foresight {
                surgery,
                foreseen: chain.foreseen(),
                total,
            });
        }
        let after = chain.context(&*view)?.clone();
        let differ = Difference::between(&scene.context, &after);

        // Of what stays as it is the tokens are known; what is not stored yet is counted.
        let altered = differ.changed.iter().map(|(_, at)| *at);
        let gained: Vec<usize> = differ.shown.iter().copied().chain(altered).collect();
        let counts = scene.count(&*view, chain.outline(&*view)?, &after, &gained, &fresh)?;
        let new: HashMap<usize, TokenCount> = gained.iter().copied().zip(counts).collect();
        let mut total = scene.total();
        for at in &differ.hidden {
            total.remove(scene.counts[*at]);
        }
        for (at, _) in &differ.changed {
            total.remove(scene.counts[*at]);
        }
        total.extend(new.values().copied());

        let (was, is) = (|at: usize| scene.counts[at], |at: usize| new[&at]);
        let told = |context, places: &[usize], count: &dyn Fn(usize) -> TokenCount| {
            let limits = (options.told, options.told_last);
            told_some(&*view, context, places, count, limits, &fresh)
        };
        let changed: Vec<usize> = differ.changed.iter().map(|(at, _)| *at).collect();
        let surgery = Surgery {
            commits: Vec::new(),
            before: scene.size(),
            after: Size {
                messages: after.entries.len(),
                tokens: total.count(),
            },
            hidden: told(&scene.context, &differ.hidden, &was)?,
            shown: told(&after, &differ.shown, &is)?,
            changed: told(&scene.context, &changed, &was)?,
            kept: Size::of(&scene.counts[..differ.kept]),
            provider: scene.says(&*view)?,
        };
        drop(after);
        Ok(Foresight {
            surgery,
            foreseen: chain.foreseen(),
            total,
        })
    }
}

/// What changes from a scene in which visible entries stand together to what comes after it; `targets` are the hides that
/// are undone.
fn of_stretches(
    view: &dyn View,
    scene: &Scene,
    after: Option<&Outline>,
    targets: &[CommitHash],
    options: &SurgeryOptions,
    fresh: &Fresh<'_>,
) -> Result<(Surgery, Total)> {
    let (Some(tip), Some(before), Some(after)) = (scene.tip, scene.outline(), after) else {
        return Ok(Default::default());
    };
    let segments = segments(view, before, after)?;
    let mut scales = Scales::new(view, tip, scene.encoding(), fresh)?;
    scales.know(before, scene.total())?;
    for target in targets {
        // What it hides was summed up before it hid that.
        if let Some(parent) = load::commit(view, target)?.commit.parent {
            scales.know_at(&parent)?;
        }
    }
    let of = |which: fn(&Segment) -> bool| -> Vec<&Segment> {
        segments.iter().filter(|segment| which(segment)).collect()
    };
    let list = |which: &[&Segment], is_after: bool| -> Result<TouchedList> {
        let all = weigh(&scales, which, is_after)?;
        let len = all.messages as usize;
        let first = options.told.min(len);
        let last = (len - options.told_last.min(len - first))..len;
        let mut placed = entries_at(view, &tip, which, 0..first, is_after)?;
        placed.extend(entries_at(view, &tip, which, last, is_after)?);
        let entries: Vec<&Entry> = placed.iter().map(|(_, entry)| entry).collect();
        let mut counts = Counts::default();
        let counted = Counting::new(scene.encoding())
            .fill(view, &entries, fresh)?
            .0;
        counts.add(entries, counted);
        let told = told(view, &placed, &counts, fresh)?;
        Ok(TouchedList::of(told, first, all))
    };
    let (hidden, shown) = (of(Segment::is_hidden), of(Segment::is_shown));
    let changed = of(Segment::is_changed);
    let differs = |one: &Segment| one.is_hidden() || one.is_shown() || one.is_changed();
    let kept: Vec<&Segment> = segments.iter().take_while(|one| !differs(one)).collect();
    let kept = weigh(&scales, &kept, false)?;
    let become_of_changed = weigh(&scales, &changed, true)?;
    let (hidden, shown) = (list(&hidden, false)?, list(&shown, true)?);
    let changed = list(&changed, false)?;
    let total = scene.total().without(hidden.all()).without(changed.all());
    let size = |total: Total| Size {
        messages: total.messages as usize,
        tokens: total.count(),
    };
    let total = total.with(shown.all()).with(become_of_changed);
    let surgery = Surgery {
        commits: Vec::new(),
        before: scene.size(),
        after: size(total),
        hidden,
        shown,
        changed,
        kept: size(kept),
        provider: scene.says(view)?,
    };
    Ok((surgery, total))
}

/// What some segments come to, as they are after, or else as they were before.
fn weigh(scales: &Scales<'_>, segments: &[&Segment], is_after: bool) -> Result<Total> {
    let mut depths: Vec<Range<u64>> = Vec::new();
    let mut ones = Vec::new();
    for segment in segments {
        match &segment.what {
            What::Depths(some) => depths.push(some.clone()),
            What::One(both) if is_after => ones.extend(&both.1),
            What::One(both) => ones.extend(&both.0),
        }
    }
    Ok(scales.depths(&depths)?.with(scales.ones(&ones)?))
}
