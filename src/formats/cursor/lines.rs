//! The importer of transcripts: each line a message, whose calls get ids.

use serde_json::value::RawValue;

use crate::error::Result;
use crate::formats::shared::document::Document;
use crate::formats::shared::parts::{call, checked, opaque, role};
use crate::formats::shared::records::{LineReader, Record, each_line};
use crate::formats::shared::teller::Teller;
use crate::formats::{Sink, Source, Step};
use crate::model::{Message, Part, Role};
use crate::wire::Notes;
use crate::wire::json::{decode, string, tight, word};

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let mut reader = Reader {
        teller: Teller::of(source.stem, super::chat::Chat::LACKING, source.sink),
        calls: 0,
    };
    reader.teller.open()?;
    reader.teller.end.lone_surrogates = each_line(source.input, &mut reader)?;
    if reader.calls > 0 {
        reader.teller.end.absent.push("results".to_owned());
    }
    reader.teller.close()
}

struct Reader<'s> {
    teller: Teller<'s>,
    /// How many calls were told.
    calls: u64,
}

lazy! { struct Line { role, message, content } }

lazy! { struct Block { r#type, text, name, input } }

impl Reader<'_> {
    fn message(&mut self, text: &str) -> Result<Option<Message>, String> {
        let line: Line<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let Some(message) = line.message else {
            return Ok(None);
        };
        let role = role(line.role, &[Role::User, Role::Assistant, Role::System])?;
        let message: Line<'_> = decode(Some(message)).unwrap_or_default();
        let mut parts = Vec::new();
        if let Some(text) = string(message.content) {
            parts.push(Part::text(text));
        }
        let blocks: Vec<&RawValue> = decode(message.content).unwrap_or_default();
        let (mut found, mut calls) = (Notes::default(), self.calls);
        for raw in blocks {
            let block: Block<'_> = decode(Some(raw)).unwrap_or_default();
            parts.push(match (word(block.r#type).as_deref(), string(block.text)) {
                (Some("text"), Some(text)) => Part::text(text),
                (Some("tool_use"), _) => {
                    calls += 1;
                    let arguments = block.input.map(|it| tight(it.get()));
                    call(Some(format!("call-{calls}")), string(block.name), arguments)
                }
                (kind, _) => {
                    let data = tight(raw.get());
                    opaque("cursor", kind.unwrap_or("(no type)"), data, &mut found)
                }
            });
        }
        let message = Message::new(role, parts);
        checked([&message])?;
        self.teller.notes.merge(found);
        self.calls = calls;
        Ok(Some(message))
    }
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.teller.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let text = record.value.get();
        let message = if text.starts_with('{') {
            self.message(text)
        } else {
            Err("not a record".to_owned())
        };
        match message {
            Ok(Some(message)) => {
                let step = Step::append(message, record.span());
                self.teller.step(step).map(drop)
            }
            Ok(None) => {
                self.teller.end.other("record");
                Ok(())
            }
            Err(reason) => self.teller.problem_on(record.line, reason),
        }
    }
}
