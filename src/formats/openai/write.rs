//! Messages to an OpenAI request: untouched ones as their records were, others anew.

use std::collections::HashSet;

use crate::error::Result;
use crate::formats::Export;
use crate::formats::shared::chat::write::{document_text, write_all};
use crate::formats::shared::remarks::Remarks;
use crate::model::{Message, Part, Role};
use crate::wire::json::{Object, array};
use crate::wire::openai::{MessageWriter, PROVIDER, function, result_content, tool_message};

pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let mut remarks = Remarks::of(export.document);
    let mut legacy = HashSet::new();
    let mut items = Vec::new();
    for (index, outgoing) in export.messages.iter().enumerate() {
        for part in &outgoing.message.parts {
            if let Part::ToolCall { id, kind, .. } = part {
                match kind.as_deref() {
                    Some("function_call") => legacy.insert(id.as_str()),
                    _ => legacy.remove(id.as_str()),
                };
            }
        }
        if outgoing.records.is_empty() {
            let number = index + 1;
            results(&outgoing.message, number, &legacy, &mut items, &mut remarks);
            items.extend(spoken(&outgoing.message, number, &mut remarks));
        } else {
            items.extend(outgoing.records.iter().cloned());
        }
    }
    let said = ("messages", &*array(items));
    let text = document_text(("system", None), said, &export.document.settings);
    write_all(export.out, &text)?;
    Ok(remarks.into_words())
}

/// Adds a message for each result.
fn results(
    message: &Message,
    number: usize,
    legacy: &HashSet<&str>,
    items: &mut Vec<String>,
    remarks: &mut Remarks,
) {
    for part in &message.parts {
        let Some((call, content, is_error)) = part.as_result() else {
            continue;
        };
        if is_error {
            remarks.add("the mark of a failed tool call");
        }
        let content = result_content(content, number, &mut remarks.repairs);
        items.push(if legacy.contains(call) {
            Object::new()
                .string("role", "function")
                .string("name", call)
                .raw("content", &content)
                .finish()
        } else {
            tool_message(call, message.name.as_deref(), &content)
        });
    }
}

/// Everything but results as one message; none if there is nothing else.
fn spoken(message: &Message, number: usize, remarks: &mut Remarks) -> Option<String> {
    let repairs = &mut remarks.repairs;
    if !message.parts.is_empty() && message.parts.iter().all(Part::is_result) {
        return None;
    }
    let name = message.name.as_deref();
    let name = name.filter(|_| message.role != Role::Tool);
    let mut written = MessageWriter::new(message.role, name, number, repairs);
    for part in message.parts.iter().filter(|part| !part.is_result()) {
        match part {
            Part::Thinking { text, provider, .. } if provider.as_deref() == Some(PROVIDER) => {
                written.reasoning.get_or_insert_default().push_str(text);
            }
            Part::ToolCall {
                name,
                arguments,
                kind: Some(kind),
                ..
            } if kind == "function_call" && written.function_call.is_none() => {
                written.function_call = Some(function(name, arguments));
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                kind,
            } => written.call(id, name, arguments, kind.as_deref(), repairs),
            part => written.part(part, repairs),
        }
    }
    written.finish(repairs)
}
