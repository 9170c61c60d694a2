//! Whether what was said last is complete.

use super::node::NodeId;
use super::turn::{Turn, TurnItem};
use super::{Tree, TreeItem};

/// How the end of a conversation stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// What was said last is complete.
    #[default]
    Complete,
    /// It is as far as can be told; more may come that belongs to the same message.
    Still,
    /// It is being said.
    Open,
}

impl Tree {
    /// How its end stands: that of the message which its newest nodes make.
    pub fn rest(&self) -> Rest {
        match self.items.last() {
            Some(TreeItem::Turn(turn)) => turn.rest(),
            _ => Rest::Complete,
        }
    }

    /// The model's message at its end: its response, and which message of that it is. What stood at the end before
    /// is complete once another one does.
    pub fn last_said(&self) -> Option<(NodeId, Option<&str>)> {
        let Some(TreeItem::Turn(turn)) = self.items.last() else {
            return None;
        };
        let Some(TurnItem::Response(response)) = turn.items.last() else {
            return None;
        };
        let block = response.blocks.last()?;
        Some((response.id, block.message()))
    }
}

impl Turn {
    fn rest(&self) -> Rest {
        let mut responses = self.items.iter().rev().map(|item| match item {
            TurnItem::Response(response) => Some(response),
            _ => None,
        });
        let last = match responses.next() {
            // What stands behind the responses is whole.
            Some(None) | None => return Rest::Complete,
            Some(Some(last)) => last,
        };
        let Some(block) = last.blocks.last() else {
            return match self.items.len() {
                1 => Rest::Complete,
                _ => Rest::Still,
            };
        };
        match block.is_open() {
            true => Rest::Open,
            false if self.ended || self.settled => Rest::Complete,
            false if self.answered > Some(block.node().id) => Rest::Complete,
            false => Rest::Still,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Part;
    use crate::tree::{Ending, Fold, Happening};

    #[test]
    fn an_end_is_open_while_something_is_said_and_complete_when_it_is_answered() {
        let text = |text: &str| Happening::TextDelta {
            text: text.into(),
            phase: None,
        };
        let call = |id: &str| {
            Happening::Block(Part::ToolCall {
                id: id.into(),
                name: "ls".into(),
                arguments: "{}".into(),
                kind: None,
            })
        };
        let answer = |call: &str| Happening::Answer {
            call: call.into(),
            content: vec![Part::text("a")],
            ending: Ending::Success,
        };
        let user = Happening::User {
            parts: vec![Part::text("hi")],
            from: None,
        };
        let start = Happening::CallStart {
            call: "d".into(),
            name: "ls".into(),
        };
        let mut fold = Fold::live();
        assert_eq!(fold.tree().rest(), Rest::Complete);
        for (what, rest) in [
            (user.clone(), Rest::Complete),
            (text("I "), Rest::Open),
            (text("look."), Rest::Open),
            (Happening::BlockEnd, Rest::Still),
            (call("a"), Rest::Still),
            (call("b"), Rest::Still),
            (answer("b"), Rest::Complete),
            (answer("a"), Rest::Complete),
            (text("So"), Rest::Open),
            (start, Rest::Open),
            (call("d"), Rest::Still),
            (Happening::TurnEnd, Rest::Complete),
            (user, Rest::Complete),
            (Happening::ThinkingStart, Rest::Open),
            (Happening::Interrupt { said: Vec::new() }, Rest::Complete),
        ] {
            fold.feed(what.clone().into());
            assert_eq!(fold.tree().rest(), rest, "{what:?}");
        }
    }
}
