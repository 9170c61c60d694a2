//! Messages into a session: a reply and what its calls gave back as one record.

use std::io::Write;

use super::project_hash;
use super::read::steps;
use crate::error::Result;
use crate::interop::chat::write::{with_results, write_all};
use crate::interop::records::rewritten;
use crate::interop::remarks::Remarks;
use crate::interop::{Document, Outgoing, Step};
use crate::model::{Millis, Part, Role, Span};
use crate::wire::Notes;
use crate::wire::gemini::{PROVIDER, args, write_answer, write_part};
use crate::wire::json::{Object, array};

pub(super) fn export(
    messages: &[Outgoing],
    document: &Document,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let mut remarks = Remarks::of(document);
    let mut time = document.now.unwrap_or(Millis(0));
    let mut records = Vec::new();
    for (number, (outgoing, parts)) in (0..).zip(with_results(messages, &mut remarks)) {
        time = outgoing.time.unwrap_or(time);
        let record = outgoing.records.first();
        records.push(match record.filter(|record| holds(record, &parts)) {
            Some(record) => record.clone(),
            None => {
                let new = Object::new().string("id", &document.new_id(number));
                let new = new.string("timestamp", &time.to_iso());
                anew(outgoing, &parts, new, &mut remarks)
            }
        });
    }
    let messages = array(&records);
    let now = document.now.unwrap_or(time).to_iso();
    let session = match &document.source {
        Some(source) => rewritten(source.trim_start_matches('\u{feff}'), |key, value| {
            let value = if key == "messages" { &messages } else { value };
            Some(value.to_owned())
        }),
        None => Object::new()
            .string("sessionId", &document.session_id)
            .string("projectHash", &project_hash(&document.cwd))
            .string("startTime", &now)
            .string("lastUpdated", &now)
            .raw("messages", &messages)
            .optional("summary", document.title.as_deref()),
    };
    write_all(out, &session.finish())?;
    Ok(remarks.into_words())
}

/// Whether a record says just these parts.
fn holds(record: &str, parts: &[&Part]) -> bool {
    let steps = steps(record, Span::default(), &mut Notes::default());
    let said = steps.iter().flat_map(|(_, steps)| steps);
    let said = said.filter_map(Step::message);
    said.flat_map(|message| &message.parts)
        .eq(parts.iter().copied())
}

/// A record made anew: with what stood beside the message before it was changed.
fn anew(outgoing: &Outgoing, parts: &[&Part], new: Object, remarks: &mut Remarks) -> String {
    let (mut content, mut thoughts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::ToolResult { .. } => {}
            Part::Thinking { text, provider, .. } if provider.as_deref() == Some(PROVIDER) => {
                let (subject, description) = text.split_once("\n\n").unwrap_or((text, ""));
                let thought = Object::new().string("subject", subject);
                thoughts.push(thought.string("description", description).finish());
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => {
                let call = Object::new().string("id", id).string("name", name);
                let call = call.raw("args", args(arguments));
                let left_out = || remarks.add("a file or a block in a tool's result");
                calls.push(match write_answer(id, name, parts, left_out) {
                    Some((answer, status)) => call.raw("result", &answer).string("status", status),
                    None => call.string("status", "cancelled"),
                });
            }
            part => match write_part(part) {
                Some(part) => content.push(part),
                None => remarks.add("thinking or a block of another provider"),
            },
        }
    }
    let object = match outgoing.replaces.first().or(outgoing.records.first()) {
        Some(old) => rewritten(old, |key, value| {
            let anew = ["type", "model", "content", "thoughts", "toolCalls"].contains(&key);
            (!anew).then(|| value.to_owned())
        }),
        None => new,
    };
    let object = object.raw("content", &array(&content));
    if outgoing.message.role != Role::Assistant {
        return object.string("type", "user").finish();
    }
    let calls = array(calls.into_iter().map(Object::finish));
    let object = object
        .raw("thoughts", &array(&thoughts))
        .raw("toolCalls", &calls);
    let object = object.string("type", "gemini");
    match outgoing.settings.get("model") {
        Some(model) => object.raw("model", model).finish(),
        None => object.finish(),
    }
}
