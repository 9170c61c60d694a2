//! The ways through a conversation as steps, and which call a tool's message answers.

use std::rc::Rc;

use super::read::Conversation;
use super::said::{Said, Text};
use crate::error::Result;
use crate::interop::conversations::{Names, Place};
use crate::interop::ways::{Behind, Steps, Walker, Ways, walk};
use crate::interop::{Sink, Step};
use crate::model::{Message, Part, Role, Settings, depth};
use crate::wire::json::{is_object, quoted};

/// How many calls and answers before it are looked at for the one that a tool's message answers.
const EXCHANGES_MAX: usize = 128;

/// Tells of what stands at a place: of how many nodes; none where that is no conversation.
pub(super) fn tell(
    place: Place<'_>,
    names: &mut Names,
    sink: &mut dyn Sink,
) -> Result<Option<u64>> {
    let Some(mut found) = Conversation::read(place, sink)? else {
        return Ok(None);
    };
    found.start.id = names.of(std::mem::take(&mut found.start.id));
    let count = found.nodes.len() as u64;
    let (ways, stands) = found.begin(sink)?;
    let mut telling = Telling::of(found, Steps::of(sink));
    walk(ways, stands, &mut telling)?;
    telling.end()?;
    Ok(Some(count))
}

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
pub(super) struct State {
    model: Option<Rc<str>>,
    /// The newest call or answer since the last prompt.
    exchange: Option<usize>,
}

/// A conversation on its way to a sink.
pub(super) struct Telling<'t, 's> {
    found: Conversation<'t>,
    steps: Steps<'s>,
    exchanges: Vec<Exchange>,
    /// Pictures and files, whose bytes are elsewhere.
    media: u64,
}

impl<'s> Walker<'s> for Telling<'_, 's> {
    type State = State;

    fn steps(&mut self) -> &mut Steps<'s> {
        &mut self.steps
    }

    fn tell(&mut self, way: &[usize], ways: &Ways, behind: &mut Behind<State>) -> Result<usize> {
        let at = way[0];
        match self.found.nodes[at].said.take() {
            None => {}
            Some(Said::Nothing(what)) => self.found.end.other(what),
            Some(Said::Message(text)) => {
                if text.role == Role::User && text.attached.is_none() {
                    behind.state.exchange = None;
                }
                self.append(text, &[at], behind)?;
            }
            Some(Said::Call { tool, text }) => {
                let text = self.call(at, &tool, text);
                self.exchange(at, Some(tool), &mut behind.state);
                self.append(text, &[at], behind)?;
            }
            Some(Said::Result { tool, text }) => {
                return self.result((way, ways), tool, text, behind);
            }
        }
        Ok(1)
    }
}

impl<'t, 's> Telling<'t, 's> {
    pub(super) fn of(found: Conversation<'t>, steps: Steps<'s>) -> Self {
        Self {
            found,
            steps,
            exchanges: Vec::new(),
            media: 0,
        }
    }

    /// Tells of the end.
    pub(super) fn end(mut self) -> Result<()> {
        let media = match self.media {
            0 => None,
            1 => Some("1 picture or file".to_owned()),
            count => Some(format!("{count} pictures and files")),
        };
        self.found.end.absent.extend(media);
        self.steps.sink.end(self.found.end)
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
        (way, ways): (&[usize], &Ways),
        tool: String,
        mut text: Text,
        behind: &mut Behind<State>,
    ) -> Result<usize> {
        let Some(call) = self.answered(&tool, &behind.state) else {
            if text.parts.is_empty() {
                self.found.end.other("tool (empty)");
                return Ok(1);
            }
            let attached = Text {
                role: Role::User,
                attached: Some(tool),
                ..text
            };
            self.append(attached, &way[..1], behind)?;
            return Ok(1);
        };
        let mut count = 1;
        while let Some(next) = way.get(count)
            && ways.children(way[count - 1]) == 1
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
        self.exchange(call, None, &mut behind.state);
        let result = Part::ToolResult {
            call: self.found.nodes[call].key.clone(),
            content: std::mem::take(&mut text.parts),
            is_error: text.is_error,
        };
        text.parts.push(result);
        self.append(text, &way[..count], behind)?;
        Ok(count)
    }

    /// Tells of a message.
    fn append(&mut self, text: Text, nodes: &[usize], behind: &mut Behind<State>) -> Result<()> {
        let message = Message {
            attached: text.attached,
            ..Message::new(text.role, text.parts)
        };
        if let Err(error) = depth::check_message(&message) {
            let place = self.found.nodes[nodes[0]].at.start;
            let problem = self.found.text.problem(place, error.to_string());
            return self.steps.sink.problem(problem);
        }
        let mut settings = Settings::new();
        let state = &mut behind.state;
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
        let step = Step {
            time: text.time,
            settings,
            records: records.clone(),
            ..Step::append(message, records[0])
        };
        self.steps.tell(step, &mut behind.last)
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
