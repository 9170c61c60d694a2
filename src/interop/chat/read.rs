//! Finds the conversations of a source and tells the sink their messages.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use serde_json::value::RawValue;

use super::spans::{Broken, elements, members, skip_space, skip_value};
use super::{Dialect, decode};
use crate::error::{Error, Result};
use crate::interop::lines::Lines;
use crate::interop::sniff::is_lines;
use crate::interop::{
    Action, BranchStart, ImportOptions, Input, Problem, SessionEnd, SessionStart, Sink, Step,
};
use crate::model::{Message, Part, Settings, Span};
use crate::wire::Notes;

/// The settings of a fine-tuning row; its other keys are counted and stay in the source.
const ROW_SETTINGS: [&str; 4] = ["tools", "parallel_tool_calls", "functions", "function_call"];

/// Reads a source of either chat format.
pub(crate) fn read(
    dialect: &dyn Dialect,
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut reader = Reader {
        dialect,
        sink,
        stem: options.stem,
        base: 0,
        line: 0,
        records: 0,
        ids: BTreeMap::new(),
    };
    if is_lines(input)? {
        reader.rows(input)
    } else {
        reader.whole(input)
    }
}

struct Reader<'a> {
    dialect: &'a dyn Dialect,
    sink: &'a mut dyn Sink,
    stem: &'a str,
    /// Where the bytes in hand begin in the source.
    base: u64,
    /// The line in hand; 0 while a document is read.
    line: u64,
    records: u64,
    /// How often a session id was given.
    ids: BTreeMap<String, u64>,
}

/// A conversation that has not been told yet.
struct Conversation {
    id: String,
    system: Option<Range<usize>>,
    messages: Vec<Range<usize>>,
    broken: Option<Broken>,
    settings: Settings,
    other_records: BTreeMap<String, u64>,
    lone_surrogates: u64,
}

impl Reader<'_> {
    fn rows(&mut self, input: &dyn Input) -> Result<()> {
        let mut lines = Lines::new(input)?;
        while let Some(line) = lines.next_line()? {
            (self.base, self.line) = (line.span.offset, line.number);
            let torn_is_normal = !line.terminated;
            if line.bytes.is_empty() && line.span.len > 0 {
                self.problem("the line is too long", false)?;
            }
            let mut at = skip_space(line.bytes, 0);
            let mut count = 0;
            while at < line.bytes.len() {
                let end = match skip_value(line.bytes, at) {
                    Ok(end) => end,
                    Err(broken) => {
                        let harmless = torn_is_normal && broken == Broken::Torn;
                        self.problem(broken.reason(), harmless)?;
                        break;
                    }
                };
                let text = &line.bytes[..end];
                if let Err(reason) = decode(&text[at..]) {
                    self.problem(reason, false)?;
                    break;
                }
                count += 1;
                let mut id = format!("{}/{}", self.stem, line.number);
                if count > 1 {
                    id = format!("{id}-{count}");
                }
                self.value(text, at, id, true)?;
                at = skip_space(line.bytes, end);
            }
            self.records += 1;
            self.sink
                .progress(line.span.offset + line.span.len, self.records);
        }
        Ok(())
    }

    fn whole(&mut self, input: &dyn Input) -> Result<()> {
        let bytes = input.front(u64::MAX).map_err(Error::io("source"))?;
        let start = if bytes.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        let start = skip_space(&bytes, start);
        if bytes.get(start) == Some(&b'[') {
            self.list(&bytes, start)?;
        } else {
            self.value(&bytes, start, self.stem.to_owned(), false)?;
        }
        if let Ok(end) = skip_value(&bytes, start)
            && skip_space(&bytes, end) < bytes.len()
        {
            self.problem_at(&bytes, end, "more text after the document")?;
        }
        self.sink.progress(bytes.len() as u64, self.records.max(1));
        Ok(())
    }

    /// A list of messages, or of recorded runs.
    fn list(&mut self, bytes: &[u8], start: usize) -> Result<()> {
        let (items, broken) = elements(bytes, start);
        let is_run = |item: &Range<usize>| {
            let (keys, _) = members(bytes, item.start);
            keys.iter().any(|(key, _)| key == "traj")
        };
        if !items.iter().any(is_run) {
            let mut found = Conversation::new(self.stem.to_owned());
            (found.messages, found.broken) = (items, broken);
            return self.tell(bytes, found);
        }
        for item in items {
            let (keys, _) = members(bytes, item.start);
            let get = |name: &str| {
                let found = keys.iter().find(|(key, _)| key == name);
                found.map(|(_, span)| span.clone())
            };
            let Some(run) = get("traj") else {
                self.problem_at(bytes, item.start, "an entry without 'traj'")?;
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
            for (key, _) in &keys {
                if key != "traj" {
                    *found.other_records.entry(key.clone()).or_default() += 1;
                }
            }
            self.tell(bytes, found)?;
        }
        match broken {
            Some(broken) => self.problem_at(bytes, bytes.len(), broken.reason()),
            None => Ok(()),
        }
    }

    /// An object: a request, a response, a row; or an array of messages on a line.
    fn value(&mut self, bytes: &[u8], start: usize, id: String, row: bool) -> Result<()> {
        match bytes.get(start) {
            Some(b'{') => {}
            Some(b'[') => {
                let mut found = Conversation::new(id);
                (found.messages, found.broken) = elements(bytes, start);
                return self.tell(bytes, found);
            }
            Some(_) => return self.problem_at(bytes, start, "not an object"),
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
                "system" if self.is_system(&bytes[span.clone()]) => {
                    found.system = Some(span.clone());
                }
                _ if is_request || ROW_SETTINGS.contains(&key.as_str()) => {
                    if let Ok((raw, lone)) = decode(&bytes[span.clone()]) {
                        found.lone_surrogates += lone;
                        found.settings.insert(key.clone(), raw.get().to_owned());
                    }
                }
                _ => *found.other_records.entry(key.clone()).or_default() += 1,
            }
        }
        if !has_messages {
            return self.reply(bytes, start, found.id);
        }
        found.broken = found.broken.or(broken);
        self.tell(bytes, found)
    }

    fn is_system(&self, bytes: &[u8]) -> bool {
        decode(bytes)
            .is_ok_and(|(raw, _)| self.dialect.system(&raw, &mut Notes::default()).is_some())
    }

    /// A response body.
    fn reply(&mut self, bytes: &[u8], start: usize, id: String) -> Result<()> {
        let end = match skip_value(bytes, start) {
            Ok(end) => end,
            Err(broken) => return self.problem_at(bytes, start, broken.reason()),
        };
        let (raw, _) = match decode(&bytes[start..end]) {
            Ok(decoded) => decoded,
            Err(reason) => return self.problem_at(bytes, start, &reason),
        };
        let Some(reply) = self.dialect.reply(&raw) else {
            return self.problem_at(bytes, start, "an object without messages");
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
        self.sink.session(SessionStart {
            id,
            forked_from: None,
        })?;
        let mut told = Told::default();
        for (number, span) in spans.into_iter().enumerate() {
            let Some(message) = self.message(bytes, &span, &mut told)? else {
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
                ..self.step(message, &span)
            })?;
        }
        self.sink.end(told.end())
    }

    /// Tells the sink a conversation.
    fn tell(&mut self, bytes: &[u8], found: Conversation) -> Result<()> {
        self.sink.session(SessionStart {
            id: found.id,
            forked_from: None,
        })?;
        let mut told = Told {
            other_records: found.other_records,
            lone_surrogates: found.lone_surrogates,
            ..Told::default()
        };
        let mut held: Option<Step> = None;
        if let Some(span) = found.system
            && let Ok((raw, lone)) = decode(&bytes[span.clone()])
            && let Some(message) = self.dialect.system(&raw, &mut told.notes)
        {
            told.lone_surrogates += lone;
            held = Some(self.step(message, &span));
        }
        for span in &found.messages {
            if self.line == 0 {
                self.records += 1;
            }
            if let Some(message) = self.message(bytes, span, &mut told)?
                && let Some(step) = held.replace(self.step(message, span))
            {
                self.sink.step(step)?;
            }
        }
        if let Some(broken) = found.broken {
            self.problem_at(bytes, bytes.len(), broken.reason())?;
        }
        if let Some(mut step) = held {
            step.settings = found.settings;
            self.sink.step(step)?;
        }
        self.sink.end(told.end())
    }

    /// Decodes a message; what is wrong with it is told to the sink.
    fn message(
        &mut self,
        bytes: &[u8],
        span: &Range<usize>,
        told: &mut Told,
    ) -> Result<Option<Message>> {
        let read = decode(&bytes[span.clone()]).and_then(|(raw, lone)| {
            told.lone_surrogates += lone;
            self.dialect.message(require_object(&raw)?, &mut told.notes)
        });
        let message = match read {
            Ok(message) => message,
            Err(reason) => {
                self.problem_at(bytes, span.start, &reason)?;
                return Ok(None);
            }
        };
        if std::str::from_utf8(&bytes[span.clone()]).is_err() {
            self.problem_at(bytes, span.start, "invalid UTF-8; shown as U+FFFD")?;
        }
        for part in &message.parts {
            match part {
                Part::ToolCall { id, .. } => {
                    told.calls.insert(id.clone());
                }
                Part::ToolResult { call, .. } if !told.calls.contains(call) => {
                    let reason = format!("a tool result without its call '{call}'");
                    self.problem_at(bytes, span.start, &reason)?;
                }
                _ => {}
            }
        }
        Ok(Some(message))
    }

    fn step(&self, message: Message, span: &Range<usize>) -> Step {
        Step {
            action: Action::Append(message),
            time: None,
            settings: Settings::new(),
            records: vec![Span {
                offset: self.base + span.start as u64,
                len: span.len() as u64,
            }],
            usage: None,
        }
    }

    fn problem(&mut self, reason: impl Into<String>, harmless: bool) -> Result<()> {
        self.sink.problem(Problem {
            line: self.line,
            reason: reason.into(),
            harmless,
        })
    }

    /// A problem at a place: in a document its line is counted.
    fn problem_at(&mut self, bytes: &[u8], at: usize, reason: &str) -> Result<()> {
        let counted = || memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64 + 1;
        let line = if self.line > 0 { self.line } else { counted() };
        self.sink.problem(Problem {
            line,
            reason: reason.to_owned(),
            harmless: false,
        })
    }
}

impl Conversation {
    fn new(id: String) -> Self {
        Self {
            id,
            system: None,
            messages: Vec::new(),
            broken: None,
            settings: Settings::new(),
            other_records: BTreeMap::new(),
            lone_surrogates: 0,
        }
    }
}

/// What has been seen while a conversation is told.
#[derive(Default)]
struct Told {
    notes: Notes,
    calls: HashSet<String>,
    other_records: BTreeMap<String, u64>,
    lone_surrogates: u64,
}

impl Told {
    fn end(self) -> SessionEnd {
        SessionEnd {
            other_records: self.other_records,
            opaque_blocks: self.notes.opaque_blocks,
            lone_surrogates: self.lone_surrogates,
            ..SessionEnd::default()
        }
    }
}

fn require_object(raw: &RawValue) -> Result<&RawValue, String> {
    if raw.get().starts_with('{') {
        Ok(raw)
    } else {
        Err("a message that is no object".to_owned())
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
