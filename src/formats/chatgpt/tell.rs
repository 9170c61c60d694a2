//! The ways through a conversation as steps, and which call a tool's message answers.

use std::ops::Range;
use std::rc::Rc;

use super::message::{Said, Text};
use super::read::{Conversation, Exchange};
use crate::error::Result;
use crate::formats::Step;
use crate::formats::shared::document::ObjectTeller;
use crate::formats::shared::parts::{self, checked};
use crate::formats::shared::ways::{Behind, Walker, Ways};
use crate::model::{Message, Part, Role, Settings};
use crate::wire::json::{is_object, quoted};

/// How many calls and answers before it are looked at for the one that a tool's message answers.
const EXCHANGES_MAX: usize = 128;

/// How things stand on the way behind a node.
#[derive(Clone, Default)]
pub(super) struct State {
    model: Option<Rc<str>>,
    /// The newest call or answer since the last prompt.
    exchange: Option<usize>,
}

impl Walker for Conversation {
    const RECORD: &'static str = "node";
    type State = State;

    fn place(&self, at: usize) -> &Range<usize> {
        &self.nodes[at].at
    }

    fn tell(
        &mut self,
        way: &[usize],
        ways: &Ways,
        behind: &mut Behind<State>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<usize> {
        let at = way[0];
        match self.nodes[at].said.take() {
            None => {}
            Some(Said::Nothing(what)) => teller.end.other(what),
            Some(Said::Message(text)) => {
                if text.role == Role::User && text.attached.is_none() {
                    behind.state.exchange = None;
                }
                self.append(text, &[at], behind, teller)?;
            }
            Some(Said::Call { tool, text }) => {
                let text = self.call(at, &tool, text);
                self.exchange(at, Some(tool), &mut behind.state);
                self.append(text, &[at], behind, teller)?;
            }
            Some(Said::Result { tool, text }) => {
                return self.result((way, ways), tool, text, behind, teller);
            }
        }
        Ok(1)
    }
}

impl Conversation {
    /// The message that calls a tool: what of it is text are the arguments.
    fn call(&self, at: usize, tool: &str, text: Text) -> Text {
        let (mut parts, mut arguments) = (Vec::new(), String::new());
        for part in text.parts {
            match part {
                Part::Text { text } => arguments += &text,
                other => parts.push(other),
            }
        }
        let kind = (!is_object(&arguments)).then_some("custom");
        let id = self.nodes[at].key.clone();
        parts.push(Part::call(id, tool.to_owned(), arguments, kind));
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
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<usize> {
        let Some(call) = self.answered(&tool, &behind.state) else {
            if text.parts.is_empty() {
                teller.end.other("tool (empty)");
                return Ok(1);
            }
            let attached = Text {
                role: Role::User,
                attached: Some(tool),
                ..text
            };
            self.append(attached, &way[..1], behind, teller)?;
            return Ok(1);
        };
        let mut count = 1;
        while let Some(next) = way.get(count)
            && ways.children(way[count - 1]) == 1
            && let Some(Said::Result {
                tool: same,
                text: more,
            }) = &mut self.nodes[*next].said
            && *same == tool
        {
            text.parts.append(&mut more.parts);
            text.is_error |= more.is_error;
            self.nodes[*next].said = None;
            count += 1;
        }
        self.exchange(call, None, &mut behind.state);
        let id = self.nodes[call].key.clone();
        let content = std::mem::take(&mut text.parts);
        text.parts = vec![parts::result(Some(id), content, text.is_error)];
        self.append(text, &way[..count], behind, teller)?;
        Ok(count)
    }

    /// Tells of a message.
    fn append(
        &mut self,
        text: Text,
        nodes: &[usize],
        behind: &mut Behind<State>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        let message = Message {
            attached: text.attached,
            ..Message::new(text.role, text.parts)
        };
        if let Err(reason) = checked([&message]) {
            return teller.problem(&self.nodes[nodes[0]].at, reason);
        }
        let mut settings = Settings::new();
        let state = &mut behind.state;
        let model = text.model;
        if let Some(model) = model.filter(|model| state.model.as_deref() != Some(model)) {
            settings.insert("model".to_owned(), quoted(&model));
            state.model = Some(model.into());
        }
        self.media += media(&message.parts);
        let spans = nodes.iter().map(|at| teller.text.span(&self.nodes[*at].at));
        let records = spans.collect::<Vec<_>>();
        let step = Step::append(message, records[0])
            .at(text.time)
            .setting(settings)
            .by(records.clone());
        teller.follow(step, &mut behind.last)?;
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
