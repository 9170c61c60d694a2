//! Finds the conversations of a source and tells the sink their messages.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use serde_json::value::RawValue;

use super::Dialect;
use super::sniff::is_lines;
use crate::error::Result;
use crate::interop::records::{Held, LineReader, Record, Text, each_line};
use crate::interop::spans::{Broken, elements, members, skip_value};
use crate::interop::{BranchStart, ImportOptions, Input, SessionEnd, SessionStart, Sink, Step};
use crate::model::{Message, Part, Settings, depth};
use crate::wire::Notes;

/// The settings of a fine-tuning row; its other keys are counted and stay in the source.
const ROW_SETTINGS: [&str; 4] = ["tools", "parallel_tool_calls", "functions", "function_call"];

/// Reads a source of either chat format.
pub(crate) fn read(
    dialect: &Dialect,
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut reader = Reader {
        dialect,
        sink,
        stem: options.stem,
        records: 0,
        ids: BTreeMap::new(),
    };
    if is_lines(input)? {
        return each_line(input, &mut reader).map(|_| ());
    }
    let held = Held::read(input)?;
    let text = held.text();
    match text.bytes.get(held.start) {
        Some(b'[') => reader.list(text, held.start)?,
        _ => reader.value(text, held.start, options.stem.to_owned(), false)?,
    }
    held.end(None, reader.sink)?;
    reader
        .sink
        .progress(text.bytes.len() as u64, reader.records.max(1));
    Ok(())
}

struct Reader<'a> {
    dialect: &'a Dialect,
    sink: &'a mut dyn Sink,
    stem: &'a str,
    /// Messages read, of a document.
    records: u64,
    /// How often a session id was given.
    ids: BTreeMap<String, u64>,
}

/// A conversation: what is found of it, and then what was seen while it is told.
#[derive(Default)]
struct Conversation {
    id: String,
    system: Option<Range<usize>>,
    messages: Vec<Range<usize>>,
    broken: Option<Broken>,
    settings: Settings,
    end: SessionEnd,
    notes: Notes,
    calls: HashSet<String>,
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
        self.value(record.text, record.at.start, id, true)
    }
}

impl Reader<'_> {
    /// A list of messages, or of recorded runs.
    fn list(&mut self, text: Text<'_>, start: usize) -> Result<()> {
        let bytes = text.bytes;
        let (items, broken) = elements(bytes, start);
        let is_run = |item: &Range<usize>| {
            let (keys, _) = members(bytes, item.start);
            keys.iter().any(|(key, _)| key == "traj")
        };
        if !items.iter().any(is_run) {
            let mut found = Conversation::new(self.stem.to_owned());
            (found.messages, found.broken) = (items, broken);
            return self.tell(text, found);
        }
        for item in items {
            let (keys, _) = members(bytes, item.start);
            let get = |name: &str| {
                let found = keys.iter().find(|(key, _)| key == name);
                found.map(|(_, span)| span.clone())
            };
            let Some(run) = get("traj") else {
                self.problem(text, item.start, "an entry without 'traj'")?;
                continue;
            };
            let word = |name| get(name).map(|span| plain_word(&bytes[span]));
            let mut id = format!("{}/task-{}", self.stem, word("task_id").unwrap_or_default());
            if let Some(trial) = word("trial") {
                id = format!("{id}-trial-{trial}");
            }
            let times = self.ids.entry(id.clone()).or_default();
            *times += 1;
            if *times > 1 {
                id = format!("{id}-{times}");
            }
            let mut found = Conversation::new(id);
            (found.messages, found.broken) = elements(bytes, run.start);
            for (key, _) in keys.iter().filter(|(key, _)| key != "traj") {
                found.end.other(key);
            }
            self.tell(text, found)?;
        }
        match broken {
            Some(broken) => self.problem(text, bytes.len(), broken.reason()),
            None => Ok(()),
        }
    }

    /// An object: a request, a response, a row; or an array of messages on a line.
    fn value(&mut self, text: Text<'_>, start: usize, id: String, row: bool) -> Result<()> {
        let bytes = text.bytes;
        match bytes.get(start) {
            Some(b'{') => {}
            Some(b'[') => {
                let mut found = Conversation::new(id);
                (found.messages, found.broken) = elements(bytes, start);
                return self.tell(text, found);
            }
            Some(_) => return self.problem(text, start, "not an object"),
            None => return Ok(()),
        }
        let (keys, broken) = members(bytes, start);
        let mut found = Conversation::new(id);
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
                "system"
                    if self
                        .system(text, span, &mut Conversation::default())
                        .is_some() =>
                {
                    found.system = Some(span.clone());
                }
                _ if is_request || ROW_SETTINGS.contains(&key.as_str()) => {
                    if let Ok((raw, lone)) = text.decode(span) {
                        found.end.lone_surrogates += lone;
                        match depth::check_json(key, raw.get(), 1) {
                            Ok(()) => {
                                found.settings.insert(key.clone(), raw.get().to_owned());
                            }
                            Err(error) => {
                                found.end.other(key);
                                self.problem(text, span.start, &error.to_string())?;
                            }
                        }
                    }
                }
                _ => found.end.other(key),
            }
        }
        if !has_messages {
            return self.reply(text, start, found.id);
        }
        found.broken = found.broken.or(broken);
        self.tell(text, found)
    }

    /// The message of a top-level `system`; none if that is no content.
    fn system(
        &self,
        text: Text<'_>,
        at: &Range<usize>,
        told: &mut Conversation,
    ) -> Option<Message> {
        let (raw, lone) = text.decode(at).ok()?;
        let message = (self.dialect.system)(&raw, &mut told.notes)?;
        told.end.lone_surrogates += lone;
        Some(message)
    }

    /// A response body.
    fn reply(&mut self, text: Text<'_>, start: usize, id: String) -> Result<()> {
        let bytes = text.bytes;
        let end = match skip_value(bytes, start) {
            Ok(end) => end,
            Err(broken) => return self.problem(text, start, broken.reason()),
        };
        let (raw, _) = match text.decode(&(start..end)) {
            Ok(decoded) => decoded,
            Err(reason) => return self.problem(text, start, &reason),
        };
        let Some(reply) = (self.dialect.reply)(&raw) else {
            return self.problem(text, start, "an object without messages");
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
        let mut told = Conversation::new(id);
        self.sink.session(SessionStart::new(&*told.id))?;
        for (number, span) in spans.into_iter().enumerate() {
            let Some(message) = self.message(text, &span, &mut told)? else {
                continue;
            };
            if number > 0 {
                self.sink.branch(BranchStart {
                    name: format!("choice-{}", number + 1),
                    after: None,
                    title: None,
                })?;
            }
            self.sink.step(Step {
                time: reply.time,
                settings: reply.settings.clone(),
                usage: reply.usage.filter(|_| number == 0),
                ..Step::append(message, text.span(&span))
            })?;
        }
        self.sink.end(told.end())
    }

    /// Tells the sink a conversation.
    fn tell(&mut self, text: Text<'_>, mut found: Conversation) -> Result<()> {
        self.sink.session(SessionStart::new(&*found.id))?;
        let system = found.system.take();
        let mut held = system.and_then(|span| {
            let message = self.system(text, &span, &mut found)?;
            Some(Step::append(message, text.span(&span)))
        });
        for span in std::mem::take(&mut found.messages) {
            self.records += 1;
            if let Some(message) = self.message(text, &span, &mut found)?
                && let Some(step) = held.replace(Step::append(message, text.span(&span)))
            {
                self.sink.step(step)?;
            }
        }
        if let Some(broken) = found.broken {
            self.problem(text, text.bytes.len(), broken.reason())?;
        }
        if let Some(mut step) = held {
            step.settings = std::mem::take(&mut found.settings);
            self.sink.step(step)?;
        }
        self.sink.end(found.end())
    }

    /// Reads a message; what is wrong with it is told to the sink.
    fn message(
        &mut self,
        text: Text<'_>,
        at: &Range<usize>,
        told: &mut Conversation,
    ) -> Result<Option<Message>> {
        let (dialect, notes) = (self.dialect, &mut told.notes);
        let read = |raw: &RawValue| (dialect.message)(raw, notes);
        let Some(message) = text.message(at, &mut told.end.lone_surrogates, self.sink, read)?
        else {
            return Ok(None);
        };
        for part in &message.parts {
            match part {
                Part::ToolCall { id, .. } => {
                    told.calls.insert(id.clone());
                }
                Part::ToolResult { call, .. } if !told.calls.contains(call) => {
                    let reason = format!("a tool result without its call '{call}'");
                    self.problem(text, at.start, &reason)?;
                }
                _ => {}
            }
        }
        Ok(Some(message))
    }

    fn problem(&mut self, text: Text<'_>, at: usize, reason: &str) -> Result<()> {
        self.sink.problem(text.problem(at, reason))
    }
}

impl Conversation {
    fn new(id: String) -> Self {
        Self {
            id,
            ..Self::default()
        }
    }

    fn end(self) -> SessionEnd {
        SessionEnd {
            opaque_blocks: self.notes.opaque_blocks,
            ..self.end
        }
    }
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
