//! Calls, what they give out, their results, and what sub-agents do inside them.

use super::event::{Ending, Event, Happening};
use super::node::Trail;
use super::talk::{Talk, notice};
use super::tool::{State, Tool};
use super::{BlockPlace, ResponseBlock, Tree};
use crate::model::Part;

/// What is told of a call at once.
#[derive(Clone, Copy, Default)]
struct Called<'a> {
    call: &'a str,
    name: &'a str,
    arguments: Option<&'a str>,
    kind: Option<&'a str>,
    /// Whether it is a block of a message: two of one id are two calls there, for a conversation
    /// may repeat an id.
    is_block: bool,
}

impl Tree {
    pub(super) fn act(&mut self, event: &Event, trail: &mut Trail) {
        match &event.what {
            Happening::CallStart { call, name } => {
                let called = Called {
                    call,
                    name,
                    ..Called::default()
                };
                self.called(event, called, trail);
            }
            Happening::Call {
                call,
                name,
                arguments,
            } => {
                let called = Called {
                    call,
                    name,
                    arguments: Some(arguments),
                    ..Called::default()
                };
                self.called(event, called, trail);
            }
            Happening::Block(Part::ToolCall {
                id,
                name,
                arguments,
                kind,
            }) => {
                let called = Called {
                    call: id,
                    name,
                    arguments: Some(arguments),
                    kind: kind.as_deref(),
                    is_block: true,
                };
                self.called(event, called, trail);
            }
            Happening::Block(part @ Part::ToolResult { call, content, .. }) => {
                self.answer(event, call, content, Ending::of(part.has_failed()), trail);
            }
            Happening::Answer {
                call,
                content,
                ending,
            } => {
                self.answer(event, call, content, *ending, trail);
            }
            Happening::CallInput { call, text, offset } => {
                let more = |tool: &mut Tool| tool.input(text, *offset);
                self.more(event, call, trail, more);
            }
            Happening::Output { call, text, offset } => {
                let more = |tool: &mut Tool| tool.give_out(text, *offset);
                self.more(event, call, trail, more);
            }
            Happening::Sent { .. } => self.sent(event, trail),
            Happening::Callback {
                exchange,
                from,
                content,
                is_error,
            } => {
                let from = from.as_deref();
                self.call_back(event, exchange.as_deref(), from, content, *is_error, trail);
            }
            _ => {}
        }
    }

    /// A call, in any of its forms; the same one told twice is drawn once.
    fn called(&mut self, event: &Event, called: Called<'_>, trail: &mut Trail) {
        let known = self.newest(called.call);
        let turn = self.find_turn(event);
        let again = known.filter(|place| {
            let tool = self.tool(*place);
            if called.is_block {
                tool.is_unknown || !tool.is_whole()
            } else {
                tool.is_open() || tool.is_unknown || turn == Some(place.item)
            }
        });
        let place = match again {
            Some(place) => place,
            None => self.new_tool(event, called.call, trail),
        };
        let tool = self.tool_at(place);
        tool.called(called.name, called.arguments, called.kind);
        trail.touch(tool.node.id);
        if again.is_none() {
            self.release(called.call, trail);
        }
    }

    fn new_tool(&mut self, event: &Event, call: &str, trail: &mut Trail) -> BlockPlace {
        let (item, response) = self.container_for(event, trail);
        let node = trail.give();
        let container = self.response_at((item, response));
        container.close();
        let tool = Tool::new(node.into(), call, event.message.clone());
        container.blocks.push(ResponseBlock::Tool(Box::new(tool)));
        let block = container.blocks.len() - 1;
        let turn = self.turn_at(item);
        (turn.settled, turn.interrupted) = (false, false);
        let place = BlockPlace {
            item,
            response,
            block,
        };
        let places = self.index.calls.entry(call.to_owned()).or_default();
        places.push(place);
        place
    }

    /// What came before its call, now that it is there.
    fn release(&mut self, call: &str, trail: &mut Trail) {
        for event in self.index.held.remove(call).unwrap_or_default() {
            self.take(&event, trail);
        }
    }

    fn hold(&mut self, call: &str, event: &Event) {
        let held = self.index.held.entry(call.to_owned()).or_default();
        held.push(event.clone());
    }

    /// More of a call's arguments or output; held for it where it is not there yet.
    fn more(
        &mut self,
        event: &Event,
        call: &str,
        trail: &mut Trail,
        more: impl FnOnce(&mut Tool) -> bool,
    ) {
        let known = self
            .newest(call)
            .filter(|place| !self.tool(*place).is_unknown);
        let Some(place) = known else {
            return self.hold(call, event);
        };
        let tool = self.tool_at(place);
        if more(tool) {
            trail.touch(tool.node.id);
        }
    }

    /// A result: it goes to the newest block of its call that has none. Of a call that has ended,
    /// one more tells nothing new; of a call that nobody has seen, it is a block of its own.
    fn answer(
        &mut self,
        event: &Event,
        call: &str,
        content: &[Part],
        ending: Ending,
        trail: &mut Trail,
    ) {
        let place = match (self.open(call), self.newest(call)) {
            (Some(place), _) => place,
            (None, Some(place)) if !self.is_another(event, place, content) => return,
            _ => self.new_tool(event, call, trail),
        };
        self.tool_at(place)
            .answered(content.to_vec(), ending, trail);
        self.turn_at(place.item).answered = Some(trail.last);
        let tool = self.tool_at(place);
        let exchange = match (&tool.queued, &tool.talk) {
            (Some(_), Some(talk)) => talk.exchange.clone(),
            _ => None,
        };
        if let Some(exchange) = exchange {
            self.index.exchanges.insert(exchange, place);
        }
        if ending == Ending::Interrupted {
            self.turn_at(place.item).interrupted = true;
        }
    }

    /// Whether a result is another one than the block at `place` has: one more of a call whose id
    /// a later turn uses again.
    fn is_another(&self, event: &Event, place: BlockPlace, content: &[Part]) -> bool {
        let turn = self.find_turn(event);
        let tool = self.tool(place);
        let says = tool
            .answer
            .as_ref()
            .is_some_and(|(_, said)| said == content);
        tool.state != State::Interrupted && !says && turn.is_some() && turn != Some(place.item)
    }

    /// A message to another agent: the call by which it is sent, where that is here.
    fn sent(&mut self, event: &Event, trail: &mut Trail) {
        let Happening::Sent {
            exchange,
            to,
            text,
            waits,
        } = &event.what
        else {
            return;
        };
        if self.index.exchanges.contains_key(exchange) {
            return;
        }
        let unnamed = |tool: &&mut Tool| {
            let unnamed = |talk: &Talk| talk.exchange.is_none();
            tool.is_open() && tool.talk.as_ref().is_some_and(unnamed)
        };
        let call = self.find_turn(event).and_then(|item| {
            let mut tools = self
                .turn_at(item)
                .responses()
                .flat_map(|response| response.tools());
            tools.find(unnamed).map(|tool| tool.call.clone())
        });
        let place = match call.and_then(|call| self.open(&call)) {
            Some(place) => place,
            None => {
                let place = self.new_tool(event, exchange, trail);
                let arguments = serde_json::json!({"targetAgentId": to, "message": text});
                let arguments = arguments.to_string();
                self.tool_at(place)
                    .called("agents_message", Some(&arguments), None);
                place
            }
        };
        let tool = self.tool_at(place);
        let talk = tool.talk.get_or_insert_default();
        talk.exchange = Some(exchange.to_owned());
        talk.with = Some(to.to_owned());
        talk.is_put_off = !waits;
        trail.touch(tool.node.id);
        self.index.exchanges.insert(exchange.to_owned(), place);
    }

    /// The answer of another agent fills the block that asked.
    fn call_back(
        &mut self,
        event: &Event,
        exchange: Option<&str>,
        from: Option<&str>,
        content: &[Part],
        is_error: bool,
        trail: &mut Trail,
    ) {
        let named = exchange.and_then(|exchange| {
            let place = self.index.exchanges.get(exchange).copied();
            place.or_else(|| self.newest(exchange))
        });
        let place = named.or_else(|| self.only_waiting()).unwrap_or_else(|| {
            let place = self.new_tool(event, exchange.unwrap_or_default(), trail);
            self.tool_at(place).talk = Some(Talk::default());
            place
        });
        let tool = self.tool_at(place);
        let talk = tool.talk.get_or_insert_default();
        talk.from = talk.from.take().or(from.map(str::to_owned));
        if !tool.is_open() {
            return;
        }
        trail.touch(tool.node.id);
        tool.answer = Some((trail.give(), content.to_vec()));
        tool.state = if is_error {
            State::Error
        } else {
            State::Resolved
        };
        self.turn_at(place.item).answered = Some(trail.last);
    }

    /// A notice that somebody gets may say how what a call had started ended.
    pub(super) fn noticed(&mut self, parts: &[Part], trail: &mut Trail) {
        let [Part::Text { text }] = parts else {
            return;
        };
        if let Some((call, ending)) = notice(text)
            && let Some(place) = self.newest(call)
        {
            self.tool_at(place).noticed(ending, trail);
        }
    }

    /// The one call whose answer was put off, if there is but one.
    fn only_waiting(&self) -> Option<BlockPlace> {
        let waits = |place: &BlockPlace| {
            let tool = self.tool(*place);
            tool.queued.is_some() && tool.talk.is_some() && tool.is_open()
        };
        let mut waiting = self.index.calls.values().flatten().copied().filter(waits);
        waiting.next().filter(|_| waiting.next().is_none())
    }

    /// What a sub-agent does goes to the tree in the block of the call that started it, at any
    /// depth; held where that call is not there yet.
    pub(super) fn take_inside(&mut self, parent: &str, event: &Event, trail: &mut Trail) {
        let Some(place) = self.newest(parent) else {
            if !self.knows(parent) {
                return self.hold(parent, event);
            }
            let inside = self.turns_mut().flat_map(|turn| turn.responses());
            let tools = inside.flat_map(|response| response.tools());
            let mut agents = tools.filter_map(|tool| tool.agent.as_mut());
            if let Some(agent) = agents.find(|agent| agent.knows(parent)) {
                agent.take(event, trail);
            }
            return;
        };
        let tool = self.tool_at(place);
        let agent = tool.agent.get_or_insert_default();
        let mut event = Event {
            parent: None,
            ..event.clone()
        };
        // What a sub-agent no longer sees is hidden from nobody else.
        if let Happening::Marker { covers, .. } = &mut event.what {
            *covers = false;
        }
        agent.take(&event, trail);
        trail.touch(tool.node.id);
    }

    /// Whether a call is here or in a sub-agent's tree.
    fn knows(&self, call: &str) -> bool {
        let inside = || self.tools().filter_map(|tool| tool.agent.as_ref());
        self.newest(call).is_some() || inside().any(|agent| agent.knows(call))
    }

    /// What waits for calls that never came: a sub-agent's doing is shown in a block of its own.
    /// Output alone draws nothing.
    pub(super) fn release_all(&mut self, trail: &mut Trail) {
        let mut held: Vec<(String, Vec<Event>)> = self.index.held.drain().collect();
        held.sort_by(|one, other| one.0.cmp(&other.0));
        for (call, mut events) in held {
            events.retain(|event| event.parent.is_some());
            if events.is_empty() {
                continue;
            }
            if self.newest(&call).is_none() {
                let first = Event {
                    response: None,
                    parent: None,
                    ..events[0].clone()
                };
                self.new_tool(&first, &call, trail);
            }
            for event in events {
                self.take(&event, trail);
            }
        }
    }
}
