//! A message on one line.

use super::Detail;
use super::edit::tally;
use super::page::{Page, first_line, hidden};
use crate::model::told;
use crate::render::edit::Edits;
use crate::render::{Label, Line};
use crate::tree::words::word;
use crate::tree::{Node, NodeId, Response, ResponseBlock};

/// The columns of who speaks.
const WHO: usize = 11;

impl Page<'_> {
    /// Who speaks, and the beginning of what.
    pub(super) fn closed(&mut self, node: &Node, who: Line, what: Line) {
        if !self.pen.is_closed {
            self.gap(node.id);
        }
        self.line(node.id, 0, (who + "  ").left(WHO) + what + hidden(node));
        self.pen.is_closed = true;
    }

    /// The message that a block of a response begins, if none before it does.
    pub(super) fn closed_block(&mut self, response: &Response, node: &Node) {
        let message = |id: NodeId| (self.chat.message_of)(id).map(|message| message.at);
        let mine = message(node.id);
        let blocks = &response.blocks;
        let is_it = |block: &ResponseBlock| block.node().id == node.id;
        // Blocks mostly stand in the order in which they came.
        let at = blocks
            .binary_search_by_key(&node.id, |block| block.node().id)
            .ok()
            .or_else(|| blocks.iter().position(is_it))
            .unwrap_or_default();
        let is_of_it = |block: &&ResponseBlock| {
            is_it(block) || (mine.is_some() && message(block.node().id) == mine)
        };
        let is_seen = |block: &&ResponseBlock| {
            self.shows(block) && self.detail(block.node().id) == Detail::Closed
        };
        let mut before = blocks[..at].iter().rev().take_while(is_of_it);
        if before.any(|block| is_seen(&block)) {
            return;
        }
        let after = blocks[at..].iter().take_while(is_of_it);
        let taken = self.room() + WHO;
        let room = self
            .chat
            .width_cols
            .map(|width| width.saturating_sub(taken));
        let what = gist(after.filter(is_seen), self.chat.directory, room);
        self.closed(node, Label::Assistant.of("assistant"), what);
    }

    /// What a tool gave back, on one line.
    pub(super) fn closed_answer(&mut self, id: NodeId, said: &str, label: Label) {
        if (self.chat.message_of)(id).is_some() && !self.is_new(id) {
            return;
        }
        let lines = said.lines().count() as u64;
        let more = match lines {
            0 | 1 => String::new(),
            lines => format!("  ({lines} lines)"),
        };
        let taken = self.room() + WHO + more.len();
        let room = self
            .chat
            .width_cols
            .map(|width| width.saturating_sub(taken));
        let what = label.quote(first_line(&told(said))).within(room) + Label::Dim.of(more);
        self.closed(&id.into(), Label::Tool.of("tool"), what);
    }
}

/// What blocks of one message come to: what is said in it, or else what it calls, or thinks.
fn gist<'a>(
    blocks: impl Iterator<Item = &'a ResponseBlock>,
    directory: Option<&str>,
    room: Option<usize>,
) -> Line {
    let (mut text, mut calls, mut rest) = (None, Vec::new(), None);
    for block in blocks {
        match block {
            ResponseBlock::Text(said) => {
                text.get_or_insert_with(|| Label::Text.quote(first_line(&said.text)));
            }
            ResponseBlock::Tool(tool) => {
                let edits = Edits::of_tool(tool);
                let end = edits.as_ref().map(tally).unwrap_or_default();
                let brief = Edits::brief_of(tool, edits.as_ref()).from(directory);
                let room = room.map(|room| room.saturating_sub(end.width_cols()));
                calls.push(Label::Tool.of(brief.line(room)) + end);
            }
            ResponseBlock::Thinking(thought) => {
                rest.get_or_insert_with(|| Label::Dim.quote(first_line(&thought.text)));
            }
            ResponseBlock::Other(held) => {
                rest.get_or_insert_with(|| Label::Dim.quote(first_line(&word(&held.part))));
            }
        }
    }
    let calls = (!calls.is_empty()).then(|| Line::join(calls, "  "));
    text.or(calls).or(rest).unwrap_or_default()
}
