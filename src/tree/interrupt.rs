//! Cancelling, and the end of a stream.

use super::aside::Cancelled;
use super::event::Event;
use super::node::Trail;
use super::response::Response;
use super::turn::TurnItem;
use super::{Tree, TreeItem};
use crate::model::Part;

impl Tree {
    /// Someone cancelled what was under way: what runs is interrupted. A line of its own says so
    /// only where no call does; a bubble that is still empty goes away.
    pub(super) fn interrupt(&mut self, event: &Event, said: &[Part], trail: &mut Trail) {
        let Some(item) = self.find_turn(event) else {
            // Nothing is under way; what the model is told is kept.
            if !said.is_empty() {
                let item = self.new_turn(None, trail);
                self.cancelled(item, said, true, trail);
            }
            return;
        };
        let turn = self.turn_at(item);
        let (mut stopped, mut answered) = (false, turn.answered);
        for tool in turn.responses().flat_map(|response| response.tools()) {
            let ran = tool.state;
            stopped |= tool.stop(trail);
            if ran != tool.state {
                tool.cancelled = Some(trail.give());
                answered = tool.cancelled;
            }
        }
        let turn = self.turn_at(item);
        turn.answered = answered;
        turn.responses().for_each(|response| response.close());
        let gone = turn
            .last_response()
            .is_some_and(|last| last.blocks.is_empty());
        if gone
            && let Some(TurnItem::Response(last)) = turn.items.pop()
            && let Some(name) = last.response
        {
            self.index.responses.remove(&name);
        }
        let turn = self.turn_at(item);
        let line = !stopped && !turn.interrupted;
        (turn.interrupted, turn.settled) = (true, true);
        trail.touch(turn.id);
        if line || !said.is_empty() {
            self.cancelled(item, said, line, trail);
        }
    }

    fn cancelled(&mut self, item: usize, said: &[Part], stands: bool, trail: &mut Trail) {
        let node = trail.give().into();
        let cancelled = Cancelled {
            node,
            said: said.to_vec(),
            stands,
        };
        let turn = self.turn_at(item);
        (turn.interrupted, turn.settled) = (true, true);
        turn.items.push(TurnItem::Interrupted(cancelled));
    }

    /// Ends all that runs, in every turn. Whether anything ran.
    pub(super) fn stop(&mut self, trail: &mut Trail) -> bool {
        let mut stopped = false;
        for response in self.turns_mut().flat_map(|turn| turn.responses()) {
            response.close();
            for tool in response.tools() {
                stopped |= tool.stop(trail);
            }
        }
        stopped
    }

    /// Nothing more will come: what waits is shown, what runs or is being said is interrupted, and
    /// what is empty goes away.
    pub(super) fn settle(&mut self, trail: &mut Trail) {
        self.release_all(trail);
        let under_way = self.turns_mut().filter(|turn| turn.is_under_way());
        under_way.for_each(|turn| turn.responses().for_each(Response::cut));
        self.stop(trail);
        let inside = self.turns_mut().flat_map(|turn| turn.responses());
        let tools = inside.flat_map(|response| response.tools());
        for agent in tools.filter_map(|tool| tool.agent.as_mut()) {
            agent.settle(trail);
        }
        self.prune();
        self.is_live = false;
    }

    /// Takes out what is empty. Nothing can be found by its place afterwards.
    fn prune(&mut self) {
        for turn in self.turns_mut() {
            turn.items.retain(|item| match item {
                TurnItem::Response(response) => !response.blocks.is_empty(),
                _ => true,
            });
        }
        self.items.retain(|item| match item {
            TreeItem::Turn(turn) => turn.user.is_some() || !turn.items.is_empty(),
            _ => true,
        });
    }
}
