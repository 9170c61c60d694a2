//! Reads a source: which conversations there are, and then each of them.

use std::collections::HashSet;

use super::body::Body;
use super::conversation::{Event, Joined, Thread};
use super::line::Line;
use crate::error::{Error, Result};
use crate::formats::shared::records::{LineReader, Record, each_line};
use crate::formats::shared::requests::Telling;
use crate::formats::shared::teller::Teller;
use crate::formats::{Input, Problem, Sink, Source, Step};
use crate::model::{Message, Role};

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let mut reader = Reader {
        sink: source.sink,
        stem: source.stem,
        joined: Joined::default(),
        said: HashSet::new(),
    };
    each_line(source.input, &mut reader)?;
    let Reader { joined, sink, .. } = reader;
    if joined.unanswering() > 0 {
        let count = joined.unanswering();
        let reason = format!("replies that may answer several requests: {count}");
        sink.problem(Problem {
            harmless: true,
            ..Problem::new(0, reason)
        })?;
    }
    // Whose client the others are has to be there before them.
    let mut threads = joined.threads;
    threads.sort_by_key(|thread| !thread.is_main);
    for thread in threads {
        tell(source.input, thread, sink)?;
    }
    Ok(())
}

/// Finds the conversations.
struct Reader<'a> {
    sink: &'a mut dyn Sink,
    stem: &'a str,
    joined: Joined,
    /// What was said to be wrong: each request says the same again.
    said: HashSet<String>,
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let Some(line) = Line::of(&record) else {
            return self.problem(&record, None, "no body in it");
        };
        let name = line.name.clone();
        let bytes = &record.text.bytes[line.at.clone()];
        let Some(body) = Body::read(bytes, line.span)? else {
            return self.problem(&record, name, "a body of no known provider");
        };
        for problem in &body.problems {
            self.problem(&record, name.clone(), &problem.reason)?;
        }
        if body.is_request {
            self.joined.request(&line, bytes, self.stem, &body)
        } else {
            let event = Event {
                is_request: false,
                at: line.span,
                time: line.time,
            };
            self.joined.reply(event, &body);
        }
        if let Some((at, span)) = line.response
            && body.is_request
            && Body::read(&record.text.bytes[at], span)?.is_some_and(|body| !body.is_request)
        {
            self.joined.answered(span, line.time);
        }
        Ok(())
    }
}

impl Reader<'_> {
    fn problem(&mut self, record: &Record<'_>, name: Option<String>, reason: &str) -> Result<()> {
        if !self.said.insert(reason.to_owned()) {
            return Ok(());
        }
        let reason = match name {
            Some(name) => format!("{name}: {reason}"),
            None => reason.to_owned(),
        };
        self.sink.problem(Problem::new(record.line, reason))
    }
}

/// Tells a sink of a conversation.
fn tell(input: &dyn Input, thread: Thread, sink: &mut dyn Sink) -> Result<()> {
    let mut teller = Teller::of(&thread.id, &[], sink);
    teller.start.descent.spawned_by = thread.parent;
    teller.open()?;
    let mut telling = Telling::new(teller);
    for Event {
        is_request,
        at,
        time,
    } in thread.events
    {
        let bytes = input.bytes(at).map_err(Error::io("source"))?;
        let Some(body) = Body::read(&bytes, at)? else {
            continue;
        };
        telling.teller.end.lone_surrogates += body.end.lone_surrogates;
        if is_request {
            telling.request(body.steps, &body.settings, at, time)?
        } else {
            let is_reply = |step: &Step| {
                let role = step.message().map(|message: &Message| message.role);
                role == Some(Role::Assistant)
            };
            if let Some(mut step) = body.steps.into_iter().find(is_reply) {
                // Of a body with items each is a record, and so is the body.
                if step.records != [at] {
                    step.records.push(at);
                }
                let tier = body.settings.get("service_tier").cloned();
                telling.reply(step.in_tier(tier), time)?;
            }
        }
    }
    if telling.repeated > 0 {
        let others = &mut telling.teller.end.other_records;
        others.insert("request sent again".to_owned(), telling.repeated);
    }
    telling.teller.close()
}
