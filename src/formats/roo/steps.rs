//! Records into steps: messages in the file's order, each summary and marker a hide.
//!
//! The file shows where a summary or a marker stands and not when it came. A hide is told at that
//! place, so that the order of entries is the file's, with a guess of its [`Moment`].

use super::tags::{Hidden, Mark, Tags};
use crate::error::Result;
use crate::formats::shared::teller::Teller;
use crate::formats::{Action, Cover, HideStep, Moment, Step, StepEntry};
use crate::model::{HideKind, Message};

/// How many messages a condensation leaves behind an assistant's summary.
///
/// # Source
///
/// `N_MESSAGES_TO_KEEP` in `src/core/condense/index.ts`. Later versions write a user's summary
/// and leave none.
const LEFT_BY_SUMMARY: usize = 3;

/// Tells the sink the steps of a file.
pub(super) struct Telling<'a, 's, 't> {
    tags: &'a [Tags],
    hidden: Hidden<'a>,
    teller: &'s mut Teller<'t>,
    /// The entry of each record; none for a marker that has no place among the entries.
    entries: Vec<Option<StepEntry>>,
    /// Truncations put off until the summary that they came after.
    put_off: Vec<(usize, Step)>,
}

impl<'a, 's, 't> Telling<'a, 's, 't> {
    pub(super) fn new(tags: &'a [Tags], teller: &'s mut Teller<'t>) -> Self {
        Self {
            tags,
            hidden: Hidden::of(tags),
            teller,
            entries: Vec::with_capacity(tags.len()),
            put_off: Vec::new(),
        }
    }

    pub(super) fn tell(mut self, records: Vec<Step>) -> Result<()> {
        for (at, record) in records.into_iter().enumerate() {
            self.record(at, record)?;
        }
        Ok(())
    }

    fn record(&mut self, at: usize, mut record: Step) -> Result<()> {
        let (time, span) = (record.time, record.records[0]);
        let hide_alone = |hide: HideStep| Step::new(Action::Hide(hide), span).at(time);
        let covered = self.covered(at);
        if !covered.is_empty()
            && let Some(summary) = self.came_after(at)
        {
            // That summary has hidden all this already, the place of the marker included.
            let since = covered.len().saturating_sub(summary - at);
            let hide = self.hide(HideKind::Truncation, &covered, since, None);
            self.put_off.push((summary, hide_alone(hide)));
            self.entries.push(None);
            return Ok(());
        }
        if !covered.is_empty() {
            let (kind, since) = self.guess(at, covered.len());
            record.action = match record.action {
                Action::Append(message) => {
                    Action::Hide(self.hide(kind, &covered, since, Some(message)))
                }
                hide => hide,
            };
        }
        let entry = self.teller.step(record)?;
        self.entries.push(Some(entry));
        for (_, step) in self.put_off.extract_if(.., |(summary, _)| *summary == at) {
            self.teller.step(step)?;
        }
        // A tag can name a mark that stands before its message, or is that message.
        let earlier = self.hidden.by_tag(at).find(|(_, mark)| *mark <= at);
        if let Some((mark, _)) = earlier {
            let kind = match mark {
                Mark::Summary(_) => HideKind::Compaction,
                Mark::Truncation(_) => HideKind::Truncation,
            };
            let hide = self.hide(kind, &[entry], 0, None);
            self.teller.step(hide_alone(hide))?;
        }
        Ok(())
    }

    /// The kind of hide that record `at` is, and how many messages stood behind it when it came.
    fn guess(&self, at: usize, covered: usize) -> (HideKind, usize) {
        match (self.tags[at].is_summary(), self.tags[at].is_user()) {
            (true, true) => (HideKind::Compaction, 0),
            (true, false) => (HideKind::Compaction, LEFT_BY_SUMMARY),
            // A truncation hides half of what follows the task, so at least as many stay.
            (false, _) => (HideKind::Truncation, covered),
        }
    }

    /// What record `at` hides of the records before it: a summary all, a marker what names it.
    fn covered(&self, at: usize) -> Vec<StepEntry> {
        let marks: Vec<Mark<'_>> = self.tags[at].marks().collect();
        let summary = self.tags[at].is_summary();
        if !summary && marks.is_empty() {
            return Vec::new();
        }
        let covers = |before: &usize| {
            let named = || {
                self.hidden
                    .by_tag(*before)
                    .any(|(mark, _)| marks.contains(&mark))
            };
            summary && self.hidden.hid(at, *before) || named()
        };
        let covered = (0..at).filter(covers);
        covered.filter_map(|before| self.entries[before]).collect()
    }

    /// The summary behind record `at` that a truncation there came after.
    ///
    /// A truncation counts what is condensed, so its marker can land in front of a summary that
    /// was there first. A later condensation would have tagged it.
    fn came_after(&self, at: usize) -> Option<usize> {
        if at == 0 || !self.tags[at].is_marker() || self.tags[at].is_summary() {
            return None;
        }
        let condensed_by = self
            .hidden
            .by_tag(at)
            .find_map(|(mark, summary)| match mark {
                Mark::Summary(_) => Some(summary),
                Mark::Truncation(_) => None,
            });
        let until = condensed_by.unwrap_or(self.tags.len());
        let tags_all = |summary: &usize| {
            let mut marks = self.tags[*summary].marks();
            marks.any(|mark| matches!(mark, Mark::Summary(_)))
        };
        (at + 1..until).rev().find(tags_all)
    }

    /// A hide of some entries, in order.
    fn hide(
        &self,
        kind: HideKind,
        covered: &[StepEntry],
        since: usize,
        replacement: Option<Message>,
    ) -> HideStep {
        let (first, last) = (covered[0], covered[covered.len() - 1]);
        let stays = |entry: &&StepEntry| {
            let covered = covered.binary_search_by_key(&entry.step, |entry| entry.step);
            covered.is_err()
        };
        let between = self.entries.iter().flatten();
        let between = between.filter(|entry| (first.step..=last.step).contains(&entry.step));
        let replacements = replacement.into_iter().map(|message| (None, message));
        HideStep::of(kind, Cover::Range(first, last))
            .keeping(between.filter(stays).copied().collect())
            .putting(replacements.collect())
            .made(Moment::Since(since))
    }
}
