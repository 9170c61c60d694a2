//! Messages into a session: a reply and what its calls gave back as one record.

use std::io::Write;

use super::lines::Head;
use super::project_hash;
use super::record::said;
use crate::error::Result;
use crate::formats::shared::chat::write::{Answered, with_results, write_all};
use crate::formats::shared::records::{replaced, without, write_line};
use crate::formats::shared::remarks::Remarks;
use crate::formats::{Document, Export, Step};
use crate::model::{Millis, Part, Role, Span};
use crate::wire::Notes;
use crate::wire::gemini::{PROVIDER, args, seal_of, write_answer, write_part};
use crate::wire::json::{Object, array, string};

pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    match &export.document.source {
        Some(source) => whole(source, export),
        None => lines(export),
    }
}

/// Writes the document that a session was again.
fn whole(source: &str, export: Export<'_>) -> Result<Vec<String>> {
    let mut writing = Writing::of(export.document, Remarks::of(export.document));
    let mut records = Vec::new();
    for answered in with_results(export.messages, &mut writing.remarks) {
        let Answered {
            outgoing, parts, ..
        } = &answered;
        let record = outgoing.records.first();
        let record = record.filter(|record| {
            let said = parts_of(record).into_iter().flatten();
            said.eq(parts.iter().map(|part| (*part).clone()))
        });
        records.push(match record {
            Some(record) => record.clone(),
            None => writing.anew(&answered),
        });
    }
    let messages = array(&records);
    let session = replaced(source.trim_start_matches('\u{feff}'), "messages", &messages);
    write_all(export.out, &session.finish())?;
    Ok(writing.remarks.into_words())
}

/// Writes a line for each message, as newer versions do.
fn lines(export: Export<'_>) -> Result<Vec<String>> {
    let mut writing = Writing::of(export.document, Remarks::default());
    let mut asides = Asides {
        document: export.document,
        has_opening: !export.document.after.is_empty(),
        next: 0,
    };
    let answered = with_results(export.messages, &mut writing.remarks);
    if !asides.holds_opening() {
        asides.has_opening = true;
        write_line(export.out, &writing.opening())?;
    }
    for answered in &answered {
        asides.write_up_to(answered.at, export.out)?;
        writing.time = answered.outgoing.time.unwrap_or(writing.time);
        match untouched(answered) {
            None => write_line(export.out, &writing.anew(answered))?,
            Some((record, own)) => {
                write_line(export.out, record)?;
                for (at, record) in own {
                    asides.write_up_to(at, export.out)?;
                    write_line(export.out, record)?;
                }
            }
        }
    }
    asides.write_up_to(export.messages.len(), export.out)?;
    Ok(writing.remarks.into_words())
}

/// A message's record, and those of what its calls gave back that are not its own, with the messages that
/// they are of; none if they say something else by now.
fn untouched<'a>(answered: &Answered<'a>) -> Option<(&'a String, Vec<(usize, &'a String)>)> {
    let (own, results) = answered.parts.split_at(answered.own);
    let record = answered.outgoing.records.first()?;
    let mut said = parts_of(record).into_iter();
    let is_same = |said: &[Part], wanted: &[&Part]| said.iter().eq(wanted.iter().copied());
    if !is_same(&said.next()?, own) {
        return None;
    }
    let others = answered.results.iter().flat_map(|(at, outgoing)| {
        let others = outgoing.records.iter().filter(|other| *other != record);
        others.map(|other| (*at, other))
    });
    let others: Vec<(usize, &String)> = others.collect();
    let in_others = others.iter().flat_map(|(_, other)| parts_of(other));
    let in_others: Vec<Part> = in_others.flatten().collect();
    if is_same(&in_others, results) {
        return Some((record, others));
    }
    is_same(&said.next().unwrap_or_default(), results).then_some((record, Vec::new()))
}

/// The parts of each message of a record.
fn parts_of(record: &str) -> Vec<Vec<Part>> {
    let said = said(record, Span::default(), &mut Notes::default());
    let steps = said.map_or_else(|_| Vec::new(), |said| said.listed.steps);
    let messages = steps.iter().filter_map(Step::message);
    messages.map(|message| message.parts.clone()).collect()
}

/// The records that are no messages, on their way to their places.
struct Asides<'a> {
    document: &'a Document,
    /// Whether it was said which session it is.
    has_opening: bool,
    /// Before which message those stand that come next.
    next: usize,
}

impl Asides<'_> {
    /// Whether what comes first says which session it is.
    fn holds_opening(&self) -> bool {
        let is_opening = |record: &String| {
            let head = serde_json::from_str::<Head<'_>>(record);
            head.is_ok_and(|head| head.is_opening())
        };
        self.has_opening || self.document.asides(0).first().is_some_and(is_opening)
    }

    /// Writes those that stand before a message.
    fn write_up_to(&mut self, at: usize, out: &mut dyn Write) -> Result<()> {
        while self.next <= at {
            for record in self.document.asides(self.next) {
                if let Some(record) = self.kept(record) {
                    write_line(out, &record)?;
                }
            }
            self.next += 1;
        }
        Ok(())
    }

    /// What stays of a record: what it says of the list of messages is what is written.
    fn kept(&mut self, record: &str) -> Option<String> {
        let head = serde_json::from_str::<Head<'_>>(record).ok()?;
        let without_list = |object: &str| without(object, &["messages"]).finish();
        if string(head.rewind_to).is_some() {
            return None;
        }
        if string(head.id).is_some() {
            let kind = string(head.r#type);
            let is_message = kind.is_some_and(|kind| kind == "user" || kind == "gemini");
            return (!is_message).then(|| record.to_owned());
        }
        if let Some(set) = head.set {
            let set = without_list(set.get());
            return (set != "{}").then(|| Object::new().raw("$set", &set).finish());
        }
        if head.is_opening() && std::mem::replace(&mut self.has_opening, true) {
            return None;
        }
        Some(without_list(record))
    }
}

/// Makes records.
struct Writing<'a> {
    document: &'a Document,
    remarks: Remarks,
    time: Millis,
    /// How many ids were made.
    ids: u64,
}

impl<'a> Writing<'a> {
    fn of(document: &'a Document, remarks: Remarks) -> Self {
        Self {
            document,
            remarks,
            time: document.now.unwrap_or(Millis(0)),
            ids: 0,
        }
    }

    /// The line that says which session it is.
    fn opening(&self) -> String {
        let document = self.document;
        let now = self.time.to_iso();
        Object::new()
            .string("sessionId", &document.session_id)
            .string("projectHash", &project_hash(&document.cwd))
            .string("startTime", &now)
            .string("lastUpdated", &now)
            .string("kind", "main")
            .optional("summary", document.title.as_deref())
            .finish()
    }

    /// A record made anew: with what stood beside the message before it was changed.
    fn anew(&mut self, answered: &Answered<'_>) -> String {
        let Answered {
            outgoing, parts, ..
        } = answered;
        self.time = outgoing.time.unwrap_or(self.time);
        let (mut content, mut thoughts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            match part {
                Part::ToolResult { .. } => {}
                part if seal_of(part).is_some() => self.remarks.add("a thought signature"),
                Part::Thinking { text, provider, .. } if provider.as_deref() == Some(PROVIDER) => {
                    let (subject, description) = text.split_once("\n\n").unwrap_or((text, ""));
                    let thought = Object::new().string("subject", subject);
                    thoughts.push(thought.string("description", description).finish());
                }
                Part::ToolCall {
                    id,
                    name,
                    arguments,
                    ..
                } => {
                    let call = Object::new().string("id", id).string("name", name);
                    let call = call.raw("args", args(arguments));
                    let left_out = || self.remarks.add("a file or a block in a tool's result");
                    calls.push(match write_answer(id, name, parts, left_out) {
                        Some((answer, status)) => {
                            call.raw("result", &answer).string("status", status)
                        }
                        None => call.string("status", "cancelled"),
                    });
                }
                part => match write_part(part) {
                    Some(part) => content.push(part),
                    None => self.remarks.add("thinking or a block of another provider"),
                },
            }
        }
        let object = match outgoing.replaces.first().or(outgoing.records.first()) {
            Some(old) => without(old, &ANEW),
            None => {
                let id = self.document.new_id(self.ids);
                self.ids += 1;
                let object = Object::new().string("id", &id);
                object.string("timestamp", &self.time.to_iso())
            }
        };
        let object = object.raw("content", &array(&content));
        if outgoing.message.role != Role::Assistant {
            return object.string("type", "user").finish();
        }
        let calls = array(calls.into_iter().map(Object::finish));
        let model = outgoing.settings.get("model");
        let object = object
            .raw("thoughts", &array(&thoughts))
            .raw("toolCalls", &calls)
            .string("type", "gemini")
            .optional_raw("model", model.map(String::as_str));
        object.finish()
    }
}

/// The members that a record gets anew where its message was changed.
const ANEW: [&str; 6] = [
    "type",
    "model",
    "content",
    "displayContent",
    "thoughts",
    "toolCalls",
];
