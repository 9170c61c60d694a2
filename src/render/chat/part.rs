//! A part of a message on its own, whole: as one commit is shown, and a log with its texts.
//!
//! The same lines as in a chat; and beside them what names the part's other end.

use serde_json::{Map, Value};

use super::page::{INDENT, Page};
use super::{Chat, Pen};
use crate::model::{Part, call};
use crate::render::edit::Edits;
use crate::render::{Label, Line, part};
use crate::tree::NodeId;

/// An argument that is longer has lines of its own.
const ARGUMENT_CHARS: usize = 200;

/// What belongs to no tree.
const NOWHERE: NodeId = NodeId(0);

impl Chat<'_> {
    /// The lines of a part, without numbers.
    ///
    /// ```
    /// use tract::model::Part;
    /// use tract::render::chat::Chat;
    ///
    /// let lines = Chat::new(5, None).part(&Part::text("It is done."));
    /// assert_eq!(lines[0].text(), "    It is done.");
    /// ```
    pub fn part(&self, part: &Part) -> Vec<Line> {
        let mut pen = Pen::default();
        let mut page = Page::bare(self, &mut pen);
        page.part(part);
        page.into_lines()
            .into_iter()
            .map(|line| line.line)
            .collect()
    }
}

impl Page<'_> {
    fn part(&mut self, part: &Part) {
        match part {
            Part::Text { text } => self.text(NOWHERE, text, Label::Text),
            Part::Thinking {
                text, signature, ..
            } => {
                let signed = if signature.is_some() { " (signed)" } else { "" };
                self.thought(NOWHERE, &format!("thinking{signed}"), text);
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => self.whole_call(id, name, arguments),
            Part::ToolResult {
                call,
                content,
                is_error,
            } => {
                let (head, label) = match is_error {
                    true => (Label::Error.of("failed"), Label::Error),
                    false => (Label::Tool.of("result"), Label::Dim),
                };
                let head = head + Label::Dim.of(format!("  {call}"));
                self.line(NOWHERE, INDENT, head);
                for part in content {
                    match part {
                        Part::Text { text } => self.output(NOWHERE, &[], text, label),
                        part => self.held(part),
                    }
                }
            }
            part => self.held(part),
        }
    }

    /// A picture, a file, an opaque block.
    fn held(&mut self, held: &Part) {
        if let Some(line) = part::held(held) {
            self.line(NOWHERE, INDENT, line);
        }
        if let Part::Opaque { data, .. } = held {
            self.text(NOWHERE, data, Label::Text);
        }
    }

    /// A call with its id and all its arguments: on its line, below it where they are long, or as
    /// the edits that they are.
    fn whole_call(&mut self, id: &str, name: &str, arguments: &str) {
        let id = Label::Dim.of(format!("  {id}"));
        if let Some(edits) = Edits::of_call(name, arguments) {
            let line = Label::Tool.of(edits.line(name)) + super::edit::tally(&edits) + id;
            self.wrapped(NOWHERE, INDENT, line);
            return self.edits(NOWHERE, &edits);
        }
        let Ok(Value::Object(arguments)) = serde_json::from_str(arguments) else {
            self.wrapped(NOWHERE, INDENT, Label::Tool.of(name) + id);
            return self.text(NOWHERE, arguments, Label::Text);
        };
        let is_long = |(_, value): &(String, Value)| match value {
            Value::String(text) => text.contains('\n') || text.len() > ARGUMENT_CHARS,
            value => value.to_string().len() > ARGUMENT_CHARS,
        };
        let (long, short): (Vec<_>, Map<_, _>) = {
            let (long, short) = arguments.into_iter().partition::<Vec<_>, _>(is_long);
            (long, short.into_iter().collect())
        };
        let line = match short.is_empty() {
            true => name.to_owned(),
            false => call::summary(name, &Value::Object(short).to_string()),
        };
        self.wrapped(NOWHERE, INDENT, Label::Tool.of(line) + id);
        for (key, value) in long {
            self.line(NOWHERE, INDENT + 2, Label::Dim.of(format!("{key}:")));
            let text = match value {
                Value::String(text) => text,
                value => serde_json::to_string_pretty(&value).unwrap_or_default(),
            };
            self.output(NOWHERE, &[], &text, Label::Text);
        }
    }
}
