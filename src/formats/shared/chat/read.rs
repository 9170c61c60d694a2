//! Finds the conversations of a source and tells the sink their messages.

use std::ops::Range;

use super::Dialect;
use super::sniff::{is_lines, kind};
use crate::error::Result;
use crate::formats::shared::conversations::Names;
use crate::formats::shared::document::ObjectTeller;
use crate::formats::shared::records::{Held, LineReader, Record, Text, each_line};
use crate::formats::shared::spans::{Broken, elements, members, skip_value};
use crate::formats::shared::teller::Teller;
use crate::formats::{BranchStart, Sink, Source, Step};
use crate::model::{Message, Settings, depth};
use crate::wire::Notes;

/// The settings of a fine-tuning row; its other keys are counted and stay in the source.
const ROW_SETTINGS: [&str; 4] = ["tools", "parallel_tool_calls", "functions", "function_call"];

/// Reads a source of either chat format.
pub(crate) fn read(dialect: &Dialect, source: Source<'_>) -> Result<()> {
    let mut reader = Reader {
        dialect,
        sink: source.sink,
        stem: source.stem,
        records: 0,
        names: Names::default(),
    };
    if is_lines(source.input, |head| Some(kind(head)?.0))? {
        return each_line(source.input, &mut reader).map(drop);
    }
    let held = Held::read(source.input)?;
    let text = held.text();
    match text.bytes.get(held.start) {
        Some(b'[') => reader.list(text, held.start)?,
        _ => reader.value(text, held.start, source.stem, false)?,
    }
    held.end(None, reader.sink)?;
    let records = reader.records.max(1);
    reader.sink.progress(text.bytes.len() as u64, records);
    Ok(())
}

struct Reader<'a> {
    dialect: &'a Dialect,
    sink: &'a mut dyn Sink,
    stem: &'a str,
    /// Messages read, of a document.
    records: u64,
    names: Names,
}

/// What is found of a conversation before it is told.
#[derive(Default)]
struct Conversation {
    system: Option<Range<usize>>,
    messages: Vec<Range<usize>>,
    broken: Option<Broken>,
    settings: Settings,
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn one_a_line(&self) -> bool {
        false
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let mut id = format!("{}/{}", self.stem, record.line);
        if record.number > 1 {
            id = format!("{id}-{}", record.number);
        }
        self.value(record.text, record.at.start, &id, true)
    }
}

impl Reader<'_> {
    /// What tells of a conversation that is called so.
    fn teller<'t>(&mut self, text: Text<'t>, id: &str) -> ObjectTeller<'t, '_> {
        ObjectTeller::of(text, Teller::of(id, &[], self.sink))
    }

    /// A list of messages, or of recorded runs.
    fn list(&mut self, text: Text<'_>, start: usize) -> Result<()> {
        let bytes = text.bytes;
        let (items, broken) = elements(bytes, start);
        let is_run = |item: &Range<usize>| {
            let (keys, _) = members(bytes, item.start);
            keys.iter().any(|(key, _)| key == "traj")
        };
        if !items.iter().any(is_run) {
            return self.messages(text, self.stem, (items, broken), &[]);
        }
        for item in items {
            let (keys, _) = members(bytes, item.start);
            let get = |name: &str| {
                let found = keys.iter().find(|(key, _)| key == name);
                found.map(|(_, span)| span.clone())
            };
            let Some(run) = get("traj") else {
                let problem = text.problem(item.start, "an entry without 'traj'");
                self.sink.problem(problem)?;
                continue;
            };
            let word = |name| get(name).map(|span| plain_word(&bytes[span]));
            let mut id = format!("{}/task-{}", self.stem, word("task_id").unwrap_or_default());
            if let Some(trial) = word("trial") {
                id = format!("{id}-trial-{trial}");
            }
            let id = self.names.of(id);
            let others = keys.iter().map(|(key, _)| key.as_str());
            let others: Vec<&str> = others.filter(|key| *key != "traj").collect();
            self.messages(text, &id, elements(bytes, run.start), &others)?;
        }
        match broken {
            Some(broken) => self
                .sink
                .problem(text.problem(bytes.len(), broken.reason())),
            None => Ok(()),
        }
    }

    /// A conversation of which nothing is read but its messages, beside others.
    fn messages(
        &mut self,
        text: Text<'_>,
        id: &str,
        (messages, broken): (Vec<Range<usize>>, Option<Broken>),
        others: &[&str],
    ) -> Result<()> {
        self.records += messages.len() as u64;
        let found = Conversation {
            messages,
            broken,
            ..Conversation::default()
        };
        let dialect = self.dialect;
        let mut teller = self.teller(text, id);
        others.iter().for_each(|key| teller.end.other(*key));
        tell(dialect, teller, found)
    }

    /// An object: a request, a response, a row; or an array of messages on a line.
    fn value(&mut self, text: Text<'_>, start: usize, id: &str, row: bool) -> Result<()> {
        let bytes = text.bytes;
        match bytes.get(start) {
            Some(b'{') => {}
            Some(b'[') => return self.messages(text, id, elements(bytes, start), &[]),
            Some(_) => return self.sink.problem(text.problem(start, "not an object")),
            None => return Ok(()),
        }
        let dialect = self.dialect;
        let mut teller = self.teller(text, id);
        let (keys, broken) = members(bytes, start);
        let mut found = Conversation::default();
        let is_request = !row || keys.iter().any(|(key, _)| key == "model");
        let mut has_messages = false;
        let last = keys.len();
        for (at, (key, span)) in keys.iter().enumerate() {
            match key.as_str() {
                "messages" if !has_messages => {
                    has_messages = true;
                    (found.messages, found.broken) = elements(bytes, span.start);
                }
                // A value that the text ends in is not worth keeping.
                _ if broken.is_some() && at + 1 == last => {}
                "system" if system(dialect, text, span, &mut Notes::default()).is_some() => {
                    found.system = Some(span.clone());
                }
                _ if is_request || ROW_SETTINGS.contains(&key.as_str()) => {
                    let Ok((raw, lone)) = text.decode(span) else {
                        continue;
                    };
                    teller.end.lone_surrogates += lone;
                    match depth::check_json(key, raw.get(), 1) {
                        Ok(()) => {
                            found.settings.insert(key.clone(), raw.get().to_owned());
                        }
                        Err(error) => {
                            teller.end.other(key);
                            teller.problem(span, error.to_string())?;
                        }
                    }
                }
                _ => teller.end.other(key),
            }
        }
        if !has_messages {
            return reply(dialect, self.teller(text, id), start);
        }
        found.broken = found.broken.or(broken);
        let records = found.messages.len() as u64;
        tell(dialect, teller, found)?;
        self.records += records;
        Ok(())
    }
}

/// The message of a top-level `system`, with its lone surrogates; none if that is no content.
fn system(
    dialect: &Dialect,
    text: Text<'_>,
    at: &Range<usize>,
    notes: &mut Notes,
) -> Option<(Message, u64)> {
    let (raw, lone) = text.decode(at).ok()?;
    Some(((dialect.system)(&raw, notes)?, lone))
}

/// Tells of a response body.
fn reply(dialect: &Dialect, mut teller: ObjectTeller<'_, '_>, start: usize) -> Result<()> {
    let text = teller.text;
    let bytes = text.bytes;
    let end = match skip_value(bytes, start) {
        Ok(end) => end,
        Err(broken) => return teller.problem(&(start..start), broken.reason()),
    };
    let (raw, _) = match text.decode(&(start..end)) {
        Ok(decoded) => decoded,
        Err(reason) => return teller.problem(&(start..end), reason),
    };
    let Some(reply) = (dialect.reply)(&raw) else {
        return teller.problem(&(start..end), "an object without messages");
    };
    let mut spans = Vec::new();
    match reply.choices {
        None => spans.push(start..end),
        Some(key) => {
            let (keys, _) = members(bytes, start);
            for (_, list) in keys.iter().filter(|(name, _)| name == key) {
                for choice in elements(bytes, list.start).0 {
                    let (keys, _) = members(bytes, choice.start);
                    let message = keys.into_iter().find(|(name, _)| name == "message");
                    spans.extend(message.map(|(_, span)| span));
                }
            }
        }
    }
    teller.open()?;
    for (number, at) in spans.iter().enumerate() {
        let Some(message) = message(dialect, at, &mut teller)? else {
            continue;
        };
        if number > 0 {
            let branch = BranchStart::root(format!("choice-{}", number + 1));
            teller.sink.branch(branch)?;
        }
        let step = Step::append(message, text.span(at))
            .at(reply.time)
            .by_model(reply.model.clone())
            .in_tier(reply.tier.clone());
        teller.step(step.recorded(reply.usage.clone().filter(|_| number == 0)))?;
    }
    teller.end()
}

/// Tells of a conversation.
fn tell(dialect: &Dialect, mut teller: ObjectTeller<'_, '_>, found: Conversation) -> Result<()> {
    let text = teller.text;
    teller.open()?;
    let mut held = found.system.and_then(|at| {
        let (message, lone) = system(dialect, text, &at, &mut teller.notes)?;
        teller.end.lone_surrogates += lone;
        Some(Step::append(message, text.span(&at)))
    });
    for at in &found.messages {
        if let Some(message) = message(dialect, at, &mut teller)?
            && let Some(step) = held.replace(Step::append(message, text.span(at)))
        {
            teller.step(step)?;
        }
    }
    if let Some(broken) = found.broken {
        let end = text.bytes.len();
        teller.problem(&(end..end), broken.reason())?;
    }
    if let Some(step) = held {
        teller.due = found.settings;
        teller.step(step)?;
    }
    teller.end()
}

/// Reads a message; what is wrong with it is told.
fn message(
    dialect: &Dialect,
    at: &Range<usize>,
    teller: &mut ObjectTeller<'_, '_>,
) -> Result<Option<Message>> {
    let message = teller.read(at, dialect.message)?;
    if let Some(message) = &message {
        let text = teller.text;
        teller.pair(message, text, at)?;
    }
    Ok(message)
}

/// A JSON number or string as a word that can stand in a name.
fn plain_word(json: &[u8]) -> String {
    let text = serde_json::from_slice::<String>(json)
        .unwrap_or_else(|_| String::from_utf8_lossy(json).into_owned());
    let word = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            c
        } else {
            '-'
        }
    };
    text.chars().map(word).collect()
}
