//! The exporter: kept records as they were, new ones in the newer generation.

use crate::error::Result;
use crate::formats::shared::remarks::Remarks;
use crate::formats::shared::{stream, writers};
use crate::formats::{Document, Export, Outgoing};
use crate::model::{Part, Role};
use crate::wire::json::Object;

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let (messages, document) = (export.messages, export.document);
    let mut writer = LogWriter {
        document,
        number: 0,
    };
    stream::export(export, |at, kept, remarks| match kept {
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
                    let arguments = writers::arguments(arguments);
                    let call = Object::new().string("toolCallId", id);
                    let call = call.string("toolName", name).raw("args", &arguments);
                    Some(("tool_call", call))
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
                    let result = Object::new().string("toolCallId", call);
                    let result = result.string("result", &texts.join("\n"));
                    let failure = Object::new().string("code", "tool_error");
                    let failure = failure.string("message", "").finish();
                    Some(match is_error {
                        true => ("tool_result", result.raw("error", &failure)),
                        false => ("tool_result", result),
                    })
                }
                (_, Part::Thinking { text: thought, .. }) => Some(("thinking_done", text(thought))),
                (role, part) => text_of(part, remarks).map(|said| match role {
                    Role::Assistant => ("assistant_done", text(said)),
                    _ if outgoing.is_summary => {
                        let summary = text(said).string("summaryType", "compaction");
                        ("summary_message", summary)
                    }
                    Role::User => ("user_message", text(said)),
                    role => ("custom_message", text(said).string("role", role.as_str())),
                }),
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
