//! The lines in the making: who speaks, what is said, and the numbers before them.

use super::{Chat, ChatLine, Detail, Pen, Tools, prose};
use crate::model::{Part, Role};
use crate::render::{Label, Line};
use crate::tree::cut::more_lines;
use crate::tree::group::{GroupState, Section, sections};
use crate::tree::words::{word, words};
use crate::tree::{
    Mark, Node, NodeId, Notation, Response, ResponseBlock, Tree, TreeItem, TurnItem, User,
};

/// What stands before what a message says.
pub(super) const INDENT: usize = 4;

/// The columns of a message's number.
const GUTTER: usize = 7;

/// Some lines of a chat.
pub(super) struct Page<'a> {
    pub(super) chat: &'a Chat<'a>,
    pub(super) pen: &'a mut Pen,
    lines: Vec<ChatLine>,
    /// The columns of a message's number.
    gutter: usize,
    /// How deep in sub-agents.
    depth: usize,
}

impl<'a> Page<'a> {
    pub(super) fn new(chat: &'a Chat<'a>, pen: &'a mut Pen) -> Self {
        Self {
            chat,
            pen,
            lines: Vec::new(),
            gutter: GUTTER,
            depth: 0,
        }
    }

    /// Without room for numbers.
    pub(super) fn bare(chat: &'a Chat<'a>, pen: &'a mut Pen) -> Self {
        Self {
            gutter: 0,
            ..Self::new(chat, pen)
        }
    }

    pub(super) fn into_lines(self) -> Vec<ChatLine> {
        self.lines
    }

    /// What a sub-agent did.
    pub(super) fn agent(&mut self, tree: &Tree) {
        let response = self.pen.response;
        self.depth += 1;
        tree.items.iter().for_each(|item| self.item(item));
        self.depth -= 1;
        // The response whose call it was goes on below.
        self.pen.response = response;
    }

    pub(super) fn item(&mut self, item: &TreeItem) {
        match item {
            TreeItem::Turn(turn) => {
                if let Some(user) = &turn.user {
                    self.user(user);
                }
                turn.items.iter().for_each(|item| self.turn_item(item));
            }
            TreeItem::Mark(mark) => self.mark(mark),
            TreeItem::Note(note) => self.note(note),
            TreeItem::Fault(fault) => self.fault(fault.node.id, &fault.text),
        }
    }

    pub(super) fn turn_item(&mut self, item: &TurnItem) {
        match item {
            TurnItem::Response(response) => {
                for section in sections(&response.blocks) {
                    self.section(response, &section);
                }
            }
            TurnItem::Note(note) => self.note(note),
            TurnItem::Interrupted(cancelled) if cancelled.stands => {
                self.gap(cancelled.node.id);
                self.line(cancelled.node.id, 0, Label::Warning.of("interrupted"));
            }
            TurnItem::Interrupted(_) => {}
            TurnItem::Fault(fault) => self.fault(fault.node.id, &fault.text),
        }
    }

    pub(super) fn user(&mut self, user: &User) {
        let who = match &user.from {
            Some(from) => Label::User.of(format!("received from {from}")),
            None => Label::User.of("user"),
        };
        self.said(&user.node, who, &user.parts, Label::Text);
    }

    fn mark(&mut self, mark: &Mark) {
        let what = Label::Hide.of(mark.kind.as_str());
        self.said(&mark.node, what, &mark.parts, Label::Dim);
    }

    fn note(&mut self, note: &Notation) {
        if note.role == Role::User && self.detail(note.node.id) != Detail::Full {
            let said = words(&note.parts);
            let said = Label::Dim.quote(first_line(&said));
            return self.closed(&note.node, Label::Dim.of(note.who()), said);
        }
        let who = Label::role(note.role).of(note.who());
        self.said(&note.node, who, &note.parts, Label::Text);
    }

    /// Who speaks, and below it what.
    fn said(&mut self, node: &Node, who: Line, parts: &[Part], label: Label) {
        let words = words(parts);
        if self.detail(node.id) == Detail::Closed {
            return self.closed(node, who, label.quote(first_line(&words)));
        }
        self.heading(node, who);
        self.text(node.id, &words, label);
    }

    fn fault(&mut self, id: NodeId, text: &str) {
        self.gap(id);
        self.text(id, text, Label::Error);
    }

    pub(super) fn section(&mut self, response: &Response, section: &Section<'_>) {
        match section {
            Section::One(block) if !self.shows(block) => {}
            Section::Calls(_) if self.chat.tools == Tools::Off => {}
            Section::One(block) => self.block(response, block),
            Section::Calls(tools) => {
                // What is folded to a line stands above, each in its place.
                let folded = tools.iter().position(|tool| self.opens(tool));
                let (folded, open) = tools.split_at(folded.unwrap_or(tools.len()));
                folded.iter().for_each(|tool| self.tool(response, tool));
                if let [first, _, ..] = open {
                    self.below_heading(response, &first.node);
                    let state = GroupState::of(open.iter().copied());
                    let head = format!("{} calls, {}", open.len(), state.as_str());
                    self.line(first.node.id, INDENT, Label::Dim.of(head));
                }
                open.iter().for_each(|tool| self.tool(response, tool));
            }
        }
    }

    /// Whether a block is drawn at all.
    pub(super) fn shows(&self, block: &ResponseBlock) -> bool {
        match block {
            ResponseBlock::Tool(_) if self.chat.tools == Tools::Off => false,
            ResponseBlock::Thinking(_) if !self.chat.thinking => false,
            block => !block.is_empty(),
        }
    }

    fn block(&mut self, response: &Response, block: &ResponseBlock) {
        let (node, id) = (block.node(), block.node().id);
        if let ResponseBlock::Tool(tool) = block {
            return self.tool(response, tool);
        }
        if self.detail(id) == Detail::Closed {
            return self.closed_block(response, node);
        }
        self.below_heading(response, node);
        match block {
            ResponseBlock::Text(text) => {
                self.text(id, &text.text, Label::Text);
                self.cut(id, text.interrupted);
            }
            ResponseBlock::Thinking(thought) => {
                let text = match thought.text.as_str() {
                    "" => "(empty)",
                    text => text,
                };
                self.thought(id, "thinking", text);
                self.cut(id, thought.interrupted);
            }
            ResponseBlock::Other(held) => self.text(id, &word(&held.part), Label::Dim),
            ResponseBlock::Tool(_) => {}
        }
    }

    /// Says of what was cut that it was.
    fn cut(&mut self, id: NodeId, interrupted: bool) {
        if interrupted {
            self.line(id, INDENT, Label::Warning.of("interrupted"));
        }
    }

    pub(super) fn text(&mut self, id: NodeId, text: &str, label: Label) {
        let count = text.lines().count();
        let shown = Self::shown(self.chat.text_lines, count);
        if self.chat.prose && label == Label::Text {
            let lines = prose::lines(text).into_iter().take(shown);
            lines.for_each(|line| self.wrapped(id, INDENT, line));
        } else {
            let lines = text.lines().take(shown);
            lines.for_each(|line| self.wrapped(id, INDENT, label.quote(line)));
        }
        self.more(id, INDENT, (count - shown) as u64);
    }

    /// A thought, below its word on the same line.
    pub(super) fn thought(&mut self, id: NodeId, word: &str, text: &str) {
        let count = text.lines().count();
        let shown = Self::shown(self.chat.text_lines, count);
        let mut before = Label::Dim.of(format!("{word}  "));
        let is_full = self.detail(id) == Detail::Full;
        let mut lines = text.lines().take(shown);
        let first = lines.next().unwrap_or_default();
        for line in std::iter::once(first).chain(lines) {
            let line = std::mem::take(&mut before) + Label::Dim.quote(line);
            // In short a line of a thought is one line; opened, it is read.
            if is_full {
                self.wrapped(id, INDENT, line)
            } else {
                self.line(id, INDENT, line)
            }
        }
        self.more(id, INDENT, (count - shown) as u64);
    }

    /// That so many lines are not shown, if any.
    pub(super) fn more(&mut self, id: NodeId, indent: usize, count: u64) {
        if count > 0 {
            let more = more_lines(count) + self.chat.more;
            self.line(id, indent, Label::Dim.of(more));
        }
    }

    /// How many of `count` lines are shown; where one line more would say that there is one more,
    /// it is that line.
    pub(super) fn shown(limit: usize, count: usize) -> usize {
        if count <= limit.saturating_add(1) {
            count
        } else {
            limit
        }
    }

    /// Goes on with a response: below its heading, if that does not stand there yet.
    pub(super) fn below_heading(&mut self, response: &Response, first: &Node) {
        if self.pen.response != Some(response.id) {
            self.heading(first, Label::Assistant.of("assistant"));
            self.pen.response = Some(response.id);
        }
    }

    /// Who speaks, below an empty line, and what hides it.
    fn heading(&mut self, node: &Node, who: Line) {
        self.gap(node.id);
        self.line(node.id, 0, who + hidden(node));
    }

    /// An empty line before what follows, where something stands above it.
    pub(super) fn gap(&mut self, before: NodeId) {
        if self.pen.is_begun {
            let line = Line::new();
            self.lines.push(ChatLine { node: before, line });
        }
        self.pen.response = None;
    }

    pub(super) fn detail(&self, id: NodeId) -> Detail {
        (self.chat.detail_of)(id)
    }

    /// The columns before a line: the number, and what sub-agents are indented by.
    pub(super) fn room(&self) -> usize {
        self.gutter + self.depth * INDENT
    }

    /// Whether nothing of a node's message was drawn yet.
    pub(super) fn is_new(&self, id: NodeId) -> bool {
        (self.chat.message_of)(id).is_some_and(|message| self.pen.last != Some(message.at))
    }

    /// A line of a message; its first one bears its number.
    pub(super) fn line(&mut self, id: NodeId, indent: usize, line: Line) {
        let message = (self.chat.message_of)(id);
        let is_new = self.is_new(id);
        let number = match message {
            Some(message) if is_new => {
                self.pen.last = Some(message.at);
                let number = message
                    .number
                    .map_or("-".to_owned(), |number| format!(":{number}"));
                Label::Hash.of(number)
            }
            _ => Line::new(),
        };
        let indent = Line::indent(self.depth * INDENT + indent);
        let line = number.left(self.gutter) + indent + line;
        let line = match self.chat.width_cols {
            Some(width) => line.spread_tabs().cut(width),
            None => line,
        };
        (self.pen.is_begun, self.pen.is_closed) = (true, false);
        self.lines.push(ChatLine { node: id, line });
    }

    pub(super) fn wrapped(&mut self, id: NodeId, indent: usize, line: Line) {
        let Some(width) = self.chat.width_cols else {
            return self.line(id, indent, line);
        };
        let cols = width.saturating_sub(self.room() + indent).max(8);
        for row in line.spread_tabs().wrap(cols) {
            self.line(id, indent, row);
        }
    }
}

/// What hides a node.
pub(super) fn hidden(node: &Node) -> Line {
    let hidden = node.hidden;
    let hidden = hidden.map(|by| Label::Dim.of(format!("  hidden: {by}")));
    hidden.unwrap_or_default()
}

/// The first line that says something.
pub(in crate::render) fn first_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}
