//! Where an event belongs: its turn, its response, its call.

use super::event::Event;
use super::node::{NodeId, Trail};
use super::response::Response;
use super::tool::Tool;
use super::turn::{Turn, TurnItem};
use super::{BlockPlace, ResponseBlock, Tree, TreeItem};

impl Tree {
    /// The item that is the turn of this event, if it is here.
    pub(super) fn find_turn(&self, event: &Event) -> Option<usize> {
        if let Some(turn) = &event.turn {
            return self.index.turns.get(turn).copied();
        }
        let response = event.response.as_ref();
        if let Some((item, _)) = response.and_then(|id| self.index.responses.get(id)) {
            return Some(*item);
        }
        match self.items.last() {
            Some(TreeItem::Turn(turn)) if !turn.ended => Some(self.items.len() - 1),
            _ => None,
        }
    }

    /// The item that new things of this event's turn go to. Behind a marker a turn goes on in an
    /// item of its own.
    pub(super) fn turn_for(&mut self, event: &Event, trail: &mut Trail) -> usize {
        match self.find_turn(event) {
            Some(item) if item >= self.index.marked => item,
            _ => self.new_turn(event.turn.clone(), trail),
        }
    }

    pub(super) fn new_turn(&mut self, turn: Option<String>, trail: &mut Trail) -> usize {
        let item = self.items.len();
        if let Some(turn) = &turn {
            self.index.turns.insert(turn.clone(), item);
        }
        self.items
            .push(TreeItem::Turn(Turn::new(trail.give(), turn)));
        item
    }

    pub(super) fn turn_at(&mut self, item: usize) -> &mut Turn {
        let turn = match &mut self.items[item] {
            TreeItem::Turn(turn) => turn,
            _ => unreachable!("a place of a turn is that of a turn"),
        };
        self.index.arrivals.at_the_end(item, turn.items.len());
        turn
    }

    /// The response that text and thoughts of this event go to: the one that it names, else the
    /// bubble at the end of its turn.
    pub(super) fn response_for(&mut self, event: &Event, trail: &mut Trail) -> (usize, usize) {
        let known = event.response.as_ref();
        if let Some(place) = known.and_then(|id| self.index.responses.get(id)) {
            return *place;
        }
        let item = self.turn_for(event, trail);
        let turn = self.turn_at(item);
        let response = event.response.as_ref();
        let takes = |last: &Response| match (response, &last.response) {
            _ if last.is_container => false,
            (Some(_), name) => name.is_none(),
            (None, _) => true,
        };
        if !turn.last_response().is_some_and(|last| takes(last)) {
            push_response(turn, trail.give());
        }
        let at = turn.items.len() - 1;
        if let Some(id) = response {
            let last = turn.last_response().expect("it takes this");
            last.response = Some(id.clone());
            self.index.responses.insert(id.clone(), (item, at));
        }
        (item, at)
    }

    /// The response that a call of this event goes to. Where events name turns and this one names
    /// no response, that is a container of its turn's own.
    pub(super) fn container_for(&mut self, event: &Event, trail: &mut Trail) -> (usize, usize) {
        if event.response.is_some() || event.turn.is_none() {
            return self.response_for(event, trail);
        }
        let item = self.turn_for(event, trail);
        let turn = self.turn_at(item);
        let takes = |last: &Response| {
            last.is_container || last.response.is_none() && last.blocks.is_empty()
        };
        if !turn.last_response().is_some_and(|last| takes(last)) {
            push_response(turn, trail.give());
        }
        turn.last_response().expect("it takes this").is_container = true;
        (item, turn.items.len() - 1)
    }

    pub(super) fn response_at(&mut self, (item, at): (usize, usize)) -> &mut Response {
        self.index.arrivals.within(item, at);
        match &mut self.turn_at(item).items[at] {
            TurnItem::Response(response) => response,
            _ => unreachable!("a place of a response is that of a response"),
        }
    }

    pub(super) fn tool_at(&mut self, place: BlockPlace) -> &mut Tool {
        let response = self.response_at((place.item, place.response));
        match &mut response.blocks[place.block] {
            ResponseBlock::Tool(tool) => tool,
            _ => unreachable!("a place of a call is that of a call"),
        }
    }

    /// A call, for whoever only looks.
    pub(super) fn tool(&self, place: BlockPlace) -> &Tool {
        let TreeItem::Turn(turn) = &self.items[place.item] else {
            unreachable!("a place of a turn is that of a turn");
        };
        let TurnItem::Response(response) = &turn.items[place.response] else {
            unreachable!("a place of a response is that of a response");
        };
        match &response.blocks[place.block] {
            ResponseBlock::Tool(tool) => tool,
            _ => unreachable!("a place of a call is that of a call"),
        }
    }

    /// The newest block of a call.
    pub(super) fn newest(&self, call: &str) -> Option<BlockPlace> {
        self.index.calls.get(call)?.last().copied()
    }

    /// The newest block of a call that may still be answered.
    pub(super) fn open(&self, call: &str) -> Option<BlockPlace> {
        let mut places = self.index.calls.get(call)?.iter().rev().copied();
        places.find(|place| self.tool(*place).is_open())
    }
}

/// Opens a bubble at the end of a turn. What streamed before it is complete.
pub(super) fn push_response(turn: &mut Turn, id: NodeId) {
    if let Some(last) = turn.last_response() {
        last.close();
    }
    turn.items.push(TurnItem::Response(Response::new(id, None)));
}
