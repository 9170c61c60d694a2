//! Which conversation a body belongs to: by the ids that headers and bodies name, by what its messages
//! have in common with the last request's, by the calls of tools in them.

use std::collections::HashSet;

use super::body::{Asking, Body};
use super::line::Line;
use crate::formats::shared::conversations::Names;
use crate::hash::ContentHash;
use crate::model::{Message, Millis, Role, Span};

/// A body of a conversation.
#[derive(Clone)]
pub(super) struct Event {
    pub(super) is_request: bool,
    pub(super) at: Span,
    pub(super) time: Option<Millis>,
}

/// A conversation: its bodies in order.
pub(super) struct Thread {
    pub(super) id: String,
    /// The session whose agent, or whose client on the side, began it.
    pub(super) parent: Option<String>,
    /// Whether it is what the client's user talks in.
    pub(super) is_main: bool,
    pub(super) events: Vec<Event>,
    asks: Asks,
    /// What the last request said, and what it was answered.
    said: Vec<ContentHash>,
    calls: HashSet<String>,
    /// Whether the last request has no reply yet.
    is_open: bool,
    /// The model that it asked.
    model: Option<String>,
}

/// A reply of which it does not show yet what it answers.
struct Waiting {
    key: ContentHash,
    model: Option<String>,
    event: Event,
}

/// Who asks, and how.
#[derive(PartialEq, Eq)]
struct Asks {
    provider: &'static str,
    session: Option<String>,
    agent: Option<String>,
    is_side: bool,
    has_tools: bool,
}

/// The conversations of a source.
#[derive(Default)]
pub(super) struct Joined {
    pub(super) threads: Vec<Thread>,
    names: Names,
    waiting: Vec<Waiting>,
}

/// The messages of a body, without the instructions before them: those may change on the way.
fn said(body: &Body) -> impl Iterator<Item = &Message> {
    let messages = body.steps.iter().filter_map(|step| step.message());
    messages.skip_while(|message| message.role.is_system())
}

fn calls(body: &Body) -> HashSet<String> {
    let ids = said(body).flat_map(Message::calls);
    ids.map(str::to_owned).collect()
}

impl Joined {
    /// Takes a request to its conversation.
    pub(super) fn request(&mut self, line: &Line, bytes: &[u8], stem: &str, body: &Body) {
        let asking = Asking::of(bytes);
        let asks = Asks {
            provider: body.format.name,
            session: line.headers.session.clone().or(asking.session),
            agent: line.headers.agent.clone(),
            is_side: asking.is_side,
            has_tools: asking.has_tools,
        };
        let now: Vec<ContentHash> = said(body).map(Message::hash).collect();
        let ids = calls(body);
        let at = match self.find(&asks, &now, &ids) {
            Some(at) => at,
            None => {
                let thread = self.begin(asks, line, stem);
                self.threads.push(thread);
                self.threads.len() - 1
            }
        };
        let thread = &mut self.threads[at];
        if thread.is_open {
            // What it was answered stands in what it says now.
            let answer = now.get(thread.said.len());
            let mut waiting = self.waiting.iter();
            let known = waiting.position(|waiting| answer == Some(&waiting.key));
            let known = known.map(|known| self.waiting.remove(known));
            thread.events.extend(known.map(|waiting| waiting.event));
        }
        thread.events.push(Event {
            is_request: true,
            at: line.span,
            time: line.time,
        });
        (thread.said, thread.calls, thread.is_open) = (now, ids, true);
        thread.model.clone_from(&body.model);
        self.settle();
    }

    /// Takes a reply to the request that it answers, where that shows.
    pub(super) fn reply(&mut self, event: Event, body: &Body) {
        let mut said = said(body).filter(|message| message.role == Role::Assistant);
        let Some(key) = said.next().map(Message::hash) else {
            return;
        };
        self.waiting.push(Waiting {
            key,
            model: body.model.clone(),
            event,
        });
        self.settle();
    }

    /// The reply that came with the request that was taken last.
    pub(super) fn answered(&mut self, at: Span, time: Option<Millis>) {
        let last = self.threads.iter_mut().max_by_key(|thread| {
            let last = thread.events.last();
            last.map(|event| event.at.offset)
        });
        if let Some(thread) = last {
            thread.is_open = false;
            thread.events.push(Event {
                is_request: false,
                at,
                time,
            });
        }
    }

    /// How many replies there are of which nothing shows what they answer.
    pub(super) fn unanswering(&self) -> usize {
        self.waiting.len()
    }

    /// A reply answers the one request that has none, or the one of those to its model; there may be no
    /// other reply that could.
    fn settle(&mut self) {
        let [waiting] = &self.waiting[..] else {
            return;
        };
        let open = || (0..self.threads.len()).filter(|at| self.threads[*at].is_open);
        let of_model = open().filter(|at| self.threads[*at].model == waiting.model);
        let (open, of_model): (Vec<usize>, Vec<usize>) = (open().collect(), of_model.collect());
        let (([at], _) | (_, [at])) = (&open[..], &of_model[..]) else {
            return;
        };
        let thread = &mut self.threads[*at];
        if let Some(Waiting { key, event, .. }) = self.waiting.pop() {
            thread.is_open = false;
            thread.said.push(key);
            thread.events.push(event);
        }
    }

    /// The conversation that a request goes on with.
    fn find(&self, asks: &Asks, now: &[ContentHash], ids: &HashSet<String>) -> Option<usize> {
        let threads = || self.threads.iter().enumerate();
        if asks.agent.is_some() {
            let same = |thread: &Thread| {
                let of = |asks: &Asks| (asks.provider, asks.session.clone(), asks.agent.clone());
                of(&thread.asks) == of(asks)
            };
            return threads().find(|(_, it)| same(it)).map(|(at, _)| at);
        }
        let possible = || {
            threads().filter(|(_, thread)| {
                let of = |asks: &Asks| (asks.provider, asks.session.clone(), asks.is_side);
                of(&thread.asks) == of(asks) && thread.asks.agent.is_none()
            })
        };
        let shared = |thread: &Thread| {
            let same = thread.said.iter().zip(now);
            same.take_while(|(old, new)| old == new).count()
        };
        let goes_on = |thread: &Thread| match shared(thread) {
            0 => false,
            // A sub-agent takes nothing back but its last reply.
            count if asks.is_side => count + 1 >= thread.said.len(),
            count => count > 1 || thread.asks == *asks,
        };
        let by_beginning = possible()
            .filter(|(_, thread)| goes_on(thread))
            .max_by_key(|(at, thread)| (shared(thread), std::cmp::Reverse(*at)));
        let by_calls = || {
            let common = |thread: &Thread| thread.calls.intersection(ids).count();
            let with = possible().filter(|(_, thread)| common(thread) > 0);
            with.max_by_key(|(at, thread)| (common(thread), std::cmp::Reverse(*at)))
        };
        // Nothing is left of what was said: the client has put a summary in its place.
        let replaced = || {
            let is_possible = asks.session.is_some() && asks.has_tools && !asks.is_side;
            possible().find(|(_, thread)| is_possible && thread.is_main)
        };
        let found = by_beginning.or_else(by_calls).or_else(replaced);
        found.map(|(at, _)| at)
    }

    /// A new conversation.
    fn begin(&mut self, asks: Asks, line: &Line, stem: &str) -> Thread {
        let is_own = asks.agent.is_none() || asks.agent == asks.session;
        let of_session = self.threads.iter();
        let of_session = of_session.filter(|thread| thread.asks.session == asks.session);
        let is_main = is_own
            && !asks.is_side
            && asks.has_tools
            && !of_session.clone().any(|thread| thread.is_main);
        let (id, parent) = match (&asks.session, &asks.agent) {
            (Some(session), _) if is_main => (session.clone(), None),
            (Some(session), Some(agent)) if agent != session => {
                (agent.clone(), Some(session.clone()))
            }
            (Some(session), _) => {
                let short = session.get(..8).unwrap_or(session);
                let number = of_session.count() + 1;
                (format!("{short}-{number}"), Some(session.clone()))
            }
            (None, Some(agent)) => (agent.clone(), None),
            (None, None) => {
                let numbered = || format!("{stem}/{}", line.number);
                (line.name.clone().unwrap_or_else(numbered), None)
            }
        };
        Thread {
            // Two sessions may have agents of one name.
            id: self.names.of(id),
            parent: line.headers.parent.clone().or(parent),
            is_main: is_main || asks.session.is_none(),
            events: Vec::new(),
            asks,
            said: Vec::new(),
            calls: HashSet::new(),
            is_open: false,
            model: None,
        }
    }
}
