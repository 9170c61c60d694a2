//! Reads a source: its spans, which of them belong together, and then each context.
//!
//! No span is held: each is read again where it stands.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::conversation::{Joined, Requests};
use super::heard::Heard;
use super::history::History;
use super::span::{Asked, Askers, Head, asked, head};
use super::{RESOURCES, SCOPES, SPANS, is_trace};
use crate::error::Result;
use crate::formats::shared::chat;
use crate::formats::shared::head::{SourceHead, front};
use crate::formats::shared::histories;
use crate::formats::shared::records::{LineReader, Record, each_line, without_mark};
use crate::formats::shared::requests::Telling;
use crate::formats::shared::spans::skip_space;
use crate::formats::shared::teller::Teller;
use crate::formats::shared::walk::{Stop, Walk};
use crate::formats::{Input, Problem, Sink, Source, Step, again};
use crate::model::{Span, StatedUsage};
use crate::wire::Notes;

/// What a trace may lack of what a model was sent.
const UNRECORDED: &str = "what was sent with some requests";

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let input = source.input;
    let bytes = front(input)?;
    let is_lines = chat::is_lines(input, is_trace)?;
    let start = skip_space(&bytes, bytes.len() - without_mark(&bytes).len());
    let is_list = bytes.get(start) == Some(&b'[');
    let is_traced =
        is_lines || !is_list && is_trace(&SourceHead::document(&bytes, start)).is_some();
    if !is_traced {
        return histories::import::<History>(source);
    }
    drop(bytes);
    let mut spans = Spans {
        sink: source.sink,
        heads: Vec::new(),
        askers: Askers::default(),
        others: BTreeMap::new(),
        lone: 0,
        is_broken: false,
    };
    if is_lines {
        each_line(input, &mut spans)?;
    } else {
        spans.document(Walk::of(input)?)?;
    }
    let Spans {
        sink,
        mut heads,
        others,
        lone,
        ..
    } = spans;
    if heads.is_empty() {
        return sink.problem(Problem::new(0, "no span of a request to a model"));
    }
    heads.sort_by_key(|head| head.start);
    let (mut joined, mut heard) = (Joined::default(), Heard::default());
    for (at, head) in heads.iter().enumerate() {
        let notes = &mut Notes::default();
        let mut problem = |reason| sink.problem(Problem::new(0, reason));
        if let Some(asked) = read(input, head.place, &mut heard, notes, &mut problem)? {
            joined.take(at, head, &asked);
        }
    }
    // Each context is read anew, one after the other. What told them apart is let go of.
    drop(heard);
    let requests = joined.requests();
    let places: Vec<Span> = heads.into_iter().map(|head| head.place).collect();
    let mut beside = Some((others, lone));
    for requests in requests {
        let (others, lone) = beside.take().unwrap_or_default();
        tell(input, &places, requests, others, lone, sink)?;
    }
    Ok(())
}

/// What the span at a place asked; none where it cannot be read, which is said.
fn read(
    input: &dyn Input,
    place: Span,
    heard: &mut Heard,
    notes: &mut Notes,
    problem: &mut dyn FnMut(String) -> Result<()>,
) -> Result<Option<Asked>> {
    let text = again(input, place)?;
    let raw = serde_json::from_str::<&RawValue>(&text).map_err(|error| error.to_string());
    match raw.and_then(|raw| asked(raw, heard, notes)) {
        Ok(asked) => Ok(Some(asked)),
        Err(reason) => problem(reason).map(|()| None),
    }
}

/// Finds the spans.
struct Spans<'s> {
    sink: &'s mut dyn Sink,
    heads: Vec<Head>,
    askers: Askers,
    /// How many others there are, by what they are called.
    others: BTreeMap<String, u64>,
    lone: u64,
    /// Whether the source ends in the middle, or is no JSON from somewhere on.
    is_broken: bool,
}

impl LineReader for Spans<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        self.trace(&mut Walk::in_text(record.text, record.at.start))
    }
}

impl Spans<'_> {
    /// A trace that is a document of its own.
    fn document(&mut self, mut walk: Walk<'_>) -> Result<()> {
        self.trace(&mut walk)?;
        self.sink
            .progress(walk.done_bytes(), self.heads.len() as u64);
        match walk.peek()? {
            Some(_) if !self.is_broken => {
                let problem = walk.problem("more text after the document");
                self.sink.problem(problem)
            }
            _ => Ok(()),
        }
    }

    fn trace(&mut self, walk: &mut Walk<'_>) -> Result<()> {
        let ended = walk.each_in(RESOURCES, &mut |resource| {
            resource.each_in(SCOPES, &mut |scope| {
                scope.each_in(SPANS, &mut |span| self.span(span))
            })
        });
        match ended {
            Ok(()) => Ok(()),
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::Broken(broken)) => {
                self.is_broken = true;
                self.sink.problem(walk.problem(broken.reason()))
            }
        }
    }

    fn span(&mut self, walk: &mut Walk<'_>) -> Result<(), Stop> {
        let at = walk.value()?;
        let text = walk.text();
        let place = text.span(&at);
        let askers = &mut self.askers;
        match text.message(&at, &mut self.lone, self.sink, |raw| {
            head(raw, place, askers)
        })? {
            Some(Ok(head)) => self.heads.push(head),
            Some(Err(other)) => *self.others.entry(other).or_default() += 1,
            None => {}
        }
        if self.heads.len().is_multiple_of(TOLD_SPANS) {
            self.sink
                .progress(walk.done_bytes(), self.heads.len() as u64);
        }
        Ok(())
    }
}

/// How often progress is told, in spans that ask a model.
const TOLD_SPANS: usize = 256;

/// Tells a sink of a context.
fn tell(
    input: &dyn Input,
    places: &[Span],
    requests: Requests,
    others: BTreeMap<String, u64>,
    lone: u64,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut teller = Teller::of(&requests.id, &[], sink);
    teller.start.descent.spawned_by = requests.parent;
    teller.end.other_records = others;
    teller.end.lone_surrogates = lone;
    teller.open()?;
    let mut telling = Telling::new(teller);
    let (mut stated, mut is_silent, mut is_unrecorded) = (StatedUsage::default(), false, false);
    let mut heard = Heard::default();
    for at in requests.heads {
        let place = places[at as usize];
        let mut notes = std::mem::take(&mut telling.teller.notes);
        let asked = read(input, place, &mut heard, &mut notes, &mut |_| Ok(()))?;
        telling.teller.notes = notes;
        let Some(asked) = asked else { continue };
        for key in &asked.broken {
            let reason = format!("{key} that is cut or no list of messages");
            telling.teller.sink.problem(Problem::new(0, reason))?;
        }
        if asked.input.is_empty() {
            is_unrecorded = true;
        } else {
            telling.repeated_request(asked.input, &asked.settings, place, asked.start)?;
        }
        if let Some((model, usage)) = asked.model.as_ref().zip(asked.usage) {
            let model = serde_json::from_str(model).unwrap_or_else(|_| model.clone());
            stated.add(model, usage);
        }
        match asked.reply {
            Some(reply) => {
                let step = Step::append(reply, place)
                    .by_model(asked.model)
                    .counted(asked.usage);
                telling.reply(step, asked.end)?;
            }
            None => is_silent |= asked.usage.is_some(),
        }
    }
    let end = &mut telling.teller.end;
    if telling.repeated > 0 {
        end.other_records
            .insert("request sent again".to_owned(), telling.repeated);
    }
    if is_unrecorded {
        end.absent.push(UNRECORDED.to_owned());
    }
    // What was counted for replies that are not recorded has no other home.
    end.stated = is_silent.then_some(stated);
    telling.teller.close()
}
