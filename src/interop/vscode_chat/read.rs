//! The importer: the requests of either layout, as steps.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::log;
use super::said::{Round, Said, said};
use crate::error::Result;
use crate::interop::records::{Held, first_line};
use crate::interop::spans::{elements, members};
use crate::interop::{
    Action, Cover, HideStep, ImportOptions, Input, Moment, Problem, SessionEnd, SessionStart, Sink,
    Step, StepEntry, StepId,
};
use crate::model::{HideKind, Message, Millis, Part, Role, Settings, Span, Usage};
use crate::wire::Notes;
use crate::wire::json::quoted;

/// Reads a session in either layout.
pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let first = first_line(input)?.unwrap_or_default();
    match log::is_log(first.trim_start_matches('\u{feff}')) {
        true => import_log(input, options, sink),
        false => import_object(input, options, sink),
    }
}

/// A request, with the records that say it.
type Found = (Said, Vec<Span>);

fn import_object(input: &dyn Input, options: ImportOptions<'_>, sink: &mut dyn Sink) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let mut told = Telling::new(options, sink);
    let mut requests = Vec::new();
    for (key, at) in keys {
        if key == "requests" {
            let (found, torn) = elements(text.bytes, at.start);
            requests = found;
            broken = torn.or(broken);
        } else {
            let value = serde_json::from_slice(&text.bytes[at]).unwrap_or_default();
            told.member(&key, &value);
        }
    }
    let mut found: Vec<Found> = Vec::with_capacity(requests.len());
    let mut notes = Notes::default();
    for at in &requests {
        let read = |raw: &RawValue| said(raw.get(), &mut notes);
        let one = text.message(at, &mut told.end.lone_surrogates, told.sink, read)?;
        found.extend(one.map(|one| (one, vec![text.span(at)])));
    }
    told.notes = notes;
    held.end(broken, told.sink)?;
    told.sink
        .progress(text.bytes.len() as u64, requests.len() as u64);
    told.tell(found)
}

fn import_log(input: &dyn Input, options: ImportOptions<'_>, sink: &mut dyn Sink) -> Result<()> {
    let replayed = log::replay(input, sink)?;
    let mut told = Telling::new(options, sink);
    told.end.lone_surrogates = replayed.lone_surrogates;
    if replayed.other() > 0 {
        told.end
            .other_records
            .insert("change".to_owned(), replayed.other());
    }
    let Value::Object(object) = &replayed.object else {
        return told.tell(Vec::new());
    };
    for (key, value) in object.iter().filter(|(key, _)| *key != "requests") {
        told.member(key, value);
    }
    let mut found: Vec<Found> = Vec::new();
    let requests = object.get("requests").and_then(Value::as_array);
    for (request, touched) in requests.into_iter().flatten().zip(&replayed.touched) {
        match said(&request.to_string(), &mut told.notes) {
            Ok(one) => found.push((one, touched.records())),
            // Which line is wrong there cannot be said.
            Err(reason) => told.sink.problem(Problem::new(0, reason))?,
        }
    }
    told.tell(found)
}

/// A summary of all up to a round, and the request with which it came.
type Summaries = HashMap<String, (usize, String)>;

struct Telling<'s> {
    sink: &'s mut dyn Sink,
    start: SessionStart,
    is_named: bool,
    end: SessionEnd,
    notes: Notes,
    steps: usize,
    /// What is sent by now, in order, but for what stands before all prompts.
    sent: Vec<StepEntry>,
    model: Option<String>,
    /// The settings that the next step brings.
    changes: Settings,
}

impl<'s> Telling<'s> {
    fn new(options: ImportOptions<'_>, sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            start: SessionStart::new(options.stem),
            is_named: false,
            end: SessionEnd::lacking(&["system prompt", "tool definitions"]),
            notes: Notes::default(),
            steps: 0,
            sent: Vec::new(),
            model: None,
            changes: Settings::new(),
        }
    }

    /// A member of the session beside its requests.
    fn member(&mut self, key: &str, value: &Value) {
        match (key, value) {
            ("sessionId", Value::String(id)) if !id.is_empty() => {
                self.start.id.clone_from(id);
                self.is_named = true;
            }
            ("customTitle", Value::String(title)) => self.end.title = Some(title.clone()),
            ("creationDate", time) => {
                self.start.descent.begun = time.as_f64().map(|time| Millis(time as i64));
            }
            _ => {}
        }
    }

    fn tell(mut self, found: Vec<Found>) -> Result<()> {
        let named = found.iter().find_map(|(said, _)| said.session.clone());
        if let Some(id) = named.filter(|_| !self.is_named) {
            self.start.id = id;
        }
        self.sink.session(std::mem::take(&mut self.start))?;
        let summaries = found.iter().enumerate().filter_map(|(at, (said, _))| {
            let (round, text) = said.summary.clone()?;
            Some((round, (at, text)))
        });
        let summaries: Summaries = summaries.collect();
        let mut global: Option<&Message> = None;
        let mut stopped = 0_u64;
        for (at, (said, records)) in found.iter().enumerate() {
            stopped += u64::from(said.shown_calls > 0);
            // It stands before all prompts, and is said with the first.
            if let Some(message) = said.global.as_ref().filter(|one| global != Some(one)) {
                self.told(Action::Append(message.clone()), said.asked, None, records)?;
                global = Some(message);
            }
            if let Some(message) = &said.prompt {
                self.settings(said);
                self.append(message.clone(), said.asked, None, records)?;
            }
            let later = found.get(at + 1).map(|(later, _)| later);
            for (number, round) in said.rounds.iter().enumerate() {
                let usage = said.usage.filter(|_| number + 1 == said.rounds.len());
                self.round(round, said, later, usage, records)?;
                if let Some((with, text)) = summaries.get(&round.id) {
                    // Within a request the newest round is sent once more as it is.
                    let next = said.rounds.get(number + 1).filter(|_| *with == at);
                    let since = next.map_or(0, |next| 1 + usize::from(!next.calls.is_empty()));
                    self.summary(text, since, said.asked, records)?;
                }
            }
        }
        if stopped > 0 {
            let requests = if stopped == 1 { "request" } else { "requests" };
            let what = format!("the tool calls of {stopped} {requests} without a result");
            self.end.absent.push(what);
        }
        self.end.opaque_blocks = self.notes.opaque_blocks;
        self.sink.end(self.end)
    }

    /// Notes the model of a request.
    fn settings(&mut self, said: &Said) {
        if let Some(model) = said.model.clone().filter(|_| said.model != self.model) {
            self.changes.insert("model".to_owned(), quoted(&model));
            self.model = Some(model);
        }
    }

    fn told(
        &mut self,
        action: Action,
        time: Option<Millis>,
        usage: Option<Usage>,
        records: &[Span],
    ) -> Result<StepEntry> {
        self.sink.step(Step {
            action,
            time,
            settings: std::mem::take(&mut self.changes),
            records: records.to_vec(),
            usage,
            was: None,
        })?;
        self.steps += 1;
        Ok(StepEntry {
            step: StepId(self.steps - 1),
            replacement: None,
        })
    }

    /// A message that a summary may hide.
    fn append(
        &mut self,
        message: Message,
        time: Option<Millis>,
        usage: Option<Usage>,
        records: &[Span],
    ) -> Result<()> {
        let entry = self.told(Action::Append(message), time, usage, records)?;
        self.sent.push(entry);
        Ok(())
    }

    /// A reply, what its calls gave back, and what a hook said to it.
    fn round(
        &mut self,
        round: &Round,
        said: &Said,
        later: Option<&Said>,
        usage: Option<Usage>,
        records: &[Span],
    ) -> Result<()> {
        let time = round.time.or(said.asked);
        if !round.reply.is_empty() {
            let message = Message::new(Role::Assistant, round.reply.clone());
            self.append(message, time, usage, records)?;
        }
        let given = |call: &String| {
            let own = said.results.iter();
            // Where there were too many calls, the rest came with the next request.
            let mut all = own.chain(later.into_iter().flat_map(|later| &later.results));
            let (_, content) = all.find(|(id, _)| *id == call)?;
            Some(Part::ToolResult {
                call: call.clone(),
                content: content.clone(),
                is_error: false,
            })
        };
        let results: Vec<Part> = round.calls.iter().filter_map(given).collect();
        if !results.is_empty() {
            self.append(Message::new(Role::Tool, results), time, None, records)?;
        }
        if let Some(hook) = &round.hook {
            self.append(Message::text(Role::User, hook.clone()), time, None, records)?;
        }
        Ok(())
    }

    /// What is sent by now is summed up; when that was shows only the place.
    fn summary(
        &mut self,
        text: &str,
        since: usize,
        time: Option<Millis>,
        records: &[Span],
    ) -> Result<()> {
        let (Some(first), Some(last)) = (self.sent.first(), self.sent.last()) else {
            return Ok(());
        };
        let text = format!("<conversation-summary>\n{text}\n</conversation-summary>\n");
        let hide = HideStep {
            kind: HideKind::Compaction,
            cover: Cover::Range(*first, *last),
            keep: Vec::new(),
            parts: Vec::new(),
            replacements: vec![(None, Message::text(Role::User, text))],
            moment: Moment::Since(since),
        };
        let entry = self.told(Action::Hide(hide), time, None, records)?;
        self.sent = vec![StepEntry {
            replacement: Some(0),
            ..entry
        }];
        Ok(())
    }
}
