//! A conversation drawn as a chat: the lines of a tree, from top to bottom.
//!
//! Deliberately absent: which messages there are, and what folds open; whoever draws says how many
//! lines of an output are shown, and which message a node came with.

use crate::model::Part;
use crate::render::{Label, Line};
use crate::tree::cut::{more_lines, omitted_lines};
use crate::tree::group::{GroupState, Section, sections};
use crate::tree::words::{word, words};
use crate::tree::{
    Mark, Node, NodeId, Notation, Response, ResponseBlock, State, Tool, Tree, TreeItem, Turn,
    TurnItem,
};

/// What stands before what a message says.
const INDENT: usize = 4;

/// How a chat is laid out.
pub struct Chat<'a> {
    /// The message that a node came with.
    pub message_of: &'a dyn Fn(NodeId) -> Option<ChatMessage>,
    /// How many lines of what a tool gave back are shown.
    pub output_lines: usize,
    /// The columns that a line may take; none in a pipe, where nothing is cut or wrapped.
    pub width_cols: Option<usize>,
}

/// A message as a chat names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Its place among all messages of the chat.
    pub at: usize,
    /// Its number among the visible messages; none if it is hidden.
    pub number: Option<usize>,
}

impl Chat<'_> {
    /// The lines of a tree.
    pub fn lines(&self, tree: &Tree) -> Vec<Line> {
        let mut page = Page {
            chat: self,
            lines: Vec::new(),
            last: None,
            depth: 0,
        };
        page.items(tree);
        page.lines
    }
}

struct Page<'a> {
    chat: &'a Chat<'a>,
    lines: Vec<Line>,
    /// The message whose number was printed last.
    last: Option<usize>,
    /// How deep in sub-agents.
    depth: usize,
}

impl Page<'_> {
    fn items(&mut self, tree: &Tree) {
        for item in &tree.items {
            match item {
                TreeItem::Turn(turn) => self.turn(turn),
                TreeItem::Mark(mark) => self.mark(mark),
                TreeItem::Note(note) => self.note(note),
                TreeItem::Fault(fault) => self.fault(fault.node.id, &fault.text),
            }
        }
    }

    fn turn(&mut self, turn: &Turn) {
        if let Some(user) = &turn.user {
            let who = match &user.from {
                Some(from) => Label::User.of(format!("received from {from}")),
                None => Label::User.of("user"),
            };
            self.heading(&user.node, who);
            self.text(user.node.id, &words(&user.parts), Label::Text);
        }
        for item in &turn.items {
            match item {
                TurnItem::Response(response) => self.response(response),
                TurnItem::Note(note) => self.note(note),
                TurnItem::Interrupted(cancelled) if cancelled.stands => {
                    self.gap();
                    self.line(cancelled.node.id, 0, Label::Warning.of("interrupted"));
                }
                TurnItem::Interrupted(_) => {}
                TurnItem::Fault(fault) => self.fault(fault.node.id, &fault.text),
            }
        }
    }

    fn mark(&mut self, mark: &Mark) {
        let what = Label::Hide.of(mark.kind.as_str());
        self.heading(&mark.node, what);
        self.text(mark.node.id, &words(&mark.parts), Label::Dim);
    }

    fn note(&mut self, note: &Notation) {
        self.heading(&note.node, Label::role(note.role).of(note.role.as_str()));
        self.text(note.node.id, &words(&note.parts), Label::Text);
    }

    fn fault(&mut self, id: NodeId, text: &str) {
        self.gap();
        self.text(id, text, Label::Error);
    }

    fn response(&mut self, response: &Response) {
        let sections = sections(&response.blocks);
        let first = match sections.first() {
            Some(Section::One(block)) => block.node(),
            Some(Section::Calls(tools)) => &tools[0].node,
            None => return,
        };
        self.heading(first, Label::Assistant.of("assistant"));
        for section in &sections {
            match section {
                Section::One(block) => self.block(block),
                Section::Calls(tools) => {
                    let state = GroupState::of(tools.iter().copied());
                    let head = format!("{} calls, {}", tools.len(), state.as_str());
                    self.line(tools[0].node.id, INDENT, Label::Dim.of(head));
                    tools.iter().for_each(|tool| self.tool(tool));
                }
            }
        }
    }

    fn block(&mut self, block: &ResponseBlock) {
        let id = block.node().id;
        match block {
            ResponseBlock::Text(text) => self.text(id, &text.text, Label::Text),
            ResponseBlock::Thinking(thought) => {
                let mut lines = thought.text.lines();
                let first = lines.next().unwrap_or_default();
                let head = Label::Dim.of("thinking  ") + Label::Dim.quote(first);
                self.line(id, INDENT, head);
                for line in lines {
                    self.line(id, INDENT, Label::Dim.quote(line));
                }
            }
            ResponseBlock::Tool(tool) => self.tool(tool),
            ResponseBlock::Other(held) => {
                self.text(id, &word(&held.part), Label::Dim);
            }
        }
    }

    /// A call on one line with how it went, and below it the beginning of what came of it.
    fn tool(&mut self, tool: &Tool) {
        let id = tool.node.id;
        let state = match tool.state {
            State::Success => Line::new(),
            State::Error => Label::Error.of("  error"),
            State::Interrupted => Label::Warning.of("  interrupted"),
            State::Pending | State::Streaming | State::Resolved => {
                Label::Dim.of(format!("  {}", tool.state.as_str()))
            }
        };
        let call = Label::Tool.of(tool.line());
        let call = match self.chat.width_cols {
            Some(width) => {
                call.cut(width.saturating_sub(self.room() + INDENT + state.width_cols()))
            }
            None => call,
        };
        self.line(id, INDENT, call + state);
        if let Some(agent) = &tool.agent {
            self.depth += 1;
            self.items(agent);
            self.depth -= 1;
        }
        if let Some((id, content)) = &tool.queued {
            self.output(*id, content, &words(content), Label::Dim);
        }
        match &tool.answer {
            Some((id, content)) => {
                let label = match tool.state {
                    State::Error => Label::Error,
                    _ => Label::Dim,
                };
                self.output(*id, content, &words(content), label);
            }
            None if tool.cancelled.is_none() && tool.output.is_empty() => {}
            None => {
                let id = tool.cancelled.unwrap_or(id);
                self.output(id, &[], &tool.output, Label::Dim);
            }
        }
    }

    fn output(&mut self, id: NodeId, content: &[Part], text: &str, label: Label) {
        let limit = self.chat.output_lines;
        let lines: Vec<&str> = text.lines().collect();
        // Where one line more would say that there is one more, it is that line.
        let shown = if lines.len() <= limit + 1 {
            lines.len()
        } else {
            limit
        };
        for line in &lines[..shown] {
            self.wrapped(id, INDENT + 2, label.quote(line));
        }
        let more = (lines.len() - shown) as u64 + omitted_lines(content).unwrap_or_default();
        if more > 0 {
            self.line(id, INDENT + 2, Label::Dim.of(more_lines(more)));
        }
        if lines.is_empty() && self.is_new(id) {
            self.line(id, INDENT + 2, Label::Dim.of("(nothing)"));
        }
    }

    fn text(&mut self, id: NodeId, text: &str, label: Label) {
        for line in text.lines() {
            self.wrapped(id, INDENT, label.quote(line));
        }
    }

    /// Who speaks, below an empty line, and what hides it.
    fn heading(&mut self, node: &Node, who: Line) {
        self.gap();
        let hidden = node
            .hidden
            .map(|by| Label::Dim.of(format!("  hidden: {by}")));
        self.line(node.id, 0, who + hidden.unwrap_or_default());
    }

    fn gap(&mut self) {
        if !self.lines.is_empty() {
            self.lines.push(Line::new());
        }
    }

    /// The columns before a line: the number, and what sub-agents are indented by.
    fn room(&self) -> usize {
        GUTTER + self.depth * INDENT
    }

    /// Whether nothing of a node's message was drawn yet.
    fn is_new(&self, id: NodeId) -> bool {
        (self.chat.message_of)(id).is_some_and(|message| self.last != Some(message.at))
    }

    /// A line of a message; its first one bears its number.
    fn line(&mut self, id: NodeId, indent: usize, line: Line) {
        let message = (self.chat.message_of)(id);
        let is_new = self.is_new(id);
        let number = match message {
            Some(message) if is_new => {
                self.last = Some(message.at);
                let number = message
                    .number
                    .map_or("-".to_owned(), |number| format!(":{number}"));
                Label::Hash.of(number)
            }
            _ => Line::new(),
        };
        let indent = Line::indent(self.depth * INDENT + indent);
        let line = number.left(GUTTER) + indent + line;
        self.lines.push(match self.chat.width_cols {
            Some(width) => line.cut(width),
            None => line,
        });
    }

    fn wrapped(&mut self, id: NodeId, indent: usize, line: Line) {
        let Some(width) = self.chat.width_cols else {
            return self.line(id, indent, line);
        };
        let cols = width.saturating_sub(self.room() + indent).max(8);
        for row in line.wrap(cols) {
            self.line(id, indent, row);
        }
    }
}

/// The columns of a message's number.
const GUTTER: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Message, Role};
    use crate::render::plain;
    use crate::tree::{Event, Fold, Happening, events_of};

    fn tree() -> Tree {
        let call = |id: &str, arguments: &str| Part::ToolCall {
            id: id.into(),
            name: "read_file".into(),
            arguments: arguments.into(),
            kind: None,
        };
        let result = |id: &str, text: &str, is_error| {
            let call = id.to_owned();
            let content = vec![Part::text(text)];
            Message::new(
                Role::Tool,
                vec![Part::ToolResult {
                    call,
                    content,
                    is_error,
                }],
            )
        };
        let long: Vec<String> = (1..=9).map(|line| format!("line {line}")).collect();
        let path = r#"{"path":"src/a/long/path/to/a/file.rs"}"#;
        let said = vec![
            Part::text("日本語のテキスト and more of it"),
            call("a", path),
            call("b", "{}"),
        ];
        let messages = [
            Message::text(Role::System, "Be brief, and be it always."),
            Message::text(Role::User, "a question that is longer than twenty columns"),
            Message::new(Role::Assistant, said),
            result("b", "no such file", true),
            result("a", &long.join("\n"), false),
        ];
        let mut fold = Fold::default();
        let events = messages.iter().flat_map(|message| events_of(message, None));
        let inside = Event {
            parent: Some("c".into()),
            ..Event::new(Happening::Block(Part::text("what a sub-agent says")))
        };
        let task = Event::new(Happening::Block(call("c", "{}")));
        for event in events.chain([task, inside]) {
            fold.feed(event);
        }
        fold.settle()
    }

    fn drawn(width_cols: Option<usize>, output_lines: usize) -> Vec<String> {
        let number = |node: NodeId| {
            let at = node.0 as usize;
            Some(ChatMessage {
                at,
                number: Some(at),
            })
        };
        let message_of: &dyn Fn(NodeId) -> Option<ChatMessage> = &number;
        let chat = Chat {
            message_of,
            output_lines,
            width_cols,
        };
        let lines = chat.lines(&tree());
        for line in &lines {
            let fits = width_cols.is_none_or(|width| line.width_cols() <= width);
            assert!(fits, "{line:?} in {width_cols:?}");
        }
        lines.iter().map(plain::paint).collect()
    }

    #[test]
    fn a_chat_fits_every_terminal_and_is_whole_in_a_pipe() {
        for width in 20..60 {
            drawn(Some(width), 3);
        }
        insta::assert_snapshot!(drawn(None, 3).join("\n"));
        insta::assert_snapshot!(drawn(Some(30), 3).join("\n"));
    }

    #[test]
    fn what_is_folded_says_how_much_and_never_that_one_line_is_missing() {
        let more = |limit| {
            let lines = drawn(None, limit);
            let more = lines.iter().find(|line| line.contains("more line"));
            more.map(|line| line.trim().to_owned())
        };
        assert_eq!(more(3).as_deref(), Some("… 6 more lines"));
        assert_eq!(more(7).as_deref(), Some("… 2 more lines"));
        assert_eq!(more(8), None);
    }
}
