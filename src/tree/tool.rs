//! A tool block: a call, what it gives out, and how it ended.

use super::Tree;
use super::node::{Node, NodeId, Trail};
use super::talk::{Talk, is_started, queued};
use crate::model::Part;
use crate::model::call::Brief;
use crate::tree::event::Ending;

/// What became of a call. It only moves forward: what has ended stays as it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It was called, or is being written.
    #[default]
    Pending,
    /// It gives out something.
    Streaming,
    /// It ended as it should.
    Success,
    /// It failed.
    Error,
    /// Someone cancelled it, or nothing came of it.
    Interrupted,
    /// It was put off, and its answer came later.
    Resolved,
}

impl State {
    /// The word: `pending`, `streaming`, `success`, `error`, `interrupted`, `resolved`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Streaming => "streaming",
            Self::Success => "success",
            Self::Error => "error",
            Self::Interrupted => "interrupted",
            Self::Resolved => "resolved",
        }
    }

    /// Whether it may still change.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Pending | Self::Streaming)
    }
}

/// A call of a tool.
#[derive(Clone, Debug, Default)]
pub struct Tool {
    /// Its name in the tree.
    pub node: Node,
    /// Its id in the source.
    pub call: String,
    /// The tool; empty if only a result is known.
    pub name: String,
    /// The arguments so far.
    pub arguments: String,
    /// The provider's kind of call where it is not a function.
    pub kind: Option<String>,
    /// The message of the model's that it is part of.
    pub message: Option<String>,
    /// What became of it.
    pub state: State,
    /// What it gave out while it ran.
    pub output: String,
    /// What it gave back, with the place of that in the order of nodes.
    pub answer: Option<(NodeId, Vec<Part>)>,
    /// What it said when it put its answer off.
    pub queued: Option<(NodeId, Vec<Part>)>,
    /// When someone cancelled it, in the order of nodes; none if its result says so.
    pub cancelled: Option<NodeId>,
    /// Whether nobody has seen its call.
    pub is_unknown: bool,
    /// The other agent, if it talks to one.
    pub talk: Option<Talk>,
    /// What the sub-agent that it started did.
    pub agent: Option<Box<Tree>>,
    /// How far it is told.
    told: Told,
}

/// How much of a call has been told.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    /// Whether its arguments are complete.
    is_whole: bool,
    /// How much has come of its arguments, and of its output, where that is counted.
    input: Option<u64>,
    output: Option<u64>,
}

impl Tool {
    /// A call that nothing is known of yet.
    pub(super) fn new(node: Node, call: &str, message: Option<String>) -> Self {
        Self {
            node,
            call: call.to_owned(),
            message,
            is_unknown: true,
            ..Self::default()
        }
    }

    /// Whether its arguments are complete.
    pub(super) fn is_whole(&self) -> bool {
        self.told.is_whole
    }

    /// The call itself, or more of it.
    pub(super) fn called(&mut self, name: &str, arguments: Option<&str>, kind: Option<&str>) {
        self.is_unknown = false;
        if self.name.is_empty() {
            self.name = name.to_owned();
        }
        if let (Some(arguments), false) = (arguments, self.is_whole()) {
            self.arguments = arguments.to_owned();
            self.told.is_whole = true;
        }
        self.kind = self.kind.take().or(kind.map(str::to_owned));
        if self.talk.is_none() {
            self.talk = Talk::of(&self.name, &self.arguments);
        }
    }

    /// More of its arguments. Whether that changed anything.
    pub(super) fn input(&mut self, text: &str, offset: Option<u64>) -> bool {
        let new =
            !self.is_whole() && self.state.is_active() && is_new(&mut self.told.input, offset);
        if new {
            self.arguments += text;
        }
        new
    }

    /// More of its output. Whether that changed anything.
    pub(super) fn give_out(&mut self, text: &str, offset: Option<u64>) -> bool {
        let new = self.state.is_active() && is_new(&mut self.told.output, offset);
        if new {
            self.output += text;
            self.state = State::Streaming;
        }
        new
    }

    /// Its result. What the answer of a message that was queued will name, is in the exchange of
    /// its [`Talk`] from then on.
    pub(super) fn answered(&mut self, content: Vec<Part>, ending: Ending, trail: &mut Trail) {
        if self.queued.is_none()
            && ending == Ending::Success
            && let Some(exchange) = queued(&content)
        {
            self.queued = Some((trail.give(), content));
            let talk = self.talk.get_or_insert_default();
            talk.exchange = talk.exchange.take().or(exchange);
            talk.is_put_off = true;
        } else if self.queued.is_none() && ending == Ending::Success && is_started(&content) {
            self.queued = Some((trail.give(), content));
        } else {
            self.state = match ending {
                Ending::Success if self.queued.is_some() => State::Resolved,
                Ending::Success => State::Success,
                Ending::Error => State::Error,
                Ending::Interrupted => State::Interrupted,
            };
            self.answer = Some((trail.give(), content));
        }
        trail.touch(self.node.id);
    }

    /// A notice says how what it had started ended.
    pub(super) fn noticed(&mut self, ending: Ending, trail: &mut Trail) {
        if self.queued.is_some() && self.is_open() {
            self.state = match ending {
                Ending::Success => State::Resolved,
                Ending::Error => State::Error,
                Ending::Interrupted => State::Interrupted,
            };
            trail.touch(self.node.id);
        }
    }

    /// Nothing more comes of it: of what runs, that is, for what was put off may be answered yet.
    /// Whether that ended anything, here or in its sub-agent.
    pub(super) fn stop(&mut self, trail: &mut Trail) -> bool {
        let inside = self.agent.as_mut().is_some_and(|agent| agent.stop(trail));
        if !self.runs() {
            return inside;
        }
        self.state = State::Interrupted;
        trail.touch(self.node.id);
        true
    }

    /// Whether a result may still come.
    pub(super) fn is_open(&self) -> bool {
        self.state.is_active()
    }

    /// Whether it is a call that was seen, and of a tool rather than of another agent.
    pub fn is_call(&self) -> bool {
        self.talk.is_none() && !self.is_unknown
    }

    /// Whether it is at work: neither ended nor put off.
    pub fn runs(&self) -> bool {
        let put_off = self.talk.as_ref().is_some_and(|talk| talk.is_put_off);
        self.state.is_active() && !put_off && self.queued.is_none()
    }

    /// What it says in brief, if it is a call of a tool that was seen.
    pub fn brief(&self) -> Option<Brief> {
        self.is_call()
            .then(|| Brief::of(&self.name, &self.arguments))
    }

    /// It on one line, as [`Brief`] says it. Hostile until escaped.
    pub fn line(&self) -> String {
        if let Some(brief) = self.brief() {
            return brief.line(None);
        }
        let Some(talk) = &self.talk else {
            return "a result without its call".to_owned();
        };
        let (verb, who) = match self.answer {
            None => ("sent to", talk.with.as_ref()),
            Some(_) => ("received from", talk.from.as_ref().or(talk.with.as_ref())),
        };
        let who = who.map_or("another agent", String::as_str);
        format!("{verb} {who}")
    }
}

/// Whether a piece that ends at `offset` of all that came is new; then it is the last.
fn is_new(last: &mut Option<u64>, offset: Option<u64>) -> bool {
    match (&last, offset) {
        (Some(last), Some(offset)) if offset <= *last => false,
        (_, Some(_)) => {
            *last = offset;
            true
        }
        (_, None) => true,
    }
}
