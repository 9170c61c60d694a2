//! The checkpoints of a thread, and which messages each has.
//!
//! A channel stands in a checkpoint whole, or it is what tasks wrote since the nearest checkpoint above in which it
//! does: the writes of a step stand at the checkpoint before it. Where nothing follows a checkpoint, what its finished
//! tasks wrote comes behind it, as the framework shows it. Deliberately absent: rows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use serde_json::Value;

use super::state::{Change, HABIT, State, changes};
use crate::formats::shared::states::written;
use crate::wire::json::Object;

/// The columns of a checkpoint's id, and of the one before it.
pub(super) const ID: &str = "checkpoint_id";
pub(super) const PARENT: &str = "parent_checkpoint_id";

/// A checkpoint as far as it was read.
pub(super) struct Checkpoint {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) state: Result<State, String>,
}

/// What a task wrote to a channel.
pub(super) struct Write<'r> {
    /// The checkpoint before the task's step.
    pub(super) checkpoint: &'r str,
    pub(super) channel: &'r str,
    pub(super) kind: Option<&'r str>,
    pub(super) held: &'r Value,
}

/// Messages by their numbers.
type List = Rc<Vec<usize>>;

/// A thread, put together.
#[derive(Default)]
pub(super) struct Thread {
    pub(super) checkpoints: Vec<Checkpoint>,
    /// The channels of which changes alone are kept.
    pub(super) changing: BTreeSet<String>,
    pub(super) listed: Listed,
    /// By the checkpoint before their step and by channel, in the order in which they count.
    writes: HashMap<String, BTreeMap<String, Vec<Change>>>,
    /// Of each checkpoint what cannot be read of the writes behind it.
    unread: HashMap<String, String>,
    places: HashMap<String, usize>,
    parents: HashSet<String>,
    /// What channels of changes hold at checkpoints, by the places of these.
    whole: HashMap<String, HashMap<usize, List>>,
}

impl Thread {
    /// Takes what tasks wrote, in the order in which it counts, behind all checkpoints.
    pub(super) fn take_writes<'r>(&mut self, all: impl Iterator<Item = Write<'r>>) {
        let parents = self.checkpoints.iter().filter_map(|it| it.parent.clone());
        self.parents = parents.collect();
        let mut of_others: HashSet<&str> = HashSet::new();
        for write in all {
            let is_changing = self.changing.contains(write.channel);
            let is_needed = is_changing || !self.parents.contains(write.checkpoint);
            // The framework's own channels begin so.
            if !is_needed || write.channel.starts_with("__") {
                continue;
            }
            match changes(write.kind, write.held) {
                Ok(Some(found)) if found.is_empty() => {}
                Ok(Some(found)) => {
                    let behind = self.writes.entry(write.checkpoint.to_owned()).or_default();
                    let of_channel = behind.entry(write.channel.to_owned()).or_default();
                    of_channel.extend(found);
                }
                Ok(None) => {
                    of_others.insert(write.channel);
                }
                Err(reason) if is_changing => {
                    self.unread.insert(write.checkpoint.to_owned(), reason);
                }
                Err(_) => {}
            }
        }
        self.changing.retain(|name| !of_others.contains(&**name));
        for behind in self.writes.values_mut() {
            behind.retain(|channel, _| !of_others.contains(&**channel));
        }
    }

    /// The channels that hold the messages: the framework's own, or else all that hold some. Beside it, how many
    /// messages stand in others alone.
    pub(super) fn channels(&self) -> (Vec<String>, BTreeMap<String, usize>) {
        let states = self
            .checkpoints
            .iter()
            .filter_map(|it| it.state.as_ref().ok());
        let held = states.flat_map(|state| &state.channels);
        let held = held.filter_map(|(name, held)| Some((name, held.as_array()?.iter().collect())));
        let put = self.writes.values().flatten().map(|(name, changes)| {
            let put = changes.iter().filter_map(|change| match change {
                Change::Put(message) => Some(message),
                Change::Clear | Change::Remove(_) => None,
            });
            (name, put.collect())
        });
        let mut found: BTreeMap<&String, Vec<Vec<&Value>>> = BTreeMap::new();
        for (name, messages) in held.chain(put) {
            let messages: Vec<&Value> = messages;
            if !messages.is_empty() {
                found.entry(name).or_default().push(messages);
            }
        }
        let Some(own) = found.remove(&HABIT.to_owned()) else {
            return (found.into_keys().cloned().collect(), BTreeMap::new());
        };
        let key = |message: &&Value| id(message).map_or_else(|| message.to_string(), str::to_owned);
        let mut left_out = BTreeMap::new();
        if !found.is_empty() {
            let own: HashSet<String> = own.iter().flatten().map(key).collect();
            for (name, messages) in found {
                let mut others: HashSet<String> = messages.iter().flatten().map(key).collect();
                others.retain(|message| !own.contains(message));
                if !others.is_empty() {
                    left_out.insert(name.clone(), others.len());
                }
            }
        }
        (vec![HABIT.to_owned()], left_out)
    }

    /// The checkpoints in their order, each with the messages of these channels by their numbers.
    pub(super) fn lists(&mut self, channels: &[String]) -> Vec<String> {
        let all = std::mem::take(&mut self.checkpoints);
        let places = all.iter().enumerate().map(|(at, it)| (it.id.clone(), at));
        self.places = places.collect();
        let mut behind: HashMap<&str, List> = HashMap::new();
        let mut lists = Vec::with_capacity(all.len());
        for (at, checkpoint) in all.iter().enumerate() {
            let object = Object::new().string(ID, &checkpoint.id);
            let mut object = object.optional(PARENT, checkpoint.parent.as_deref());
            let state = match &checkpoint.state {
                Ok(state) => state,
                Err(reason) => {
                    lists.push(object.string("unread", reason).finish());
                    continue;
                }
            };
            object = object.optional("ts", state.time.as_deref());
            let reason = self.unread.get(&checkpoint.id);
            object = object.optional("unread", reason.map(String::as_str));
            let before = checkpoint.parent.as_deref();
            let before = before.and_then(|parent| behind.get(parent)).cloned();
            let before = before.unwrap_or_default();
            let held = channels.iter().map(|name| self.held(&all, at, name));
            let mut held: Vec<Option<List>> = held.collect();
            let list = if held.iter().any(Option::is_some) {
                let list = self.listed.merged(&before, &held);
                object = written(object, &list, &before);
                list
            } else {
                before
            };
            lists.push(object.finish());
            if let Some(pending) = self.pending(&checkpoint.id, channels, &mut held) {
                let now = self.listed.merged(&list, &pending);
                let object = Object::new().string(ID, &format!("{}, its writes", checkpoint.id));
                let object = object.string(PARENT, &checkpoint.id);
                let object = object.optional("ts", state.time.as_deref());
                lists.push(written(object, &now, &list).finish());
            }
            behind.insert(&checkpoint.id, list);
        }
        lists
    }

    /// What channels hold behind the last checkpoint of a way; none where nothing was written there.
    fn pending(
        &mut self,
        checkpoint: &str,
        channels: &[String],
        held: &mut [Option<List>],
    ) -> Option<Vec<Option<List>>> {
        if self.parents.contains(checkpoint) {
            return None;
        }
        let writes = self.writes.get(checkpoint)?;
        let mut is_new = false;
        for (name, held) in channels.iter().zip(held.iter_mut()) {
            if let Some(changes) = writes.get(name) {
                let list = held.clone().unwrap_or_default();
                *held = Some(Rc::new(self.listed.changed(&list, changes)));
                is_new = true;
            }
        }
        is_new.then(|| held.to_vec())
    }

    /// What a channel holds at a checkpoint; none where nothing is said of it.
    fn held(&mut self, all: &[Checkpoint], at: usize, channel: &str) -> Option<List> {
        let state = all[at].state.as_ref().ok()?;
        if let Some(held) = self.stored(state, channel) {
            return Some(held);
        }
        if !self.changing.contains(channel) || !state.written.contains(channel) {
            return None;
        }
        let mut whole = self.whole.remove(channel).unwrap_or_default();
        // Up to what is known, and then down again.
        let (mut way, mut seen) = (vec![at], HashSet::from([at]));
        let mut list = loop {
            let above = way.last().and_then(|at| all[*at].parent.as_ref());
            let above = above.and_then(|parent| self.places.get(parent)).copied();
            let Some(above) = above.filter(|at| seen.insert(*at)) else {
                break List::default();
            };
            let known = whole.get(&above).cloned();
            let state = all[above].state.as_ref().ok();
            let known = known.or_else(|| self.stored(state?, channel));
            way.push(above);
            if let Some(known) = known {
                break known;
            }
        };
        for pair in way.windows(2).rev() {
            let [below, above] = [pair[0], pair[1]];
            let writes = self.writes.get(&all[above].id);
            if let Some(changes) = writes.and_then(|writes| writes.get(channel)) {
                list = Rc::new(self.listed.changed(&list, changes));
            }
            whole.insert(below, list.clone());
        }
        self.whole.insert(channel.to_owned(), whole);
        Some(list)
    }

    /// What of a channel stands in a state itself.
    fn stored(&mut self, state: &State, channel: &str) -> Option<List> {
        let messages = state.channels.get(channel)?.as_array()?;
        let list = messages.iter().map(|one| self.listed.number(one));
        Some(Rc::new(list.collect()))
    }
}

/// The messages of a thread, each once.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) messages: Vec<String>,
    /// Of each message the first one with its id, if it has one.
    firsts: Vec<Option<usize>>,
    by_id: HashMap<String, usize>,
    numbers: HashMap<String, usize>,
}

impl Listed {
    fn number(&mut self, message: &Value) -> usize {
        let text = message.to_string();
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        let next = self.messages.len();
        let first = |id: &str| *self.by_id.entry(id.to_owned()).or_insert(next);
        self.firsts.push(id(message).map(first));
        self.messages.push(text.clone());
        self.numbers.insert(text, next);
        next
    }

    /// Whether a message is none of those of another graph, by its id or by all that it says.
    pub(super) fn has_others_than(&self, other: &Self) -> bool {
        self.messages.iter().any(|text| {
            let message: Value = serde_json::from_str(text).unwrap_or_default();
            let known = id(&message).is_some_and(|id| other.by_id.contains_key(id));
            !known && !other.numbers.contains_key(text)
        })
    }

    /// A list behind these changes.
    fn changed(&mut self, before: &[usize], changes: &[Change]) -> Vec<usize> {
        let mut list = before.to_vec();
        for change in changes {
            match change {
                Change::Clear => list.clear(),
                Change::Remove(id) => {
                    if let Some(first) = self.by_id.get(id) {
                        list.retain(|at| self.firsts[*at] != Some(*first));
                    }
                }
                Change::Put(message) => {
                    let number = self.number(message);
                    let first = self.firsts[number];
                    let same = |at: &usize| first.is_some() && self.firsts[*at] == first;
                    match list.iter().rposition(same) {
                        Some(place) => list[place] = number,
                        None => list.push(number),
                    }
                }
            }
        }
        list
    }

    /// The messages of several channels in the order in which they came, each once: those that were there before, in
    /// their order, and then those that are new.
    fn merged(&self, before: &[usize], channels: &[Option<List>]) -> List {
        if let [Some(only)] = channels {
            return only.clone();
        }
        let mut now: HashMap<(usize, usize), VecDeque<usize>> = HashMap::new();
        let (mut keys, mut all) = (Vec::new(), Vec::new());
        for (channel, list) in channels.iter().enumerate() {
            for number in list.iter().flat_map(|list| list.iter()) {
                // What has no id is another message in another channel.
                let key = match self.firsts[*number] {
                    Some(first) => (0, first),
                    None => (channel + 1, *number),
                };
                let same = now.entry(key).or_default();
                if key.0 > 0 || same.is_empty() {
                    same.push_back(*number);
                    keys.push(key);
                }
            }
        }
        for number in before {
            let first = self.firsts[*number];
            let of_channels = (0..channels.len()).map(|channel| (channel + 1, *number));
            let mut places = first.map(|first| (0, first)).into_iter().chain(of_channels);
            all.extend(places.find_map(|key| now.get_mut(&key)?.pop_front()));
        }
        let new = keys.iter().filter_map(|key| now.get_mut(key)?.pop_front());
        all.extend(new);
        Rc::new(all)
    }
}

fn id(message: &Value) -> Option<&str> {
    message["kwargs"].get("id")?.as_str()
}
