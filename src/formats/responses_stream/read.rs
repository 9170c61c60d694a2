//! An event of the API as events.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::formats::shared::parts::seconds;
use crate::formats::shared::stream::{EventReader, Replies, Telling};
use crate::model::Part;
use crate::tree::Happening;
use crate::wire::json::{Raw, decode, string};
use crate::wire::responses::{self, Meaning};
use crate::wire::{Notes, openai};

/// Knows which response is under way, and its items.
#[derive(Default)]
pub(super) struct ResponsesReader {
    replies: Replies,
    items: HashMap<String, Item>,
    /// Whether any item of the response was told whole.
    told_items: bool,
}

/// An item that has begun.
#[derive(Default)]
struct Item {
    call: Option<String>,
    phase: Option<String>,
    /// What streamed of its reasoning.
    thought: String,
}

lazy! { struct Line { kind = "type", response, item, item_id, delta, message, error } }

lazy! { struct Body { id, model, created_at, output, usage, error } }

lazy! { struct Begun { kind = "type", id, call_id, name, phase } }

impl EventReader for ResponsesReader {
    fn read(&mut self, record: &RawValue) -> Telling {
        let Ok(line) = serde_json::from_str::<Line<'_>>(record.get()) else {
            return Telling::other("(no object)");
        };
        let kind = string(line.kind).unwrap_or_else(|| "(no type)".to_owned());
        let mut told = Telling::default();
        match kind.as_str() {
            "response.created" | "response.queued" | "response.in_progress" => {
                self.begin(&line, &mut told);
            }
            "response.output_item.added" => {
                let begun: Begun<'_> = decode(line.item).unwrap_or_default();
                let what = self.item(&begun);
                self.replies.say(what, &mut told);
            }
            "response.output_item.done" => {
                let what = self.whole(line.item, &mut told.notes);
                self.replies.say(what, &mut told);
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => self.end(&kind, &line, &mut told),
            "error" => {
                let error: Value = decode(line.error).unwrap_or_default();
                let own = string(line.message);
                let text = own.as_deref().or(error["message"].as_str());
                self.replies.fail(text, &mut told);
            }
            kind => match self.streamed(kind, &line) {
                Some(what) => self.replies.say(what, &mut told),
                None => told.other = Some(kind.to_owned()),
            },
        }
        told
    }
}

impl ResponsesReader {
    fn begin(&mut self, line: &Line<'_>, told: &mut Telling) {
        let body: Body<'_> = decode(line.response).unwrap_or_default();
        let id = string(body.id);
        told.session.clone_from(&id);
        // It is told again while it is waited for.
        if !self.replies.is(&id) {
            let time = seconds(body.created_at);
            told.events = self.replies.begin(id, string(body.model), time);
            self.items.clear();
            self.told_items = false;
        }
    }

    /// An item begins: a call can be shown at once.
    fn item(&mut self, begun: &Begun<'_>) -> Option<Happening> {
        let mut item = Item {
            phase: string(begun.phase),
            ..Item::default()
        };
        let kind = string(begun.kind).unwrap_or_default();
        let what = match kind.as_str() {
            "function_call" | "custom_tool_call" => {
                let call = string(begun.call_id).or_else(|| string(begun.id));
                let call = call.unwrap_or_default();
                item.call = Some(call.clone());
                let name = string(begun.name).unwrap_or_default();
                Some(Happening::CallStart { call, name })
            }
            "reasoning" => Some(Happening::ThinkingStart),
            _ => None,
        };
        self.items
            .insert(string(begun.id).unwrap_or_default(), item);
        what
    }

    /// What a piece of an item tells; none if that is nothing of the conversation.
    fn streamed(&mut self, kind: &str, line: &Line<'_>) -> Option<Option<Happening>> {
        let item = self.items.entry(string(line.item_id).unwrap_or_default());
        let text = || string(line.delta).unwrap_or_default();
        Some(match kind {
            "response.output_text.delta" => {
                let (text, phase) = (text(), item.or_default().phase.clone());
                Some(Happening::TextDelta { text, phase })
            }
            // What has streamed is a piece of its own; its whole text comes with its item.
            "response.output_text.done" => Some(Happening::BlockEnd),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let text = text();
                item.or_default().thought += &text;
                Some(Happening::ThinkingDelta { text })
            }
            "response.reasoning_summary_part.added" => {
                let thought = &mut item.or_default().thought;
                let gap = (!thought.is_empty()).then(|| "\n\n".to_owned());
                gap.map(|text| {
                    *thought += &text;
                    Happening::ThinkingDelta { text }
                })
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let (text, offset) = (text(), None);
                let call = item.or_default().call.clone();
                call.map(|call| Happening::CallInput { call, text, offset })
            }
            "response.content_part.added"
            | "response.content_part.done"
            | "response.reasoning_summary_text.done"
            | "response.reasoning_summary_part.done"
            | "response.reasoning_text.done"
            | "response.function_call_arguments.done"
            | "response.custom_tool_call_input.done" => None,
            _ => return None,
        })
    }

    /// An item as a whole response holds it.
    fn whole(&mut self, raw: Raw<'_>, notes: &mut Notes) -> Vec<Happening> {
        let Some(raw) = raw else { return Vec::new() };
        self.told_items = true;
        let begun: Begun<'_> = decode(Some(raw)).unwrap_or_default();
        let item = self.items.remove(&string(begun.id).unwrap_or_default());
        let streamed = item.unwrap_or_default().thought;
        let parts = match responses::read(raw, notes) {
            Meaning::Reply(parts) => parts,
            Meaning::Output(message) | Meaning::Input(message) => message.parts,
            Meaning::Aside | Meaning::TooDeep(_) => Vec::new(),
        };
        let what = |part: Part| match &part {
            // What streamed in another order than it is told in the end stands as it was seen.
            Part::Thinking { text, .. } if !text.starts_with(&streamed) => Happening::BlockEnd,
            Part::Text { text } if text.is_empty() => Happening::BlockEnd,
            _ => Happening::Block(part),
        };
        parts.into_iter().map(what).collect()
    }

    fn end(&mut self, kind: &str, line: &Line<'_>, told: &mut Telling) {
        let body: Body<'_> = decode(line.response).unwrap_or_default();
        if !self.told_items {
            // Nothing was told of its items: they stand in the response itself.
            if !self.replies.is_open() {
                self.begin(line, told);
            }
            for raw in decode::<Vec<&RawValue>>(body.output).unwrap_or_default() {
                let what = self.whole(Some(raw), &mut told.notes);
                self.replies.say(what, told);
            }
        }
        match kind {
            "response.failed" => {
                let error: Value = decode(body.error).unwrap_or_default();
                let text = error["message"].as_str();
                let text = text.or(Some("the response failed"));
                self.replies.fail(text, told);
                told.usage = openai::usage_record(body.usage);
            }
            "response.cancelled" => {
                told.events.extend(self.replies.cut());
                self.replies.end(openai::usage_record(body.usage), told);
            }
            _ => self.replies.end(openai::usage_record(body.usage), told),
        }
    }
}
