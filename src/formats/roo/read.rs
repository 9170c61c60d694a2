//! The importer: the file's records, read one by one, which may be damaged.

use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::PROVIDER;
use super::steps::Telling;
use super::tags::Tags;
use crate::error::Result;
use crate::formats::shared::document::ObjectTeller;
use crate::formats::shared::parts::{checked, opaque, thought};
use crate::formats::shared::records::Held;
use crate::formats::shared::spans::elements;
use crate::formats::shared::teller::Teller;
use crate::formats::{Source, Step};
use crate::model::{Message, Millis, Part, Role, Usage};
use crate::wire::json::type_of;
use crate::wire::{Notes, anthropic};

/// How long a title may be, in characters.
const TITLE_CHARS: usize = 80;

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let held = Held::read(source.input)?;
    let text = held.text();
    if text
        .bytes
        .get(held.start)
        .is_some_and(|first| *first != b'[')
    {
        let problem = text.problem(held.start, "not a list of messages");
        return source.sink.problem(problem);
    }
    let (spans, broken) = elements(text.bytes, held.start);
    let lacking = ["system prompt", "tool definitions"];
    let teller = Teller::of(source.stem, &lacking, source.sink);
    let mut teller = ObjectTeller::of(text, teller);
    teller.open()?;
    let mut found = Found::default();
    for span in spans {
        found.read(&span, &mut teller)?;
    }
    let Found { records, tags } = found;
    let mut messages = records.iter().filter_map(Step::message);
    let first = messages.find(|m| m.role == Role::User);
    teller.end.title = first.and_then(title);
    let count = records.len() as u64;
    Telling::new(&tags, &mut teller).tell(records)?;
    teller.notes.opaque_blocks.retain(|_, n| *n > 0);
    teller.close(&held, broken, count)
}

/// The records of a file that could be read.
#[derive(Default)]
struct Found {
    /// Each as a message at the end, tags aside.
    records: Vec<Step>,
    tags: Vec<Tags>,
}

/// What the tools note beside a message.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Beside {
    ts: Value,
    model_info: Value,
    metrics: Value,
}

impl Found {
    /// Reads one record; what is wrong with it is told.
    fn read(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let read = |raw: &RawValue, notes: &mut _| Ok((message(raw, notes)?, raw.to_owned()));
        let Some((message, raw)) = teller.read(at, read)? else {
            return Ok(());
        };
        let beside: Beside = serde_json::from_str(raw.get()).unwrap_or_default();
        let model = &beside.model_info["modelId"];
        let model = model.is_string().then(|| model.to_string());
        let tokens = |key: &str| beside.metrics["tokens"][key].as_u64();
        self.tags.push(Tags::of(raw.get()));
        let usage = tokens("prompt").zip(tokens("completion"));
        let usage = usage.map(|(input, output)| Usage::new(input, output));
        let step = Step::append(message, teller.text.span(at))
            .at(beside.ts.as_f64().map(|ts| Millis(ts as i64)))
            .by_model(model);
        self.records.push(step.counted(usage));
        Ok(())
    }
}

/// The message of a record. Reasoning that the tool keeps as a record of its own is a reply.
fn message(raw: &RawValue, notes: &mut Notes) -> Result<Message, String> {
    #[derive(Deserialize)]
    struct Roleless {
        r#type: String,
        role: Option<String>,
    }
    let roleless = serde_json::from_str::<Roleless>(raw.get());
    if roleless.is_ok_and(|record| record.role.is_none() && record.r#type == "reasoning") {
        let part = opaque(PROVIDER, "reasoning", raw.get().to_owned(), notes);
        let message = Message::new(Role::Assistant, vec![part]);
        return checked([&message]).map(|()| message);
    }
    let mut message = anthropic::message(raw, notes)?;
    for part in &mut message.parts {
        if let Part::Opaque { provider, data } = part {
            match reasoning(data) {
                Some(thinking) => {
                    *part = thinking;
                    if let Some(count) = notes.opaque_blocks.get_mut("reasoning") {
                        *count -= 1;
                    }
                }
                None if !is_anthropics(data) => PROVIDER.clone_into(provider),
                None => {}
            }
        }
    }
    Ok(message)
}

/// The part for a block of reasoning in words.
fn reasoning(block: &str) -> Option<Part> {
    #[derive(Deserialize)]
    struct Reasoning {
        r#type: String,
        text: String,
    }
    let block: Reasoning = serde_json::from_str(block).ok()?;
    (block.r#type == "reasoning").then(|| thought(block.text))
}

/// Whether an opaque block is one that Anthropic would take back.
fn is_anthropics(block: &str) -> bool {
    matches!(
        type_of(block).as_deref(),
        Some("redacted_thinking" | "document" | "image" | "tool_use" | "tool_result" | "text")
    )
}

/// The first line of what a user's message gives as the task.
fn title(message: &Message) -> Option<String> {
    let mut texts = message.parts.iter().filter_map(Part::as_text);
    let task = |text: &str| {
        let (_, inside) = text.split_once("<task>")?;
        let (inside, _) = inside.split_once("</task>").unwrap_or((inside, ""));
        let line = inside
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty())?;
        let mut title: String = line.chars().take(TITLE_CHARS).collect();
        if title.len() < line.len() {
            title.push('…');
        }
        Some(title)
    };
    texts.find_map(task)
}
