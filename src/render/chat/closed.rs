//! A message on one line.

use super::Detail;
use super::edit::tally;
use super::page::{Page, first_line, hidden};
use crate::model::told;
use crate::render::edit::Edits;
use crate::render::{Label, Line, row};
use crate::tree::words::word;
use crate::tree::{Node, NodeId, Response, ResponseBlock, Tool};

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
        let at = place_of(blocks, node.id);
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
        let room = self.left_of(WHO);
        let what = gist(after.filter(is_seen), self.chat.directory, room);
        self.closed(node, Label::Assistant.of("assistant"), what);
    }

    /// The call and what the tool gave back, on one line.
    pub(super) fn closed_answer(
        &mut self,
        id: NodeId,
        (response, tool): (&Response, &Tool),
        said: &str,
        label: Label,
    ) {
        if (self.chat.message_of)(id).is_some() && !self.is_new(id) {
            return;
        }
        let lines = said.lines().count() as u64;
        let more = match lines {
            0 | 1 => String::new(),
            lines => format!("  ({lines} lines)"),
        };
        let room = self.left_of(WHO + more.len());
        let said = match first_line(&told(said)) {
            "" => Label::Dim.of(row::NOTHING),
            first => label.quote(first),
        };
        let what = if tool.is_call() {
            let others = self.answers_along(id, response, tool);
            let call = brief(tool, self.chat.directory, room);
            row::answered(call + more_calls(others), said, room)
        } else {
            said.within(room)
        };
        self.closed(
            &id.into(),
            Label::Tool.of("tool"),
            what + Label::Dim.of(more),
        );
    }

    /// How many other calls the same message answers.
    fn answers_along(&self, id: NodeId, response: &Response, tool: &Tool) -> usize {
        let message = |id: NodeId| (self.chat.message_of)(id).map(|message| message.at);
        let call = message(tool.node.id);
        let Some(answer) = message(id) else { return 0 };
        let blocks = &response.blocks;
        let behind = blocks.iter().skip(place_of(blocks, tool.node.id) + 1);
        let of_the_same = behind.take_while(|block| message(block.node().id) == call);
        let answers = of_the_same.filter_map(|block| match block {
            ResponseBlock::Tool(tool) => tool.answer.as_ref(),
            _ => None,
        });
        answers
            .filter(|(id, _)| message(*id) == Some(answer))
            .count()
    }

    /// The columns that are left behind so many, where there is a limit.
    fn left_of(&self, cols: usize) -> Option<usize> {
        let taken = self.room() + cols;
        let width = self.chat.width_cols;
        width.map(|width| width.saturating_sub(taken))
    }
}

/// Where a block stands. Blocks mostly stand in the order in which they came.
fn place_of(blocks: &[ResponseBlock], id: NodeId) -> usize {
    let found = blocks.binary_search_by_key(&id, |block| block.node().id);
    let anywhere = || blocks.iter().position(|block| block.node().id == id);
    found.ok().or_else(anywhere).unwrap_or_default()
}

/// A call in brief, with the count of lines that its edits add and remove.
fn brief(tool: &Tool, directory: Option<&str>, room: Option<usize>) -> Line {
    let edits = Edits::of_tool(tool);
    let end = edits.as_ref().map(tally).unwrap_or_default();
    let brief = Edits::brief_of(tool, edits.as_ref()).from(directory);
    let room = room.map(|room| room.saturating_sub(end.width_cols()));
    Label::Tool.of(brief.line(room)) + end
}

/// ` (+2)`: two calls more; nothing where there are none.
fn more_calls(count: usize) -> Line {
    match count {
        0 => Line::new(),
        count => Label::Dim.of(format!(" (+{count})")),
    }
}

/// What blocks of one message come to: its text and its first call, or else all calls, or its thinking.
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
            ResponseBlock::Tool(tool) => calls.push(brief(tool, directory, room)),
            ResponseBlock::Thinking(thought) => {
                rest.get_or_insert_with(|| match first_line(&thought.text) {
                    "" => Label::Dim.of("(empty thinking)"),
                    first => Label::Dim.quote(first),
                });
            }
            ResponseBlock::Other(held) => {
                rest.get_or_insert_with(|| Label::Dim.quote(first_line(&word(&held.part))));
            }
        }
    }
    match (text, calls.is_empty()) {
        (Some(text), true) => text,
        (Some(text), false) => {
            let others = calls.len() - 1;
            let first = calls.swap_remove(0);
            row::beside(text, first + more_calls(others), room)
        }
        (None, false) => Line::join(calls, "  "),
        (None, true) => rest.unwrap_or_default(),
    }
}
