//! A conversation of which whole states are kept: what came to its messages from one state to the next, and what
//! went.
//!
//! What went is hidden; what stands in the place of some of it is part of the same step; what came behind it is
//! appended. Deliberately absent: how a format says which messages a state has.

use std::collections::HashMap;
use std::ops::Range;

use imbl::Vector;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::calls::Calls;
use super::records::{Held, Text};
use super::spans::{Broken, elements, members};
use super::ways::{Behind, Steps, Walker, Ways, walk};
use super::{Action, Cover, HideStep, SessionEnd, Sink, Step, StepEntry};
use crate::error::Result;
use crate::model::{HideKind, Message, Millis, Settings, Usage};
use crate::wire::Notes;
use crate::wire::json::decode;

/// What a message's record says.
pub(super) struct Said {
    pub(super) message: Message,
    pub(super) usage: Option<Usage>,
    /// The model that replied, as JSON.
    pub(super) model: Option<String>,
}

/// A message where it stands, and what it says; nothing of one that cannot be read.
pub(super) type Placed = (Range<usize>, Option<Said>);

/// The object of such a conversation, as far as it is whole.
#[derive(Default)]
pub(super) struct Document<A> {
    /// What is known of the conversation.
    pub(super) about: A,
    messages: Vec<Range<usize>>,
    /// Where the states stand.
    pub(super) states: Vec<Range<usize>>,
    /// What keeps the rest from being read.
    pub(super) broken: Option<Broken>,
}

impl<A: Default + DeserializeOwned> Document<A> {
    /// An object's members by their names: what is known of it, its messages, its states.
    pub(super) fn of(held: &Held, [about, messages, states]: [&str; 3]) -> Self {
        let text = held.text();
        let (keys, broken) = members(text.bytes, held.start);
        let mut document = Self {
            broken,
            ..Self::default()
        };
        for (key, at) in keys {
            if key == about {
                let decoded = text.decode(&at).ok();
                let known = decoded.and_then(|(raw, _)| decode(Some(&raw)));
                document.about = known.unwrap_or_default();
            } else if key == messages || key == states {
                let (found, torn) = elements(text.bytes, at.start);
                document.broken = torn.or(document.broken);
                match key == messages {
                    true => document.messages = found,
                    false => document.states = found,
                }
            }
        }
        document
    }

    /// Reads the messages.
    pub(super) fn messages(
        &mut self,
        text: Text<'_>,
        said: impl Fn(&RawValue, &mut Notes) -> Result<Said, String>,
        end: &mut SessionEnd,
        sink: &mut dyn Sink,
    ) -> Result<Vec<Placed>> {
        let (mut notes, mut found) = (Notes::default(), Vec::new());
        for at in self.messages.drain(..) {
            let read = |raw: &RawValue| said(raw, &mut notes);
            let said = text.message(&at, &mut end.lone_surrogates, sink, read)?;
            found.push((at, said));
        }
        end.opaque_blocks = notes.opaque_blocks;
        Ok(found)
    }
}

/// A state: how many messages of the one before it it has, and which follow.
#[derive(Default)]
pub(super) struct Kept {
    /// Where its record stands.
    pub(super) at: Range<usize>,
    pub(super) time: Option<Millis>,
    /// The messages by their numbers; none where it has those of the one before it.
    pub(super) change: Option<(usize, Vec<usize>)>,
    /// A message that stands in the place of what went.
    pub(super) summary: Option<usize>,
}

/// Tells of the way to the newest state, then of those that leave it.
pub(super) fn tell(
    text: Text<'_>,
    messages: Vec<Placed>,
    states: Vec<Kept>,
    ways: Ways,
    end: SessionEnd,
    sink: &mut dyn Sink,
) -> Result<()> {
    let last = states.len().checked_sub(1);
    let mut telling = Telling {
        text,
        messages,
        states,
        calls: Calls::default(),
        steps: Steps::of(sink),
    };
    walk(ways, last, &mut telling)?;
    telling.steps.sink.end(end)
}

/// The messages behind a state, by their numbers, with the entries that they made: none of one that cannot
/// be read.
#[derive(Clone, Default)]
struct State {
    messages: Vector<(usize, Option<StepEntry>)>,
    model: Option<String>,
}

struct Telling<'t, 's> {
    text: Text<'t>,
    messages: Vec<Placed>,
    states: Vec<Kept>,
    calls: Calls,
    steps: Steps<'s>,
}

/// What becomes of the messages of a state that are not the first ones of the one before it.
struct Fate {
    /// Which of those before stay, by their places, in their order.
    stay: Vec<usize>,
    /// Which follow.
    then: Vec<Came>,
    /// How many of these are part of the step that hides the others.
    between: usize,
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
    fn of(before: &[usize], then: &[usize], summary: Option<usize>) -> Self {
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
        // Those before the last that stays; and what sums up the others stands in their place.
        let last_stay = came.iter().rposition(|it| matches!(it, Came::Stays(_)));
        let sums_up = |it: &Came| matches!(it, Came::New(number) if Some(*number) == summary);
        let summary = came.iter().position(sums_up);
        Self {
            between: last_stay.max(summary).map_or(0, |at| at + 1),
            stay,
            then: came,
        }
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
        let entry = behind.last.map(|step| step.entry());
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
        let between = &fate.then[..fate.between];
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
        replacements.extend(open.into_iter().map(|message| (None, message)));
        let kind = if replacements.is_empty() {
            HideKind::Drop
        } else {
            HideKind::Compaction
        };
        let hide = HideStep {
            keep: stays,
            replacements,
            ..HideStep::of(kind, Cover::Range(*first, *last))
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
        let kept = &mut self.states[way[0]];
        let Some((keeps, then)) = kept.change.take() else {
            return Ok(1);
        };
        let (at, time, summary) = (kept.at.clone(), kept.time, kept.summary);
        let keeps = keeps.min(behind.state.messages.len());
        let before: Vec<usize> = behind
            .state
            .messages
            .iter()
            .skip(keeps)
            .map(|it| it.0)
            .collect();
        let fate = Fate::of(&before, &then, summary);
        if fate.stay.len() < before.len() {
            self.change(&at, keeps, &fate, time, behind)?;
        }
        for came in &fate.then[fate.between..] {
            if let Came::New(number) = came {
                self.append(*number, time, behind)?;
            }
        }
        Ok(1)
    }
}
