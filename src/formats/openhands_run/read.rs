//! The importer: the runs of a file with their events.

use serde_json::value::RawValue;

use super::event::Run;
use crate::error::Result;
use crate::formats::shared::condensation::{Placed, Said, Talk};
use crate::formats::shared::conversations::Names;
use crate::formats::shared::records::{LineReader, Record, each_line};
use crate::formats::shared::rows;
use crate::formats::shared::spans::{elements, members};
use crate::formats::shared::teller::Teller;
use crate::formats::{Problem, Sink, Source};
use crate::wire::json::{decode, string, word};

/// What a run lacks.
const LACKING: &[&str] = &["system prompt", "tool definitions"];

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let mut runs = Runs {
        sink: source.sink,
        stem: source.stem,
        names: Names::default(),
    };
    each_line(source.input, &mut runs)?;
    Ok(())
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
        let mut talk = Talk::of(Teller::of(&self.names.of(id), LACKING, &mut *self.sink));
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
                    reply: None,
                    id: event.id.map(|id| id.get().to_owned()).unwrap_or_default(),
                    time: word(event.timestamp).and_then(|time| rows::time(&time)),
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
