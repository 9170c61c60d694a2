//! A stored conversation as the tree that was seen when it happened.
//!
//! What a message cannot hold (ids of responses, phases, how a call went) is taken from the records
//! that an import kept behind it, where these are events; each run of such messages is read in the
//! order of its file. A message without such records, or whose content an edit or a hide of parts
//! has changed, is replayed from the message alone. Deliberately absent: how a tree is drawn.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use super::import::{ImportRequest, import};
use super::inspect::SessionInput;
use crate::context::{Entry, OrderEntry};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::history::{Repo, load};
use crate::interop::{EventStream, Format, Input};
use crate::model::{EntryId, Millis, Operation, Part, Priority, RefName, Span};
use crate::store::View;
use crate::tree::{Event, Fold, Happening, NodeId, Sequence, Tree, events_of};

/// How much of a source or a file is read at once: 256 KiB.
const READ_BYTES: usize = 256 << 10;

/// How many messages before a window may hold the calls of results in it.
const LOOK_BEHIND: usize = 64;

/// Which messages a replay shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The last so many visible ones.
    Window(usize),
    /// Those that no active clear or compaction covers, truncated ones included.
    Transcript,
    /// All that there are.
    All,
}

/// A stored conversation as a tree.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The tree, settled. What is hidden says by what.
    pub tree: Tree,
    /// The messages in it, in order.
    pub entries: Vec<ReplayedEntry>,
    /// How many messages of the transcript a window leaves out.
    pub earlier: usize,
    /// Where the nodes of each record begin, and whose they are, by name.
    births: Vec<(NodeId, usize)>,
}

/// A message of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayedEntry {
    /// Its name.
    pub id: EntryId,
    /// Its number among the visible messages, from 1; none if it is hidden.
    pub number: Option<usize>,
    /// What hides it.
    pub hidden: Option<&'static str>,
}

impl Replay {
    /// The message that a node came with, and its place among [`Replay::entries`].
    pub fn entry_of(&self, node: NodeId) -> Option<(usize, &ReplayedEntry)> {
        let after = self.births.partition_point(|(first, _)| *first <= node);
        let (_, at) = self.births.get(after.checked_sub(1)?)?;
        Some((*at, self.entries.get(*at)?))
    }
}

/// The conversation at a commit.
///
/// # Errors
///
/// [`Error::UnknownRevision`] if it is not here, and the store's.
pub fn replay(repo: &Repo, commit: &CommitHash, scope: Scope) -> Result<Replay> {
    let view = repo.store.read()?;
    let Chosen {
        entries,
        told: chosen,
        earlier,
        before,
    } = chosen(&*view, commit, scope)?;
    let mut events = Sources::of(&*view, &entries)?.events(&entries)?;
    with_calls(&*view, &before, &mut events)?;
    let place = |(at, event): (usize, Event)| (event.place, event.id.clone(), (at, event));
    let mut fold = Fold::default();
    let mut births = Vec::new();
    for (at, event) in Sequence::in_order(events.into_iter().map(place)) {
        let first = NodeId(fold.last().0 + 1);
        fold.feed(Event {
            place: None,
            ..event
        });
        if fold.last() >= first {
            births.push((first, at));
        }
    }
    let mut replay = Replay {
        tree: Tree::default(),
        entries: chosen,
        earlier,
        births,
    };
    fold.hide(|node| replay.entry_of(node)?.1.hidden);
    replay.tree = fold.settle();
    Ok(replay)
}

/// The tree of a session file or of a kept stream, without a repository.
///
/// # Errors
///
/// As [`import`], and [`Error::InvalidInput`] if the file holds several sessions.
pub fn tree_of_file(path: &Path, format: Option<&'static Format>) -> Result<Tree> {
    let file = SessionInput::open(path, format)?;
    if let Some(mut stream) = EventStream::of(file.format) {
        let mut fold = Fold::default();
        let mut buffer = vec![0; READ_BYTES];
        let mut at = 0;
        loop {
            let read = file
                .input
                .read_at(at, &mut buffer)
                .map_err(Error::io(path))?;
            let events = match read {
                0 => stream.finish(),
                read => stream.push(&buffer[..read]),
            };
            events.into_iter().for_each(|event| {
                fold.feed(event);
            });
            if read == 0 {
                return Ok(fold.settle());
            }
            at += read as u64;
        }
    }
    let repo = Repo::ephemeral()?;
    let request = ImportRequest {
        format,
        branch: Some("main"),
        now: Millis(0),
        what: "import",
        counter: None,
    };
    let report = import(&repo, path, &request, &mut |_| {})?;
    if report.sessions.len() > 1 {
        let detail = format!("it holds {} sessions", report.sessions.len());
        return Err(Error::input(path.display().to_string(), detail));
    }
    let tip = load::tip(&*repo.store.read()?, &RefName::branch("main")?)?;
    Ok(match tip {
        Some(tip) => replay(&repo, &tip, Scope::All)?.tree,
        None => Tree::default(),
    })
}

/// The calls whose results stand at the beginning of a window, and which stand before it themselves.
fn with_calls(view: &dyn View, before: &[Entry], events: &mut Vec<(usize, Event)>) -> Result<()> {
    let mut called = BTreeSet::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    for (at, (_, event)) in events.iter().enumerate() {
        match &event.what {
            Happening::CallStart { call, .. }
            | Happening::Call { call, .. }
            | Happening::Block(Part::ToolCall { id: call, .. }) => {
                called.insert(call.clone());
            }
            Happening::Answer { call, .. } | Happening::Block(Part::ToolResult { call, .. })
                if event.parent.is_none() && called.insert(call.clone()) =>
            {
                open.push((at, call.clone()));
            }
            _ => {}
        }
    }
    if open.is_empty() || before.is_empty() {
        return Ok(());
    }
    let messages = load::messages(view, before)?;
    let parts = messages
        .iter()
        .rev()
        .flat_map(|message| message.parts.iter().rev());
    for (at, call) in open.into_iter().rev() {
        let is_it = |part: &&Part| matches!(part, Part::ToolCall { id, .. } if *id == call);
        if let Some(part) = parts.clone().find(is_it) {
            let (entry, result) = &events[at];
            let call = Event {
                id: None,
                what: Happening::Block(part.clone()),
                ..result.clone()
            };
            events.insert(at, (*entry, call));
        }
    }
    Ok(())
}

/// The entries of a scope in their order.
struct Chosen {
    entries: Vec<Entry>,
    /// What is told of each.
    told: Vec<ReplayedEntry>,
    /// How many messages of the transcript are left out.
    earlier: usize,
    /// Those right before them.
    before: Vec<Entry>,
}

fn chosen(view: &dyn View, commit: &CommitHash, scope: Scope) -> Result<Chosen> {
    if let Scope::Window(count) = scope {
        let context = load::context(view, commit)?;
        let before = context.entries.len().saturating_sub(count);
        let entries: Vec<Entry> = context.entries.iter().skip(before).cloned().collect();
        // Only where something is hidden may the transcript hold more than the context.
        let earlier = match context.hidden_entries() {
            0 => before,
            _ => load::order(view, commit)?.transcript().count() - entries.len(),
        };
        let told = entries
            .iter()
            .zip(before + 1..)
            .map(|(entry, number)| ReplayedEntry {
                id: entry.id,
                number: Some(number),
                hidden: None,
            });
        let near = before.saturating_sub(LOOK_BEHIND)..before;
        return Ok(Chosen {
            told: told.collect(),
            before: near.map(|at| context.entries[at].clone()).collect(),
            entries,
            earlier,
        });
    }
    load::commit(view, commit)?;
    let order = load::order(view, commit)?;
    let stands = |entry: &OrderEntry| entry.placed.is_none_or(|(hide, _)| order.is_active(&hide));
    let found: Vec<OrderEntry> = match scope {
        Scope::Transcript => order.transcript().collect(),
        _ => order.entries().filter(stands).collect(),
    };
    let mut kinds = Kinds::default();
    // A transcript's numbers are those of all that is visible: nothing visible is left out of it.
    let mut number = 0;
    let (mut entries, mut told) = (Vec::new(), Vec::new());
    for entry in found {
        number += usize::from(entry.visible);
        told.push(ReplayedEntry {
            id: entry.id,
            number: entry.visible.then_some(number),
            hidden: match (entry.hidden_by.last(), entry.priority) {
                (Some(hide), _) => kinds.of(view, hide)?,
                (None, Priority::Skip) => Some("skip"),
                (None, _) => None,
            },
        });
        entries.push(Entry {
            id: entry.id,
            content: entry.content,
            mask: entry.mask,
            priority: entry.priority,
            placed: entry.placed.map(|(_, kind)| kind),
            edited: entry.edited,
        });
    }
    Ok(Chosen {
        entries,
        told,
        earlier: 0,
        before: Vec::new(),
    })
}

/// The kinds of hides, each read once.
#[derive(Default)]
struct Kinds(HashMap<CommitHash, Option<&'static str>>);

impl Kinds {
    fn of(&mut self, view: &dyn View, hide: &CommitHash) -> Result<Option<&'static str>> {
        if let Some(kind) = self.0.get(hide) {
            return Ok(*kind);
        }
        let kind = match load::commit(view, hide)?.commit.operation {
            Operation::Hide(hide) => Some(hide.kind.as_str()),
            _ => None,
        };
        self.0.insert(*hide, kind);
        Ok(kind)
    }
}

/// What events are taken from.
struct Sources<'a> {
    view: &'a dyn View,
    /// The records behind each entry, in a source whose records are events.
    records: Vec<Option<(u64, Vec<Span>)>>,
    /// A reader for each such source.
    streams: BTreeMap<u64, EventStream>,
}

impl<'a> Sources<'a> {
    fn of(view: &'a dyn View, entries: &[Entry]) -> Result<Self> {
        let commits: Vec<CommitHash> = entries.iter().map(|entry| entry.id.commit).collect();
        let mut streams: BTreeMap<u64, Option<EventStream>> = BTreeMap::new();
        let mut records = Vec::with_capacity(entries.len());
        let mut last = None;
        for found in view.records(&commits)? {
            let mut events = Vec::new();
            for (id, spans) in found {
                let stream = match streams.entry(id) {
                    Slot::Occupied(known) => known.into_mut(),
                    Slot::Vacant(new) => {
                        let source = view.source(id)?;
                        let format = source.and_then(|source| Format::named(&source.format).ok());
                        new.insert(format.and_then(EventStream::of))
                    }
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
    fn events(mut self, entries: &[Entry]) -> Result<Vec<(usize, Event)>> {
        let changed = |entry: &Entry| entry.edited || !entry.mask.is_empty();
        let from_records: Vec<Option<u64>> = entries
            .iter()
            .zip(&self.records)
            .map(|(entry, records)| records.as_ref().filter(|_| !changed(entry)).map(|r| r.0))
            .collect();
        let alone = entries.iter().zip(&from_records);
        let alone = alone.filter(|(_, source)| source.is_none());
        let messages = load::messages(self.view, alone.map(|(entry, _)| entry))?;
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
                        let said = events_of(&message, entry.placed).into_iter();
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
        entries: std::ops::Range<usize>,
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
                let record = bytes.get(from..to).ok_or_else(|| Error::Damaged {
                    detail: "a kept source is shorter than its records".into(),
                })?;
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
