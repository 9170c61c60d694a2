//! The importer: the events of a conversation, one a line, or the runs of a file with their events.

use serde_json::value::RawValue;

use super::event::{Event, said};
use super::is_run;
use super::run::Run;
use super::talk::{Placed, Said, Talk};
use crate::error::Result;
use crate::interop::conversations::Names;
use crate::interop::head::SourceHead;
use crate::interop::records::{LineReader, Record, each_line};
use crate::interop::rows;
use crate::interop::spans::{elements, members};
use crate::interop::teller::Teller;
use crate::interop::{Problem, Sink, Source};
use crate::wire::json::{Raw, decode, string, word};

/// What a conversation lacks, and a run.
const LACKING: &[&str] = &["tool definitions"];
const RUN_LACKS: &[&str] = &["system prompt", "tool definitions"];

pub(super) fn import(source: Source<'_>) -> Result<()> {
    if source.begins(|front| SourceHead::lines(front).first(is_run).is_some())? {
        let mut runs = Runs {
            sink: source.sink,
            stem: source.stem,
            names: Names::default(),
        };
        each_line(source.input, &mut runs)?;
        return Ok(());
    }
    let talk = Talk::of(Teller::of(source.stem, LACKING, source.sink));
    let mut lines = Lines(talk);
    lines.0.teller.open()?;
    lines.0.teller.end.lone_surrogates = each_line(source.input, &mut lines)?;
    lines.0.close()
}

/// The events of a conversation.
struct Lines<'s>(Talk<'s>);

impl LineReader for Lines<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.0.teller.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let teller = &mut self.0.teller;
        let found =
            decode::<Event<'_>>(Some(record.value)).ok_or_else(|| "not an event".to_owned());
        let found = found.and_then(|event| {
            let said = said(&event, &mut teller.notes)?;
            Ok((string(event.id), time(event.timestamp), said))
        });
        let (id, time, said) = match found {
            Ok(found) => found,
            Err(reason) => return teller.problem_on(record.line, reason),
        };
        let placed = Placed {
            id: id.unwrap_or_default(),
            time,
            text: record.text,
            at: record.at.clone(),
        };
        self.0.take(said, placed)
    }
}

/// A time that may say no zone: then it is taken for UTC.
fn time(raw: Raw<'_>) -> Option<crate::model::Millis> {
    word(raw).and_then(|text| rows::time(&text))
}

lazy! {
    /// What of a run, and of an event in it, is looked at.
    struct Line { id, instance_id, timestamp, metadata, llm_config, model }
}

/// The runs of a file.
struct Runs<'s> {
    sink: &'s mut dyn Sink,
    stem: &'s str,
    names: Names,
}

impl LineReader for Runs<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let text = record.text;
        let (keys, _) = members(text.bytes, record.at.start);
        let Some((_, history)) = keys.iter().find(|(key, _)| key == "history") else {
            return self
                .sink
                .problem(Problem::new(record.line, "a run without 'history'"));
        };
        let line: Line<'_> = decode(Some(record.value)).unwrap_or_default();
        let own = string(line.instance_id).filter(|id| !id.is_empty());
        let id = own.unwrap_or_else(|| format!("{}/{}", self.stem, record.line));
        let metadata: Line<'_> = decode(line.metadata).unwrap_or_default();
        let config: Line<'_> = decode(metadata.llm_config).unwrap_or_default();
        let mut talk = Talk::of(Teller::of(&self.names.of(id), RUN_LACKS, &mut *self.sink));
        talk.teller
            .set("model", config.model.map(|raw| raw.get().to_owned()));
        talk.teller.open()?;
        let mut run = Run::default();
        for at in elements(text.bytes, history.start).0 {
            // An action and what came of it may be a pair.
            let pair = match text.bytes.get(at.start) {
                Some(b'[') => elements(text.bytes, at.start).0,
                _ => vec![at],
            };
            for at in pair {
                let Ok((raw, lone)) = text.decode(&at) else {
                    talk.teller
                        .problem_on(record.line, "an event that is no JSON")?;
                    continue;
                };
                talk.teller.end.lone_surrogates += lone;
                let raw: &RawValue = &raw;
                let event: Line<'_> = decode(Some(raw)).unwrap_or_default();
                let placed = Placed {
                    id: event.id.map(|id| id.get().to_owned()).unwrap_or_default(),
                    time: time(event.timestamp),
                    text,
                    at,
                };
                match run.said(raw) {
                    Ok(Said::Nothing(kind)) => talk.teller.end.other(kind),
                    Ok(said) => talk.take(said, placed)?,
                    Err(reason) => talk.teller.problem_on(record.line, reason)?,
                }
            }
        }
        talk.close()
    }
}
