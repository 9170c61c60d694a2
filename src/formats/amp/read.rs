//! The importer: the messages of a thread, with its results in Anthropic's own form.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Number;
use serde_json::value::RawValue;

use super::{Env, MESSAGES};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller, Said};
use crate::formats::shared::parts::{checked, time, usage};
use crate::model::{Millis, StatedUsage, Usage, UsageRecord, depth};
use crate::wire::json::{Object, Raw, array, decode, quoted, string, text_or_json, word};
use crate::wire::{Notes, anthropic};

/// A thread.
#[derive(Default)]
pub(super) struct Thread {
    /// When each reply came, by its message's number, as the tool's account of requests says it.
    times: HashMap<u64, Millis>,
}

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
            ("usageLedger", _) => self.account(member, teller),
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
        let said = teller.read(at, |raw, notes| said(raw, &self.times, notes))?;
        said.map_or(Ok(()), |said| teller.tell(said, at).map(drop))
    }
}

impl Thread {
    /// The tool's account of requests: when replies came, and what requests came to that no reply shows.
    fn account(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) {
        lazy! { struct Ledger { events } }
        lazy! {
            struct Request {
                timestamp, model, tokens, operation = "operationType", reply = "toMessageId",
            }
        }
        let ledger: Ledger<'_> = decode(Some(member.raw)).unwrap_or_default();
        let requests: Vec<Request<'_>> = decode(ledger.events).unwrap_or_default();
        let mut stated = StatedUsage::default();
        for request in requests {
            if word(request.operation).as_deref() == Some("inference") {
                let reply = decode(request.reply).zip(time(request.timestamp));
                self.times.extend(reply);
            } else if let Some(usage) = usage(request.tokens, &["input", "output"]) {
                stated.add_other(string(request.model).unwrap_or_default(), usage);
            }
        }
        teller.end.stated = stated.if_any();
    }
}

lazy! {
    /// What was counted for a reply; what a cache had a part in is counted apart.
    struct Counts {
        input = "inputTokens", output = "outputTokens", written = "cacheCreationInputTokens",
        cached = "cacheReadInputTokens", credits,
    }
}

impl Counts<'_> {
    fn record(&self) -> Option<UsageRecord> {
        let count = |raw| decode::<u64>(raw).unwrap_or(0);
        let input = [self.input, self.cached, self.written].map(count);
        let mut record = UsageRecord::from(Usage::apart(input, [count(self.output), 0])?);
        let credits = decode::<Number>(self.credits);
        let credits = credits.map(|credits| ("credits".to_owned(), credits.to_string()));
        record.detail.amounts.extend(credits);
        Some(record)
    }
}

fn said(raw: &RawValue, times: &HashMap<u64, Millis>, notes: &mut Notes) -> Result<Said, String> {
    lazy! { struct Record { role, content, state, meta, usage, id = "messageId" } }
    lazy! { struct Beside { sent_at = "sentAt", model, r#type } }
    let record: Record<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let [meta, counted, state] = [record.meta, record.usage, record.state]
        .map(|raw| decode::<Beside<'_>>(raw).unwrap_or_default());
    let mut said = Said {
        time: decode(meta.sent_at)
            .map(Millis)
            .or_else(|| times.get(&decode(record.id)?).copied()),
        usage: decode::<Counts<'_>>(record.usage).and_then(|counts| counts.record()),
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
    let content = command(given).or_else(|| text_or_json(given));
    let content = content.map(|text| quoted(&text));
    Some(anthropic::tool_result(&id, content.as_deref(), is_error))
}

/// What a command gave, as the model is sent it.
///
/// # Source
///
/// The request that threads of 2025 keep as their newest (`~debug`).
fn command(given: Raw<'_>) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Command {
        output: String,
        exit_code: i64,
    }
    let Command { output, exit_code } = decode(given)?;
    Some(format!(
        "<output>{output}</output>\n<exitCode>{exit_code}</exitCode>"
    ))
}
