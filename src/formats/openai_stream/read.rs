//! A chunk as events.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::formats::shared::stream::{EventReader, Replies, Telling};
use crate::model::{Millis, Part};
use crate::tree::Happening;
use crate::wire::json::{Object, Raw, array, decode, string};
use crate::wire::{Notes, openai};

/// Knows which reply is under way, and what of it a later chunk goes on with.
#[derive(Default)]
pub(super) struct ChunkReader {
    replies: Replies,
    thought: String,
    refusal: String,
    calls: BTreeMap<u64, Call>,
}

/// A call while it is written.
#[derive(Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    is_custom: bool,
}

lazy! { struct Chunk { id, object, created, model, choices, usage, error } }

lazy! { struct Choice { index, delta, finish_reason } }

lazy! { struct Delta { content, reasoning_content, reasoning, refusal, tool_calls, function_call } }

lazy! { struct CallDelta { index, id, function, custom } }

lazy! { struct Written { name, arguments, input } }

impl EventReader for ChunkReader {
    fn read(&mut self, record: &RawValue) -> Telling {
        let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(record.get()) else {
            return Telling::other("(no object)");
        };
        let mut told = Telling::default();
        if let Some(error) = decode::<Value>(chunk.error).filter(|error| !error.is_null()) {
            let text = error["message"].as_str().or(error.as_str());
            self.replies.fail(text, &mut told);
            return told;
        }
        let Some(choices) = decode::<Vec<Choice<'_>>>(chunk.choices) else {
            let kind = string(chunk.object);
            return Telling::other(kind.unwrap_or_else(|| "(no choices)".to_owned()));
        };
        // What comes before the reply may bear an empty id.
        let id = string(chunk.id).filter(|id| !id.is_empty());
        told.session.clone_from(&id);
        told.time = seconds(chunk.created);
        told.usage = openai::usage_record(chunk.usage.filter(|usage| usage.get() != "null"));
        let (first, others): (Vec<_>, Vec<_>) = choices
            .into_iter()
            .partition(|choice| decode::<u64>(choice.index).unwrap_or_default() == 0);
        let is_new = id.is_some() && !self.replies.is(&id) || !self.replies.is_open();
        let speaks = |choice: &Choice<'_>| choice.delta.is_some_and(|delta| delta.get() != "{}");
        if is_new && first.iter().any(speaks) {
            let model = string(chunk.model).filter(|model| !model.is_empty());
            told.events = self.replies.begin(id, model, told.time);
            (self.thought, self.refusal) = <_>::default();
            self.calls.clear();
        }
        if !self.replies.is_open() && told.usage.is_none() || !others.is_empty() {
            let kind = if others.is_empty() { "chunk" } else { "choice" };
            told.other = Some(kind.to_owned());
        }
        for choice in first {
            let delta: Delta<'_> = decode(choice.delta).unwrap_or_default();
            let what = self.delta(&delta);
            self.replies.say(what, &mut told);
            if self.replies.is_open() && string(choice.finish_reason).is_some() {
                let what = self.finish(&mut told.notes);
                self.replies.say(what, &mut told);
                let usage = told.usage.take();
                self.replies.end(usage, &mut told);
            }
        }
        told
    }
}

impl ChunkReader {
    fn delta(&mut self, delta: &Delta<'_>) -> Vec<Happening> {
        let mut what = Vec::new();
        let thought = string(delta.reasoning_content).or_else(|| string(delta.reasoning));
        if let Some(text) = thought.filter(|text| !text.is_empty()) {
            self.thought += &text;
            what.push(Happening::ThinkingDelta { text });
        }
        if let Some(text) = string(delta.content).filter(|text| !text.is_empty()) {
            what.extend(self.thought());
            what.push(Happening::TextDelta { text, phase: None });
        }
        if let Some(more) = string(delta.refusal) {
            self.refusal += &more;
        }
        for raw in decode::<Vec<&RawValue>>(delta.tool_calls).unwrap_or_default() {
            what.extend(self.thought());
            let call: CallDelta<'_> = decode(Some(raw)).unwrap_or_default();
            let custom = call.custom.is_some();
            let written: Written<'_> = decode(call.function.or(call.custom)).unwrap_or_default();
            let index = self.index(&call);
            what.extend(self.call(index, string(call.id), custom, &written));
        }
        if let Some(written) = decode::<Written<'_>>(delta.function_call) {
            what.extend(self.thought());
            // The call of old has no id; its name stands in for it.
            let id = string(written.name);
            what.extend(self.call(u64::MAX, id, false, &written));
        }
        what
    }

    /// Which call a piece belongs to. Some servers leave the number out, or give each call the same.
    fn index(&self, call: &CallDelta<'_>) -> u64 {
        let last = self.calls.keys().next_back().copied();
        let index = decode(call.index).or(last).unwrap_or_default();
        let id = string(call.id).filter(|id| !id.is_empty());
        match (self.calls.get(&index), id) {
            (Some(known), Some(id)) if known.id != id => {
                let same = self.calls.iter().find(|(_, call)| call.id == id);
                same.map_or(last.unwrap_or_default() + 1, |(at, _)| *at)
            }
            _ => index,
        }
    }

    fn call(
        &mut self,
        index: u64,
        id: Option<String>,
        is_custom: bool,
        written: &Written<'_>,
    ) -> Vec<Happening> {
        let is_new = !self.calls.contains_key(&index);
        let call = self.calls.entry(index).or_default();
        let mut what = Vec::new();
        if is_new {
            *call = Call {
                id: id.unwrap_or_default(),
                name: string(written.name).unwrap_or_default(),
                arguments: String::new(),
                is_custom,
            };
            let (call, name) = (call.id.clone(), call.name.clone());
            what.push(Happening::CallStart { call, name });
        } else if call.name.is_empty() {
            call.name = string(written.name).unwrap_or_default();
        }
        let arguments = written.arguments.or(written.input);
        // Some servers send the arguments as JSON and not as text.
        let text = arguments.map(|raw| string(Some(raw)).unwrap_or_else(|| raw.get().to_owned()));
        if let Some(text) = text.filter(|text| !text.is_empty() && text != "null") {
            call.arguments += &text;
            let (call, offset) = (call.id.clone(), None);
            what.push(Happening::CallInput { call, text, offset });
        }
        what
    }

    /// The thought that has streamed, once something else comes.
    fn thought(&mut self) -> Option<Happening> {
        let text = std::mem::take(&mut self.thought);
        let thought = |text| Part::thinking(text, None, Some(openai::PROVIDER));
        (!text.is_empty()).then(|| Happening::Block(thought(text)))
    }

    /// What a whole reply would hold beside its text.
    fn finish(&mut self, notes: &mut Notes) -> Vec<Happening> {
        let mut what: Vec<Happening> = self.thought().into_iter().collect();
        what.push(Happening::BlockEnd);
        let mut message = Object::new().string("role", "assistant");
        if !self.refusal.is_empty() {
            message = message.string("refusal", &std::mem::take(&mut self.refusal));
        }
        let old = self.calls.remove(&u64::MAX);
        if let Some(call) = old {
            let call = openai::function(&call.name, &call.arguments);
            message = message.raw("function_call", &call);
        }
        let calls = std::mem::take(&mut self.calls).into_values();
        let calls: Vec<String> = calls.map(|call| call.json()).collect();
        if !calls.is_empty() {
            message = message.raw("tool_calls", &array(calls));
        }
        let message = RawValue::from_string(message.finish());
        let parts = message.map(|message| openai::message(&message, notes));
        let parts = parts
            .into_iter()
            .flatten()
            .flat_map(|message| message.parts);
        what.extend(parts.map(Happening::Block));
        what
    }
}

impl Call {
    fn json(self) -> String {
        let call = Object::new().string("id", &self.id);
        if self.is_custom {
            let custom = Object::new().string("name", &self.name);
            call.raw("custom", &custom.string("input", &self.arguments).finish())
        } else {
            call.raw("function", &openai::function(&self.name, &self.arguments))
        }
        .finish()
    }
}

/// A time in seconds; some servers say 0 for none.
fn seconds(raw: Raw<'_>) -> Option<Millis> {
    let seconds = decode::<i64>(raw).filter(|seconds| *seconds > 0)?;
    seconds.checked_mul(1_000).map(Millis)
}
