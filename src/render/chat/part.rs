//! A part of a message on its own, whole: as one commit is shown, and a log with its texts.
//!
//! The same lines as in a chat; and beside them what names the part's other end.

use serde_json::{Map, Value};

use super::page::{INDENT, Page};
use super::{Chat, Pen};
use crate::model::Part;
use crate::model::call::Brief;
use crate::model::server_tools::hosted;
use crate::render::edit::Edits;
use crate::render::{Label, Line, part};
use crate::tree::NodeId;
use crate::tree::console::printed;

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
        let lines = page.into_lines().into_iter();
        lines.map(|line| line.line).collect()
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
            Part::ToolResult { call, content, .. } => {
                let (head, label) = match part.has_failed() {
                    true => (Label::Error.of("failed"), Label::Error),
                    false => (Label::Tool.of("result"), Label::Dim),
                };
                let head = head + Label::Dim.of(format!("  {call}"));
                self.line(NOWHERE, INDENT, head);
                let is_nothing =
                    |part: &Part| matches!(part, Part::Text { text } if text.is_empty());
                if content.iter().all(is_nothing) {
                    self.line(NOWHERE, INDENT + 2, Label::Dim.of("(empty)"));
                }
                for part in content {
                    match part {
                        Part::Text { text } => {
                            self.shown_output(NOWHERE, &[], &printed(text), label)
                        }
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
        let Part::Opaque { data, .. } = held else {
            return;
        };
        let Some(said) = hosted(data) else {
            return self.text(NOWHERE, data, Label::Text);
        };
        if let Some((name, arguments)) = said.call {
            self.whole_call("", &name, &arguments);
        }
        for text in said.gave {
            self.shown_output(NOWHERE, &[], &text, Label::Dim);
        }
    }

    /// A call with its id and all its arguments: on its line, below it where they are long, or as
    /// the edits that they are.
    fn whole_call(&mut self, id: &str, name: &str, arguments: &str) {
        let id = match id {
            "" => Line::default(),
            id => Label::Dim.of(format!("  {id}")),
        };
        if let Some(edits) = Edits::of_call(name, arguments) {
            let line = Label::Tool.of(edits.brief(name).whole()) + super::edit::tally(&edits) + id;
            self.wrapped(NOWHERE, INDENT, line);
            return self.edits(NOWHERE, &edits);
        }
        let Ok(Value::Object(arguments)) = serde_json::from_str(arguments) else {
            self.wrapped(NOWHERE, INDENT, Label::Tool.of(name) + id);
            return self.text(NOWHERE, arguments, Label::Text);
        };
        let is_long = |(_, value): &(String, Value)| match value {
            Value::String(text) => text.contains('\n') || text.len() > ARGUMENT_CHARS,
            value => has_lines(value) || value.to_string().len() > ARGUMENT_CHARS,
        };
        let (long, short): (Vec<_>, Vec<_>) = arguments.into_iter().partition(is_long);
        let line = Brief::of_object(name, &Map::from_iter(short)).whole();
        self.wrapped(NOWHERE, INDENT, Label::Tool.of(line) + id);
        for (key, value) in long {
            self.line(NOWHERE, INDENT + 2, Label::Dim.of(format!("{key}:")));
            let text = match value {
                Value::String(text) => text,
                value => {
                    let mut text = String::new();
                    pretty(&value, 0, &mut text);
                    text
                }
            };
            self.shown_output(NOWHERE, &[], &text, Label::Text);
        }
    }
}

/// Whether a text in the value has several lines.
fn has_lines(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\n'),
        Value::Array(items) => items.iter().any(has_lines),
        Value::Object(fields) => fields.values().any(has_lines),
        _ => false,
    }
}

/// A value as JSON, to be read: a text of several lines has them, below where it begins.
fn pretty(value: &Value, indent: usize, out: &mut String) {
    let start = |indent: usize| format!("\n{}", "  ".repeat(indent));
    match value {
        Value::String(text) if text.contains('\n') => {
            let lines = text.split('\n').map(|line| {
                let quoted = Value::from(line).to_string();
                quoted[1..quoted.len() - 1].to_owned()
            });
            let lines: Vec<String> = lines.collect();
            *out += &format!("\"{}\"", lines.join(&start(indent)));
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                *out += if at == 0 { "" } else { "," };
                *out += &start(indent + 1);
                pretty(item, indent + 1, out);
            }
            *out += &start(indent);
            out.push(']');
        }
        Value::Object(fields) if !fields.is_empty() => {
            out.push('{');
            for (at, (key, value)) in fields.iter().enumerate() {
                *out += if at == 0 { "" } else { "," };
                *out += &format!("{}{}: ", start(indent + 1), Value::from(key.as_str()));
                pretty(value, indent + 1, out);
            }
            *out += &start(indent);
            out.push('}');
        }
        value => *out += &value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::plain;

    #[test]
    fn an_argument_has_its_own_line_breaks_however_deep_they_are() {
        let call = Part::ToolCall {
            id: "c1".into(),
            name: "shell".into(),
            arguments: r#"{"timeout": 5, "command": ["bash", "-lc", "cd src\nls \"a\""], "edits": [{"new": "a\n\tb", "n": 1, "none": []}]}"#.into(),
            kind: None,
        };
        let lines = Chat::new(40, None).part(&call);
        let lines: Vec<String> = lines.iter().map(plain::paint).collect();
        assert_eq!(
            lines,
            [
                "    shell timeout=5  c1",
                "      command:",
                "      [",
                "        \"bash\",",
                "        \"-lc\",",
                "        \"cd src",
                "        ls \\\"a\\\"\"",
                "      ]",
                "      edits:",
                "      [",
                "        {",
                "          \"new\": \"a",
                "          \\tb\",",
                "          \"n\": 1,",
                "          \"none\": []",
                "        }",
                "      ]",
            ]
        );
    }
}
