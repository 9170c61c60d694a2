//! What must hold of every format, shown by its own sources in `tests/data`, so that it holds where
//! no real session is at hand.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::error::Result;
use crate::formats::registry::FORMATS;
use crate::formats::shared::lines::mend;
use crate::formats::shared::rows::{Row, Rows};
use crate::formats::sniff::sniff;
use crate::formats::{
    Action, BranchStart, Document, Export, HideStep, Outgoing, Problem, SessionEnd, SessionFolder,
    SessionStart, Sink, Source, Step,
};
use crate::formats::{Format, Shape};
use crate::model::{MediaSource, Message, Millis, Part, Role, Settings, Span, Usage};

/// Tables in memory, of which this gives the rows of each by its name, in their order.
pub(in crate::formats) struct TablesOf<F>(pub(in crate::formats) F);

impl<F: Fn(&str) -> Vec<Row>> Rows for TablesOf<F> {
    fn columns(&self, table: &str) -> Result<Vec<String>> {
        let rows = (self.0)(table);
        let first = rows.first().map(|row| row.keys().cloned().collect());
        Ok(first.unwrap_or_default())
    }

    fn rows(&self, table: &str, holding: Option<(&str, &str)>, order: &[&str]) -> Result<Vec<Row>> {
        let mut rows = (self.0)(table);
        rows.retain(|row| holding.is_none_or(|(column, text)| row[column] == text));
        rows.sort_by_key(|row| order.first().and_then(|column| row.get(*column)?.as_i64()));
        Ok(rows)
    }

    fn picked(
        &self,
        table: &str,
        columns: &[&str],
        holding: Option<(&str, &str)>,
        order: &[&str],
    ) -> Result<Vec<Row>> {
        let mut rows = self.rows(table, holding, order)?;
        for row in &mut rows {
            row.retain(|column, _| columns.contains(&column.as_str()));
        }
        Ok(rows)
    }

    fn summed(
        &self,
        table: &str,
        by: &str,
        text: &str,
        newest: &str,
    ) -> Result<Vec<(String, u64, u64, i64)>> {
        let rows = (self.0)(table);
        let bytes = rows
            .iter()
            .map(|row| row[text].as_str().map_or(0, str::len) as u64);
        let id = rows[0][by].as_str().expect("an id").to_owned();
        let newest = rows
            .iter()
            .filter_map(|row| row.get(newest)?.as_i64())
            .max();
        Ok(vec![(
            id,
            rows.len() as u64,
            bytes.sum(),
            newest.unwrap_or(0),
        )])
    }
}

/// The files of a folder in memory, by their paths.
#[derive(Clone, Default)]
pub(in crate::formats) struct FolderOf(pub(in crate::formats) BTreeMap<String, String>);

impl FolderOf {
    /// The text files of a folder of `tests/data`, and of those inside it.
    pub(in crate::formats) fn read(folder: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data")
            .join(folder);
        let (mut found, mut open) = (BTreeMap::new(), vec![root.clone()]);
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    open.push(path);
                    continue;
                }
                let name = path.strip_prefix(&root).expect("it is inside");
                let name = name.to_string_lossy().replace('\\', "/");
                found.insert(name, std::fs::read_to_string(&path).expect("text"));
            }
        }
        Self(found)
    }
}

impl SessionFolder for FolderOf {
    fn text(&self, path: &str) -> Result<Option<String>> {
        Ok(self.0.get(path).cloned())
    }

    fn names(&self, folder: &str) -> Result<Vec<String>> {
        let inside = self
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
        let mut names: Vec<String> = inside
            .map(|rest| rest.split('/').next().unwrap_or_default().to_owned())
            .collect();
        names.dedup();
        Ok(names)
    }
}

/// A message that no source has.
pub(in crate::formats) fn anew(message: Message) -> Outgoing {
    Outgoing {
        message,
        time: None,
        settings: std::sync::Arc::default(),
        usage: None,
        records: Vec::new(),
        replaces: Vec::new(),
        dollars: None,
        cited: Vec::new(),
        is_summary: false,
    }
}

/// The same, of these parts.
pub(in crate::formats) fn fresh(role: Role, parts: Vec<Part>) -> Outgoing {
    anew(Message::new(role, parts))
}

/// What this message says, text by text.
pub(in crate::formats) fn texts(message: &Message) -> Vec<&str> {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// The values of JSON Lines.
pub(in crate::formats) fn values(lines: &[u8]) -> Vec<Value> {
    let lines = lines
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let values = lines.map(|line| serde_json::from_slice(line).expect("JSON"));
    values.collect()
}

/// What a format writes of these messages, and its remarks.
pub(in crate::formats) fn written(
    format: &Format,
    messages: &[Outgoing],
    document: &Document,
) -> (Vec<u8>, Vec<String>) {
    let mut out = Vec::new();
    let writer = format.writer().expect("is written");
    let remarks = writer(Export::of(messages, document, &mut out)).expect("a vector takes all");
    (out, remarks)
}

/// A message in a few words: who speaks, or as what it was attached, and its parts.
pub(in crate::formats) fn sketch(message: &Message) -> String {
    let parts: Vec<String> = message.parts.iter().map(word).collect();
    let who = message.attached.as_deref().unwrap_or(message.role.as_str());
    format!("{who}: {}", parts.join(" | "))
}

/// A part in a few words.
fn word(part: &Part) -> String {
    match part {
        Part::Text { text } => text.clone(),
        Part::Thinking {
            text,
            provider,
            signature,
        } => {
            let signature = signature.as_ref().map(|it| format!(" {it}"));
            format!("({text} {provider:?}{})", signature.unwrap_or_default())
        }
        Part::ToolCall {
            id,
            name,
            arguments,
            kind,
        } => {
            let kind = kind.as_ref().map(|it| format!("{it} "));
            format!("{id}: {}{name} {arguments}", kind.unwrap_or_default())
        }
        Part::ToolResult {
            call,
            content,
            is_error,
        } => {
            let content: Vec<String> = content.iter().map(word).collect();
            format!("{call} {is_error} = {}", content.join(" + "))
        }
        Part::Image(media) | Part::File(media) => match &media.source {
            MediaSource::FileId(id) => format!("<{id} {:?}>", media.name),
            _ => format!("[{:?} {:?}]", media.name, media.media_type),
        },
        Part::Opaque { data, .. } => data.clone(),
    }
}

/// The hides among these steps.
pub(in crate::formats) fn hides(steps: &[Step]) -> Vec<&HideStep> {
    let hides = steps.iter().filter_map(|step| match &step.action {
        Action::Hide(hide) => Some(hide),
        Action::Append(_) => None,
    });
    hides.collect()
}

/// The first session of a source with which nothing is wrong.
pub(in crate::formats) fn sound(format: &Format, bytes: &[u8]) -> Session {
    let mut told = read(format, bytes);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    told.sessions.remove(0)
}

/// All that an importer told.
#[derive(Debug, Default, PartialEq)]
pub(in crate::formats) struct Told {
    pub(in crate::formats) sessions: Vec<Session>,
    pub(in crate::formats) problems: Vec<Problem>,
    open: bool,
}

/// One session of it.
#[derive(Debug, Default, PartialEq)]
pub(in crate::formats) struct Session {
    pub(in crate::formats) start: SessionStart,
    pub(in crate::formats) steps: Vec<Step>,
    /// Each with how many steps were before it.
    pub(in crate::formats) branches: Vec<(usize, BranchStart)>,
    pub(in crate::formats) end: SessionEnd,
}

impl Told {
    /// What is wrong.
    pub(in crate::formats) fn reasons(&self) -> Vec<&str> {
        self.problems.iter().map(|it| &*it.reason).collect()
    }

    fn last(&mut self) -> &mut Session {
        assert!(self.open, "told outside a session");
        self.sessions.last_mut().expect("one is open")
    }
}

impl Sink for Told {
    fn session(&mut self, start: SessionStart) -> Result<()> {
        assert!(!self.open, "a session inside another");
        self.open = true;
        self.sessions.push(Session {
            start,
            ..Session::default()
        });
        Ok(())
    }

    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        let steps = self.last().steps.len();
        self.last().branches.push((steps, branch));
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<()> {
        self.last().steps.push(step);
        Ok(())
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.last().end = end;
        self.open = false;
        Ok(())
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problems.push(problem);
        Ok(())
    }
}

impl Session {
    /// The steps of the main path.
    pub(in crate::formats) fn main(&self) -> &[Step] {
        let end = self.branches.first().map(|(steps, _)| *steps);
        &self.steps[..end.unwrap_or(self.steps.len())]
    }

    /// The messages that were appended, and those that stand in the place of hidden ones, in a few words.
    pub(in crate::formats) fn said(&self) -> Vec<String> {
        let said = |step: &Step| match &step.action {
            Action::Append(message) => sketch(message),
            Action::Hide(hide) => {
                let messages: Vec<String> = hide.messages().map(sketch).collect();
                format!("{:?}: {}", hide.kind, messages.join(" || "))
            }
        };
        self.steps.iter().map(said).collect()
    }

    /// What all its replies came to, those of its branches among them, and what requests that no reply shows did: input,
    /// output and cached input, by model.
    pub(in crate::formats) fn counted(&self) -> (Usage, Vec<(String, [u64; 3])>) {
        let replies = self.steps.iter().filter_map(|step| step.usage);
        let known = replies.fold(Usage::default(), Usage::plus);
        let stated = self.end.stated.clone().unwrap_or_default();
        let of = |model: &str| Some(known).filter(|_| !model.is_empty());
        let left = stated.beyond(|model| of(model).unwrap_or_default(), known);
        let left = left.into_iter();
        let left = left.map(|(model, it)| {
            let numbers = [it.input_tokens, it.output_tokens, it.cached_tokens];
            (model, numbers)
        });
        (known, left.collect())
    }

    /// The messages that were appended.
    pub(in crate::formats) fn messages(&self) -> Vec<&Message> {
        self.steps.iter().filter_map(Step::message).collect()
    }
}

pub(in crate::formats) fn read(format: &Format, bytes: &[u8]) -> Told {
    let mut told = Told::default();
    let source = Source {
        stem: "stem",
        ..Source::of(&bytes, &mut told)
    };
    (format.read)(source).expect("bytes can be read");
    assert!(!told.open, "a session without an end");
    told
}

fn text_at(bytes: &[u8], span: Span) -> String {
    let at = span.offset as usize..(span.offset + span.len) as usize;
    mend(&bytes[at]).text.into_owned()
}

/// The record at a place.
pub(in crate::formats) fn value_at(bytes: &[u8], span: Span) -> Value {
    serde_json::from_str(&text_at(bytes, span)).expect("a span holds a JSON value")
}

/// The messages of a session's main path, ready to go out untouched.
pub(in crate::formats) fn outgoing(bytes: &[u8], session: &Session) -> Vec<Outgoing> {
    let mut settings = Settings::new();
    let mut messages = Vec::new();
    for step in session.main() {
        settings.extend(step.settings.clone());
        messages.extend(step.message().map(|message| {
            Outgoing {
                message: message.clone(),
                time: step.time,
                settings: settings.clone().into(),
                usage: step.usage,
                records: step
                    .records
                    .iter()
                    .map(|span| text_at(bytes, *span))
                    .collect(),
                replaces: Vec::new(),
                dollars: None,
                cited: Vec::new(),
                is_summary: false,
            }
        }));
    }
    messages
}

/// Every format's own sources, by name.
fn sources() -> Vec<(&'static Format, String, Vec<u8>)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut found = Vec::new();
    for format in FORMATS {
        let folder = std::fs::read_dir(data.join(format.fixtures)).expect("a folder of sources");
        let before = found.len();
        for file in folder {
            let path = file.expect("a file").path();
            if !path.extension().is_some_and(|e| {
                e == "json" || e == "jsonl" || e == "sse" || e == "md" || e == "txt"
            }) {
                continue;
            }
            let bytes = std::fs::read(&path).expect("readable");
            let of = sniff(&bytes.as_slice()).expect("readable");
            let of = of.unwrap_or_else(|| panic!("{} is of no format", path.display()));
            assert_eq!(of.fixtures, format.fixtures, "{}", path.display());
            if of == format {
                found.push((format, path.display().to_string(), bytes));
            }
        }
        assert!(found.len() > before, "{format} has no source of its own");
    }
    found
}

#[test]
fn every_format_is_called_by_its_name_alone() {
    for format in FORMATS {
        for name in [&[format.name][..], format.aliases].concat() {
            assert_eq!(Format::named(name).expect("known"), format);
        }
    }
}

#[test]
fn the_same_bytes_give_the_same_calls() {
    for (format, name, bytes) in sources() {
        let told = read(format, &bytes);
        assert_eq!(told, read(format, &bytes), "{name}");
        assert!(!told.sessions.is_empty(), "{name}");
    }
}

#[test]
fn a_prefix_of_lines_gives_a_prefix_of_steps() {
    for (format, name, bytes) in sources() {
        if format.shape_of(&bytes) != Shape::Lines {
            continue;
        }
        let told = read(format, &bytes);
        let whole = &told.sessions[0];
        // Before a rewind the path was another one.
        if whole
            .branches
            .iter()
            .any(|(_, branch)| branch.name.starts_with("leaf"))
        {
            continue;
        }
        for end in memchr::memchr_iter(b'\n', &bytes) {
            let told = read(format, &bytes[..=end]);
            let Some(short) = told.sessions.first().map(Session::main) else {
                continue;
            };
            let pairs = short.iter().zip(whole.main());
            let equal = pairs.take_while(|(a, b)| a == b).count();
            // The last reply, and what came after it.
            let is_reply = |step: &Step| step.message().is_some_and(|m| m.role == Role::Assistant);
            let group = short.iter().rposition(is_reply).unwrap_or(0);
            assert!(
                equal >= group,
                "{name} to {end}: {equal} of {} are equal",
                short.len()
            );
        }
    }
}

#[test]
fn a_step_names_records_inside_its_source() {
    for (format, name, bytes) in sources() {
        for session in read(format, &bytes).sessions {
            for span in session.steps.iter().flat_map(|step| &step.records) {
                assert!(
                    span.offset + span.len <= bytes.len() as u64,
                    "{name}: {span:?}"
                );
                if format.text.is_some() {
                    assert!(
                        !text_at(&bytes, *span).trim().is_empty(),
                        "{name}: {span:?}"
                    );
                    continue;
                }
                let value = value_at(&bytes, *span);
                assert!(!value.is_null(), "{name}: {span:?}");
            }
            assert!(
                session.steps.iter().all(|step| !step.records.is_empty()),
                "{name}"
            );
        }
    }
}

/// A form that is read alone: its messages are written as spans.
const LIST_OF_MESSAGES: &str = "otel/messages.json";

#[test]
fn what_is_exported_untouched_is_equal() {
    let mut shown = Vec::new();
    for (format, name, bytes) in sources() {
        let Some(write) = format.write else { continue };
        for session in read(format, &bytes).sessions {
            // What is hidden or on another way is no message of the context; each format shows that on its own.
            if session.main().len() != session.steps.len()
                || session.messages().len() != session.steps.len()
            {
                continue;
            }
            let messages = outgoing(&bytes, &session);
            let document = Document {
                session_id: session.start.id.clone(),
                now: Some(Millis(0)),
                settings: messages
                    .last()
                    .map_or(Settings::new(), |last| (*last.settings).clone()),
                ..Document::default()
            };
            let mut out = Vec::new();
            write(Export::of(&messages, &document, &mut out)).expect("a vector takes all");
            let told = read(format, &out);
            let again = &told.sessions[0];
            assert_eq!(again.messages(), session.messages(), "{name}");
            if name.ends_with(LIST_OF_MESSAGES) {
                continue;
            }
            // A record that holds several messages, results aside, is written as one for each.
            let alone = |step: &Step| {
                let same = session
                    .steps
                    .iter()
                    .filter(|other| other.records == step.records);
                let messages = same.filter_map(Step::message);
                messages
                    .filter(|message| message.role != Role::Tool)
                    .count()
                    <= 1
            };
            let pairs = again.steps.iter().zip(&session.steps);
            for (new, old) in pairs.filter(|(_, old)| alone(old)) {
                let records = |step: &Step, bytes: &[u8]| -> Vec<Value> {
                    step.records
                        .iter()
                        .map(|span| value_at(bytes, *span))
                        .collect()
                };
                let (new, old) = (records(new, &out), records(old, &bytes));
                assert_eq!(new.len(), old.len(), "{name}");
                for (new, old) in new.iter().zip(&old) {
                    assert!(differing_members(new, old) <= 1, "{name}: {new} was {old}");
                }
            }
            shown.push(format.name);
        }
    }
    for format in FORMATS.into_iter().filter(|it| it.write.is_some()) {
        assert!(shown.contains(&format.name), "{format} shows nothing");
    }
}

/// How many members differ: none, or the link to a record that is not written.
fn differing_members(new: &Value, old: &Value) -> usize {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            let changed = new
                .iter()
                .filter(|(key, value)| old.get(*key) != Some(value));
            changed.count() + old.keys().filter(|key| !new.contains_key(*key)).count()
        }
        _ => usize::from(new != old) * 2,
    }
}
