//! Where the events of stored messages come from: kept records, or the messages themselves.
//!
//! Deliberately absent: which messages are read, and what a tree is made of.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::READ_BYTES;
use crate::context::Entry;
use crate::error::{Error, Result};
use crate::formats::EventStream;
use crate::hash::CommitHash;
use crate::model::Span;
use crate::repo::kept::format_of;
use crate::repo::{load, prompts};
use crate::store::View;
use crate::tree::{Event, Happening, events_of};

/// What events are taken from.
pub(super) struct Sources<'a> {
    view: &'a dyn View,
    /// The records behind each entry, in a source whose records are events.
    records: Vec<Option<(u64, Vec<Span>)>>,
    /// A reader for each such source.
    streams: BTreeMap<u64, EventStream>,
}

impl<'a> Sources<'a> {
    pub(super) fn of(view: &'a dyn View, entries: &[Entry]) -> Result<Self> {
        let commits: Vec<CommitHash> = entries.iter().map(|entry| entry.id.commit).collect();
        let mut streams: BTreeMap<u64, Option<EventStream>> = BTreeMap::new();
        let mut records = Vec::with_capacity(entries.len());
        let mut last = None;
        for found in view.records(&commits)? {
            let mut events = Vec::new();
            for (id, spans) in found {
                let stream = match streams.entry(id) {
                    Slot::Occupied(known) => known.into_mut(),
                    Slot::Vacant(new) => new.insert(format_of(view, id)?.and_then(EventStream::of)),
                };
                if stream.is_some() {
                    events.push((id, spans));
                }
            }
            // The source of the message before, or else the newest.
            let same = events.iter().position(|(id, _)| Some(*id) == last);
            let chosen = (!events.is_empty()).then(|| events.swap_remove(same.unwrap_or(0)));
            last = chosen.as_ref().map(|(id, _)| *id).or(last);
            records.push(chosen);
        }
        let streams = streams.into_iter();
        let streams = streams.filter_map(|(id, stream)| Some((id, stream?)));
        Ok(Self {
            view,
            records,
            streams: streams.collect(),
        })
    }

    /// The events of all entries in their order, each with the entry that it came with.
    pub(super) fn events(mut self, entries: &[Entry]) -> Result<Vec<(usize, Event)>> {
        let changed = |entry: &Entry| entry.edited || !entry.mask.is_empty();
        let from_records: Vec<Option<u64>> = entries
            .iter()
            .zip(&self.records)
            .map(|(entry, records)| records.as_ref().filter(|_| !changed(entry)).map(|r| r.0))
            .collect();
        let alone = entries.iter().zip(&from_records);
        let alone = alone.filter(|(_, source)| source.is_none());
        let alone: Vec<&Entry> = alone.map(|(entry, _)| entry).collect();
        let injected = prompts::injected_among(self.view, &alone)?;
        let messages = load::messages(self.view, alone)?;
        let mut messages = messages.into_iter();
        let mut events = Vec::new();
        let mut at = 0;
        while at < entries.len() {
            let source = from_records[at];
            let run = from_records[at..]
                .iter()
                .take_while(|other| **other == source);
            let end = at + run.count();
            match source {
                Some(source) => self.run(source, at..end, &mut events)?,
                None => {
                    for (at, entry) in entries.iter().enumerate().take(end).skip(at) {
                        let message = messages.next().expect("one for each without records");
                        let place = self.place_of(at)?;
                        let mut said = events_of(&message, entry.placed);
                        if injected.contains(&entry.id) {
                            said.iter_mut().for_each(Event::inject);
                        }
                        let said = said.into_iter();
                        let said = said.map(|event| Event {
                            turn: place.turn.clone(),
                            response: place.response.clone(),
                            ..event
                        });
                        events.extend(said.map(|event| (at, event)));
                    }
                }
            }
            at = end;
        }
        Ok(events)
    }

    /// The records of neighbouring entries, in the order of their file.
    fn run(
        &mut self,
        source: u64,
        entries: Range<usize>,
        events: &mut Vec<(usize, Event)>,
    ) -> Result<()> {
        let mut spans: BTreeMap<Span, usize> = BTreeMap::new();
        for at in entries {
            let (_, records) = self.records[at].as_ref().expect("an entry of this source");
            for span in records {
                spans.entry(*span).or_insert(at);
            }
        }
        let Some(stream) = self.streams.get_mut(&source) else {
            return Ok(());
        };
        let spans: Vec<(Span, usize)> = spans.into_iter().collect();
        let mut rest = &spans[..];
        while let Some((first, _)) = rest.first() {
            // Many at once: a source is kept in blocks.
            let fits = |(span, _): &&(Span, usize)| {
                span.offset + span.len - first.offset <= READ_BYTES as u64
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (now, more) = rest.split_at(count);
            let (last, _) = now[count - 1];
            let all = Span {
                offset: first.offset,
                len: last.offset + last.len - first.offset,
            };
            let bytes = self.view.source_bytes(source, all)?;
            for (span, at) in now {
                let from = (span.offset - first.offset) as usize;
                let to = from + span.len as usize;
                let record = bytes
                    .get(from..to)
                    .ok_or_else(|| Error::damaged("a kept source is shorter than its records"))?;
                events.extend(stream.record(record).into_iter().map(|event| (*at, event)));
            }
            rest = more;
        }
        Ok(())
    }

    /// Where an entry whose content has changed belongs: the ids that its records name.
    fn place_of(&mut self, at: usize) -> Result<Event> {
        let nowhere = Event::new(Happening::BlockEnd);
        let Some((source, spans)) = &self.records[at] else {
            return Ok(nowhere);
        };
        let Some(stream) = self.streams.get_mut(source) else {
            return Ok(nowhere);
        };
        let distinct: BTreeSet<&Span> = spans.iter().collect();
        for span in distinct {
            let bytes = self.view.source_bytes(*source, *span)?;
            for event in stream.record(&bytes) {
                if event.parent.is_none() && (event.turn.is_some() || event.response.is_some()) {
                    return Ok(event);
                }
            }
        }
        Ok(nowhere)
    }
}
