//! The importer: the requests of either layout, as steps.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use super::log;
use super::message::{Round, Said, said};
use crate::error::Result;
use crate::formats::shared::document::{self, Document, Member, ObjectTeller};
use crate::formats::shared::records::first_line;
use crate::formats::shared::teller::Teller;
use crate::formats::{Action, Cover, HideStep, Moment, Source, Step, StepEntry};
use crate::model::{Message, Millis, Role, Span, Usage};
use crate::wire::json::{decode, quoted};

/// Reads a session in either layout.
pub(super) fn import(source: Source<'_>) -> Result<()> {
    let first = first_line(source.input)?.unwrap_or_default();
    if log::is_log(first.trim_start_matches('\u{feff}')) {
        import_log(source)
    } else {
        document::import::<Session>(source)
    }
}

/// A request, with the records that say it.
type Found = (Said, Vec<Span>);

/// The records that say a request, and when it was asked.
#[derive(Clone, Copy)]
struct Place<'r> {
    records: &'r [Span],
    time: Option<Millis>,
}

impl Place<'_> {
    /// A step by the records.
    fn step(self, action: Action) -> Step {
        Step::new(action, Span::default())
            .at(self.time)
            .by(self.records.to_vec())
    }
}

fn import_log(source: Source<'_>) -> Result<()> {
    let replayed = log::replay(source.input, source.sink)?;
    let mut teller = Teller::of(source.stem, Session::LACKING, source.sink);
    let mut session = Session::default();
    teller.end.lone_surrogates = replayed.lone_surrogates;
    if replayed.other() > 0 {
        let changes = ("change".to_owned(), replayed.other());
        teller.end.other_records.extend([changes]);
    }
    let members = replayed.object.as_object();
    for (key, value) in members.into_iter().flatten() {
        session.know(key, value, &mut teller);
    }
    let requests = replayed.object.get("requests").and_then(Value::as_array);
    for (request, touched) in requests.into_iter().flatten().zip(&replayed.touched) {
        match said(&request.to_string(), &mut teller.notes) {
            Ok(one) => session.found.push((one, touched.records())),
            // Which line is wrong there cannot be said.
            Err(reason) => teller.problem_on(0, reason)?,
        }
    }
    session.tell(&mut teller)?;
    teller.close()
}

/// A summary of all up to a round, and the request with which it came.
type Summaries = HashMap<String, (usize, String)>;

/// A session.
#[derive(Default)]
struct Session {
    is_named: bool,
    found: Vec<Found>,
    /// What is sent by now, in order, but for what stands before all prompts.
    sent: Vec<StepEntry>,
}

impl Document for Session {
    const RECORDS: &'static str = "requests";

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        let value = decode(Some(member.raw)).unwrap_or_default();
        self.know(member.key, &value, teller);
        false
    }

    fn begin(&mut self, _: &[Range<usize>], _: &mut ObjectTeller<'_, '_>) -> Result<()> {
        // A request may say which session it is.
        Ok(())
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let one = teller.read(at, |raw, notes| said(raw.get(), notes))?;
        let records = vec![teller.text.span(at)];
        self.found.extend(one.map(|one| (one, records)));
        Ok(())
    }

    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        self.tell(teller)
    }
}

impl Session {
    /// A member of the session beside its requests.
    fn know(&mut self, key: &str, value: &Value, teller: &mut Teller<'_>) {
        match (key, value) {
            ("sessionId", Value::String(id)) if !id.is_empty() => {
                teller.start.id.clone_from(id);
                self.is_named = true;
            }
            ("customTitle", Value::String(title)) => teller.end.title = Some(title.clone()),
            ("creationDate", time) => {
                teller.start.descent.begun = time.as_f64().map(|time| Millis(time as i64));
            }
            _ => {}
        }
    }

    fn tell(&mut self, teller: &mut Teller<'_>) -> Result<()> {
        let found = std::mem::take(&mut self.found);
        let named = found.iter().find_map(|(said, _)| said.session.clone());
        if let Some(id) = named.filter(|_| !self.is_named) {
            teller.start.id = id;
        }
        teller.open()?;
        let summaries = found.iter().enumerate().filter_map(|(at, (said, _))| {
            let (round, text) = said.summary.clone()?;
            Some((round, (at, text)))
        });
        let summaries: Summaries = summaries.collect();
        let mut global: Option<&Message> = None;
        let mut stopped = 0_u64;
        for (at, (said, records)) in found.iter().enumerate() {
            let time = said.asked;
            let place = Place { records, time };
            stopped += u64::from(said.shown_calls > 0);
            // It stands before all prompts, and is said with the first.
            if let Some(message) = said.global.as_ref().filter(|one| global != Some(one)) {
                teller.step(place.step(Action::Append(message.clone())))?;
                global = Some(message);
            }
            if let Some(message) = &said.prompt {
                teller.set("model", said.model.as_deref().map(quoted));
                self.append(message.clone(), place, None, teller)?;
            }
            let later = found.get(at + 1).map(|(later, _)| later);
            for (number, round) in said.rounds.iter().enumerate() {
                let usage = said.usage.filter(|_| number + 1 == said.rounds.len());
                self.round(round, (said, later), usage, place, teller)?;
                if let Some((with, text)) = summaries.get(&round.id) {
                    // Within a request the newest round is sent once more as it is.
                    let next = said.rounds.get(number + 1).filter(|_| *with == at);
                    let since = next.map_or(0, |next| 1 + usize::from(!next.calls.is_empty()));
                    self.summary(text, since, place, teller)?;
                }
            }
        }
        if stopped > 0 {
            let requests = if stopped == 1 { "request" } else { "requests" };
            let what = format!("the tool calls of {stopped} {requests} without a result");
            teller.end.absent.push(what);
        }
        Ok(())
    }

    /// A message that a summary may hide.
    fn append(
        &mut self,
        message: Message,
        place: Place<'_>,
        usage: Option<Usage>,
        teller: &mut Teller<'_>,
    ) -> Result<()> {
        let step = place.step(Action::Append(message));
        self.sent.push(teller.step(Step { usage, ..step })?);
        Ok(())
    }

    /// A reply, what its calls gave back, and what a hook said to it.
    fn round(
        &mut self,
        round: &Round,
        (said, later): (&Said, Option<&Said>),
        usage: Option<Usage>,
        place: Place<'_>,
        teller: &mut Teller<'_>,
    ) -> Result<()> {
        let time = round.time.or(place.time);
        let place = Place { time, ..place };
        let given = |call: &str| {
            let own = said.results.get(call);
            // Where there were too many calls, the rest came with the next request.
            own.or_else(|| later?.results.get(call))
        };
        for message in round.messages(given) {
            let usage = usage.filter(|_| message.role == Role::Assistant);
            self.append(message, place, usage, teller)?;
        }
        Ok(())
    }

    /// What is sent by now is summed up; when that was shows only the place.
    fn summary(
        &mut self,
        text: &str,
        since: usize,
        place: Place<'_>,
        teller: &mut Teller<'_>,
    ) -> Result<()> {
        let (Some(first), Some(last)) = (self.sent.first(), self.sent.last()) else {
            return Ok(());
        };
        let text = format!("<conversation-summary>\n{text}\n</conversation-summary>\n");
        let message = Message::text(Role::User, text);
        let hide = HideStep::summary(Cover::Range(*first, *last), message);
        let hide = hide.made(Moment::Since(since));
        self.sent = vec![teller.step(place.step(Action::Hide(hide)))?];
        Ok(())
    }
}
