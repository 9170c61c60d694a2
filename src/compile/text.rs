//! A context for people and for whoever sums it up: numbered messages, nothing repaired, nothing escaped.
//!
//! Heads, and what a part is, begin in the first column; what was said stands behind a margin ([`crate::model::quote`]), so no message
//! can look like another. Control characters are the terminal's concern, and so the program's.

use std::collections::HashMap;

use crate::compile::body::{Body, Payload};
use crate::model::quote::{MARGIN, folded, headed, quoted};
use crate::model::{Media, MediaSource, Message, Part};
use crate::wire::json::type_of;

/// The text in the making.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) payload: Payload,
    /// How many messages came.
    count: usize,
    /// The names of the tools that were called, by the ids of the calls.
    tools: HashMap<String, String>,
}

impl Writer {
    /// `head` stands before all messages.
    pub(super) fn new(head: &str) -> Self {
        Self {
            payload: Payload::of(head.to_owned()),
            ..Self::default()
        }
    }

    /// The next message.
    pub(super) fn add(&mut self, message: &Message) {
        let (mut out, tools) = (String::new(), &mut self.tools);
        if self.count > 0 {
            out.push_str("\n\n");
        }
        self.count += 1;
        out.push_str(&format!("[{}] {}", self.count, message.role));
        if let Some(name) = &message.name {
            let to = message.recipient.as_ref();
            let to = to.map_or(String::new(), |to| format!(" → {to}"));
            out.push_str(&folded_in(" (", &format!("{name}{to}"), ")"));
        }
        if let Some(kind) = &message.attached {
            out.push_str(&folded_in(" (attached: ", kind, ")"));
        }
        for part in &message.parts {
            if let Part::ToolCall { id, name, .. } = part {
                tools.insert(id.clone(), name.clone());
            }
            push_part(&mut out, part, tools);
        }
        self.payload.push_str(&out);
    }

    /// The text.
    pub(super) fn finish(self) -> Body {
        Body {
            stable_bytes: self.payload.len(),
            payload: self.payload.into_text(),
            nothing_to_send: self.count == 0,
        }
    }
}

/// A text of others between words of our own, on one line.
fn folded_in(before: &str, text: &str, after: &str) -> String {
    format!("{before}{}{after}", folded(text))
}

fn push_part(out: &mut String, part: &Part, tools: &HashMap<String, String>) {
    match part {
        Part::Text { text } if text.is_empty() => {}
        Part::Text { text } => push_line(out, &quoted(text, MARGIN)),
        Part::Thinking { text, .. } => push_line(out, &headed("(thinking)", text)),
        Part::ToolCall {
            name, arguments, ..
        } => push_line(out, &headed(&folded_in("→ ", name, ""), arguments)),
        Part::ToolResult {
            call,
            content,
            is_error,
        } => {
            let tool = tools.get(call).unwrap_or(call);
            let failed = if *is_error { " (failed)" } else { "" };
            push_line(out, &folded_in("← ", tool, failed));
            for part in content {
                push_part(out, part, tools);
            }
        }
        Part::Image(media) => push_line(out, &describe("image", media)),
        Part::File(media) => push_line(out, &describe("file", media)),
        Part::Opaque { provider, data } => {
            let kind = type_of(data).unwrap_or_else(|| "block".to_owned());
            push_line(out, &folded_in("[", &format!("{provider} {kind}"), "]"));
        }
    }
}

fn push_line(out: &mut String, line: &str) {
    out.push('\n');
    out.push_str(line);
}

/// `[image image/png, 1200 bytes]`, `[file report.pdf, application/pdf, https://…]`.
fn describe(word: &str, media: &Media) -> String {
    let place = match &media.source {
        MediaSource::Base64(data) => format!("{} bytes", data.len() / 4 * 3),
        MediaSource::Url(url) if url.starts_with("data:") => "inline".to_owned(),
        MediaSource::Url(url) => url.clone(),
        MediaSource::FileId(id) => id.clone(),
    };
    let facts: Vec<&str> = [media.name.as_deref(), media.media_type.as_deref()]
        .into_iter()
        .flatten()
        .chain([place.as_str()])
        .collect();
    folded_in(&format!("[{word} "), &facts.join(", "), "]")
}
