//! The messages that a settled tree holds, in the order in which they came.

use std::collections::HashMap;

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
    pub(super) message: Message,
    /// What it hides: everything before it.
    pub(super) hides: Option<HideKind>,
}

/// What becomes a message, or a part of one.
enum Piece<'a> {
    Whole(Message),
    Mark(&'a Mark),
    /// A part of what the model says: in which response, and in which of its messages.
    Part(NodeId, Option<&'a str>, Part),
    /// That what the model said before it, in this turn, was cut.
    Cut(NodeId),
}

/// The messages of a settled tree, in the order in which they came, as an import of what it was made
/// from has them.
pub fn messages_of(tree: &Tree) -> Vec<Message> {
    messages(tree)
        .into_iter()
        .map(|said| said.message)
        .collect()
}

/// The messages of a tree. What sub-agents did is no part of the conversation, and stands behind
/// the calls that started them.
pub(super) fn messages(tree: &Tree) -> Vec<Said> {
    let mut pieces: Vec<(NodeId, Piece<'_>)> = Vec::new();
    for item in &tree.items {
        match item {
            TreeItem::Turn(turn) => of_turn(turn, &mut pieces),
            TreeItem::Mark(mark) => pieces.push((mark.node.id, Piece::Mark(mark))),
            TreeItem::Note(note) => {
                let message = Message::new(note.role, note.parts.clone());
                pieces.push((note.node.id, Piece::Whole(message)));
            }
            TreeItem::Fault(_) => {}
        }
    }
    pieces.sort_by_key(|(id, _)| *id);
    let turns: HashMap<NodeId, NodeId> = tree
        .turns()
        .flat_map(|turn| turn.items.iter().map(|item| (turn.id, item)))
        .filter_map(|(turn, item)| match item {
            TurnItem::Response(response) => Some((response.id, turn)),
            _ => None,
        })
        .collect();
    let mut said: Vec<Said> = Vec::new();
    // The response and the message that the last part belongs to; and its turn.
    let (mut open, mut turn) = (None, None);
    for (first, piece) in pieces {
        let (message, hides) = match piece {
            Piece::Cut(of) => {
                let last = said
                    .last_mut()
                    .filter(|_| open.is_some() && turn == Some(of));
                if let Some(last) = last {
                    last.message.interrupted = true;
                }
                continue;
            }
            Piece::Part(response, of, part) => {
                turn = turns.get(&response).copied();
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
            message,
            hides,
        });
    }
    said
}

fn of_turn<'a>(turn: &'a Turn, pieces: &mut Vec<(NodeId, Piece<'a>)>) {
    let whole = |role, parts: &Vec<Part>| Piece::Whole(Message::new(role, parts.clone()));
    if let Some(user) = &turn.user {
        pieces.push((user.node.id, whole(Role::User, &user.parts)));
    }
    for item in &turn.items {
        match item {
            TurnItem::Response(response) => of_response(response, turn.id, pieces),
            TurnItem::Note(note) => pieces.push((note.node.id, whole(note.role, &note.parts))),
            TurnItem::Interrupted(cancelled) if !cancelled.said.is_empty() => {
                pieces.push((cancelled.node.id, whole(Role::User, &cancelled.said)));
            }
            TurnItem::Interrupted(cancelled) if cancelled.stands => {
                pieces.push((cancelled.node.id, Piece::Cut(turn.id)));
            }
            TurnItem::Interrupted(_) | TurnItem::Fault(_) => {}
        }
    }
}

fn of_response<'a>(response: &'a Response, turn: NodeId, pieces: &mut Vec<(NodeId, Piece<'a>)>) {
    for block in &response.blocks {
        let part = match block {
            ResponseBlock::Text(Segment { text, .. }) => {
                (!text.is_empty()).then(|| Part::text(text))
            }
            ResponseBlock::Thinking(thought) => of_thought(thought),
            ResponseBlock::Tool(tool) => {
                of_answers(tool, pieces);
                (!tool.is_unknown).then(|| Part::ToolCall {
                    id: tool.call.clone(),
                    name: tool.name.clone(),
                    arguments: tool.arguments.clone(),
                    kind: tool.kind.clone(),
                })
            }
            ResponseBlock::Other(held) => Some(held.part.clone()),
        };
        if let Some(part) = part {
            let piece = Piece::Part(response.id, block.message(), part);
            pieces.push((block.node().id, piece));
        }
        let cut = match block {
            ResponseBlock::Text(text) => text.interrupted && !text.text.is_empty(),
            ResponseBlock::Thinking(thought) => thought.interrupted && !thought.text.is_empty(),
            _ => false,
        };
        if cut {
            pieces.push((block.node().id, Piece::Cut(turn)));
        }
    }
}

fn of_thought(thought: &Thought) -> Option<Part> {
    (!thought.text.is_empty() || thought.signature.is_some()).then(|| Part::Thinking {
        text: thought.text.clone(),
        signature: thought.signature.clone(),
        provider: thought.provider.clone(),
    })
}

/// What came of a call: its result, or that someone cancelled it; and where it was put off, what
/// came later, which the model was told as something new.
fn of_answers(tool: &Tool, pieces: &mut Vec<(NodeId, Piece<'_>)>) {
    let result = |content: Vec<Part>, is_error| {
        let part = Part::ToolResult {
            call: tool.call.clone(),
            content,
            is_error,
        };
        Piece::Whole(Message::new(Role::Tool, vec![part]))
    };
    let failed = matches!(tool.state, State::Error | State::Interrupted);
    let called_back = tool.is_unknown && tool.talk.is_some();
    if let Some((id, content)) = &tool.queued {
        pieces.push((*id, result(content.clone(), false)));
    }
    match &tool.answer {
        Some((id, content)) if tool.queued.is_some() || called_back => {
            let message = Message::new(Role::User, content.clone());
            pieces.push((*id, Piece::Whole(message)));
        }
        Some((id, content)) => pieces.push((*id, result(content.clone(), failed))),
        None => {}
    }
    if let Some(id) = tool.cancelled {
        let output = Some(tool.output.as_str()).filter(|output| !output.is_empty());
        let words = output.into_iter().chain([INTERRUPTED]);
        pieces.push((id, result(words.map(Part::text).collect(), true)));
    }
}
