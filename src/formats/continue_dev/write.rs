//! Messages as items of a history: an item that still says what the context says is written as it was,
//! others are made anew.

use serde_json::{Value, json};

use super::item::{Item, Told, told};
use super::{PROVIDER, SUMMARY};
use crate::error::Result;
use crate::formats::shared::chat::write::{Answered, with_results, write_all};
use crate::formats::shared::records::replaced;
use crate::formats::shared::remarks::Remarks;
use crate::formats::shared::writers;
use crate::formats::{Export, Outgoing};
use crate::model::{Part, Role};
use crate::wire::Notes;
use crate::wire::anthropic;
use crate::wire::json::{Object, array, text_at};
use crate::wire::media::image_url;

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let (messages, document) = (export.messages, export.document);
    let mut remarks = Remarks::of(document);
    let mut items = Vec::new();
    let summary = messages.split_first();
    let summary = summary.and_then(|(first, rest)| Some((summary_item(first)?, rest)));
    let messages = match summary {
        Some((item, rest)) => {
            items.push(item);
            rest
        }
        None => messages,
    };
    for answered in with_results(messages, &mut remarks) {
        match untouched(&answered, items.is_empty()) {
            Some(records) => items.extend(records),
            None => anew(&answered, &mut items, &mut remarks),
        }
    }
    let history = array(&items);
    let session = match &document.source {
        Some(source) => {
            let source = source.trim_start_matches('\u{feff}');
            replaced(source, "history", &history)
        }
        None => Object::new()
            .string("sessionId", &document.session_id)
            .string("title", document.title.as_deref().unwrap_or_default())
            .string("workspaceDirectory", &document.cwd)
            .raw("history", &history),
    };
    write_all(export.out, &session.finish())?;
    Ok(remarks.into_words())
}

/// What records say one after the other.
fn said<'a>(records: impl IntoIterator<Item = &'a String>) -> Option<Vec<Told>> {
    let read = |record| Item::of(record, &mut Notes::default()).ok();
    let items: Option<Vec<Item>> = records.into_iter().map(|record| read(record)).collect();
    Some(told(&items?))
}

/// The item for the summary that everything begins with, as the editor says it.
fn summary_item(first: &Outgoing) -> Option<String> {
    let summary = match &first.message.parts[..] {
        [Part::Text { text }] if first.message.role == Role::System => {
            text.strip_prefix(SUMMARY)?
        }
        _ => return None,
    };
    // What the item said beside its summary is hidden by that.
    let is_said = |record: &&String| {
        let found = said([*record]).unwrap_or_default();
        matches!(found.last(), Some(Told::Summary(message, _)) if *message == first.message)
    };
    let own = first.records.iter().find(is_said).filter(|record| {
        let said = said([*record]).unwrap_or_default();
        said.len() == 1
    });
    Some(own.cloned().unwrap_or_else(|| {
        json!({
            "message": {"role": "assistant", "content": ""},
            "contextItems": [],
            "conversationSummary": summary,
        })
        .to_string()
    }))
}

/// The records of a message and of what its calls gave back, if that is all that they say.
fn untouched(answered: &Answered<'_>, is_first: bool) -> Option<Vec<String>> {
    let results = answered.results.iter().map(|(_, outgoing)| *outgoing);
    let all = std::iter::once(answered.outgoing).chain(results);
    let mut records: Vec<&String> = Vec::new();
    for outgoing in all.clone() {
        // What a reply's calls gave back stands in its own item.
        if outgoing
            .records
            .iter()
            .any(|record| !records.contains(&record))
        {
            records.extend(&outgoing.records);
        } else if outgoing.records.is_empty() {
            return None;
        }
    }
    let found = said(records.iter().copied())?;
    // A summary would hide what stands before it.
    let hides = found.iter().any(|told| matches!(told, Told::Summary(..)));
    let is_same = found
        .iter()
        .map(Told::message)
        .eq(all.map(|it| &it.message));
    (is_same && (is_first || !hides)).then(|| records.into_iter().cloned().collect())
}

/// Makes the items of a message and of what its calls gave back.
fn anew(answered: &Answered<'_>, items: &mut Vec<String>, remarks: &mut Remarks) {
    let (own, results) = answered.parts.split_at(answered.own);
    if answered.outgoing.message.role != Role::Assistant {
        let content = content(own, remarks);
        items.push(item(json!({"role": "user", "content": content})).to_string());
        return;
    }
    let (mut text, mut calls, mut states) = (Vec::new(), Vec::new(), Vec::new());
    for part in own {
        match part {
            Part::Thinking { text, .. } => {
                let mut message = json!({"role": "thinking", "content": text});
                if let Some(signature) = writers::seal(part, &[anthropic::PROVIDER], remarks) {
                    message["signature"] = json!(signature);
                }
                items.push(item(message).to_string());
            }
            Part::Opaque { provider, data } if provider == anthropic::PROVIDER => {
                match text_at(data, "data") {
                    Some(data) => {
                        let message =
                            json!({"role": "thinking", "content": "", "redactedThinking": data});
                        items.push(item(message).to_string());
                    }
                    None => remarks.add("a block of another provider"),
                }
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => {
                let call = json!({
                    "id": id,
                    "type": "function",
                    "function": {"name": name, "arguments": arguments},
                });
                states.push(state(id, &call, arguments, results, remarks));
                calls.push(call);
            }
            part => text.push(*part),
        }
    }
    let content = match &text[..] {
        [] => Value::from(""),
        [Part::Text { text }] if !text.trim().is_empty() => Value::from(text.clone()),
        parts => content(parts, remarks),
    };
    let mut item = item(json!({"role": "assistant", "content": content}));
    if !calls.is_empty() {
        item["message"]["toolCalls"] = Value::from(calls);
        item["toolCallStates"] = Value::from(states);
    }
    items.push(item.to_string());
}

/// An item of a message beside which the editor put nothing.
fn item(message: Value) -> Value {
    json!({"message": message, "contextItems": []})
}

fn content(parts: &[&Part], remarks: &mut Remarks) -> Value {
    let mut pieces = Vec::new();
    for part in parts {
        let piece = match part {
            Part::Text { text } => Some(json!({"type": "text", "text": text})),
            Part::Image(media) => {
                image_url(media).map(|url| json!({"type": "imageUrl", "imageUrl": {"url": url}}))
            }
            Part::Opaque { provider, data } if provider == PROVIDER => {
                serde_json::from_str(data).ok()
            }
            _ => None,
        };
        match piece {
            Some(piece) => pieces.push(piece),
            None => remarks.add("a part that the tool cannot hold"),
        }
    }
    Value::from(pieces)
}

/// How a call stands: with what it gave back, or still open.
fn state(
    id: &str,
    call: &Value,
    arguments: &str,
    results: &[&Part],
    remarks: &mut Remarks,
) -> Value {
    let parsed = serde_json::from_str::<Value>(arguments).ok();
    let parsed = parsed.filter(Value::is_object).unwrap_or_else(|| json!({}));
    let mut state =
        json!({"toolCallId": id, "toolCall": call, "status": "calling", "parsedArgs": parsed});
    let mut results = results.iter().filter_map(|part| part.as_result());
    if let Some((_, content, is_error)) = results.find(|(call, ..)| *call == id) {
        let mut output = Vec::new();
        for part in content {
            match part {
                Part::Text { text } => output.push(json!({
                    "name": "Tool Result",
                    "description": "Tool execution result",
                    "content": text,
                })),
                _ => remarks.add("a part of a result that is no text"),
            }
        }
        state["status"] = Value::from(if is_error { "errored" } else { "done" });
        state["output"] = Value::from(output);
    }
    state
}
