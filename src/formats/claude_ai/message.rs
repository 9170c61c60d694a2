//! A message of a conversation: the messages that it stands for.

use std::collections::VecDeque;

use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::shared::parts::{
    call, checked, media, message, opaque, result, said, text, thought, time,
};
use crate::model::{MediaSource, Message, Millis, Part, Role};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string, word};

/// One record.
#[derive(Default)]
pub(super) struct Said {
    /// Whether it could be read.
    pub(super) is_read: bool,
    pub(super) id: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) time: Option<Millis>,
    /// What it says: a prompt with what is attached, or a reply with its results.
    pub(super) messages: Vec<Message>,
}

lazy! { struct Record { uuid, parent_message_uuid, created_at, sender, text, content, attachments, files } }

lazy! { struct Block { r#type, text, thinking, id, name, input, tool_use_id, content, is_error } }

lazy! { struct Beside { file_name, file_type, file_uuid, extracted_content } }

/// Reads a record.
pub(super) fn read(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    let bad = |error: serde_json::Error| error.to_string();
    let record: Record<'_> = serde_json::from_str(raw.get()).map_err(bad)?;
    let id = string(record.uuid);
    let messages = match word(record.sender).as_deref() {
        Some("human") => prompt(&record, notes)?,
        Some("assistant") => reply(&record, id.as_deref().unwrap_or("call"), notes)?,
        sender => return Err(format!("unknown sender '{}'", sender.unwrap_or_default())),
    };
    checked(&messages)?;
    Ok(Said {
        is_read: true,
        id,
        parent: string(record.parent_message_uuid),
        time: time(record.created_at),
        messages,
    })
}

/// The blocks of a message; an older one has its text alone.
fn blocks<'a>(record: &Record<'a>) -> Result<Vec<&'a RawValue>, String> {
    let Some(content) = record.content else {
        return Ok(Vec::new());
    };
    serde_json::from_str(content.get()).map_err(|error| format!("its content: {error}"))
}

/// What a user said, with the files that are named, and then the texts of those that are attached.
fn prompt(record: &Record<'_>, notes: &mut Notes) -> Result<Vec<Message>, String> {
    let mut parts = Vec::new();
    for raw in blocks(record)? {
        parts.extend(part(&block(raw)?, raw, notes));
    }
    or_text(&mut parts, record);
    let files: Vec<Beside<'_>> = decode(record.files).unwrap_or_default();
    parts.extend(files.iter().filter_map(file));
    let mut messages: Vec<Message> = message(Role::User, parts).into_iter().collect();
    let attached: Vec<Beside<'_>> = decode(record.attachments).unwrap_or_default();
    for beside in attached {
        let texts = [beside.file_name, beside.extracted_content];
        let parts: Vec<Part> = texts.into_iter().filter_map(text).collect();
        if !parts.is_empty() {
            messages.push(Message::attached("attachment", parts));
        }
    }
    Ok(messages)
}

/// The flat copy, where there is nothing else.
fn or_text(parts: &mut Vec<Part>, record: &Record<'_>) {
    if parts.is_empty() {
        parts.extend(text(record.text));
    }
}

fn file(beside: &Beside<'_>) -> Option<Part> {
    let name = string(beside.file_name);
    let id = string(beside.file_uuid).or_else(|| name.clone())?;
    let media_type = string(beside.file_type);
    Some(Part::File(media(MediaSource::FileId(id), media_type, name)))
}

fn block(raw: &RawValue) -> Result<Block<'_>, String> {
    serde_json::from_str(raw.get()).map_err(|error| format!("its content: {error}"))
}

/// What a model said, what its tools gave, what it said then.
fn reply(record: &Record<'_>, id: &str, notes: &mut Notes) -> Result<Vec<Message>, String> {
    let mut found = Reply::default();
    for (raw, number) in blocks(record)?.into_iter().zip(1..) {
        let block = block(raw)?;
        match word(block.r#type).as_deref() {
            Some("tool_use") => {
                let id = said(block.id).unwrap_or_else(|| format!("{id}-{number}"));
                let name = string(block.name).unwrap_or_default();
                found.open.push_back((id.clone(), name.clone()));
                let arguments = block.input.map(|input| input.get().to_owned());
                found.says(call(Some(id), Some(name), arguments));
            }
            Some("tool_result") => {
                let call = found.answered(said(block.tool_use_id), string(block.name));
                let call = call.unwrap_or_else(|| format!("{id}-{number}"));
                let content = given(block.content, notes)?;
                let is_error = decode(block.is_error) == Some(true);
                found.results.push(result(Some(call), content, is_error));
            }
            _ => part(&block, raw, notes)
                .into_iter()
                .for_each(|part| found.says(part)),
        }
    }
    found.turn();
    let mut messages = found.messages;
    if messages.is_empty() {
        let mut parts = Vec::new();
        or_text(&mut parts, record);
        messages.extend(message(Role::Assistant, parts));
    }
    Ok(messages)
}

/// A reply in the making.
#[derive(Default)]
struct Reply {
    messages: Vec<Message>,
    parts: Vec<Part>,
    results: Vec<Part>,
    /// Calls without a result, with their tools.
    open: VecDeque<(String, String)>,
}

impl Reply {
    /// What was said before the results, and the results.
    fn turn(&mut self) {
        for (role, parts) in [
            (Role::Assistant, &mut self.parts),
            (Role::Tool, &mut self.results),
        ] {
            self.messages.extend(message(role, std::mem::take(parts)));
        }
    }

    fn says(&mut self, part: Part) {
        if !self.results.is_empty() {
            self.turn();
        }
        self.parts.push(part);
    }

    /// The call that a result answers: the one that it names, else the first open one of its tool, else the
    /// first.
    fn answered(&mut self, id: Option<String>, tool: Option<String>) -> Option<String> {
        let mut open = self.open.iter();
        let at = match (&id, tool) {
            (Some(id), _) => open.position(|(call, _)| call == id),
            (None, Some(tool)) => open.position(|(_, name)| *name == tool).or(Some(0)),
            (None, None) => Some(0),
        };
        let found = at.and_then(|at| self.open.remove(at));
        found.map(|(call, _)| call).or(id)
    }
}

/// What a tool gave.
fn given(raw: Raw<'_>, notes: &mut Notes) -> Result<Vec<Part>, String> {
    let Some(raw) = raw else {
        return Ok(Vec::new());
    };
    if let Some(text) = string(Some(raw)) {
        return Ok(vec![Part::text(text)]);
    }
    let blocks: Vec<&RawValue> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a tool's content: {error}"))?;
    let mut parts = Vec::new();
    for raw in blocks {
        parts.extend(part(&block(raw)?, raw, notes));
    }
    Ok(parts)
}

/// A block as a part; none of one that says nothing.
fn part(block: &Block<'_>, raw: &RawValue, notes: &mut Notes) -> Option<Part> {
    let kind = word(block.r#type).unwrap_or_default();
    match &*kind {
        "text" => text(block.text),
        "thinking" => said(block.thinking).map(thought),
        kind => Some(opaque(PROVIDER, kind, raw.get().to_owned(), notes)),
    }
}
