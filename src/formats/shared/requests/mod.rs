//! A conversation as its client sends it, told as steps: each request is what the list of messages is next.
//!
//! Deliberately absent: how a request is read, and which conversation it belongs to.

mod changes;

use std::collections::HashSet;
use std::rc::Rc;

use self::changes::changed;
use crate::error::Result;
use crate::formats::shared::list::{following, matched};
use crate::formats::shared::teller::Teller;
use crate::formats::{Action, Cover, HideStep, Step, StepEntry, StepId};
use crate::hash::ContentHash;
use crate::model::{HideKind, Message, Millis, Role, Settings, Span};

/// Tells a sink of a conversation.
pub(in crate::formats) struct Telling<'s> {
    pub(in crate::formats) teller: Teller<'s>,
    /// What the context is, in order.
    told: Vec<Told>,
    settings: Settings,
    /// How many requests said nothing new.
    pub(in crate::formats) repeated: u64,
}

/// A message that a request may repeat many times.
#[derive(Clone)]
pub(in crate::formats) struct Said {
    /// Its hash.
    pub(in crate::formats) key: ContentHash,
    /// The message.
    pub(in crate::formats) message: Rc<Message>,
}

/// A message of the context.
struct Told {
    key: ContentHash,
    message: Rc<Message>,
    entry: StepEntry,
    /// Whether parts of it are hidden.
    is_pruned: bool,
}

/// A message of a request.
struct Item {
    key: ContentHash,
    message: Rc<Message>,
    records: Vec<Span>,
}

/// What becomes of a message of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It stands in the context.
    Stays(usize),
    /// It does, but for some of its parts.
    Pruned(usize),
    /// It is new before others, or in place of them.
    Placed,
    /// It is new at the end.
    Appended,
}

impl Fate {
    fn stays(self) -> Option<usize> {
        match self {
            Self::Stays(at) | Self::Pruned(at) => Some(at),
            Self::Placed | Self::Appended => None,
        }
    }
}

impl<'s> Telling<'s> {
    pub(in crate::formats) fn new(teller: Teller<'s>) -> Self {
        Self {
            teller,
            told: Vec::new(),
            settings: Settings::new(),
            repeated: 0,
        }
    }

    /// Tells what a request changes. Behind the last step stands the request itself, and its settings come
    /// with that.
    pub(in crate::formats) fn request(
        &mut self,
        steps: Vec<Step>,
        settings: &Settings,
        body: Span,
        time: Option<Millis>,
    ) -> Result<()> {
        let items = steps.into_iter().filter_map(|step| match step.action {
            Action::Append(message) => Some(Item {
                key: message.hash(),
                message: Rc::new(message),
                records: step.records,
            }),
            Action::Hide(_) => None,
        });
        self.tell(items.collect(), settings, body, time)
    }

    /// The same of messages whose hashes are known. All of them stand in the request's record.
    pub(in crate::formats) fn repeated_request(
        &mut self,
        said: Vec<Said>,
        settings: &Settings,
        body: Span,
        time: Option<Millis>,
    ) -> Result<()> {
        let items = said.into_iter().map(|Said { key, message }| Item {
            key,
            message,
            records: vec![body],
        });
        self.tell(items.collect(), settings, body, time)
    }

    fn tell(
        &mut self,
        items: Vec<Item>,
        settings: &Settings,
        body: Span,
        time: Option<Millis>,
    ) -> Result<()> {
        let settings = self.differing(settings);
        let mut steps = self.changes(items, body);
        if steps.is_empty() && !settings.is_empty() {
            steps.extend(self.said_again(body));
        }
        let Some(last) = steps.last_mut() else {
            self.repeated += 1;
            return Ok(());
        };
        last.settings = settings;
        if last.records != [body] {
            last.records.push(body);
        }
        for step in steps {
            self.teller.step(Step { time, ..step })?;
        }
        Ok(())
    }

    /// Tells a reply.
    pub(in crate::formats) fn reply(&mut self, step: Step, time: Option<Millis>) -> Result<()> {
        let Action::Append(message) = step.action else {
            return Ok(());
        };
        self.told.push(Told {
            key: message.hash(),
            entry: self.entry(0, None),
            message: Rc::new(message.clone()),
            is_pruned: false,
        });
        // The next request says again what it asks for.
        self.settings.extend(step.settings.clone());
        let step = Step {
            action: Action::Append(message),
            time: time.or(step.time),
            ..step
        };
        self.teller.step(step).map(drop)
    }

    /// The entry that the step behind so many others from here makes.
    fn entry(&self, behind: usize, replacement: Option<usize>) -> StepEntry {
        StepEntry {
            step: StepId(self.teller.next_step().0 + behind),
            replacement,
        }
    }

    /// The settings that are others than before; null for those that are gone.
    fn differing(&mut self, now: &Settings) -> Settings {
        let mut changes = Settings::new();
        for (key, value) in now {
            if self.settings.get(key) != Some(value) {
                changes.insert(key.clone(), value.clone());
            }
        }
        for (key, value) in &self.settings {
            if !now.contains_key(key) && value != "null" {
                changes.insert(key.clone(), "null".to_owned());
            }
        }
        self.settings.extend(changes.clone());
        changes
    }

    /// The last message once more: a request that says nothing new with other settings.
    fn said_again(&mut self, body: Span) -> Option<Step> {
        let entry = self.entry(0, Some(0));
        let last = self.told.last_mut()?;
        let was = std::mem::replace(&mut last.entry, entry);
        last.is_pruned = false;
        let hide = HideStep::of(HideKind::Drop, Cover::Range(was, was))
            .putting(vec![(None, Message::clone(&last.message))]);
        Some(Step::new(Action::Hide(hide), body))
    }

    /// The steps from what the context is to what a request says.
    fn changes(&mut self, items: Vec<Item>, body: Span) -> Vec<Step> {
        let mut steps = Vec::new();
        let fates = self.fates(&items);
        steps.extend(self.prune(&items, &fates, body));
        let hiding = steps.len();
        let hidden = self.hide(&items, &fates);
        steps.extend(hidden.map(|hide| Step::new(Action::Hide(hide), body)));
        let mut told: Vec<Option<Told>> = self.told.drain(..).map(Some).collect();
        let mut placed = 0..;
        for (item, fate) in items.into_iter().zip(fates) {
            let entry = match fate {
                Fate::Stays(at) | Fate::Pruned(at) => {
                    self.told.extend(told[at].take().map(|told| Told {
                        key: item.key,
                        is_pruned: told.is_pruned || matches!(fate, Fate::Pruned(_)),
                        message: item.message,
                        ..told
                    }));
                    continue;
                }
                Fate::Placed => self.entry(hiding, placed.next()),
                Fate::Appended => {
                    let entry = self.entry(steps.len(), None);
                    let step = Step::new(Action::Append(Message::clone(&item.message)), body);
                    steps.push(step.by(item.records));
                    entry
                }
            };
            self.told.push(Told {
                key: item.key,
                message: item.message,
                entry,
                is_pruned: false,
            });
        }
        steps
    }

    /// What becomes of each message.
    fn fates(&self, items: &[Item]) -> Vec<Fate> {
        let before: Vec<ContentHash> = self.told.iter().map(|told| told.key).collect();
        let now: Vec<ContentHash> = items.iter().map(|item| item.key).collect();
        let found = matched(&before, &now);
        let mut fates = Vec::with_capacity(items.len());
        let mut next = 0;
        for (at, item) in items.iter().enumerate() {
            if let Some(known) = found[at] {
                next = known + 1;
                fates.push(Fate::Stays(known));
                continue;
            }
            // The one that stood here, if it was only cut.
            let end = found[at..].iter().flatten().next().copied();
            let here = self.told.get(next);
            let here = here.filter(|_| end.is_none_or(|end| next < end));
            let is_cut = here.is_some_and(|told| {
                !told.is_pruned && changed(&told.message, &item.message).is_some()
            });
            fates.push(if is_cut {
                Fate::Pruned(next)
            } else {
                Fate::Placed
            });
            next += 1;
        }
        let is_kept = |fate: &Fate| fate.stays().is_some();
        let is_instruction = |fate: &Fate| {
            let stays = fate.stays().map(|at| &self.told[at]);
            stays.is_some_and(|told| told.message.role.is_system())
        };
        let begun = items.iter().position(|item| !item.message.role.is_system());
        let mut kept = fates.iter().filter(|fate| is_kept(fate));
        let is_replaced =
            !self.told.iter().all(|told| told.message.role.is_system()) && kept.all(is_instruction);
        // Of what comes in place of all that was said the first message is the summary.
        let last = begun
            .filter(|_| is_replaced)
            .max(fates.iter().rposition(is_kept));
        let appended = last.map_or(0, |at| at + 1);
        for fate in fates.iter_mut().skip(appended) {
            *fate = Fate::Appended;
        }
        fates
    }

    /// Hides the parts of messages that are gone.
    fn prune(&self, items: &[Item], fates: &[Fate], body: Span) -> Option<Step> {
        let mut parts = Vec::new();
        for (item, fate) in items.iter().zip(fates) {
            if let Fate::Pruned(at) = fate {
                let told = &self.told[*at];
                let found = changed(&told.message, &item.message).unwrap_or_default();
                let found = found.into_iter();
                parts.extend(found.map(|(part, stub)| (told.entry, part, stub)));
            }
        }
        (!parts.is_empty()).then(|| Step::new(Action::Hide(HideStep::prune(parts)), body))
    }

    /// Hides what is gone, with what stands in its place; none where nothing is.
    fn hide(&self, items: &[Item], fates: &[Fate]) -> Option<HideStep> {
        let stays: HashSet<usize> = fates.iter().filter_map(|fate| fate.stays()).collect();
        let gone = || (0..self.told.len()).filter(|at| !stays.contains(at));
        let places: Vec<Option<usize>> = fates.iter().map(|fate| fate.stays()).collect();
        let following = following(&places);
        let placed = (0..fates.len()).filter(|at| fates[*at] == Fate::Placed);
        let replacements = placed.map(|at| {
            let before = following[at].map(|at| self.told[at].entry);
            (before, Message::clone(&items[at].message))
        });
        let replacements: Vec<(Option<StepEntry>, Message)> = replacements.collect();
        let (first, last) = match (gone().next(), gone().next_back()) {
            (Some(first), Some(last)) => (first, last),
            _ if replacements.is_empty() => return None,
            _ => return Some(HideStep::of(HideKind::Drop, Cover::Nothing).putting(replacements)),
        };
        let has_reply = gone().any(|at| self.told[at].message.role == Role::Assistant);
        let is_summed_up = has_reply && !replacements.is_empty();
        let kind = if is_summed_up && replacements.len() < gone().count() {
            HideKind::Compaction
        } else {
            HideKind::Drop
        };
        let cover = Cover::Range(self.told[first].entry, self.told[last].entry);
        let kept = (first..last).filter(|at| stays.contains(at));
        let kept = kept.map(|at| self.told[at].entry).collect();
        let hide = HideStep::of(kind, cover).keeping(kept);
        Some(hide.putting(replacements))
    }
}
