//! One event into a tree.

use super::aside::{Faulted, Mark, Notation};
use super::event::{Event, Happening};
use super::node::{Node, Trail};
use super::place::push_response;
use super::turn::{Turn, TurnItem, User};
use super::{Tree, TreeItem};
use crate::model::{HideKind, Part, Role};

impl Tree {
    /// Takes what happened.
    pub(super) fn take(&mut self, event: &Event, trail: &mut Trail) {
        self.happen(event, trail);
        self.note_arrivals(trail.last);
    }

    fn happen(&mut self, event: &Event, trail: &mut Trail) {
        if let Some(parent) = &event.parent {
            return self.take_inside(parent, event, trail);
        }
        match &event.what {
            Happening::TurnStart => self.turn_start(event, trail),
            Happening::TurnEnd => self.turn_end(event, trail),
            Happening::User { parts, from } => {
                self.noticed(parts, trail);
                self.user(event, parts, from.as_ref(), trail);
            }
            Happening::Note { role, parts } => {
                self.noticed(parts, trail);
                let note = Notation {
                    node: trail.give().into(),
                    role: *role,
                    parts: parts.clone(),
                };
                match self.find_turn(event) {
                    Some(item) if item >= self.index.marked => {
                        self.turn_at(item).items.push(TurnItem::Note(note));
                    }
                    _ => self.items.push(TreeItem::Note(note)),
                }
            }
            Happening::Fault { text } => {
                let fault = Faulted {
                    node: trail.give().into(),
                    text: text.clone(),
                };
                match self.find_turn(event) {
                    Some(item) => {
                        let turn = self.turn_at(item);
                        turn.settled = turn.turn.is_none();
                        turn.items.push(TurnItem::Fault(fault));
                    }
                    None => self.items.push(TreeItem::Fault(fault)),
                }
            }
            Happening::Marker {
                kind,
                role,
                parts,
                covers,
            } => {
                self.mark(*kind, *role, parts, *covers, trail);
            }
            Happening::Interrupt { said } => self.interrupt(event, said, trail),
            Happening::TextDelta { .. }
            | Happening::TextDone { .. }
            | Happening::Reply { .. }
            | Happening::ThinkingStart
            | Happening::ThinkingDelta { .. }
            | Happening::ThinkingDone { .. }
            | Happening::Cut
            | Happening::BlockEnd => self.say(event, trail),
            Happening::Block(Part::ToolCall { .. } | Part::ToolResult { .. })
            | Happening::CallStart { .. }
            | Happening::CallInput { .. }
            | Happening::Call { .. }
            | Happening::Output { .. }
            | Happening::Answer { .. }
            | Happening::Sent { .. }
            | Happening::Callback { .. } => self.act(event, trail),
            Happening::Block(_) => self.say(event, trail),
        }
    }

    fn turn_start(&mut self, event: &Event, trail: &mut Trail) {
        let known = event.turn.is_some() && self.find_turn(event).is_some();
        let is_new = matches!(self.items.last(), Some(TreeItem::Turn(turn)) if turn.is_new());
        let waits = event.turn.is_none() && is_new;
        if !known && !waits {
            self.new_turn(event.turn.clone(), trail);
        }
    }

    fn turn_end(&mut self, event: &Event, trail: &mut Trail) {
        if let Some(item) = self.find_turn(event) {
            let turn = self.turn_at(item);
            turn.ended = true;
            turn.responses().for_each(|response| response.close());
            trail.touch(turn.id);
        }
    }

    /// The user's bubble, and at once the bubble that the answer goes to. A second one of the same
    /// turn replaces the first.
    fn user(&mut self, event: &Event, parts: &[Part], from: Option<&String>, trail: &mut Trail) {
        let said = event
            .turn
            .as_ref()
            .and_then(|turn| self.index.users.get(turn));
        if let Some(item) = said.copied()
            && let Some(user) = &mut self.turn_at(item).user
        {
            user.parts = parts.to_vec();
            user.from = from.cloned();
            return trail.touch(user.node.id);
        }
        let is_new = matches!(self.items.last(), Some(TreeItem::Turn(turn)) if turn.is_new());
        let item = match &event.turn {
            Some(_) => self.turn_for(event, trail),
            None if is_new => self.items.len() - 1,
            None => self.new_turn(None, trail),
        };
        let user = User {
            node: trail.give().into(),
            parts: parts.to_vec(),
            from: from.cloned(),
        };
        // What streamed before is complete: an answer has begun to be asked for.
        let before = self.turns_mut().rev().nth(1);
        if let Some(before) = before {
            before.responses().for_each(|response| response.close());
        }
        if let Some(turn) = &event.turn {
            self.index.users.insert(turn.clone(), item);
        }
        let turn = self.turn_at(item);
        turn.user = Some(user);
        turn.settled = false;
        if turn.items.is_empty() {
            push_response(turn, trail.give());
        }
    }

    /// Text and thoughts, where they came.
    fn say(&mut self, event: &Event, trail: &mut Trail) {
        let empty = |text: &str| text.is_empty() && event.response.is_none();
        match &event.what {
            Happening::TextDelta { text, .. } | Happening::Reply { text } if empty(text) => return,
            Happening::BlockEnd | Happening::Cut if self.find_turn(event).is_none() => return,
            _ => {}
        }
        let place = self.response_for(event, trail);
        let message = event.message.as_deref();
        let response = self.response_at(place);
        let mut over = false;
        match &event.what {
            Happening::TextDelta { text, phase } if !text.is_empty() => {
                response.text_delta(text, phase.as_deref(), message, trail);
            }
            Happening::TextDone { text, phase } => {
                response.text_done(text, phase.as_deref(), message, trail);
                over = true;
            }
            Happening::Reply { text } => {
                if event.response.is_some() {
                    response.reply(text, message, trail)
                } else {
                    response.text_done(text, None, message, trail)
                }
                over = true;
            }
            Happening::ThinkingStart => response.thinking_start(message, trail),
            Happening::ThinkingDelta { text } => response.thinking_delta(text, message, trail),
            Happening::ThinkingDone { text } => response.thinking_done(text, message, trail),
            Happening::BlockEnd => response.close(),
            Happening::Cut => response.cut_off(trail),
            Happening::Block(part) => response.block(part.clone(), message, trail),
            _ => {}
        }
        let over = over && !response.tools().any(|tool| tool.runs());
        let turn = self.turn_at(place.0);
        turn.settled = over && turn.turn.is_none();
    }

    fn mark(
        &mut self,
        kind: HideKind,
        role: Role,
        parts: &[Part],
        covers: bool,
        trail: &mut Trail,
    ) {
        if covers && self.items.iter().any(TreeItem::holds_messages) {
            self.each_node(&mut |node| {
                if node.hidden.is_none() {
                    node.hidden = Some(kind.as_str());
                    trail.touch(node.id);
                }
            });
        }
        if let Some(TreeItem::Turn(turn)) = self.items.last_mut() {
            turn.responses().for_each(|response| response.close());
        }
        self.items.push(TreeItem::Mark(Mark {
            node: trail.give().into(),
            kind,
            role,
            parts: parts.to_vec(),
        }));
        self.index.marked = self.items.len();
    }

    /// Every node that people see, sub-agents' included.
    pub(super) fn each_node(&mut self, each: &mut dyn FnMut(&mut Node)) {
        for item in &mut self.items {
            match item {
                TreeItem::Turn(turn) => turn.each_node(each),
                TreeItem::Mark(mark) => each(&mut mark.node),
                TreeItem::Note(note) => each(&mut note.node),
                TreeItem::Fault(fault) => each(&mut fault.node),
            }
        }
    }
}

impl TreeItem {
    /// Whether a message is in it, which can be hidden.
    fn holds_messages(&self) -> bool {
        match self {
            Self::Turn(turn) => {
                turn.user.is_some() || turn.items.iter().any(TurnItem::holds_messages)
            }
            Self::Mark(_) | Self::Note(_) => true,
            Self::Fault(_) => false,
        }
    }
}

impl TurnItem {
    fn holds_messages(&self) -> bool {
        match self {
            Self::Response(response) => !response.blocks.is_empty(),
            Self::Interrupted(cancelled) => !cancelled.said.is_empty(),
            Self::Note(_) => true,
            Self::Fault(_) => false,
        }
    }
}

impl Turn {
    /// Whether it has begun, and nothing has happened in it.
    fn is_new(&self) -> bool {
        self.user.is_none() && self.items.is_empty() && !self.ended && self.turn.is_none()
    }

    fn each_node(&mut self, each: &mut dyn FnMut(&mut Node)) {
        if let Some(user) = &mut self.user {
            each(&mut user.node);
        }
        for item in &mut self.items {
            match item {
                TurnItem::Response(response) => {
                    for block in &mut response.blocks {
                        each(block.node_mut());
                    }
                    for agent in response.tools().filter_map(|tool| tool.agent.as_mut()) {
                        agent.each_node(each);
                    }
                }
                TurnItem::Note(note) => each(&mut note.node),
                TurnItem::Interrupted(cancelled) => each(&mut cancelled.node),
                TurnItem::Fault(fault) => each(&mut fault.node),
            }
        }
    }
}
