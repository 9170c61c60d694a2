//! A session into messages: its records in the order in which they came, each behind the one that it names.

use std::collections::HashMap;

use super::record::{Payload, Record, message_of};
use crate::error::{Error, Result};
use crate::interop::lines::mend;
use crate::interop::list::{Change, Listed, Telling};
use crate::interop::records::{self, LineReader, each_line};
use crate::interop::spans::elements_at;
use crate::interop::{ImportOptions, Input, Problem, SessionEnd, SessionStart, Sink, Step};
use crate::model::{Role, Span};
use crate::wire::Notes;
use crate::wire::json::{decode, string};

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut reader = Reader {
        input,
        list: Telling::new(sink),
        options,
        is_told: false,
        nodes: HashMap::new(),
        last: None,
        notes: Notes::default(),
        end: SessionEnd::lacking(&["system prompt", "tool definitions"]),
    };
    reader.end.lone_surrogates = each_line(input, &mut reader)?;
    reader.open(None)?;
    reader.list.settle()?;
    reader.end.opaque_blocks = reader.notes.opaque_blocks;
    reader.list.sink.end(reader.end)
}

/// A record's place in the tree, and in the source.
struct Node {
    /// The record that it stands behind.
    parent: Option<String>,
    span: Span,
    /// Whether the history begins anew there.
    begins: bool,
}

struct Reader<'s> {
    input: &'s dyn Input,
    list: Telling<'s>,
    options: ImportOptions<'s>,
    /// Whether the session was told.
    is_told: bool,
    nodes: HashMap<String, Node>,
    /// The record that was read last.
    last: Option<String>,
    notes: Notes,
    end: SessionEnd,
}

impl Reader<'_> {
    /// Tells of the session, once.
    fn open(&mut self, record: Option<&Record<'_>>) -> Result<()> {
        if std::mem::replace(&mut self.is_told, true) {
            return Ok(());
        }
        let id = record.and_then(Record::session);
        self.list.sink.session(SessionStart {
            descent: record.map(Record::descent).unwrap_or_default(),
            ..SessionStart::new(id.unwrap_or_else(|| self.options.stem.to_owned()))
        })
    }

    fn line(&mut self, line: &records::Record<'_>) -> Result<()> {
        let problem = |reason: String| Problem::new(line.line, reason);
        let text = line.value.get();
        let record = match serde_json::from_str::<Record<'_>>(text) {
            Ok(record) if text.starts_with('{') => record,
            _ => return self.sink().problem(problem("not a record".into())),
        };
        self.open(Some(&record))?;
        self.end.cwd = self.end.cwd.take().or_else(|| string(record.cwd));
        let title = decode::<Payload<'_>>(record.system_payload);
        let title = title.and_then(|payload| string(payload.custom_title));
        self.end.title = title.or(self.end.title.take());
        let change = Change {
            span: line.span(),
            time: record.time(),
        };
        self.follow(&record, line, change)?;
        let mut listed = match record.listed(change.span, &mut self.notes) {
            Ok(listed) => listed,
            Err(reason) => {
                self.sink().problem(problem(reason))?;
                Listed::default()
            }
        };
        if record.is_compression() {
            let bytes = &line.text.bytes[line.at.clone()];
            let list = compressed(bytes, change.span, &mut self.notes);
            self.list.replace(list, change)?;
        }
        if listed.steps.is_empty() {
            self.end.other(record.kind());
        }
        if let Some(uuid) = string(record.uuid) {
            let node = Node {
                parent: self.last.take(),
                span: change.span,
                begins: record.is_compression(),
            };
            // Of records of one name the first has the place in the tree.
            if !self.nodes.contains_key(&uuid) {
                self.nodes.insert(uuid.clone(), node);
                listed.id.clone_from(&uuid);
            }
            self.last = Some(uuid);
        }
        self.list.put(listed, change).map(drop)
    }

    /// Goes to the record behind which one stands, if that is not the last one: what comes between was
    /// taken back. A link that leads nowhere is passed over, so that nothing is lost by it.
    fn follow(
        &mut self,
        record: &Record<'_>,
        line: &records::Record<'_>,
        change: Change,
    ) -> Result<()> {
        let parent = string(record.parent_uuid);
        // A record of the last one's name goes on with it.
        let is_more = string(record.uuid).is_some_and(|uuid| self.last.as_ref() == Some(&uuid));
        if self.last.is_none() || parent == self.last || is_more {
            return Ok(());
        }
        match &parent {
            None if record.parent_uuid.is_some() || !has_parent(line) => return Ok(()),
            None => self.list.replace(Vec::new(), change)?,
            Some(known) if self.nodes.contains_key(known) => {
                if !self.list.rewind_behind(known, change)? {
                    let list = self.path(known)?;
                    self.list.replace(list, change)?;
                }
            }
            Some(_) => {
                return self.sink().problem(Problem {
                    harmless: true,
                    ..Problem::new(line.line, "the record before it is not in the file")
                });
            }
        }
        self.last = parent;
        Ok(())
    }

    /// What is sent at a record, read once more.
    fn path(&self, uuid: &str) -> Result<Vec<Listed>> {
        let mut spans = Vec::new();
        let mut next = self.nodes.get_key_value(uuid);
        while let Some((uuid, node)) = next {
            spans.push((uuid, node));
            next = match &node.parent {
                Some(parent) if !node.begins => self.nodes.get_key_value(parent),
                _ => None,
            };
        }
        let mut list = Vec::new();
        // What is odd in them was told when they were read.
        let mut notes = Notes::default();
        for (uuid, node) in spans.into_iter().rev() {
            let bytes = self.input.bytes(node.span).map_err(Error::io("source"))?;
            if node.begins {
                list = compressed(&bytes, node.span, &mut notes);
            }
            let text = mend(&bytes).text;
            let record = serde_json::from_str::<Record<'_>>(&text).unwrap_or_default();
            list.push(Listed {
                id: uuid.clone(),
                ..record.listed(node.span, &mut notes).unwrap_or_default()
            });
        }
        Ok(list)
    }
}

/// Whether a record says behind which one it stands: none is said by `null`.
fn has_parent(line: &records::Record<'_>) -> bool {
    line.value.get().contains("\"parentUuid\"")
}

/// The history that a compression left.
fn compressed(record: &[u8], span: Span, notes: &mut Notes) -> Vec<Listed> {
    let mut list = Vec::new();
    for at in elements_at(record, 0, &["systemPayload", "compressedHistory"]) {
        let place = Span {
            offset: span.offset + at.start as u64,
            len: at.len() as u64,
        };
        let text = mend(&record[at]).text;
        let raw = serde_json::from_str(&text).ok();
        let message = raw.and_then(|raw| message_of(raw, notes).ok().flatten());
        list.extend(message.map(|message| Listed {
            is_reply: message.role == Role::Assistant,
            steps: vec![Step::append(message, place)],
            ..Listed::default()
        }));
    }
    list
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.list.sink
    }

    fn record(&mut self, record: records::Record<'_>) -> Result<()> {
        self.line(&record)
    }
}
