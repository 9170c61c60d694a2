//! Messages as events: an untouched one is its events, any other is written anew. Each event names
//! the one before it, as the tool's own do.

use std::collections::HashMap;
use std::io::Write;

use super::{COPILOT_CLI, PROVIDER};
use crate::error::Result;
use crate::formats::shared::fields::Fields;
use crate::formats::shared::records::write_line;
use crate::formats::shared::remarks::{FOREIGN, Remarks};
use crate::formats::shared::verbatim;
use crate::formats::shared::writers::{self, seal, texts};
use crate::formats::{Document, Export, Outgoing};
use crate::model::{Media, MediaSource, Millis, Part, Role};
use crate::wire::json::{Object, array};

/// The version that a new session says it is of: one whose events ours look like.
const VERSION: &str = "1.0.60";

/// What stands between texts that become one.
const BETWEEN: &str = "\n\n";

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let (messages, document) = (export.messages, export.document);
    let mut writer = Writer {
        out: export.out,
        document,
        time: document.now.unwrap_or(Millis(0)),
        made: 0,
        last: None,
        calls: HashMap::new(),
        turn: None,
        remarks: Remarks::default(),
    };
    for record in &document.after {
        writer.note(record);
    }
    let mut asides = Fields::of_all(document.asides.values().flatten());
    let is_opened = asides.any(|event| event.is("type", "session.start"));
    if document.after.is_empty() && !is_opened {
        writer.opening(messages)?;
    }
    for (at, outgoing) in messages.iter().enumerate() {
        writer.asides(at)?;
        writer.message(outgoing)?;
    }
    writer.asides(messages.len())?;
    writer.end_turn()?;
    Ok(writer.remarks.into_words())
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    document: &'a Document,
    time: Millis,
    /// How many ids were made.
    made: u64,
    /// The event before.
    last: Option<String>,
    /// The name and the arguments of each call.
    calls: HashMap<String, (String, String)>,
    /// The turn of the model that was begun anew.
    turn: Option<String>,
    remarks: Remarks,
}

impl Writer<'_> {
    fn new_id(&mut self) -> String {
        self.made += 1;
        self.document.new_id(self.made - 1)
    }

    /// Takes note of an event that stands in the file.
    fn note(&mut self, record: &str) -> Option<Fields> {
        let event = Fields::parse(record)?;
        self.last = event.string("id").or(self.last.take());
        Some(event)
    }

    /// An event as it was, behind the one before it.
    fn kept(&mut self, record: &str) -> Result<()> {
        let before = self.last.take();
        let Some(mut event) = self.note(record) else {
            return write_line(self.out, record);
        };
        if event.string("parentId") == before || event.get("parentId").is_none() {
            return write_line(self.out, record);
        }
        event.set("parentId", &before);
        write_line(self.out, &event.line())
    }

    fn event(&mut self, kind: &str, data: Object) -> Result<()> {
        let id = self.new_id();
        let parent = self.last.replace(id.clone());
        let event = Object::typed(kind)
            .raw("data", &data.finish())
            .string("id", &id)
            .string("timestamp", &self.time.to_iso())
            .nullable("parentId", parent.as_deref());
        write_line(self.out, &event.finish())
    }

    fn opening(&mut self, messages: &[Outgoing]) -> Result<()> {
        let first = messages.iter().find_map(|one| one.time);
        self.time = first.unwrap_or(self.time);
        let document = self.document;
        let model = messages.iter().find_map(|one| one.settings.get("model"));
        let context = Object::new().string("cwd", &document.cwd);
        let data = Object::new()
            .string("sessionId", &document.session_id)
            .raw("version", "1")
            .string("producer", "tract")
            .string("copilotVersion", VERSION)
            .string("startTime", &self.time.to_iso())
            .optional_raw("selectedModel", model.map(String::as_str))
            .raw("context", &context.finish());
        self.event("session.start", data)
    }

    fn asides(&mut self, at: usize) -> Result<()> {
        for record in self.document.asides(at) {
            self.kept(record)?;
        }
        Ok(())
    }

    fn end_turn(&mut self) -> Result<()> {
        match self.turn.take() {
            Some(turn) => self.event("assistant.turn_end", Object::new().string("turnId", &turn)),
            None => Ok(()),
        }
    }

    fn message(&mut self, outgoing: &Outgoing) -> Result<()> {
        let message = &outgoing.message;
        for part in &message.parts {
            if let Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } = part
            {
                let call = (name.clone(), arguments.clone());
                self.calls.insert(id.clone(), call);
            }
        }
        if verbatim::say(&COPILOT_CLI, &outgoing.records, message) {
            for record in &outgoing.records {
                self.kept(record)?;
            }
            return Ok(());
        }
        self.time = outgoing.time.unwrap_or(self.time);
        if message.role != Role::Tool {
            self.end_turn()?;
        }
        match message.role {
            Role::Assistant => self.reply(outgoing),
            role if role.is_system() => {
                let text = texts(&message.parts, BETWEEN);
                let data = Object::new().string("role", role.as_str());
                let data = data.optional("name", message.name.as_deref());
                self.event("system.message", data.string("content", &text))
            }
            _ => self.input(&message.parts),
        }
    }

    /// Bytes that the model is sent.
    fn binary(&mut self, new: Object, media: &Media) -> Option<String> {
        let MediaSource::Base64(data) = &media.source else {
            self.remarks.add("a picture or a file that is elsewhere");
            return None;
        };
        let kind = media.media_type.as_deref();
        let kind = kind.unwrap_or("application/octet-stream");
        Some(new.string("data", data).string("mimeType", kind).finish())
    }

    /// What is no reply: a prompt, and each result by itself.
    fn input(&mut self, parts: &[Part]) -> Result<()> {
        let (results, said): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.is_result());
        for part in results {
            self.result(part)?;
        }
        if said.is_empty() {
            return Ok(());
        }
        let mut attached = Vec::new();
        for part in &said {
            match part {
                Part::Image(media) | Part::File(media) => {
                    attached.extend(self.binary(Object::typed("blob"), media));
                }
                Part::Text { .. } => {}
                _ => self.remarks.add(FOREIGN),
            }
        }
        let (text, turn) = (texts(said, BETWEEN), self.new_id());
        let data = Object::new()
            .string("content", &text)
            .string("transformedContent", &text)
            .raw("attachments", &array(&attached))
            .string("interactionId", &turn);
        self.event("user.message", data)
    }

    fn reply(&mut self, outgoing: &Outgoing) -> Result<()> {
        let turn = self.new_id();
        let start = Object::new().string("turnId", &turn);
        self.event("assistant.turn_start", start)?;
        self.turn = Some(turn);
        let pieces = pieces(&outgoing.message.parts);
        let (count, call) = (pieces.len().to_string(), self.new_id());
        for (index, piece) in pieces.into_iter().enumerate() {
            let model = outgoing.settings.get("model").map(String::as_str);
            let data = Object::new().string("messageId", &self.new_id());
            let mut data = data.optional_raw("model", model);
            let (mut content, mut requests) = ("", Vec::new());
            for part in piece {
                match part {
                    Part::Text { text } => content = text,
                    Part::Thinking { text, .. } => {
                        let sealed = seal(part, &[PROVIDER], &mut self.remarks);
                        let text = Some(text.as_str()).filter(|text| !text.is_empty());
                        data = data.optional("reasoningText", text);
                        data = data.optional("reasoningOpaque", sealed);
                    }
                    Part::ToolCall {
                        id,
                        name,
                        arguments,
                        kind,
                    } => {
                        let request = Object::new()
                            .string("toolCallId", id)
                            .string("name", name)
                            .raw("arguments", &writers::arguments(arguments))
                            .string("type", kind.as_deref().unwrap_or("function"));
                        requests.push(request.finish());
                    }
                    Part::Opaque {
                        provider,
                        data: block,
                    } if provider == PROVIDER => data = data.raw("serverTools", block),
                    _ => self.remarks.add(FOREIGN),
                }
            }
            data = data
                .string("content", content)
                .raw("toolRequests", &array(&requests));
            if count != "1" {
                data = data
                    .string("apiCallId", &call)
                    .number("chunkIndex", index)
                    .raw("chunkCount", &count);
            }
            self.event("assistant.message", data)?;
        }
        Ok(())
    }

    fn result(&mut self, part: &Part) -> Result<()> {
        let Some((call, content, is_error)) = part.as_result() else {
            return Ok(());
        };
        let (name, arguments) = self.calls.get(call).cloned().unwrap_or_default();
        let start = Object::new()
            .string("toolCallId", call)
            .string("toolName", &name)
            .raw("arguments", &writers::arguments(&arguments));
        self.event("tool.execution_start", start)?;
        let text = texts(content, BETWEEN);
        let mut binaries = Vec::new();
        for part in content {
            match part {
                Part::Image(media) => binaries.extend(self.binary(Object::typed("image"), media)),
                Part::File(media) => binaries.extend(self.binary(Object::typed("resource"), media)),
                Part::Text { .. } => {}
                _ => self.remarks.add(FOREIGN),
            }
        }
        let mut data = Object::new().string("toolCallId", call);
        data = data.flag("success", !is_error);
        if !is_error || !binaries.is_empty() {
            let binaries = (!binaries.is_empty()).then(|| array(&binaries));
            let result = Object::new().string("content", &text);
            let result = result.optional_raw("binaryResultsForLlm", binaries.as_deref());
            data = data.raw("result", &result.finish());
        }
        if is_error {
            let error = Object::new().string("message", &text);
            data = data.raw("error", &error.finish());
        }
        self.event("tool.execution_complete", data)
    }
}

/// A reply in pieces, each of which says its parts in the order in which an event can: reasoning, text,
/// the provider's own, calls.
fn pieces(parts: &[Part]) -> Vec<Vec<&Part>> {
    let place = |part: &Part| match part {
        Part::Thinking { .. } => 0,
        Part::Text { .. } => 1,
        Part::ToolCall { .. } => 3,
        _ => 2,
    };
    let mut pieces: Vec<Vec<&Part>> = vec![Vec::new()];
    for part in parts {
        let last = pieces.last_mut().expect("there is one");
        let before = last.last().map(|before| place(before));
        let follows =
            before.is_none_or(|before| before < place(part) || before == 3 && place(part) == 3);
        if follows {
            last.push(part)
        } else {
            pieces.push(vec![part])
        }
    }
    pieces
}
