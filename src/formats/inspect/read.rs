//! The importer: each sample, with what its events say of its replies.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::message;
use crate::error::Result;
use crate::formats::shared::conversations::{self, Names};
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::parts::{said, time};
use crate::formats::shared::records::Held;
use crate::formats::shared::spans::{elements, members};
use crate::formats::{Source, Step};
use crate::model::{Millis, Role, StatedUsage, Usage, UsageDetail, UsageRecord};
use crate::wire::json::{decode, quoted, string, text_or_json, word};
use crate::wire::usage::Numbers;

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let held = Held::read(source.input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let samples = keys.into_iter().find(|(key, _)| key == "samples");
    let mut found = Vec::new();
    if let Some((_, at)) = samples {
        let torn;
        (found, torn) = elements(text.bytes, at.start);
        broken = torn.or(broken);
    }
    let mut names = Names::default();
    let mut records = 0;
    for (at, number) in found.into_iter().zip(1..) {
        let stem = format!("{}/{number}", source.stem);
        let told = conversations::tell::<Sample>(text, &at, &stem, &mut names, source.sink)?;
        match told {
            Some(more) => records += more,
            None => {
                let reason = "a sample without messages";
                source.sink.problem(text.problem(at.start, reason))?;
            }
        }
        source.sink.progress(at.end as u64, records);
    }
    held.end(broken, source.sink)
}

/// A sample of one epoch.
#[derive(Default)]
struct Sample {
    id: Option<String>,
    epoch: Option<String>,
    scores: Vec<String>,
    events: Vec<Range<usize>>,
    attachments: HashMap<String, String>,
    replies: HashMap<String, Reply>,
    /// The replies of attempts that failed: the sample began anew behind each.
    failed: Vec<Reply>,
}

/// What an event says of a reply.
struct Reply {
    time: Option<Millis>,
    model: Option<String>,
    usage: Option<UsageRecord>,
    is_told: bool,
}

lazy! {
    struct Event { event, timestamp, completed, output, model, span_id, id, parent_id, r#type }

    struct Attempt { events }

    struct Output { choices, usage }

    struct Choice { message }

    struct Replied { id }

    struct Score { value }
}

impl Document for Sample {
    const RECORDS: &'static str = "messages";
    const LACKING: &'static [&'static str] = &["tool definitions"];
    const LISTS: &'static [&'static str] = &["events"];

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match member.key {
            "uuid" => teller.name(member.word()),
            "id" => self.id = text_or_json(Some(member.raw)),
            "epoch" => self.epoch = text_or_json(Some(member.raw)),
            "started_at" => teller.start.descent.begun = time(Some(member.raw)),
            "scores" => self.scores = scores(member.raw),
            "error_retries" => self.failed = failed(member.raw),
            "attachments" => self.attachments = decode(Some(member.raw)).unwrap_or_default(),
            _ => return false,
        }
        true
    }

    fn list(&mut self, _: &str, found: Vec<Range<usize>>, _: &mut ObjectTeller<'_, '_>) {
        self.events = found;
    }

    fn begin(&mut self, _: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let sample = self.id.take().unwrap_or_default();
        let epoch = self.epoch.take().filter(|epoch| epoch != "1");
        let epoch = epoch
            .map(|epoch| format!(", epoch {epoch}"))
            .unwrap_or_default();
        let scores = match self.scores.join(", ") {
            scores if scores.is_empty() => scores,
            scores => format!(": {scores}"),
        };
        teller.end.title = Some(format!("{sample}{epoch}{scores}"));
        self.read_events(teller);
        teller.open()
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let attachments = &self.attachments;
        let read = |raw: &RawValue, notes: &mut _| message::read(raw, attachments, notes);
        let Some(said) = teller.read(at, read)? else {
            return Ok(());
        };
        if said.message.parts.is_empty() {
            teller.end.other("empty message");
            return Ok(());
        }
        let reply = said.id.and_then(|id| self.replies.get_mut(&id));
        let is_reply = said.message.role == Role::Assistant;
        if is_reply {
            teller.set("model", said.model.as_deref().map(quoted));
        }
        let text = teller.text;
        teller.pair(&said.message, text, at)?;
        let mut step = Step::append(said.message, text.span(at));
        if let Some(reply) = reply.filter(|_| is_reply) {
            reply.is_told = true;
            step = step.at(reply.time).recorded(reply.usage.take());
        }
        teller.step(step).map(drop)
    }

    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        for _ in self.replies.values().filter(|reply| !reply.is_told) {
            teller.end.other("reply outside of the sample's context");
        }
        for _ in &self.failed {
            teller.end.other("reply of an attempt that failed");
        }
        // What was counted for replies that are in no message has no other home.
        let untold = self.replies.values().filter(|reply| !reply.is_told);
        let mut stated = StatedUsage::default();
        for reply in untold.chain(&self.failed) {
            if let Some(record) = &reply.usage {
                stated.add_other(reply.model.clone().unwrap_or_default(), record.usage);
            }
        }
        teller.end.stated = (!stated.models.is_empty()).then_some(stated);
        Ok(())
    }
}

impl Sample {
    /// Takes what the events say of replies, but for those of graders.
    fn read_events(&mut self, teller: &ObjectTeller<'_, '_>) {
        let mut within: BTreeMap<String, bool> = BTreeMap::new();
        for at in std::mem::take(&mut self.events) {
            let Ok((raw, _)) = teller.text.decode(&at) else {
                continue;
            };
            let event: Event<'_> = decode(Some(&raw)).unwrap_or_default();
            let is_in = |raw| said(raw).is_some_and(|id| within.get(&id) == Some(&true));
            match word(event.event).as_deref() {
                Some("span_begin") => {
                    let kind = word(event.r#type);
                    let is_grader = matches!(kind.as_deref(), Some("scorer" | "scorers"));
                    let is_grader = is_grader || is_in(event.parent_id);
                    if let Some(id) = said(event.id) {
                        within.insert(id, is_grader);
                    }
                }
                Some("model") if !is_in(event.span_id) => {
                    if let Some((id, reply)) = replied(&event) {
                        self.replies.insert(id, reply);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The reply that a request was given, by its id.
fn replied(event: &Event<'_>) -> Option<(String, Reply)> {
    let output: Output<'_> = decode(event.output)?;
    let choices: Vec<Choice<'_>> = decode(output.choices)?;
    let first = choices.into_iter().next()?;
    let id = said(decode::<Replied<'_>>(first.message)?.id)?;
    let reply = Reply {
        time: time(event.completed).or_else(|| time(event.timestamp)),
        model: said(event.model),
        usage: output.usage.and_then(usage),
        is_told: false,
    };
    Some((id, reply))
}

/// The replies of attempts that failed.
fn failed(raw: &RawValue) -> Vec<Reply> {
    let attempts: Vec<Attempt<'_>> = decode(Some(raw)).unwrap_or_default();
    let events = attempts
        .into_iter()
        .flat_map(|attempt| decode::<Vec<Event<'_>>>(attempt.events).unwrap_or_default());
    let asked = events.filter(|event| word(event.event).as_deref() == Some("model"));
    asked.filter_map(|event| Some(replied(&event)?.1)).collect()
}

/// What scorers gave, each with its name.
fn scores(raw: &RawValue) -> Vec<String> {
    let all: BTreeMap<String, &RawValue> = decode(Some(raw)).unwrap_or_default();
    let scores = all.into_iter().filter_map(|(name, raw)| {
        let score: Score<'_> = decode(Some(raw))?;
        let value = string(score.value).or_else(|| text_or_json(score.value))?;
        Some(format!("{name} {value}"))
    });
    scores.collect()
}

/// What was counted: what a cache had is beside the rest of the input.
fn usage(raw: &RawValue) -> Option<UsageRecord> {
    let record: Value = decode(Some(raw))?;
    let mut numbers = Numbers::of(&record);
    let mut take = |name: &str| numbers.take(name).unwrap_or_default();
    let [input, output, total] = ["input_tokens", "output_tokens", "total_tokens"].map(&mut take);
    let [cached, written, reasoning] = [
        "input_tokens_cache_read",
        "input_tokens_cache_write",
        "reasoning_tokens",
    ]
    .map(&mut take);
    // Some providers' input leaves out what their cache had: the total tells.
    let beside = cached.saturating_add(written);
    let is_apart = total >= input.saturating_add(output).saturating_add(beside);
    let all = if is_apart {
        input.saturating_add(beside)
    } else {
        input
    };
    let usage = Usage::new(all, output)
        .cached(cached, written)
        .reasoned(reasoning);
    let mut detail = UsageDetail::default();
    numbers.rest(&mut detail, |_| None);
    (usage != Usage::default()).then_some(UsageRecord { usage, detail })
}
