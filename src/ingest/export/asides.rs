//! The records of a source that are no messages, and which of them stand beside what is written.
//!
//! A record goes with the message before it: where that is hidden, or is not on the path, so is
//! what the tool wrote after it. Deliberately absent: what a record says; a format's writer leaves
//! out what names or shows what is not in the file.

use std::collections::{BTreeMap, BTreeSet};

use super::Origin;
use crate::context::Context;
use crate::error::Result;
use crate::formats::shared::records::each_record;
use crate::formats::{BranchStart, Format, Sink, Source, Step};
use crate::hash::CommitHash;
use crate::model::Span;
use crate::repo::kept::KeptSource;
use crate::repo::kept::spans;
use crate::repo::load;
use crate::store::{CommitRow, View};

/// The records that stay, by the message of the context that they stand before.
pub(super) fn asides(
    view: &dyn View,
    path: &[CommitRow],
    origin: &Origin,
    context: &Context,
    format: &Format,
) -> Result<BTreeMap<usize, Vec<String>>> {
    let source = &origin.source;
    let on_path: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
    let known = spans(view, &on_path, source.id)?.into_iter().flatten();
    let known: BTreeSet<Span> = known.flatten().collect();
    let input = KeptSource::new(view, source.id, source.size_bytes);
    let mut told = Told::default();
    (format.read)(Source {
        stem: origin.stem(),
        ..Source::of(&input, &mut told)
    })?;
    // A path of its own has nothing beside it.
    if known.iter().any(|span| told.apart.contains(span)) {
        return Ok(BTreeMap::new());
    }
    let visible: Vec<CommitHash> = context.entries.iter().map(|e| e.id.commit).collect();
    let mut starts = Vec::new();
    let mut kept = BTreeSet::new();
    for (at, spans) in spans(view, &visible, source.id)?.into_iter().enumerate() {
        let spans = spans.filter(|_| context.entries[at].placed.is_none());
        let spans = spans.unwrap_or_default();
        starts.extend(spans.first().map(|first| (at, first.offset)));
        kept.extend(spans);
    }
    let behind = starts.last().map_or(0, |(at, _)| at + 1);
    let is_whole = load::tip(view, &source.session)? == Some(origin.last);
    let end = if is_whole {
        source.size_bytes
    } else {
        known.iter().map(|span| span.offset + 1).max().unwrap_or(0)
    };
    let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut stays = true;
    each_record(&input, &mut |span, text| {
        let is_message = known.contains(&span) || told.messages.contains(&span);
        if is_message {
            stays = kept.contains(&span);
        } else if stays && span.offset < end && text.starts_with('{') {
            let mut starts = starts.iter();
            let next = starts.find(|(_, start)| *start > span.offset);
            let at = next.map_or(behind, |(at, _)| *at);
            found.entry(at).or_default().push(text.to_owned());
        }
    })?;
    Ok(found)
}

/// The places of what a source says.
#[derive(Default)]
struct Told {
    /// The records of messages and hides on the main path, and on those that leave it.
    messages: BTreeSet<Span>,
    /// Those of paths that have nothing in common with it.
    apart: BTreeSet<Span>,
    is_apart: bool,
}

impl Sink for Told {
    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        self.is_apart = branch.after.is_none();
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<()> {
        if self.is_apart {
            self.apart.extend(step.records)
        } else {
            self.messages.extend(step.records)
        }
        Ok(())
    }
}
