//! The importer of mini-swe-agent's runs: each message as a step, or as those of a response's items.

use std::ops::Range;

use serde_json::value::RawValue;

use super::entry;
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller, Said};
use crate::formats::shared::parts::{self, checked, seconds};
use crate::formats::shared::spans::members;
use crate::model::{Message, Settings};
use crate::wire::json::{decode, quoted, string, word};
use crate::wire::{Notes, openai, responses};

/// What of its settings for the model goes into a request.
const SENT: [&str; 5] = [
    "max_tokens",
    "parallel_tool_calls",
    "reasoning_effort",
    "temperature",
    "top_p",
];

/// A run.
#[derive(Default)]
pub(super) struct Run;

impl Document for Run {
    const RECORDS: &'static str = "messages";
    const LACKING: &'static [&'static str] = &[];

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match member.key {
            "instance_id" => teller.end.title = member.word(),
            "info" => (teller.due, teller.end.cwd) = about(member.raw),
            _ => {}
        }
        teller.end.other(member.key);
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let said = teller.read(at, said)?;
        said.map_or(Ok(()), |said| teller.tell(said, at).map(drop))
    }

    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        // Without tools the model types commands into its text, and no request defines any.
        if !teller.calls.is_empty() {
            teller.end.absent.push("tool definitions".to_owned());
        }
        Ok(())
    }
}

lazy! { struct Info { config } }

lazy! { struct Config { model, environment } }

lazy! { struct Model { model_name, model_kwargs } }

lazy! { struct Environment { cwd } }

/// The settings of the requests, and the directory.
fn about(raw: &RawValue) -> (Settings, Option<String>) {
    let info: Info<'_> = decode(Some(raw)).unwrap_or_default();
    let config: Config<'_> = decode(info.config).unwrap_or_default();
    let model: Model<'_> = decode(config.model).unwrap_or_default();
    let environment: Environment<'_> = decode(config.environment).unwrap_or_default();
    let given = model.model_kwargs.map_or("", RawValue::get);
    let sent = members(given.as_bytes(), 0).0.into_iter();
    let sent = sent.filter(|(key, _)| SENT.contains(&key.as_str()));
    let sent = sent.filter_map(|(key, at)| {
        let value = &given[at];
        let is_plain = value != "null" && !value.starts_with(['{', '[']);
        is_plain.then(|| (key, value.to_owned()))
    });
    let mut settings: Settings = sent.collect();
    if let Some(name) = string(model.model_name) {
        settings.insert("model".to_owned(), quoted(&name));
    }
    (settings, parts::said(environment.cwd))
}

lazy! { struct Record { role, r#type, object, output, usage, timestamp, extra } }

lazy! { struct Extra { timestamp, response } }

lazy! { struct Response { usage } }

/// Reads a record: a chat message, a response of OpenAI's other interface with its items, or one such item.
fn said(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    let record: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    let extra: Extra<'_> = decode(record.extra).unwrap_or_default();
    let response: Response<'_> = decode(extra.response).unwrap_or_default();
    let is_response = word(record.object).as_deref() == Some("response");
    let mut wrong = None;
    let mut items = |items: &[&RawValue], notes: &mut Notes| {
        let found = responses::messages(items, notes, |why| wrong = Some(why.to_owned()));
        found.into_iter().map(|(message, _)| message).collect()
    };
    let messages: Vec<Message> = if is_response {
        let output: Vec<&RawValue> = decode(record.output).ok_or("a response without output")?;
        items(&output, notes)
    } else if record.r#type.is_some() {
        items(&[raw], notes)
    } else if word(record.role).as_deref() == Some("exit") {
        Vec::new()
    } else {
        vec![entry::message(raw, notes)?]
    };
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    checked(&messages)?;
    let usage = openai::usage(response.usage.or(record.usage));
    Ok(Said {
        messages,
        kind: string(record.role).unwrap_or_else(|| "empty response".to_owned()),
        time: seconds(extra.timestamp).or_else(|| seconds(record.timestamp)),
        usage: usage.filter(|usage| usage.input_tokens > 0).map(Into::into),
        model: None,
    })
}
