//! A conversation of which whole states are kept: what came to its messages from one state to the next, and what
//! went.
//!
//! What went is hidden; what stands in the place of some of it is part of the same step; what came behind it is
//! appended. Deliberately absent: how a format says which messages a state has.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Range;

use imbl::Vector;
use serde_json::json;
use serde_json::value::RawValue;

use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::parts;
use crate::formats::shared::teller::Teller;
use crate::formats::shared::ways::{Behind, Walker, Ways, walk};
use crate::formats::{Action, Cover, HideStep, Step, StepEntry};
use crate::model::{HideKind, Message, Millis, Usage};
use crate::wire::Notes;
use crate::wire::json::{Object, decode, string};

/// How a format's conversation is read of which states are kept.
pub(in crate::formats) trait States: Default {
    /// The members of its object: what is known of it, its messages, its states.
    const ABOUT: &'static str;
    const MESSAGES: &'static str;
    const STATES: &'static str;
    /// What a state is called.
    const STATE: &'static str;
    /// What the object lacks of what the model was sent, where `about` says nothing else.
    const LACKING: &'static [&'static str] = &["tool definitions"];
    /// Whether a state names the one before it; else they stand in their order.
    const IS_LINKED: bool;

    /// Takes what is known of the conversation.
    fn about(raw: &RawValue, teller: &mut Teller<'_>);

    /// What a message's record says.
    fn said(raw: &RawValue, notes: &mut Notes) -> Result<Said, String>;
}

/// What a message's record says.
pub(in crate::formats) struct Said {
    pub(in crate::formats) message: Message,
    /// When it was said, where that is not told by the state.
    pub(in crate::formats) time: Option<Millis>,
    /// What was counted for it: a reply, or a summary.
    pub(in crate::formats) usage: Option<Usage>,
    /// The tools that are offered from here on, as JSON.
    pub(in crate::formats) tools: Option<String>,
    /// The model that replied, as JSON.
    pub(in crate::formats) model: Option<String>,
}

/// The object of such a conversation.
#[derive(Default)]
pub(in crate::formats) struct Conversation<S> {
    /// A message where it stands, and what it says; nothing of one that cannot be read.
    messages: Vec<(Range<usize>, Option<Said>)>,
    places: Vec<Range<usize>>,
    states: Vec<Kept>,
    format: PhantomData<S>,
}

/// A state: how many messages of the one before it it has, and which follow.
#[derive(Default)]
struct Kept {
    id: Option<String>,
    /// The id of the one before it.
    parent: Option<String>,
    time: Option<Millis>,
    /// The messages by their numbers; none where it has those of the one before it.
    change: Option<(usize, Vec<usize>)>,
    /// A message that stands in the place of what went.
    summary: Option<usize>,
}

/// A state's object, with these messages by their numbers, behind one that had others.
pub(in crate::formats) fn written(state: Object, now: &[usize], before: &[usize]) -> Object {
    let pairs = now.iter().zip(before);
    let keeps = pairs.take_while(|(one, other)| one == other).count();
    let state = state.raw("keeps", &keeps.to_string());
    state.raw("then", &json!(now[keeps..]).to_string())
}

impl<S: States> Document for Conversation<S> {
    const RECORDS: &'static str = S::MESSAGES;
    const LACKING: &'static [&'static str] = S::LACKING;
    const LISTS: &'static [&'static str] = &[S::STATES];

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        if member.key == S::ABOUT {
            S::about(member.raw, teller);
        }
        false
    }

    fn list(&mut self, _: &str, found: Vec<Range<usize>>, _: &mut ObjectTeller<'_, '_>) {
        self.places = found;
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        self.messages.push((at.clone(), teller.read(at, S::said)?));
        Ok(())
    }

    /// Tells of the way to the newest state, then of those that leave it.
    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        for at in &self.places {
            self.states.push(Kept::read(at, S::STATE, teller)?);
        }
        let all = self.states.iter().enumerate();
        let ids = all.filter_map(|(at, state)| Some((state.id.as_deref()?, at)));
        let by_id: HashMap<&str, usize> = ids.collect();
        let parents = self.states.iter().enumerate().map(|(at, state)| {
            if S::IS_LINKED {
                by_id.get(state.parent.as_deref()?).copied()
            } else {
                at.checked_sub(1)
            }
        });
        let parents: Vec<Option<usize>> = parents.collect();
        let last = parents.len().checked_sub(1);
        walk(parents, last, self, teller)
    }
}

impl Kept {
    fn read(at: &Range<usize>, what: &str, teller: &mut ObjectTeller<'_, '_>) -> Result<Self> {
        lazy! {
            struct Record { checkpoint_id, parent_checkpoint_id, ts, keeps, then, summary, unread }
        }
        let decoded = teller.text.decode(at).ok();
        let record = decoded.as_ref();
        let record = record.and_then(|(raw, _)| decode::<Record<'_>>(Some(raw)));
        if record.is_none() {
            teller.problem(at, format!("a {what} that is no object"))?;
        }
        let record = record.unwrap_or_default();
        if let Some(reason) = string(record.unread) {
            teller.problem(at, reason)?;
        }
        Ok(Self {
            id: string(record.checkpoint_id),
            parent: string(record.parent_checkpoint_id),
            time: parts::time(record.ts),
            change: decode(record.keeps).zip(decode(record.then)),
            summary: decode(record.summary),
        })
    }
}

/// The messages behind a state, by their numbers, with the entries that they made: none of one that cannot
/// be read.
#[derive(Clone, Default)]
pub(in crate::formats) struct State {
    messages: Vector<(usize, Option<StepEntry>)>,
    model: Option<String>,
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

impl<S> Conversation<S> {
    /// A step for a message at the end.
    fn append(
        &mut self,
        number: usize,
        time: Option<Millis>,
        behind: &mut Behind<State>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        let found = self.messages.get(number);
        let Some((at, Some(said))) = found else {
            behind.state.messages.push_back((number, None));
            return Ok(());
        };
        let text = teller.text;
        teller.pair(&said.message, text, at)?;
        let model = said.model.clone();
        let model = model.filter(|_| behind.state.model != said.model);
        behind.state.model = model.clone().or(behind.state.model.take());
        let mut step = Step::append(said.message.clone(), text.span(at))
            .at(said.time.or(time))
            .counted(said.usage)
            .by_model(model);
        let tools = said.tools.clone().map(|tools| ("tools".to_owned(), tools));
        step.settings.extend(tools);
        teller.follow(step, &mut behind.last)?;
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
        teller: &mut ObjectTeller<'_, '_>,
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
                    Came::New(number) => self.append(*number, time, behind, teller)?,
                }
            }
            return Ok(());
        };
        let (mut replacements, mut open) = (Vec::new(), Vec::new());
        let mut usage = None;
        for came in between {
            match came {
                // Before which one they stand.
                Came::Stays(place) => {
                    let messages = open.drain(..);
                    replacements.extend(messages.map(|message| (tail[*place].1, message)));
                }
                Came::New(number) => {
                    if let Some((at, Some(said))) = self.messages.get(*number) {
                        let text = teller.text;
                        teller.pair(&said.message, text, at)?;
                        usage = said.usage.or(usage);
                        open.push(said.message.clone());
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
        let hide = HideStep::of(kind, Cover::Range(*first, *last))
            .keeping(stays)
            .putting(replacements);
        let step = Step::new(Action::Hide(hide), teller.text.span(at)).at(time);
        teller.follow(step.counted(usage), &mut behind.last)?;
        // What came between stands there by this step.
        let mut made = 0;
        for came in between {
            let entry = match came {
                Came::Stays(place) => tail[*place],
                Came::New(number) => {
                    let said = self.messages.get(*number).map(|(_, said)| said);
                    let is_told = matches!(said, Some(Some(_)));
                    let step = behind.last.filter(|_| is_told);
                    let entry = step.map(|step| step.replacement(made));
                    made += usize::from(is_told);
                    (*number, entry)
                }
            };
            behind.state.messages.push_back(entry);
        }
        Ok(())
    }
}

impl<S: States> Walker for Conversation<S> {
    const RECORD: &'static str = S::STATE;
    type State = State;

    fn place(&self, at: usize) -> &Range<usize> {
        &self.places[at]
    }

    fn tell(
        &mut self,
        way: &[usize],
        _: &Ways,
        behind: &mut Behind<State>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<usize> {
        let kept = &mut self.states[way[0]];
        let Some((keeps, then)) = kept.change.take() else {
            return Ok(1);
        };
        let (at, time, summary) = (self.places[way[0]].clone(), kept.time, kept.summary);
        let messages = &behind.state.messages;
        let keeps = keeps.min(messages.len());
        let before: Vec<usize> = messages.iter().skip(keeps).map(|it| it.0).collect();
        let fate = Fate::of(&before, &then, summary);
        if fate.stay.len() < before.len() {
            self.change(&at, keeps, &fate, time, behind, teller)?;
        }
        for came in &fate.then[fate.between..] {
            if let Came::New(number) = came {
                self.append(*number, time, behind, teller)?;
            }
        }
        Ok(1)
    }
}
