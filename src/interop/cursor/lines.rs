//! The importer of transcripts: each line a message, whose calls get ids.

use serde_json::value::RawValue;

use super::LACKING;
use crate::error::Result;
use crate::interop::records::{LineReader, Record, each_line};
use crate::interop::teller::Teller;
use crate::interop::{ImportOptions, Input, Sink, Step};
use crate::model::{Message, Part, Role, depth};
use crate::wire::Notes;
use crate::wire::json::{decode, string, tight, word};

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut reader = Reader {
        teller: Teller::of(options.stem, LACKING, sink),
        calls: 0,
    };
    reader.teller.open()?;
    reader.teller.end.lone_surrogates = each_line(input, &mut reader)?;
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
        let role = match word(line.role).as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            role => return Err(format!("unknown role '{}'", role.unwrap_or_default())),
        };
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
                    Part::ToolCall {
                        id: format!("call-{calls}"),
                        name: string(block.name).unwrap_or_default(),
                        arguments: block.input.map_or("{}".to_owned(), |it| tight(it.get())),
                        kind: None,
                    }
                }
                (kind, _) => {
                    found.opaque(kind.unwrap_or("(no type)"));
                    Part::Opaque {
                        provider: "cursor".to_owned(),
                        data: tight(raw.get()),
                    }
                }
            });
        }
        let message = Message::new(role, parts);
        depth::check_message(&message).map_err(|error| error.to_string())?;
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
        let message = match text.starts_with('{') {
            true => self.message(text),
            false => Err("not a record".to_owned()),
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
