//! The messages that a settled tree holds, in the order in which they came.

use std::collections::BTreeSet;

use crate::formats::shared::parts;
use crate::model::{HideKind, Message, Part, Role};
use crate::tree::{
    Mark, NodeId, Response, ResponseBlock, Segment, State, Thought, Tool, Tree, TreeItem, Turn,
    TurnItem,
};
use crate::wire::INTERRUPTED;

/// A message, and the place of what it begins with in the order of nodes.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) first: NodeId,
    /// The oldest node that it is made of: a result's call.
    pub(super) oldest: NodeId,
    pub(super) message: Message,
    /// Whether more of it may come: then it may be cut, or not, though nothing else of it changes.
    pub(super) is_open: bool,
    /// What it hides: everything before it.
    pub(super) hides: Option<HideKind>,
}

/// What becomes a message, or a part of one.
enum Piece<'a> {
    Whole(Message),
    Mark(&'a Mark),
    /// A part of what the model says: in which turn and response, and in which of its messages.
    Part(NodeId, NodeId, Option<&'a str>, Part),
    /// What the model said before it, in this turn: whether it was cut, and whether more of it may come.
    End(NodeId, bool, bool),
}

/// The messages of a settled tree, in the order in which they came, as an import of what it was made
/// from has them.
pub fn messages_of(tree: &Tree) -> Vec<Message> {
    messages(tree, NodeId::default())
        .into_iter()
        .map(|said| said.message)
        .collect()
}

/// The messages of a tree. What sub-agents did is no part of the conversation, and stands behind
/// the calls that started them. What is being said yet is cut there.
///
/// Only the messages from the node `from` on, with which one begins, and before which nothing stands that
/// they are made of.
pub(super) fn messages(tree: &Tree, from: NodeId) -> Vec<Said> {
    let mut pieces = Pieces {
        from,
        found: Vec::new(),
    };
    if from == NodeId::default() {
        for item in &tree.items {
            pieces.of_item(item, None);
        }
    } else {
        for (item, within) in tree.places_from(from) {
            pieces.of_item(&tree.items[item], Some(&within));
        }
    }
    let mut pieces = pieces.found;
    pieces.sort_by_key(|(id, _, _)| *id);
    let mut said: Vec<Said> = Vec::new();
    // The response and the message that the last part belongs to; and its turn.
    let (mut open, mut turn) = (None, None);
    for (first, oldest, piece) in pieces {
        let (message, hides) = match piece {
            Piece::End(of, is_cut, is_open) => {
                let last = said
                    .last_mut()
                    .filter(|_| open.is_some() && turn == Some(of));
                if let Some(last) = last {
                    last.message.interrupted |= is_cut;
                    last.is_open |= is_open;
                }
                continue;
            }
            Piece::Part(within, response, of, part) => {
                turn = Some(within);
                if open == Some((response, of))
                    && let Some(last) = said.last_mut()
                {
                    last.message.parts.push(part);
                    continue;
                }
                open = Some((response, of));
                (Message::new(Role::Assistant, vec![part]), None)
            }
            Piece::Whole(message) => {
                open = None;
                (message, None)
            }
            Piece::Mark(mark) => {
                open = None;
                (Message::new(mark.role, mark.parts.clone()), Some(mark.kind))
            }
        };
        said.push(Said {
            first,
            oldest,
            is_open: false,
            message,
            hides,
        });
    }
    said
}

#[cfg(test)]
thread_local! {
    /// How many items of turns were looked at.
    pub(crate) static LOOKED_AT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The pieces of a tree from a node on: the place of each in the order of nodes, and the oldest node that it is
/// made of.
struct Pieces<'a> {
    from: NodeId,
    found: Vec<(NodeId, NodeId, Piece<'a>)>,
}

impl<'a> Pieces<'a> {
    fn add(&mut self, id: NodeId, piece: impl FnOnce() -> Piece<'a>) {
        if id >= self.from {
            self.found.push((id, id, piece()));
        }
    }

    /// Of a turn, what is at these places in it; else all.
    fn of_item(&mut self, item: &'a TreeItem, within: Option<&BTreeSet<usize>>) {
        match item {
            TreeItem::Turn(turn) => match within {
                Some(within) => {
                    let items = within.iter().filter_map(|at| turn.items.get(*at));
                    self.of_turn(turn, items);
                }
                None => self.of_turn(turn, turn.items.iter()),
            },
            TreeItem::Mark(mark) => self.add(mark.node.id, || Piece::Mark(mark)),
            TreeItem::Note(note) => self.add(note.node.id, || whole(note.role, &note.parts)),
            TreeItem::Fault(_) => {}
        }
    }

    fn of_turn(&mut self, turn: &'a Turn, items: impl Iterator<Item = &'a TurnItem>) {
        if let Some(user) = &turn.user {
            self.add(user.node.id, || whole(Role::User, &user.parts));
        }
        for item in items {
            #[cfg(test)]
            LOOKED_AT.set(LOOKED_AT.get() + 1);
            match item {
                TurnItem::Response(response) => self.of_response(response, turn),
                TurnItem::Note(note) => self.add(note.node.id, || whole(note.role, &note.parts)),
                TurnItem::Interrupted(cancelled) if !cancelled.said.is_empty() => {
                    self.add(cancelled.node.id, || whole(Role::User, &cancelled.said));
                }
                TurnItem::Interrupted(cancelled) if cancelled.stands => {
                    self.add(cancelled.node.id, || Piece::End(turn.id, true, false));
                }
                TurnItem::Interrupted(_) | TurnItem::Fault(_) => {}
            }
        }
    }

    fn of_response(&mut self, response: &'a Response, turn: &Turn) {
        // They stand in the order in which they came.
        let blocks = &response.blocks;
        let begin = blocks.partition_point(|block| block.node().id < self.from);
        for block in &blocks[begin..] {
            let id = block.node().id;
            let part = match block {
                ResponseBlock::Text(Segment { text, .. }) => {
                    (!text.is_empty()).then(|| Part::text(text))
                }
                ResponseBlock::Thinking(thought) => of_thought(thought),
                ResponseBlock::Tool(tool) => {
                    self.of_answers(tool);
                    let (name, arguments) = (tool.name.clone(), tool.arguments.clone());
                    let kind = tool.kind.as_deref();
                    let call = Part::call(tool.call.clone(), name, arguments, kind);
                    (!tool.is_unknown).then_some(call)
                }
                ResponseBlock::Other(held) => Some(held.part.clone()),
            };
            if let Some(part) = part {
                let piece = || Piece::Part(turn.id, response.id, block.message(), part);
                self.add(id, piece);
            }
            let (open, interrupted, text) = match block {
                ResponseBlock::Text(it) => (it.open, it.interrupted, &it.text),
                ResponseBlock::Thinking(it) => (it.open, it.interrupted, &it.text),
                _ => continue,
            };
            let is_cut = interrupted || open && turn.is_under_way();
            if (is_cut || open) && !text.is_empty() {
                self.add(id, || Piece::End(turn.id, is_cut, open));
            }
        }
    }

    /// What came of a call: its result, or that someone cancelled it; and where it was put off, what
    /// came later, which the model was told as something new.
    fn of_answers(&mut self, tool: &Tool) {
        let result = |content: Vec<Part>, is_error| {
            let part = parts::result(Some(tool.call.clone()), content, is_error);
            Piece::Whole(Message::new(Role::Tool, vec![part]))
        };
        let failed = matches!(tool.state, State::Error | State::Interrupted);
        let called_back = tool.is_unknown && tool.talk.is_some();
        let mut told = Vec::new();
        if let Some((id, content)) = &tool.queued {
            told.push((*id, result(content.clone(), false)));
        }
        match &tool.answer {
            Some((id, content)) if tool.queued.is_some() || called_back => {
                told.push((*id, whole(Role::User, content)));
            }
            Some((id, content)) => told.push((*id, result(content.clone(), failed))),
            None => {}
        }
        if let Some(id) = tool.cancelled {
            let output = Some(tool.output.as_str()).filter(|output| !output.is_empty());
            let words = output.into_iter().chain([INTERRUPTED]);
            told.push((id, result(words.map(Part::text).collect(), true)));
        }
        let told = told.into_iter();
        self.found
            .extend(told.map(|(id, piece)| (id, tool.node.id, piece)));
    }
}

fn whole<'a>(role: Role, parts: &[Part]) -> Piece<'a> {
    Piece::Whole(Message::new(role, parts.to_vec()))
}

fn of_thought(thought: &Thought) -> Option<Part> {
    let (text, signature) = (thought.text.clone(), thought.signature.clone());
    let says = !text.is_empty() || signature.is_some();
    says.then(|| Part::thinking(text, signature, thought.provider.as_deref()))
}
