//! What the client sent while it ran: the context of hooks at a tool within tags beside the result, and
//! calls as the model made them. Once it has ended, what it sends is what the file says.
//!
//! That it has ended is told by a hook at the start of the next, or, of one that takes no terminal, by
//! the record of its last prompt behind a reply that ends a turn. Deliberately absent: an end that left no
//! trace.
//!
//! # Source
//!
//! Observed: sessions of Claude Code 2.1.197 beside the requests that it sent.

use std::collections::HashSet;

use serde_json::Value;
use serde_json::value::RawValue;

use super::attachments::{Sent, sent};
use super::record::{Attachment, MessageHead, Record};
use crate::error::Result;
use crate::formats::Input;
use crate::formats::shared::records::each_record;
use crate::formats::shared::running::Running;
use crate::model::Part;
use crate::model::call::Arguments;
use crate::wire::Notes;
use crate::wire::attachments::tagged;
use crate::wire::json::{Object, decode, is_true, string, word};

/// What stands beside a reference to a tool.
const LOADED: &str = "Tool loaded.";

/// The tool that sends a message to another agent.
const POST: &str = "SendMessage";

/// Reads a session up to a reply of a model.
pub(super) fn running(input: &dyn Input, until: u64, model: Option<&str>) -> Result<Running> {
    let mut reader = Reader::default();
    each_record(input, &mut |span, text| {
        if span.offset <= until
            && let Ok(record) = serde_json::from_str::<Record<'_>>(text)
        {
            reader.effort(span.offset, &record);
            if span.offset < until {
                reader.record(span.offset, &record, text, model);
            }
        }
    })?;
    reader.end_batch();
    let mut found = reader.found;
    found.is_sent_again = reader.is_newer;
    for texts in found.beside.values_mut() {
        // Those from before the call stand first; they are on no message's path.
        texts.sort_by_key(|(place, _)| place.is_some());
    }
    found.left_out = reader.open.into_iter().collect();
    Ok(found)
}

#[derive(Default)]
struct Reader {
    found: Running,
    /// Calls without result.
    open: HashSet<String>,
    /// Calls that send a message to another agent, and have more in the file than the model wrote.
    posted: HashSet<String>,
    /// Whether the last record of the conversation ends a turn.
    is_settled: bool,
    /// Whether the client takes no terminal.
    is_piped: bool,
    /// Whether it says of a reply who made it.
    is_newer: bool,
    may_have_ended: bool,
    /// The places of the prompts that were given together in mid-turn, and whether one has a picture.
    batch: (Vec<u64>, bool),
}

impl Reader {
    fn record(&mut self, offset: u64, record: &Record<'_>, text: &str, model: Option<&str>) {
        match word(record.kind).as_deref() {
            Some("last-prompt") => self.may_have_ended = self.is_settled && self.is_piped,
            Some("attachment") => self.attachment(offset, record),
            Some("assistant") => {
                self.end_batch();
                (self.is_settled, self.may_have_ended) = (true, false);
                self.is_piped = text.contains(r#""entrypoint":"sdk"#);
                self.is_newer = record.made_by.is_some();
                self.reply(offset, record, model);
            }
            Some("user") => {
                self.end_batch();
                self.user(record);
            }
            _ => {}
        }
    }

    fn effort(&mut self, offset: u64, record: &Record<'_>) {
        if let Some(effort) = string(record.per_turn_effort) {
            let config = Object::new().string("effort", &effort).finish();
            self.found.efforts.insert(offset, config);
        }
    }

    /// Prompts that were given in mid-turn, one of which has a picture, are the user's own text.
    fn end_batch(&mut self) {
        let (batch, has_picture) = std::mem::take(&mut self.batch);
        if has_picture {
            self.found.own_turn.extend(batch);
        }
    }

    /// All that was sent otherwise is sent as the file says from here on.
    fn end(&mut self) {
        if self.is_newer {
            // That a tool was loaded stays said.
            let is_loaded =
                |texts: &mut Vec<(_, String)>| texts.iter().any(|(_, text)| text == LOADED);
            self.found.beside.retain(|_, texts| is_loaded(texts));
            // What it has added to a message for another agent it takes out again.
            let posted = &self.posted;
            self.found.arguments.retain(|call, _| posted.contains(call));
        } else {
            self.found.beside.clear();
            self.found.arguments.clear();
        }
        self.found.unsent.clear();
        self.may_have_ended = false;
    }

    fn reply(&mut self, offset: u64, record: &Record<'_>, model: Option<&str>) {
        let message = decode::<MessageHead<'_>>(record.message).unwrap_or_default();
        let of = string(message.model);
        if let (Some(model), Some(of)) = (model, of)
            && of != model
        {
            self.found.of_other_models.insert(offset);
        }
        let blocks: Vec<&RawValue> = decode(message.content).unwrap_or_default();
        let calls = blocks.into_iter().filter_map(|block| decode(Some(block)));
        for call in calls.filter(|call: &Call<'_>| call.r#type == "tool_use") {
            self.is_settled = false;
            let is_kept = self.is_newer && !self.is_piped && call.name == "ExitPlanMode";
            let own = as_made(&call.name, call.input.get()).filter(|_| !is_kept);
            if let Some(own) = own {
                if call.name == POST {
                    self.posted.insert(call.id.clone());
                }
                self.found.arguments.insert(call.id.clone(), own);
            }
            self.open.insert(call.id);
        }
    }

    fn user(&mut self, record: &Record<'_>) {
        let message = decode::<MessageHead<'_>>(record.message).unwrap_or_default();
        let blocks = decode::<Vec<Value>>(message.content).unwrap_or_default();
        let mut is_result = false;
        for block in &blocks {
            let Some(call) = block["tool_use_id"].as_str() else {
                continue;
            };
            is_result = true;
            self.open.remove(call);
            let parts = block["content"].as_array();
            if parts.is_some_and(|parts| parts.iter().any(|it| it["type"] == "tool_reference")) {
                let texts = self.found.beside.entry(call.to_owned()).or_default();
                texts.push((None, LOADED.to_owned()));
            }
        }
        if !is_result && self.may_have_ended {
            self.end();
        }
        (self.is_settled, self.may_have_ended) = (false, false);
    }

    fn attachment(&mut self, offset: u64, record: &Record<'_>) {
        let attachment = decode::<Attachment<'_>>(record.attachment).unwrap_or_default();
        let kind = word(attachment.kind).unwrap_or_default();
        let event = word(attachment.hook_event).unwrap_or_default();
        let name = word(attachment.hook_name).unwrap_or_default();
        if event == "SessionStart" && name == "SessionStart:resume" {
            self.end();
        }
        let offered: Vec<String> = decode(attachment.surfaced_names).unwrap_or_default();
        if !offered.is_empty() {
            let blocks = offered.iter().map(|name| tool_addition(name)).collect();
            self.found.system_blocks.insert(offset, blocks);
        }
        if is_true(attachment.hosts_own_turn) {
            self.batch.0.push(offset);
            self.batch.1 |= string(attachment.prompt).is_none();
        }
        // A newer client sends it by its place, and never otherwise.
        if record.rendered_role.is_some() {
            return;
        }
        // Why it was not to stop is a prompt of its own.
        if event == "Stop" && kind == "hook_blocking_error" {
            self.found.unsent.insert(offset);
        }
        let at_tool = ["PreToolUse", "PostToolUse", "PostToolUseFailure"].contains(&&*event);
        let is_told = matches!(&*kind, "hook_additional_context" | "hook_blocking_error");
        let (true, true, Some(call)) = (at_tool, is_told, string(attachment.tool_use_id)) else {
            return;
        };
        let Sent::Parts { parts, .. } = sent(record, &mut Notes::default()) else {
            return;
        };
        let place = (event != "PreToolUse").then_some(offset);
        let texts = parts.iter().filter_map(Part::as_text);
        let texts = texts.map(|text| (place, tagged(text)));
        self.found.beside.entry(call).or_default().extend(texts);
    }
}

/// The block that offers a tool.
fn tool_addition(name: &str) -> String {
    let tool = Object::typed("tool_reference").string("name", name);
    Object::typed("tool_addition")
        .raw("tool", &tool.finish())
        .finish()
}

/// A call in a reply.
#[derive(serde::Deserialize)]
struct Call<'a> {
    r#type: String,
    id: String,
    name: String,
    #[serde(borrow)]
    input: &'a RawValue,
}

/// A call's arguments as the model made them, where the client has added to them in the file.
fn as_made(name: &str, input: &str) -> Option<String> {
    let Arguments(fields) = serde_json::from_str(input).ok()?;
    let get = |key: &str| {
        let found = fields.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.get())
    };
    let added: &[&str] = match name {
        // The plan stands in the file that the path names.
        "ExitPlanMode" if get("planFilePath").is_some() => &["plan", "planFilePath"],
        POST => {
            let has_both = get("recipient").is_some() && get("type").is_some();
            let is_again = get("recipient") == get("to") && get("content") == get("message");
            if !has_both || !is_again {
                return None;
            }
            &["type", "recipient", "recipient_kind", "content"]
        }
        _ => return None,
    };
    let mut own = Object::new();
    for (key, value) in fields.iter().filter(|(key, _)| !added.contains(&&**key)) {
        own = own.raw(key, value.get());
    }
    Some(own.finish())
}
