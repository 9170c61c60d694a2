//! The ways through a conversation as steps, and which call a tool's message answers.

use std::rc::Rc;

use super::read::Conversation;
use super::said::{Said, Text};
use crate::error::Result;
use crate::interop::ways::Ways;
use crate::interop::{BranchStart, Sink, Step, StepId};
use crate::model::{Message, Part, Role, Settings, depth};
use crate::wire::json::{is_object, quoted};

/// How many calls and answers before it are looked at for the one that a tool's message answers.
const EXCHANGES_MAX: usize = 128;

/// A call, or that one was answered, and what of the kind came before it on the way.
struct Exchange {
    /// The node that calls.
    call: usize,
    /// The tool that it calls; none: it is an answer.
    tool: Option<String>,
    before: Option<usize>,
}

/// How things stand on the way behind a node.
#[derive(Clone, Default)]
struct State {
    last: Option<StepId>,
    model: Option<Rc<str>>,
    /// The newest call or answer since the last prompt.
    exchange: Option<usize>,
}

/// A conversation on its way to a sink.
pub(super) struct Telling<'t, 's> {
    found: Conversation<'t>,
    ways: Ways,
    sink: &'s mut dyn Sink,
    /// By node.
    states: Vec<State>,
    exchanges: Vec<Exchange>,
    steps: usize,
    /// The branch that is due.
    branch: Option<BranchStart>,
    /// Pictures and files, whose bytes are elsewhere.
    media: u64,
}

impl<'t, 's> Telling<'t, 's> {
    pub(super) fn of(
        found: Conversation<'t>,
        parents: Vec<Option<usize>>,
        sink: &'s mut dyn Sink,
    ) -> Result<Self> {
        let (ways, circles) = Ways::of(parents);
        for at in circles {
            let place = found.nodes[at].at.start;
            sink.problem(found.text.problem(place, "a node that stands below itself"))?;
        }
        Ok(Self {
            states: vec![State::default(); found.nodes.len()],
            found,
            ways,
            sink,
            exchanges: Vec::new(),
            steps: 0,
            branch: None,
            media: 0,
        })
    }

    /// Tells of the way to a node, or to the last one, then of those that leave it.
    pub(super) fn tell(mut self, stands: Option<usize>) -> Result<()> {
        let leaves = self.ways.leaves();
        if let Some(leaf) = stands.or(leaves.last().copied()) {
            self.way(leaf)?;
        }
        let mut number = 1;
        for leaf in leaves {
            self.branch = Some(BranchStart {
                name: format!("leaf-{number}"),
                after: None,
                title: None,
            });
            self.way(leaf)?;
            // A way on which nothing is said is none.
            number += usize::from(self.branch.take().is_none());
        }
        if self.media > 0 {
            let things = if self.media == 1 {
                "picture or file"
            } else {
                "pictures and files"
            };
            self.found
                .end
                .absent
                .push(format!("{} {things}", self.media));
        }
        self.sink.end(self.found.end)
    }

    /// Tells of the nodes up to a leaf that were not told yet.
    fn way(&mut self, leaf: usize) -> Result<()> {
        let way = self.ways.new_to(leaf);
        let mut rest = &way[..];
        while let [at, ..] = rest {
            let parent = self.ways.parent(*at);
            let mut state = parent.map_or_else(State::default, |at| self.states[at].clone());
            let count = self.node(rest, &mut state)?;
            let (done, more) = rest.split_at(count);
            for at in done {
                self.states[*at] = state.clone();
            }
            rest = more;
        }
        Ok(())
    }

    /// Tells of the next nodes of a way; returns how many they are: several results of one call are one.
    fn node(&mut self, way: &[usize], state: &mut State) -> Result<usize> {
        let at = way[0];
        match self.found.nodes[at].said.take() {
            None => {}
            Some(Said::Nothing(what)) => self.found.end.other(what),
            Some(Said::Message(text)) => {
                if text.role == Role::User && text.attached.is_none() {
                    state.exchange = None;
                }
                self.append(text, &[at], state)?;
            }
            Some(Said::Call { tool, text }) => {
                let text = self.call(at, &tool, text);
                self.exchange(at, Some(tool), state);
                self.append(text, &[at], state)?;
            }
            Some(Said::Result { tool, text }) => return self.result(way, tool, text, state),
        }
        Ok(1)
    }

    /// The message that calls a tool: what of it is text are the arguments.
    fn call(&self, at: usize, tool: &str, text: Text) -> Text {
        let (mut parts, mut arguments) = (Vec::new(), String::new());
        for part in text.parts {
            match part {
                Part::Text { text } => arguments += &text,
                other => parts.push(other),
            }
        }
        parts.push(Part::ToolCall {
            id: self.found.nodes[at].key.clone(),
            name: tool.to_owned(),
            kind: (!is_object(&arguments)).then(|| "custom".to_owned()),
            arguments,
        });
        Text { parts, ..text }
    }

    fn exchange(&mut self, call: usize, tool: Option<String>, state: &mut State) {
        self.exchanges.push(Exchange {
            call,
            tool,
            before: state.exchange,
        });
        state.exchange = Some(self.exchanges.len() - 1);
    }

    /// The call that a tool's message answers: the nearest open one of the tool, else the nearest open one.
    fn answered(&self, tool: &str, state: &State) -> Option<usize> {
        let mut closed = Vec::new();
        let mut nearest = None;
        let before = |at: &usize| self.exchanges[*at].before;
        for at in std::iter::successors(state.exchange, before).take(EXCHANGES_MAX) {
            let Exchange {
                call, tool: called, ..
            } = &self.exchanges[at];
            match called {
                None => closed.push(*call),
                Some(_) if closed.contains(call) => {}
                Some(name) if name == tool => return Some(*call),
                Some(_) => nearest = nearest.or(Some(*call)),
            }
        }
        nearest
    }

    /// Tells of what a tool gave, with all that follows of the same. What no call asked for is the
    /// client's own.
    fn result(
        &mut self,
        way: &[usize],
        tool: String,
        mut text: Text,
        state: &mut State,
    ) -> Result<usize> {
        let Some(call) = self.answered(&tool, state) else {
            if text.parts.is_empty() {
                self.found.end.other("tool (empty)");
                return Ok(1);
            }
            let attached = Text {
                role: Role::User,
                attached: Some(tool),
                ..text
            };
            self.append(attached, &way[..1], state)?;
            return Ok(1);
        };
        let mut count = 1;
        while let Some(next) = way.get(count)
            && self.ways.children(way[count - 1]) == 1
            && let Some(Said::Result {
                tool: same,
                text: more,
            }) = &mut self.found.nodes[*next].said
            && *same == tool
        {
            text.parts.append(&mut more.parts);
            text.is_error |= more.is_error;
            self.found.nodes[*next].said = None;
            count += 1;
        }
        self.exchange(call, None, state);
        let result = Part::ToolResult {
            call: self.found.nodes[call].key.clone(),
            content: std::mem::take(&mut text.parts),
            is_error: text.is_error,
        };
        text.parts.push(result);
        self.append(text, &way[..count], state)?;
        Ok(count)
    }

    /// Tells of a message.
    fn append(&mut self, text: Text, nodes: &[usize], state: &mut State) -> Result<()> {
        let message = Message {
            attached: text.attached,
            ..Message::new(text.role, text.parts)
        };
        if let Err(error) = depth::check_message(&message) {
            let place = self.found.nodes[nodes[0]].at.start;
            let problem = self.found.text.problem(place, error.to_string());
            return self.sink.problem(problem);
        }
        if let Some(branch) = self.branch.take() {
            let after = state.last;
            self.sink.branch(BranchStart { after, ..branch })?;
        }
        let mut settings = Settings::new();
        if let Some(model) = text
            .model
            .filter(|model| state.model.as_deref() != Some(model))
        {
            settings.insert("model".to_owned(), quoted(&model));
            state.model = Some(model.into());
        }
        self.media += media(&message.parts);
        let spans = nodes
            .iter()
            .map(|at| self.found.text.span(&self.found.nodes[*at].at));
        let records = spans.collect::<Vec<_>>();
        self.sink.step(Step {
            time: text.time,
            settings,
            records: records.clone(),
            ..Step::append(message, records[0])
        })?;
        state.last = Some(StepId(self.steps));
        self.steps += 1;
        Ok(())
    }
}

/// How many pictures and files there are.
fn media(parts: &[Part]) -> u64 {
    let count = |part: &Part| match part {
        Part::Image(_) | Part::File(_) => 1,
        Part::ToolResult { content, .. } => media(content),
        _ => 0,
    };
    parts.iter().map(count).sum()
}
