//! The importer: the messages of a thread, with its results in Anthropic's own form.

use std::ops::Range;

use serde_json::value::RawValue;

use super::{Env, MESSAGES};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller, Said};
use crate::formats::shared::parts::checked;
use crate::model::{Millis, depth};
use crate::wire::json::{Object, array, decode, quoted, string, text_or_json, word};
use crate::wire::{Notes, anthropic};

/// A thread.
#[derive(Default)]
pub(super) struct Thread;

impl Document for Thread {
    const RECORDS: &'static str = MESSAGES;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("id", Some(id)) => teller.start.id = id,
            ("title", Some(title)) => teller.end.title = Some(title),
            ("env", _) => {
                let env: Env = decode(Some(member.raw)).unwrap_or_default();
                teller.end.cwd = env.cwd();
                teller.set("model", env.model().map(quoted));
            }
            // The last request as it was sent, in Anthropic's form.
            ("~debug", _) => {
                lazy! { struct Debug { sent = "lastInferenceInput" } }
                lazy! { struct Sent { system, tools } }
                let debug: Debug<'_> = decode(Some(member.raw)).unwrap_or_default();
                let sent: Sent<'_> = decode(debug.sent).unwrap_or_default();
                for (what, held) in [
                    ("system prompt", sent.system),
                    ("tool definitions", sent.tools),
                ] {
                    if held.is_some() {
                        teller.end.absent.retain(|absent| absent != what);
                    }
                }
                return false;
            }
            _ => return false,
        }
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let said = teller.read(at, said)?;
        said.map_or(Ok(()), |said| teller.tell(said, at))
    }
}

fn said(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    lazy! { struct Record { role, content, state, meta, usage } }
    lazy! { struct Beside { sent_at = "sentAt", model, r#type } }
    let record: Record<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let [meta, counted, state] = [record.meta, record.usage, record.state]
        .map(|raw| decode::<Beside<'_>>(raw).unwrap_or_default());
    let mut said = Said {
        time: decode(meta.sent_at).map(Millis),
        model: word(counted.model).as_deref().map(quoted),
        kind: "message without content".to_owned(),
        ..Said::default()
    };
    let role = string(record.role).unwrap_or_default();
    // Notes of the tool, among them that the thread was summed up.
    if role == "info" {
        said.kind = role;
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
    message.interrupted = word(state.r#type).as_deref() == Some("cancelled");
    checked([&message])?;
    said.messages.push(message);
    Ok(said)
}

/// A block as Anthropic has it; none of a result that is still to come.
fn block(raw: &RawValue) -> Option<String> {
    lazy! { struct Block { r#type, tool_use_id = "toolUseID", run } }
    lazy! { struct Run { status, result, error, progress } }
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
    let given = run.result.or(run.error).or(run.progress);
    let content = text_or_json(given).map(|text| quoted(&text));
    Some(anthropic::tool_result(&id, content.as_deref(), is_error))
}
