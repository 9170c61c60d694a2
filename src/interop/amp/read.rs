//! The importer: the messages of a thread, with its results in Anthropic's own form.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Env, MESSAGES};
use crate::error::Result;
use crate::interop::calls::Calls;
use crate::interop::records::{Held, Text};
use crate::interop::spans::{elements, members};
use crate::interop::{Action, ImportOptions, Input, SessionEnd, SessionStart, Sink, Step};
use crate::model::{Message, Millis, Settings, depth};
use crate::wire::json::{Object, Raw, array, decode, quoted, string, tight, word};
use crate::wire::{Notes, anthropic};

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let mut start = SessionStart::new(options.stem);
    let mut end = SessionEnd::lacking(&["system prompt", "tool definitions"]);
    let (mut messages, mut model) = (Vec::new(), None);
    for (key, at) in keys {
        if key == MESSAGES {
            let (found, torn) = elements(text.bytes, at.start);
            messages = found;
            broken = torn.or(broken);
            continue;
        }
        if !["id", "title", "env"].contains(&key.as_str()) {
            continue;
        }
        let Ok((raw, lone)) = text.decode(&at) else {
            continue;
        };
        end.lone_surrogates += lone;
        let said = string(Some(&raw)).filter(|said| !said.is_empty());
        match (key.as_str(), said) {
            ("id", Some(id)) => start.id = id,
            ("title", Some(title)) => end.title = Some(title),
            ("env", _) => {
                let env: Env = decode(Some(&raw)).unwrap_or_default();
                end.cwd = env.cwd();
                model = env.model().map(quoted);
            }
            _ => {}
        }
    }
    sink.session(start)?;
    let mut telling = Telling {
        sink,
        text,
        end,
        notes: Notes::default(),
        due: model.clone(),
        model,
        calls: Calls::default(),
    };
    for at in &messages {
        telling.take(at)?;
    }
    held.end(broken, telling.sink)?;
    let count = messages.len() as u64;
    telling.sink.progress(text.bytes.len() as u64, count);
    telling.end.opaque_blocks = telling.notes.opaque_blocks;
    telling.sink.end(telling.end)
}

/// What a record says.
struct Said {
    /// None where it says nothing to the model.
    message: Option<Message>,
    time: Option<Millis>,
    model: Option<String>,
    /// Why it is none.
    kind: &'static str,
}

fn said(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    #[derive(Default, Deserialize)]
    #[serde(default, bound(deserialize = "'de: 'a"))]
    struct Record<'a> {
        role: Raw<'a>,
        content: Raw<'a>,
        state: Raw<'a>,
        meta: Raw<'a>,
        usage: Raw<'a>,
    }
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Meta {
        sent_at: Option<i64>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Counted {
        model: Option<String>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct State {
        r#type: Option<String>,
    }
    let record: Record<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let meta: Meta = decode(record.meta).unwrap_or_default();
    let counted: Counted = decode(record.usage).unwrap_or_default();
    let mut said = Said {
        message: None,
        time: meta.sent_at.map(Millis),
        model: counted.model.as_deref().map(quoted),
        kind: "message without content",
    };
    let role = string(record.role).unwrap_or_default();
    // Notes of the tool, among them that the thread was summed up.
    if role == "info" {
        said.kind = "info";
        return Ok(said);
    }
    let content = record.content.map_or("", RawValue::get);
    depth::check_json("content", content, 1).map_err(|error| error.to_string())?;
    let content = match decode::<Vec<&RawValue>>(record.content) {
        Some(blocks) => array(blocks.into_iter().filter_map(block)),
        None => content.to_owned(),
    };
    if content.is_empty() || content == "[]" || content == "null" {
        return Ok(said);
    }
    let made = Object::new().string("role", &role).raw("content", &content);
    let made = RawValue::from_string(made.finish()).map_err(|error| error.to_string())?;
    let mut message = anthropic::message(&made, notes)?;
    let state: State = decode(record.state).unwrap_or_default();
    message.interrupted = state.r#type.as_deref() == Some("cancelled");
    depth::check_message(&message).map_err(|error| error.to_string())?;
    said.message = Some(message);
    Ok(said)
}

/// A block as Anthropic has it; none of a result that is still to come.
fn block(raw: &RawValue) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default, bound(deserialize = "'de: 'a"))]
    struct Block<'a> {
        r#type: Raw<'a>,
        #[serde(rename = "toolUseID")]
        tool_use_id: Raw<'a>,
        run: Raw<'a>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default, bound(deserialize = "'de: 'a"))]
    struct Run<'a> {
        status: Raw<'a>,
        result: Raw<'a>,
        error: Raw<'a>,
        progress: Raw<'a>,
    }
    let block: Block<'_> = decode(Some(raw)).unwrap_or_default();
    let is_result = word(block.r#type).as_deref() == Some("tool_result");
    let Some(id) = string(block.tool_use_id).filter(|_| is_result) else {
        return Some(raw.get().to_owned());
    };
    let run: Run<'_> = decode(block.run).unwrap_or_default();
    let is_error = match word(run.status).as_deref() {
        Some("done") => false,
        Some("error" | "cancelled" | "rejected-by-user") => true,
        _ => return None,
    };
    let given = [run.result, run.error, run.progress]
        .into_iter()
        .flatten()
        .find(|raw| raw.get() != "null");
    let given = given.map(|raw| string(Some(raw)).unwrap_or_else(|| tight(raw.get())));
    let content = given.map(|text| quoted(&text));
    Some(anthropic::tool_result(&id, content.as_deref(), is_error))
}

struct Telling<'t, 's> {
    sink: &'s mut dyn Sink,
    text: Text<'t>,
    end: SessionEnd,
    notes: Notes,
    /// The model that the next step brings.
    due: Option<String>,
    model: Option<String>,
    calls: Calls,
}

impl Telling<'_, '_> {
    fn take(&mut self, at: &Range<usize>) -> Result<()> {
        let (notes, lone) = (&mut self.notes, &mut self.end.lone_surrogates);
        let read = |raw: &RawValue| said(raw, notes);
        let Some(found) = self.text.message(at, lone, self.sink, read)? else {
            return Ok(());
        };
        if found.model.is_some() && found.model != self.model {
            self.due.clone_from(&found.model);
            self.model = found.model;
        }
        let Some(message) = found.message else {
            self.end.other(found.kind);
            return Ok(());
        };
        self.calls.pair(&message, self.text, at, self.sink)?;
        let model = self.due.take().map(|model| ("model".to_owned(), model));
        self.sink.step(Step {
            time: found.time,
            settings: Settings::from_iter(model),
            ..Step::new(Action::Append(message), self.text.span(at))
        })
    }
}
