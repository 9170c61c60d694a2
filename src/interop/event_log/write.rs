//! The exporter: kept records as they were, new ones in the newer generation.

use std::io::Write;

use crate::error::Result;
use crate::interop::remarks::Remarks;
use crate::interop::{Document, Outgoing, stream};
use crate::model::{Part, Role};
use crate::wire::json::{Object, is_object, quoted};

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(
    messages: &[Outgoing],
    document: &Document,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let mut writer = LogWriter {
        document,
        number: 0,
    };
    stream::export(messages, document, out, |at, kept, remarks| match kept {
        Some(records) => records.to_vec(),
        None => writer.records(&messages[at], remarks),
    })
}

struct LogWriter<'a> {
    document: &'a Document,
    /// How many ids were made.
    number: u64,
}

impl LogWriter<'_> {
    fn id(&mut self) -> String {
        self.number += 1;
        self.document.new_id(self.number)
    }

    /// The records that say a message.
    fn records(&mut self, outgoing: &Outgoing, remarks: &mut Remarks) -> Vec<String> {
        let message = &outgoing.message;
        let response = (message.role == Role::Assistant).then(|| self.id());
        let mut records = Vec::new();
        for part in &message.parts {
            let text = |text: &str| Object::new().string("text", text);
            let said = match (message.role, part) {
                (
                    _,
                    Part::ToolCall {
                        id,
                        name,
                        arguments,
                        ..
                    },
                ) => {
                    let arguments = match is_object(arguments) {
                        true => arguments.clone(),
                        false => quoted(arguments),
                    };
                    let call = Object::new().string("toolCallId", id);
                    Some((
                        "tool_call",
                        call.string("toolName", name).raw("args", &arguments),
                    ))
                }
                (
                    _,
                    Part::ToolResult {
                        call,
                        content,
                        is_error,
                    },
                ) => {
                    let texts = content.iter().filter_map(|part| text_of(part, remarks));
                    let texts: Vec<&str> = texts.collect();
                    let text = quoted(&texts.join("\n"));
                    let result = Object::new()
                        .string("toolCallId", call)
                        .raw("result", &text);
                    let failure = Object::new()
                        .string("code", "tool_error")
                        .string("message", "");
                    Some((
                        "tool_result",
                        match is_error {
                            true => result.raw("error", &failure.finish()),
                            false => result,
                        },
                    ))
                }
                (_, Part::Thinking { text: thought, .. }) => Some(("thinking_done", text(thought))),
                (Role::Assistant, part) => {
                    text_of(part, remarks).map(|said| ("assistant_done", text(said)))
                }
                (_, part) if outgoing.is_summary => text_of(part, remarks).map(|said| {
                    (
                        "summary_message",
                        text(said).string("summaryType", "compaction"),
                    )
                }),
                (Role::User, part) => {
                    text_of(part, remarks).map(|said| ("user_message", text(said)))
                }
                (role, part) => text_of(part, remarks)
                    .map(|said| ("custom_message", text(said).string("role", role.as_str()))),
            };
            let Some((kind, payload)) = said else {
                continue;
            };
            let record = self.record(outgoing, response.as_deref(), kind, payload);
            records.push(record);
        }
        if message.interrupted {
            let nothing = Object::new();
            records.push(self.record(outgoing, response.as_deref(), "interrupt", nothing));
        }
        records
    }

    fn record(
        &mut self,
        outgoing: &Outgoing,
        response: Option<&str>,
        kind: &str,
        payload: Object,
    ) -> String {
        let time = outgoing.time.or(self.document.now).map_or(0, |time| time.0);
        Object::new()
            .string("id", &self.id())
            .raw("timestamp", &time.to_string())
            .string("sessionId", &self.document.session_id)
            .optional("responseId", response)
            .string("type", kind)
            .raw("payload", &payload.finish())
            .finish()
    }
}

/// What a part says, if that is a text.
fn text_of<'p>(part: &'p Part, remarks: &mut Remarks) -> Option<&'p str> {
    match part {
        Part::Text { text } => Some(text),
        _ => {
            remarks.add("a picture, a file or another block that is no text");
            None
        }
    }
}
