//! Which requests belong together: those of one conversation, and those that go on from what another said.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::span::{Asked, Asker, Head, Unit};
use crate::formats::shared::conversations::Names;
use crate::hash::ContentHash;
use crate::model::Message;

/// A context, and which of the source's requests it was sent with, oldest first.
pub(super) struct Requests {
    pub(super) id: String,
    /// The session in whose conversation or trace it was begun.
    pub(super) parent: Option<String>,
    pub(super) heads: Vec<u32>,
}

/// A context while requests are looked at.
struct Thread {
    requests: Requests,
    /// The conversation, or the trace of the last request; the agent of the first.
    asker: Asker,
    /// What the last request said, and what it was answered.
    said: Vec<Key>,
}

/// What a message is known by among those of a source: the half of its name. All contexts are held at once.
type Key = [u8; 16];

fn key(name: &ContentHash) -> Key {
    *name.as_bytes().first_chunk().expect("a name is longer")
}

/// All contexts of a source.
#[derive(Default)]
pub(super) struct Joined {
    threads: Vec<Thread>,
    names: Names,
    /// The first session of each conversation, or trace.
    firsts: BTreeMap<Rc<str>, String>,
    /// The contexts of each conversation, or trace, and those of each first message.
    of_unit: BTreeMap<Rc<str>, BTreeSet<usize>>,
    of_first: HashMap<Key, BTreeSet<usize>>,
}

impl Joined {
    /// Takes the next request.
    pub(super) fn take(&mut self, at: usize, head: &Head, asked: &Asked) {
        // Instructions may change on the way.
        let said = asked
            .input
            .iter()
            .filter(|said| !said.message.role.is_system());
        let now: Vec<Key> = said.map(|said| key(&said.key)).collect();
        let asker = &head.asker;
        let found = self.find(asker, &now).unwrap_or_else(|| {
            let thread = self.begin(asker);
            self.threads.push(thread);
            self.threads.len() - 1
        });
        let unit = Rc::clone(asker.unit.id());
        self.of_unit.entry(unit).or_default().insert(found);
        if let Some(first) = now.first() {
            self.of_first.entry(*first).or_default().insert(found);
        }
        let thread = &mut self.threads[found];
        if !now.is_empty() {
            thread.said = now;
        }
        let reply = asked.reply.as_ref().map(Message::hash);
        thread.said.extend(reply.as_ref().map(key));
        thread.said.shrink_to_fit();
        thread.asker.unit = asker.unit.clone();
        thread.requests.heads.extend(u32::try_from(at));
    }

    /// All contexts, once each request was looked at.
    pub(super) fn requests(self) -> impl Iterator<Item = Requests> {
        let requests = self.threads.into_iter().map(|thread| thread.requests);
        // What it takes to tell contexts apart is let go of here.
        requests.collect::<Vec<_>>().into_iter()
    }

    /// The context that a request goes on with: of several the one with which it has most in common.
    fn find(&self, asker: &Asker, now: &[Key]) -> Option<usize> {
        let shared = |thread: &Thread| {
            let pairs = thread.said.iter().zip(now);
            pairs.take_while(|(old, new)| old == new).count()
        };
        let goes_on = |thread: &Thread| {
            let is_near = thread.asker.unit == asker.unit;
            let count = shared(thread);
            // What is not recorded may be whatever the same agent was sent.
            if now.is_empty() || thread.said.is_empty() {
                return is_near && thread.asker.agent == asker.agent;
            }
            if is_near {
                count > 0 && (count + 1 >= thread.said.len() || thread.asker.agent == asker.agent)
            } else {
                count > 1 && count == thread.said.len()
            }
        };
        // One goes on from what is of the same conversation or trace, or begins with the same words.
        let unit = asker.unit.id();
        let alike = now.first().and_then(|first| self.of_first.get(first));
        let near: BTreeSet<usize> = [self.of_unit.get(unit), alike]
            .into_iter()
            .flatten()
            .flatten()
            .copied()
            .collect();
        let threads = near.into_iter().map(|at| (at, &self.threads[at]));
        let may_be = |unit: &Unit| match (unit, &asker.unit) {
            (Unit::Trace(_), Unit::Trace(_)) => true,
            (unit, of) => unit == of,
        };
        let possible = threads.filter(|(_, thread)| may_be(&thread.asker.unit));
        let possible = possible.filter(|(_, thread)| goes_on(thread));
        let found = possible.max_by_key(|(at, thread)| (shared(thread), *at));
        found.map(|(at, _)| at)
    }

    fn begin(&mut self, asker: &Asker) -> Thread {
        let unit = asker.unit.id();
        let parent = self.firsts.get(unit).cloned();
        let id = match (&parent, &asker.agent) {
            (None, _) => unit.to_string(),
            (Some(_), Some(agent)) => format!("{unit}-{agent}"),
            (Some(_), None) => format!("{unit}-2"),
        };
        let id = self.names.of(id);
        self.firsts
            .entry(Rc::clone(unit))
            .or_insert_with(|| id.clone());
        Thread {
            requests: Requests {
                id,
                parent,
                heads: Vec::new(),
            },
            asker: Asker {
                unit: asker.unit.clone(),
                agent: asker.agent.clone(),
            },
            said: Vec::new(),
        }
    }
}
