//! A session into messages: its records in the order in which they came, each behind the one that it names.

use std::collections::HashMap;

use super::call_ids::Named;
use super::record::{Payload, Record, message_of};
use crate::error::{Error, Result};
use crate::formats::shared::lines::mend;
use crate::formats::shared::list::{Change, Listed, Telling};
use crate::formats::shared::parts::time;
use crate::formats::shared::records::{self, LineReader, each_line};
use crate::formats::shared::spans::elements_at;
use crate::formats::shared::teller::Teller;
use crate::formats::{Input, Problem, Sink, Source, Step};
use crate::model::{Role, Span, StatedUsage, Usage};
use crate::wire::Notes;
use crate::wire::json::{decode, string};

/// How much may be read again of a session of so many bytes, to follow it from one way to another. Each
/// time that way's messages are told anew, so that who goes to and fro all the time would fill any disk.
pub(super) const fn most_read_again(bytes: u64) -> u64 {
    bytes.saturating_mul(16).saturating_add(1 << 20)
}

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let lacking = ["system prompt", "tool definitions"];
    let mut reader = Reader {
        input: source.input,
        list: Telling::new(Teller::of(source.stem, &lacking, source.sink)),
        nodes: HashMap::new(),
        last: None,
        named: Named::default(),
        requests: Requests::default(),
        bytes_again: 0,
    };
    reader.list.teller.end.lone_surrogates = each_line(source.input, &mut reader)?;
    reader.list.teller.end.stated = reader.requests.stated();
    reader.list.teller.open()?;
    reader.list.settle()?;
    reader.list.teller.close()
}

/// What was counted for a session's requests, each with its model.
#[derive(Default)]
struct Requests {
    /// Of those that brought a reply.
    replies: Vec<(String, Usage)>,
    /// Of all that were answered, as far as the tool tells of them apart.
    answered: Vec<(String, Usage)>,
}

impl Requests {
    /// What all came to, those of agents and of the tool's own among them; nothing where replies say it.
    fn stated(&mut self) -> Option<StatedUsage> {
        let mut others = std::mem::take(&mut self.answered);
        for reply in &self.replies {
            if let Some(at) = others.iter().position(|(_, usage)| *usage == reply.1) {
                others.remove(at);
            }
        }
        if others.is_empty() {
            return None;
        }
        let mut stated = StatedUsage::default();
        let all = self.replies.drain(..).chain(others);
        all.for_each(|(model, usage)| stated.add(model, usage));
        Some(stated)
    }
}

/// A record's place in the tree, and in the source.
struct Node {
    /// The record that it stands behind.
    parent: Option<String>,
    /// What is said in it: later records of its name belong to it.
    spans: Vec<Span>,
    /// The calls that wait for results there.
    named: Named,
    /// Whether the history begins anew there.
    begins: bool,
}

struct Reader<'s> {
    input: &'s dyn Input,
    list: Telling<'s>,
    nodes: HashMap<String, Node>,
    /// The record that was read last.
    last: Option<String>,
    /// The calls that wait for results there.
    named: Named,
    /// What was counted for requests.
    requests: Requests,
    /// How much was read again.
    bytes_again: u64,
}

impl Reader<'_> {
    fn line(&mut self, line: &records::Record<'_>) -> Result<()> {
        let teller = &mut self.list.teller;
        let Ok(record) = serde_json::from_str::<Record<'_>>(line.value.get()) else {
            return teller.problem_on(line.line, "not a record");
        };
        teller.open_with(|start| {
            start.id = record.session().unwrap_or(std::mem::take(&mut start.id));
            start.descent = record.descent();
        })?;
        let end = &mut teller.end;
        end.cwd = end.cwd.take().or_else(|| string(record.cwd));
        let title = decode::<Payload<'_>>(record.system_payload);
        let title = title.and_then(|payload| string(payload.custom_title));
        end.title = title.or(end.title.take());
        let change = Change {
            span: line.span(),
            time: time(record.timestamp),
        };
        self.follow(&record, line, change)?;
        let teller = &mut self.list.teller;
        let mut listed = match record.listed(change.span, &mut teller.notes) {
            Ok(listed) => listed,
            Err(reason) => {
                teller.problem_on(line.line, reason)?;
                Listed::default()
            }
        };
        for step in &mut listed.steps {
            self.named.number(step);
            let model = record.model();
            self.requests
                .replies
                .extend(step.usage.map(|it| (model, it)));
        }
        self.requests.answered.extend(record.answered());
        if listed.steps.is_empty() {
            self.list.teller.end.other(record.kind());
        }
        let uuid = string(record.uuid);
        if let Some(uuid) = &uuid
            && let Some(node) = self.nodes.get_mut(uuid)
        {
            node.spans.push(change.span);
            node.named.clone_from(&self.named);
            listed.id.clone_from(uuid);
            return self.list.add(listed, change);
        }
        let begins = record.is_compression();
        if begins {
            self.named = Named::default();
            let bytes = &line.text.bytes[line.at.clone()];
            let list = compressed(bytes, change.span, &mut self.list.teller.notes);
            self.list.replace(list, change)?;
        }
        if let Some(uuid) = uuid {
            let node = Node {
                parent: self.last.replace(uuid.clone()),
                spans: vec![change.span],
                named: self.named.clone(),
                begins,
            };
            listed.id.clone_from(&uuid);
            self.nodes.insert(uuid, node);
        }
        self.list.put(listed, change).map(drop)
    }

    /// Goes to the record behind which one stands, or whose name it has, if that is not the last one: what
    /// comes between was taken back. A link that leads nowhere is passed over, so that nothing is lost by it.
    ///
    /// # Source
    ///
    /// `aggregateRecords` in `sessionService.ts` of the tool: records of one name are one, where the first
    /// of them stands.
    fn follow(
        &mut self,
        record: &Record<'_>,
        line: &records::Record<'_>,
        change: Change,
    ) -> Result<()> {
        let own = string(record.uuid).filter(|uuid| self.nodes.contains_key(uuid));
        let behind = own.or_else(|| string(record.parent_uuid));
        if self.last.is_none() || behind == self.last {
            return Ok(());
        }
        match &behind {
            None if record.parent_uuid.is_some() || !has_parent(line) => return Ok(()),
            None => {
                self.named = Named::default();
                self.list.replace(Vec::new(), change)?;
            }
            Some(known) if self.nodes.contains_key(known) => {
                if !self.list.rewind_behind(known, change)? {
                    let Some(list) = self.path(known, change.span)? else {
                        let reason = "this goes to and fro too often: it is read behind the record before it";
                        return self.list.teller.problem_on(line.line, reason);
                    };
                    self.list.replace(list, change)?;
                }
                self.named.clone_from(&self.nodes[known].named);
            }
            Some(_) => {
                return self.sink().problem(Problem {
                    harmless: true,
                    ..Problem::new(line.line, "the record before it is not in the file")
                });
            }
        }
        self.last = behind;
        Ok(())
    }

    /// What is sent at a record, read once more for the one that is `now` read; none where that would be
    /// too much.
    fn path(&mut self, uuid: &str, now: Span) -> Result<Option<Vec<Listed>>> {
        let mut way = Vec::new();
        let mut next = self.nodes.get_key_value(uuid);
        while let Some((uuid, node)) = next {
            self.bytes_again += node.spans.iter().map(|span| span.len).sum::<u64>();
            if self.bytes_again > most_read_again(now.offset) {
                return Ok(None);
            }
            way.push((uuid, node));
            next = match &node.parent {
                Some(parent) if !node.begins => self.nodes.get_key_value(parent),
                _ => None,
            };
        }
        let mut list = Vec::new();
        // What is odd in them was told when they were read.
        let (mut notes, mut named) = (Notes::default(), Named::default());
        for (uuid, node) in way.into_iter().rev() {
            let mut all = Listed {
                id: uuid.clone(),
                ..Listed::default()
            };
            for (number, span) in node.spans.iter().enumerate() {
                let bytes = self.input.bytes(*span).map_err(Error::io("source"))?;
                if node.begins && number == 0 {
                    list = compressed(&bytes, *span, &mut notes);
                }
                let text = mend(&bytes).text;
                let record = serde_json::from_str::<Record<'_>>(&text).unwrap_or_default();
                let mut listed = record.listed(*span, &mut notes).unwrap_or_default();
                listed.steps.iter_mut().for_each(|step| named.number(step));
                all.is_reply |= listed.is_reply;
                all.steps.extend(listed.steps);
            }
            list.push(all);
        }
        Ok(Some(list))
    }
}

/// Whether a record says behind which one it stands: none is said by `null`.
fn has_parent(line: &records::Record<'_>) -> bool {
    line.value.get().contains("\"parentUuid\"")
}

/// The history that a compression left.
fn compressed(record: &[u8], span: Span, notes: &mut Notes) -> Vec<Listed> {
    let (mut list, mut named) = (Vec::new(), Named::default());
    for at in elements_at(record, 0, &["systemPayload", "compressedHistory"]) {
        let place = Span {
            offset: span.offset + at.start as u64,
            len: at.len() as u64,
        };
        let text = mend(&record[at]).text;
        let raw = serde_json::from_str(&text).ok();
        let message = raw.and_then(|raw| message_of(raw, notes).ok().flatten());
        list.extend(message.map(|message| {
            let is_reply = message.role == Role::Assistant;
            let mut step = Step::append(message, place);
            named.number(&mut step);
            Listed {
                is_reply,
                steps: vec![step],
                ..Listed::default()
            }
        }));
    }
    list
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.list.teller.sink
    }

    fn record(&mut self, record: records::Record<'_>) -> Result<()> {
        self.line(&record)
    }
}
