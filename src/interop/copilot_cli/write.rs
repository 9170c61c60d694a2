//! Messages as events: an untouched one is its events, any other is written anew. Each event names
//! the one before it, as the tool's own do.

use std::collections::HashMap;
use std::io::Write;

use super::{COPILOT_CLI, PROVIDER};
use crate::error::Result;
use crate::interop::alone;
use crate::interop::fields::Fields;
use crate::interop::records::write_line;
use crate::interop::remarks::Remarks;
use crate::interop::{Document, Outgoing};
use crate::model::{Media, MediaSource, Millis, Part, Role};
use crate::wire::json::{Object, array, is_object, quoted};

/// The version that a new session says it is of: one whose events ours look like.
const VERSION: &str = "1.0.60";

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(
    messages: &[Outgoing],
    document: &Document,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let mut writer = Writer {
        out,
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
    let is_opened = document
        .asides
        .values()
        .flatten()
        .any(|record| is_start(record));
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

fn is_start(record: &str) -> bool {
    Fields::parse(record)
        .and_then(|event| event.string("type"))
        .as_deref()
        == Some("session.start")
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
        let parent = parent.map_or_else(|| "null".to_owned(), |parent| quoted(&parent));
        let event = Object::typed(kind)
            .raw("data", &data.finish())
            .string("id", &id)
            .string("timestamp", &self.time.to_iso())
            .raw("parentId", &parent);
        write_line(self.out, &event.finish())
    }

    fn opening(&mut self, messages: &[Outgoing]) -> Result<()> {
        self.time = messages
            .iter()
            .find_map(|one| one.time)
            .unwrap_or(self.time);
        let document = self.document;
        let model = messages.iter().find_map(|one| one.settings.get("model"));
        let context = Object::new().string("cwd", &document.cwd);
        let data = Object::new()
            .string("sessionId", &document.session_id)
            .raw("version", "1")
            .string("producer", "tract")
            .string("copilotVersion", VERSION)
            .string("startTime", &self.time.to_iso());
        let data = match model {
            Some(model) => data.raw("selectedModel", model),
            None => data,
        };
        self.event("session.start", data.raw("context", &context.finish()))
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
                self.calls
                    .insert(id.clone(), (name.clone(), arguments.clone()));
            }
        }
        if alone::say(&COPILOT_CLI, &outgoing.records, message) {
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
                let text = self.text(&message.parts);
                let data = Object::new().string("role", role.as_str());
                let data = data.optional("name", message.name.as_deref());
                self.event("system.message", data.string("content", &text))
            }
            _ => self.input(&message.parts),
        }
    }

    /// The texts of parts as one.
    fn text(&mut self, parts: &[Part]) -> String {
        let texts = parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Bytes that the model is sent.
    fn binary(&mut self, new: Object, media: &Media) -> Option<String> {
        let MediaSource::Base64(data) = &media.source else {
            self.remarks.add("a picture or a file that is elsewhere");
            return None;
        };
        let kind = media
            .media_type
            .as_deref()
            .unwrap_or("application/octet-stream");
        Some(new.string("data", data).string("mimeType", kind).finish())
    }

    /// What is no reply: a prompt, and each result by itself.
    fn input(&mut self, parts: &[Part]) -> Result<()> {
        let is_result = |part: &&Part| matches!(part, Part::ToolResult { .. });
        for part in parts.iter().filter(is_result) {
            self.result(part)?;
        }
        let said: Vec<Part> = parts
            .iter()
            .filter(|part| !is_result(part))
            .cloned()
            .collect();
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
                _ => self.remarks.add("a block of another provider"),
            }
        }
        let (text, turn) = (self.text(&said), self.new_id());
        let data = Object::new()
            .string("content", &text)
            .string("transformedContent", &text)
            .raw("attachments", &array(&attached))
            .string("interactionId", &turn);
        self.event("user.message", data)
    }

    fn reply(&mut self, outgoing: &Outgoing) -> Result<()> {
        let turn = self.new_id();
        self.event(
            "assistant.turn_start",
            Object::new().string("turnId", &turn),
        )?;
        self.turn = Some(turn);
        let pieces = pieces(&outgoing.message.parts);
        let (count, call) = (pieces.len().to_string(), self.new_id());
        for (index, piece) in pieces.into_iter().enumerate() {
            let mut data = Object::new().string("messageId", &self.new_id());
            if let Some(model) = outgoing.settings.get("model") {
                data = data.raw("model", model);
            }
            let (mut content, mut requests) = ("", Vec::new());
            for part in piece {
                match part {
                    Part::Text { text } => content = text,
                    Part::Thinking {
                        text,
                        signature,
                        provider,
                    } => {
                        let is_own = provider.as_deref() == Some(PROVIDER);
                        let sealed = signature.as_deref().filter(|_| is_own);
                        if signature.is_some() && sealed.is_none() {
                            self.remarks.add("a signature of another provider");
                        }
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
                        let given = match is_object(arguments) {
                            true => arguments.clone(),
                            false => quoted(arguments),
                        };
                        let request = Object::new()
                            .string("toolCallId", id)
                            .string("name", name)
                            .raw("arguments", &given)
                            .string("type", kind.as_deref().unwrap_or("function"));
                        requests.push(request.finish());
                    }
                    Part::Opaque {
                        provider,
                        data: block,
                    } if provider == PROVIDER => {
                        data = data.raw("serverTools", block);
                    }
                    _ => self.remarks.add("a block of another provider"),
                }
            }
            data = data
                .string("content", content)
                .raw("toolRequests", &array(&requests));
            if count != "1" {
                data = data
                    .string("apiCallId", &call)
                    .raw("chunkIndex", &index.to_string())
                    .raw("chunkCount", &count);
            }
            self.event("assistant.message", data)?;
        }
        Ok(())
    }

    fn result(&mut self, part: &Part) -> Result<()> {
        let Part::ToolResult {
            call,
            content,
            is_error,
        } = part
        else {
            return Ok(());
        };
        let (name, arguments) = self.calls.get(call).cloned().unwrap_or_default();
        let given = match is_object(&arguments) {
            true => arguments,
            false => quoted(&arguments),
        };
        let start = Object::new()
            .string("toolCallId", call)
            .string("toolName", &name)
            .raw("arguments", &given);
        self.event("tool.execution_start", start)?;
        let text = self.text(content);
        let mut binaries = Vec::new();
        for part in content {
            match part {
                Part::Image(media) => binaries.extend(self.binary(Object::typed("image"), media)),
                Part::File(media) => binaries.extend(self.binary(Object::typed("resource"), media)),
                Part::Text { .. } => {}
                _ => self.remarks.add("a block of another provider"),
            }
        }
        let mut data = Object::new()
            .string("toolCallId", call)
            .raw("success", if *is_error { "false" } else { "true" });
        if !*is_error || !binaries.is_empty() {
            let mut result = Object::new().string("content", &text);
            if !binaries.is_empty() {
                result = result.raw("binaryResultsForLlm", &array(&binaries));
            }
            data = data.raw("result", &result.finish());
        }
        if *is_error {
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
        match follows {
            true => last.push(part),
            false => pieces.push(vec![part]),
        }
    }
    pieces
}
