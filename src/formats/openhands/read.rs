//! The importer: the events of a conversation, one a line.

use super::event::{Event, said};
use super::state::State;
use crate::error::Result;
use crate::formats::shared::condensation::{Placed, Talk};
use crate::formats::shared::records::{LineReader, Record, each_line};
use crate::formats::shared::rows;
use crate::formats::shared::teller::Teller;
use crate::formats::{Sink, Source};
use crate::wire::json::{decode, quoted, string, word};

/// What a conversation lacks.
const LACKING: &[&str] = &["tool definitions"];

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let state = State::of(source.input)?;
    let mut talk = Talk::of(Teller::of(source.stem, LACKING, source.sink));
    talk.teller
        .set("model", state.model.map(|model| quoted(&model)));
    talk.teller.end.stated = state.stated;
    talk.counted = state.replies;
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
            Ok((
                string(event.id),
                string(event.llm_response_id),
                word(event.timestamp).and_then(|time| rows::time(&time)),
                said,
            ))
        });
        let (id, reply, time, said) = match found {
            Ok(found) => found,
            Err(reason) => return teller.problem_on(record.line, reason),
        };
        let placed = Placed {
            id: id.unwrap_or_default(),
            reply,
            time,
            text: record.text,
            at: record.at.clone(),
        };
        self.0.take(said, placed)
    }
}
