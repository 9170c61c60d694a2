//! A call, and what came of it.

use super::edit::tally;
use super::page::{INDENT, Page};
use super::{Detail, Tools};
use crate::model::{Part, bare};
use crate::render::edit::Edits;
use crate::render::{Label, Line};
use crate::tree::console::printed;
use crate::tree::cut::omitted_lines;
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
            self.output(
                *id,
                (response, tool),
                content,
                &printed(&words(content)),
                Label::Dim,
            );
        }
        match &tool.answer {
            Some((id, content)) => {
                let label = match tool.state {
                    State::Error => Label::Error,
                    _ => Label::Dim,
                };
                self.output(
                    *id,
                    (response, tool),
                    content,
                    &printed(&words(content)),
                    label,
                );
            }
            None if tool.cancelled.is_none() && tool.output.is_empty() => {}
            None => {
                let id = tool.cancelled.unwrap_or(id);
                self.output(
                    id,
                    (response, tool),
                    &[],
                    &printed(&tool.output),
                    Label::Dim,
                );
            }
        }
    }

    fn call(&mut self, tool: &Tool) {
        let id = tool.node.id;
        let state = match tool.state {
            State::Success => Line::new(),
            State::Error => Label::Error.of("  error"),
            State::Interrupted => Label::Warning.of("  interrupted"),
            State::Pending | State::Streaming | State::Resolved => {
                Label::Dim.of(format!("  {}", tool.state.as_str()))
            }
        };
        let edits = Edits::of_tool(tool);
        let end = edits.as_ref().map(tally).unwrap_or_default() + state;
        let taken = self.room() + INDENT + end.width_cols();
        let room = self
            .chat
            .width_cols
            .map(|width| width.saturating_sub(taken));
        let brief = Edits::brief_of(tool, edits.as_ref()).from(self.chat.directory);
        let call = Label::Tool.of(brief.line(room)).within(room);
        self.line(id, INDENT, call + end);
        if let Some(edits) = &edits {
            self.edits(id, edits);
        }
    }

    /// How many lines of a node are shown, where it has a limit.
    pub(super) fn limit(&self, id: NodeId, short: usize) -> usize {
        match (self.chat.tools, self.detail(id)) {
            (Tools::Full, _) | (_, Detail::Full) => usize::MAX,
            _ => short,
        }
    }

    fn output(
        &mut self,
        id: NodeId,
        of: (&Response, &Tool),
        content: &[Part],
        text: &str,
        label: Label,
    ) {
        if self.detail(id) == Detail::Closed {
            return self.closed_answer(id, of, text, label);
        }
        self.shown_output(id, content, text, label);
    }

    /// The beginning of what came of a call, or all of it.
    pub(super) fn shown_output(&mut self, id: NodeId, content: &[Part], text: &str, label: Label) {
        let limit = self.limit(id, self.chat.output_lines);
        // Some lines of a result say what it is, not what its client says of each.
        let told = (limit < usize::MAX).then(|| bare(text)).flatten();
        let text = told.as_deref().unwrap_or(text);
        let count = text.lines().count();
        let shown = Self::shown(limit, count);
        for line in text.lines().take(shown) {
            self.wrapped(id, INDENT + 2, label.quote(line));
        }
        let more = (count - shown) as u64 + omitted_lines(content).unwrap_or_default();
        self.more(id, INDENT + 2, more);
        if count == 0 && self.is_new(id) {
            self.line(id, INDENT + 2, Label::Dim.of("(nothing)"));
        }
    }
}
