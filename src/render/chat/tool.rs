//! A call, and what came of it.

use super::page::{INDENT, Page};
use super::{Detail, Tools};
use crate::model::Part;
use crate::render::{Label, Line};
use crate::tree::cut::{more_lines, omitted_lines};
use crate::tree::words::words;
use crate::tree::{NodeId, Response, State, Tool};

impl Page<'_> {
    /// Whether a call has lines of its own, and is not in the one of its message.
    pub(super) fn opens(&self, tool: &Tool) -> bool {
        self.detail(tool.node.id) != Detail::Closed
    }

    /// A call on one line with how it went, and below it the beginning of what came of it.
    pub(super) fn tool(&mut self, response: &Response, tool: &Tool) {
        let id = tool.node.id;
        if self.opens(tool) {
            self.below_heading(response, &tool.node);
            self.call(tool);
        } else {
            self.closed_block(response, &tool.node);
        }
        if let Some(agent) = &tool.agent {
            self.agent(agent);
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

    fn call(&mut self, tool: &Tool) {
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
        self.line(tool.node.id, INDENT, call + state);
    }

    fn output(&mut self, id: NodeId, content: &[Part], text: &str, label: Label) {
        let detail = self.detail(id);
        if detail == Detail::Closed {
            return self.closed_answer(id, text, label);
        }
        let limit = match (self.chat.tools, detail) {
            (Tools::Full, _) | (_, Detail::Full) => usize::MAX,
            _ => self.chat.output_lines,
        };
        let count = text.lines().count();
        // Where one line more would say that there is one more, it is that line.
        let shown = if count <= limit.saturating_add(1) {
            count
        } else {
            limit
        };
        for line in text.lines().take(shown) {
            self.wrapped(id, INDENT + 2, label.quote(line));
        }
        let more = (count - shown) as u64 + omitted_lines(content).unwrap_or_default();
        if more > 0 {
            self.line(id, INDENT + 2, Label::Dim.of(more_lines(more)));
        }
        if count == 0 && self.is_new(id) {
            self.line(id, INDENT + 2, Label::Dim.of("(nothing)"));
        }
    }
}
