//! The importer: from checkpoint to checkpoint, what came to the messages and what went.

use std::collections::HashMap;
use std::ops::Range;

use imbl::Vector;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::said::{Said, said};
use super::{CHECKPOINTS, MESSAGES, THREAD};
use crate::error::Result;
use crate::interop::calls::Calls;
use crate::interop::records::{Held, Text};
use crate::interop::spans::{elements, members};
use crate::interop::ways::{Behind, Steps, Walker, Ways, walk};
use crate::interop::{
    Action, Cover, HideStep, ImportOptions, Input, Moment, SessionEnd, SessionStart, Sink, Step,
    StepEntry,
};
use crate::model::{HideKind, Millis, Settings};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string};

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let (mut about, mut messages, mut checkpoints) = (Thread::default(), Vec::new(), Vec::new());
    for (key, at) in keys {
        match key.as_str() {
            THREAD => {
                let decoded = text.decode(&at).ok();
                about = decoded
                    .and_then(|(raw, _)| decode(Some(&raw)))
                    .unwrap_or_default();
            }
            MESSAGES | CHECKPOINTS => {
                let (found, torn) = elements(text.bytes, at.start);
                broken = torn.or(broken);
                match key.as_str() {
                    MESSAGES => messages = found,
                    _ => checkpoints = found,
                }
            }
            _ => {}
        }
    }
    let mut end = SessionEnd::lacking(&["tool definitions"]);
    if about.of_graphs_inside > 0 {
        let kind = "checkpoint of a graph inside".to_owned();
        end.other_records.insert(kind, about.of_graphs_inside);
    }
    let id = about.thread_id.filter(|id| !id.is_empty());
    sink.session(SessionStart::new(
        id.unwrap_or_else(|| options.stem.to_owned()),
    ))?;
    let mut notes = Notes::default();
    let mut read_messages = Vec::new();
    for at in messages {
        let read = |raw: &RawValue| said(raw, &mut notes);
        let found = text.message(&at, &mut end.lone_surrogates, sink, read)?;
        read_messages.push((at, found));
    }
    end.opaque_blocks = notes.opaque_blocks;
    let mut records = Vec::new();
    for at in checkpoints {
        records.push(Checkpoint::read(text, at, sink)?);
    }
    held.end(broken, sink)?;
    sink.progress(text.bytes.len() as u64, records.len() as u64);
    tell(text, read_messages, records, end, sink)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Thread {
    thread_id: Option<String>,
    of_graphs_inside: u64,
}

/// A checkpoint: how many messages of the one before it it has, and which follow.
#[derive(Default)]
struct Checkpoint {
    at: Range<usize>,
    id: Option<String>,
    parent: Option<String>,
    time: Option<Millis>,
    /// None where it has the messages of the one before it.
    change: Option<(usize, Vec<usize>)>,
}

impl Checkpoint {
    fn read(text: Text<'_>, at: Range<usize>, sink: &mut dyn Sink) -> Result<Self> {
        #[derive(Default, Deserialize)]
        #[serde(default, bound(deserialize = "'de: 'a"))]
        struct Record<'a> {
            checkpoint_id: Raw<'a>,
            parent_checkpoint_id: Raw<'a>,
            ts: Raw<'a>,
            keeps: Raw<'a>,
            then: Raw<'a>,
            unread: Raw<'a>,
        }
        let decoded = text.decode(&at).ok();
        let record = decoded
            .as_ref()
            .and_then(|(raw, _)| decode::<Record<'_>>(Some(raw)));
        let Some(record) = record else {
            sink.problem(text.problem(at.start, "a checkpoint that is no object"))?;
            return Ok(Self {
                at,
                ..Self::default()
            });
        };
        if let Some(reason) = string(record.unread) {
            sink.problem(text.problem(at.start, reason))?;
        }
        Ok(Self {
            id: string(record.checkpoint_id),
            parent: string(record.parent_checkpoint_id),
            time: string(record.ts).and_then(|time| Millis::parse(&time)),
            change: decode(record.keeps).zip(decode(record.then)),
            at,
        })
    }
}

/// Tells of the way to the newest checkpoint, then of those that leave it.
fn tell(
    text: Text<'_>,
    messages: Vec<(Range<usize>, Option<Said>)>,
    records: Vec<Checkpoint>,
    end: SessionEnd,
    sink: &mut dyn Sink,
) -> Result<()> {
    let ids = records.iter().enumerate();
    let by_id: HashMap<&str, usize> = ids
        .filter_map(|(at, it)| Some((it.id.as_deref()?, at)))
        .collect();
    let parent = |it: &Checkpoint| by_id.get(it.parent.as_deref()?).copied();
    let parents: Vec<Option<usize>> = records.iter().map(parent).collect();
    let (ways, circles) = Ways::of(parents);
    for at in circles {
        let reason = "a checkpoint that stands below itself";
        sink.problem(text.problem(records[at].at.start, reason))?;
    }
    let last = records.len().checked_sub(1);
    let mut telling = Telling {
        text,
        messages,
        records,
        calls: Calls::default(),
        steps: Steps::of(sink),
    };
    walk(ways, last, &mut telling)?;
    telling.steps.sink.end(end)
}

/// The messages behind a checkpoint, by their numbers, with the entries that they made: none of one that cannot
/// be read.
#[derive(Clone, Default)]
struct State {
    messages: Vector<(usize, Option<StepEntry>)>,
    model: Option<String>,
}

struct Telling<'t, 's> {
    text: Text<'t>,
    messages: Vec<(Range<usize>, Option<Said>)>,
    records: Vec<Checkpoint>,
    calls: Calls,
    steps: Steps<'s>,
}

/// What becomes of the messages of a checkpoint that are not the first ones of the one before it.
struct Fate {
    /// Which of those before stay, by their places, in their order.
    stay: Vec<usize>,
    /// Which follow.
    then: Vec<Came>,
}

/// A message behind a change.
#[derive(Clone, Copy)]
enum Came {
    /// It stood at this place before.
    Stays(usize),
    /// It is new, by its number.
    New(usize),
}

impl Fate {
    /// The first way in which messages come one after the other and those that were there stay in their order.
    fn of(before: &[usize], then: &[usize]) -> Self {
        let mut places: HashMap<usize, Vec<usize>> = HashMap::new();
        for (place, number) in before.iter().enumerate() {
            places.entry(*number).or_default().push(place);
        }
        let (mut from, mut stay, mut came) = (0, Vec::new(), Vec::new());
        for number in then {
            let found = places.get(number).and_then(|places| {
                let at = places.partition_point(|place| *place < from);
                places.get(at).copied()
            });
            came.push(match found {
                Some(place) => {
                    from = place + 1;
                    stay.push(place);
                    Came::Stays(place)
                }
                None => Came::New(*number),
            });
        }
        // What only comes between others has nothing in whose place it stands: what is behind it comes anew.
        let first_new = came.iter().position(|it| matches!(it, Came::New(_)));
        let last_stay = came.iter().rposition(|it| matches!(it, Came::Stays(_)));
        if stay.len() == before.len()
            && let (Some(new), Some(old)) = (first_new, last_stay)
            && new < old
        {
            stay.truncate(new);
            for (one, number) in came.iter_mut().zip(then).skip(new) {
                *one = Came::New(*number);
            }
        }
        Self { stay, then: came }
    }

    /// How many of what follows stand before the last that stays.
    fn between(&self) -> usize {
        let last = self
            .then
            .iter()
            .rposition(|it| matches!(it, Came::Stays(_)));
        last.map_or(0, |at| at + 1)
    }
}

impl Telling<'_, '_> {
    /// A step for a message at the end.
    fn append(
        &mut self,
        number: usize,
        time: Option<Millis>,
        behind: &mut Behind<State>,
    ) -> Result<()> {
        let found = self.messages.get(number);
        let Some((at, Some(said))) = found else {
            behind.state.messages.push_back((number, None));
            return Ok(());
        };
        let (message, usage, span) = (said.message.clone(), said.usage, self.text.span(at));
        self.calls.pair(&message, self.text, at, self.steps.sink)?;
        let mut settings = Settings::new();
        if said.model.is_some() && behind.state.model != said.model {
            behind.state.model.clone_from(&said.model);
            settings.extend(said.model.clone().map(|model| ("model".to_owned(), model)));
        }
        let step = Step {
            time,
            usage,
            settings,
            ..Step::new(Action::Append(message), span)
        };
        self.steps.tell(step, &mut behind.last)?;
        let entry = behind.last.map(|step| StepEntry {
            step,
            replacement: None,
        });
        behind.state.messages.push_back((number, entry));
        Ok(())
    }

    /// Hides what went behind the first `keeps` messages, with what came between those that stay in its place.
    fn change(
        &mut self,
        at: &Range<usize>,
        keeps: usize,
        fate: &Fate,
        time: Option<Millis>,
        behind: &mut Behind<State>,
    ) -> Result<()> {
        let tail = behind.state.messages.split_off(keeps);
        let tail: Vec<(usize, Option<StepEntry>)> = tail.into_iter().collect();
        let stays: Vec<StepEntry> = fate.stay.iter().filter_map(|it| tail[*it].1).collect();
        let entries: Vec<StepEntry> = tail.iter().filter_map(|(_, entry)| *entry).collect();
        let is_gone = entries.iter().any(|entry| !stays.contains(entry));
        let between = &fate.then[..fate.between()];
        let cover = entries.first().zip(entries.last()).filter(|_| is_gone);
        let Some((first, last)) = cover else {
            // Nothing that could be read went.
            for came in between {
                match came {
                    Came::Stays(place) => behind.state.messages.push_back(tail[*place]),
                    Came::New(number) => self.append(*number, time, behind)?,
                }
            }
            return Ok(());
        };
        let (mut replacements, mut open) = (Vec::new(), Vec::new());
        for came in between {
            match came {
                // Before which one they stand.
                Came::Stays(place) => {
                    let messages = open.drain(..);
                    replacements.extend(messages.map(|message| (tail[*place].1, message)));
                }
                Came::New(number) => {
                    if let Some((at, Some(said))) = self.messages.get(*number) {
                        let message = said.message.clone();
                        self.calls.pair(&message, self.text, at, self.steps.sink)?;
                        open.push(message);
                    }
                }
            }
        }
        let hide = HideStep {
            kind: match replacements.is_empty() {
                true => HideKind::Drop,
                false => HideKind::Compaction,
            },
            cover: Cover::Range(*first, *last),
            keep: stays,
            parts: Vec::new(),
            replacements,
            moment: Moment::Here,
        };
        let step = Step {
            time,
            ..Step::new(Action::Hide(hide), self.text.span(at))
        };
        self.steps.tell(step, &mut behind.last)?;
        // What came between stands there by this step.
        let mut made = 0;
        for came in between {
            let entry = match came {
                Came::Stays(place) => tail[*place],
                Came::New(number) => {
                    let said = self.messages.get(*number).map(|(_, said)| said);
                    let is_told = matches!(said, Some(Some(_)));
                    let entry = behind.last.filter(|_| is_told).map(|step| StepEntry {
                        step,
                        replacement: Some(made),
                    });
                    made += usize::from(is_told);
                    (*number, entry)
                }
            };
            behind.state.messages.push_back(entry);
        }
        Ok(())
    }
}

impl<'s> Walker<'s> for Telling<'_, 's> {
    type State = State;

    fn steps(&mut self) -> &mut Steps<'s> {
        &mut self.steps
    }

    fn tell(&mut self, way: &[usize], _: &Ways, behind: &mut Behind<State>) -> Result<usize> {
        let record = &mut self.records[way[0]];
        let Some((keeps, then)) = record.change.take() else {
            return Ok(1);
        };
        let (at, time) = (record.at.clone(), record.time);
        let keeps = keeps.min(behind.state.messages.len());
        let before: Vec<usize> = behind
            .state
            .messages
            .iter()
            .skip(keeps)
            .map(|it| it.0)
            .collect();
        let fate = Fate::of(&before, &then);
        if fate.stay.len() < before.len() {
            self.change(&at, keeps, &fate, time, behind)?;
        }
        for came in &fate.then[fate.between()..] {
            if let Came::New(number) = came {
                self.append(*number, time, behind)?;
            }
        }
        Ok(1)
    }
}
