//! A summary in place of a span, on a repository.

use std::collections::{BTreeSet, HashSet};

use crate::context::Entry;
pub use crate::context::plan::compact::Extent;
use crate::context::plan::{PlanInput, compact};
use crate::error::{Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::model::{Draft, Encoding, EntryId, HideKind, Message, TokenCount};
use crate::query::audit::{Changes, Keep, Said, unsaid};
use crate::repo::call::{Call, On};
use crate::repo::load;
use crate::repo::outline::Outline;
use crate::repo::repository::Repo;
use crate::rewrite::{Needs, Plan, Scene, Surgery, SurgeryOptions};
use crate::store::View;

/// Where the summary comes from.
pub enum Summary<'a> {
    /// It is written already.
    Text(&'a str),
    /// This makes it from the messages that it will replace. Nothing is locked while it runs, and
    /// what it fails with fails the compaction.
    From(&'a mut dyn FnMut(&SummarySpan<'_>) -> Result<String>),
}

/// What a summary is to stand for.
pub struct SummarySpan<'a> {
    /// The messages as they were said: in place of an earlier summary those that it stands for.
    pub messages: &'a [Message],
    repo: &'a Repo,
    entries: Vec<Entry>,
    /// What stays beside the summary.
    stays: Vec<Entry>,
}

impl SummarySpan<'_> {
    /// What neither this summary nor what stays beside it says.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn lacks(&self, summary: &str, changes: Changes) -> Result<Keep> {
        let view = self.repo.store.read()?;
        let mut said = Said::of(&load::messages(&*view, &self.stays)?);
        said.add(summary);
        let entries: Vec<&Entry> = self.entries.iter().collect();
        unsaid(&*view, &entries, Vec::new(), &said, changes, None)
    }
}

/// A compaction that was made.
#[derive(Clone, Debug, Default)]
pub struct Compaction {
    /// What it changed.
    pub surgery: Surgery,
    /// The tokens of the messages that it replaced.
    pub replaced: TokenCount,
    /// The tokens of the summary; zero in a dry run that had none.
    pub summary: TokenCount,
    /// How many messages of a range stay, see [`Repo::staying`].
    pub staying: usize,
}

impl Compaction {
    /// Whether the summary is no smaller than what it replaces.
    pub fn is_no_gain(&self) -> bool {
        self.summary.tokens >= self.replaced.tokens && self.summary.tokens > 0
    }
}

/// A compaction whose summary is known, or is left out of account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compact<'a> {
    /// What the summary replaces.
    pub extent: Extent,
    /// The summary.
    pub summary: Option<&'a str>,
}

impl Plan for Compact<'_> {
    fn needs(&self) -> Needs {
        Needs::hidden_too()
    }

    fn drafts(&self, _: &Repo, scene: &Scene, _: Encoding) -> Result<Vec<Draft>> {
        let chosen = compact::replaced(&scene.input, &self.extent)?;
        Ok(vec![compact::draft(&scene.input, &chosen, self.summary)])
    }
}

impl Repo {
    /// How many messages of a range stay where a summary replaces it: pinned ones, and calls and results of which the other
    /// half is outside.
    ///
    /// # Errors
    ///
    /// As [`Repo::compact`].
    pub fn staying(&self, on: &On, span: &Extent) -> Result<usize> {
        if !matches!(span, Extent::Range(..)) {
            return Ok(0);
        }
        let needs = Needs::hidden_too();
        compact::staying(&self.scene(on, Encoding::default(), &needs)?.input, span)
    }

    /// Replaces a span of the context by a summary, a user message. Pinned messages and calls
    /// still open stay, and so does what is committed while the summary is made: it comes after.
    ///
    /// In a dry run nothing makes a summary, and the figures are those without one.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where there is nothing to compact, an end of the span isn't in the
    /// context, or is no more once the summary is made, or the summary is empty; what the maker of the summary returns; and whatever
    /// [`Repo::operate`] does. Nothing is changed then.
    ///
    /// ```
    /// use tract::rewrite::{Extent, SummarySpan, Summary};
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::{Draft, Message, Millis, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let drafts = ["one", "two", "three"].map(|text| Draft::append(Message::text(Role::User, text)));
    /// repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    ///
    /// let mut count = |span: &SummarySpan<'_>| Ok(format!("{} messages", span.messages.len()));
    /// let call = Call::at(Millis(0), "compact");
    /// let done = repo.compact(call, &Extent::KeepLast(1), Summary::From(&mut count), &SurgeryOptions::default())?;
    ///
    /// let context = repo.context(&done.surgery.commits[0].hash)?;
    /// let texts = repo.messages(&context)?;
    /// assert_eq!(texts[0], Message::text(Role::User, "2 messages"));
    /// assert_eq!(texts[1], Message::text(Role::User, "three"));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn compact(
        &self,
        call: Call<'_>,
        span: &Extent,
        summary: Summary<'_>,
        options: &SurgeryOptions,
    ) -> Result<Compaction> {
        if !options.dry_run {
            // Before a summary is made that could not be kept.
            self.refuse_detached(call.on)?;
        }
        let needs = Needs::hidden_too();
        let scene = self.scene(call.on, options.encoding, &needs)?;
        let places = compact::replaced(&scene.input, span)?;
        let staying = compact::staying(&scene.input, span)?;
        let stretch = |at: &usize| {
            let entry = &scene.input.order[*at];
            let last = entry.run.map_or(entry.entry.id, |run| run.last);
            (entry.entry.id, last)
        };
        let stretches: Vec<(EntryId, EntryId)> = places.iter().map(stretch).collect();
        let chosen = within(&scene.input, &stretches)?;
        let entries = scene.context.entries.iter().zip(&scene.counts);
        let (replaced, counts): (Vec<&Entry>, Vec<TokenCount>) = entries
            .filter(|(entry, _)| chosen.contains(&entry.id))
            .unzip();
        let text = match summary {
            Summary::Text(text) => text.to_owned(),
            Summary::From(_) if options.dry_run => String::new(),
            Summary::From(make) => {
                let view = self.store.read()?;
                let entries = originals(&*view, scene.outline(), &replaced)?;
                let messages = load::messages(&*view, &entries)?;
                drop(view);
                let stays = scene.context.entries.iter();
                make(&SummarySpan {
                    messages: &messages,
                    repo: self,
                    entries,
                    stays: stays
                        .filter(|entry| !chosen.contains(&entry.id))
                        .cloned()
                        .collect(),
                })?
            }
        };
        let known = !text.trim().is_empty();
        if !known && !options.dry_run {
            return Err(Error::Refused(Refusal::EmptySummary));
        }
        let surgery = self.operate_on(scene, call, &needs, options, |scene| {
            // Somebody may have hidden an end meanwhile, which the summary is of.
            if let Extent::Range(..) = span {
                compact::replaced(&scene.input, span)?;
            }
            let chosen = within(&scene.input, &stretches)?;
            let draft = compact::entries(&scene.input, &chosen, known.then_some(text.as_str()))?;
            Ok(vec![draft])
        })?;
        let summary = surgery.shown.all().sum();
        Ok(Compaction {
            surgery,
            replaced: counts.into_iter().sum(),
            summary,
            staying,
        })
    }
}

/// These visible entries, in place of summaries what those stand for, however many there are one behind the other. A
/// summary of a summary loses something at each turn.
fn originals(
    view: &dyn View,
    outline: Option<&Outline>,
    replaced: &[&Entry],
) -> Result<Vec<Entry>> {
    let of =
        |entry: &Entry| (entry.placed == Some(HideKind::Compaction)).then_some(entry.id.commit);
    let mut hides: Vec<CommitHash> = replaced.iter().filter_map(|entry| of(entry)).collect();
    let Some(outline) = outline.filter(|_| !hides.is_empty()) else {
        return Ok(replaced.iter().copied().cloned().collect());
    };
    let mut wanted: HashSet<EntryId> = replaced.iter().map(|entry| entry.id).collect();
    // The compactions whose messages are here.
    let (mut known, mut told) = (HashSet::new(), HashSet::new());
    while let Some(hide) = hides.pop() {
        if !known.insert(hide) {
            continue;
        }
        for row in outline.replaced_by(&hide).read_in(view, 0..usize::MAX)? {
            if row.entry.id.commit != hide {
                told.insert(hide);
                hides.extend(of(&row.entry));
            }
            wanted.insert(row.entry.id);
        }
    }
    let rows = outline.uncompacted().read_in(view, 0..usize::MAX)?;
    let entries = rows.into_iter().map(|row| row.entry);
    let is_original = |entry: &Entry| of(entry).is_none_or(|hide| !told.contains(&hide));
    Ok(entries
        .filter(|entry| wanted.contains(&entry.id) && is_original(entry))
        .collect())
}

/// The entries of these stretches, from their first to their last: what stood together may stand apart
/// where somebody has committed since, and what was put in place in its midst is none of it.
fn within(input: &PlanInput, stretches: &[(EntryId, EntryId)]) -> Result<BTreeSet<EntryId>> {
    let mut found = BTreeSet::new();
    let places = input.places(stretches.iter().map(|(first, _)| first))?;
    for ((first, last), from) in stretches.iter().zip(places) {
        for entry in &input.order[from..] {
            if entry.entry.id == *first || entry.entry.placed.is_none() {
                found.insert(entry.entry.id);
            }
            if entry.run.map_or(entry.entry.id, |run| run.last) == *last {
                break;
            }
        }
    }
    Ok(found)
}
