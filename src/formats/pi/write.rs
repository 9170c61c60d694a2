//! Messages as entries: one way through the tree, each entry behind the one before it. An untouched
//! message is its entry; one that goes into a new session takes along all that its tool wrote with it.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::index::Record;
use super::{PI, PROVIDER, SUMMED_UP, system};
use crate::error::Result;
use crate::formats::shared::fields::Fields;
use crate::formats::shared::records::write_line;
use crate::formats::shared::remarks::{FOREIGN, Remarks, SYSTEM};
use crate::formats::shared::{verbatim, writers};
use crate::formats::{Document, Export, Outgoing};
use crate::model::{Media, MediaSource, Message, Millis, Part, Role, Usage};
use crate::wire::gemini;
use crate::wire::json::{Object, array, quoted, text_at};

/// The version of the files that are written: of a tree, with custom messages.
const VERSION: &str = "3";

/// Whether an entry says how things stand in the tool: how hard the model is to think.
pub(super) fn is_state(record: &str) -> bool {
    Fields::parse(record).is_some_and(|entry| entry.is("type", "thinking_level_change"))
}

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let (messages, document) = (export.messages, export.document);
    let known = messages.iter().flat_map(|one| one.records.iter());
    let mut known = document.after.iter().chain(known).peekable();
    let is_plain = |record: &String| Fields::parse(record).is_some_and(|it| it.get("id").is_none());
    let mut writer = Writer {
        out: export.out,
        document,
        // The first version has no ids; all of a file is of one version.
        first_version: !document.fresh && known.peek().is_some() && known.all(is_plain),
        time: document.now.unwrap_or(Millis(0)),
        made: 0,
        last: None,
        written: HashSet::new(),
        calls: HashMap::new(),
        remarks: Remarks::default(),
    };
    for record in &document.after {
        writer.note(record);
    }
    let mut asides = Fields::of_all(document.asides.values().flatten());
    let is_opened = asides.any(|entry| entry.is("type", "session"));
    if document.after.is_empty() && !is_opened {
        writer.opening(messages)?;
    }
    for (at, outgoing) in messages.iter().enumerate() {
        writer.asides(at)?;
        writer.message(outgoing, at == 0)?;
    }
    writer.asides(messages.len())?;
    Ok(writer.remarks.into_words())
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    document: &'a Document,
    first_version: bool,
    time: Millis,
    /// How many ids were made.
    made: u64,
    /// The entry before.
    last: Option<String>,
    written: HashSet<String>,
    /// The name of each call's tool.
    calls: HashMap<String, String>,
    remarks: Remarks,
}

impl Writer<'_> {
    fn new_id(&mut self) -> String {
        loop {
            let id: String = self.document.new_id(self.made).chars().take(8).collect();
            self.made += 1;
            if !self.written.contains(&id) {
                return id;
            }
        }
    }

    /// Takes note of an entry that stands in the file.
    fn note(&mut self, record: &str) -> Option<Fields> {
        let entry = Fields::parse(record)?;
        if !entry.is("type", "session")
            && let Some(id) = entry.string("id")
        {
            self.written.insert(id.clone());
            self.last = Some(id);
        }
        Some(entry)
    }

    /// An entry as it was, behind the one before it.
    fn kept(&mut self, record: &str) -> Result<()> {
        let before = self.last.clone();
        let entry = self.note(record);
        let Some(mut entry) = entry.filter(|entry| entry.get("parentId").is_some()) else {
            return write_line(self.out, record);
        };
        if entry.string("parentId") == before {
            return write_line(self.out, record);
        }
        entry.set("parentId", &before);
        write_line(self.out, &entry.line())
    }

    /// A new entry; `old` is the one that it replaces.
    fn entry(&mut self, kind: &str, old: Option<&Fields>, rest: &[(&str, &str)]) -> Result<()> {
        let mut entry = Object::typed(kind);
        if !self.first_version {
            let old = old.and_then(|old| old.string("id"));
            let id = old.filter(|id| !self.written.contains(id));
            let id = id.unwrap_or_else(|| self.new_id());
            self.written.insert(id.clone());
            let parent = self.last.replace(id.clone());
            entry = entry.string("id", &id);
            entry = entry.nullable("parentId", parent.as_deref());
        }
        entry = entry.string("timestamp", &self.time.to_iso());
        for (key, json) in rest {
            entry = entry.raw(key, json);
        }
        write_line(self.out, &entry.finish())
    }

    fn opening(&mut self, messages: &[Outgoing]) -> Result<()> {
        let document = self.document;
        let mut times = messages.iter().filter(|_| !document.fresh);
        let time = times.find_map(|one| one.time).unwrap_or(self.time);
        let version = (!self.first_version).then_some(VERSION);
        let header = Object::typed("session")
            .optional_raw("version", version)
            .string("id", &document.session_id)
            .string("timestamp", &time.to_iso())
            .string("cwd", &document.cwd);
        write_line(self.out, &header.finish())?;
        if document.fresh {
            self.standing()?;
        }
        Ok(())
    }

    /// How things stood in the tool, and the session's name.
    fn standing(&mut self) -> Result<()> {
        let document = self.document;
        let state = document.state.last();
        if let Some(level) = state.and_then(|state| text_at(state, "thinkingLevel")) {
            let level = quoted(&level);
            self.entry("thinking_level_change", None, &[("thinkingLevel", &level)])?;
        }
        match &document.title {
            Some(title) => self.entry("session_info", None, &[("name", &quoted(title))]),
            None => Ok(()),
        }
    }

    fn asides(&mut self, at: usize) -> Result<()> {
        for record in self.document.asides(at) {
            self.kept(record)?;
        }
        Ok(())
    }

    fn message(&mut self, outgoing: &Outgoing, is_first: bool) -> Result<()> {
        let message = &outgoing.message;
        self.calls.extend(writers::called(message));
        self.time = outgoing.time.unwrap_or(self.time);
        if verbatim::say(&PI, &outgoing.records, message) {
            return self.untouched(&outgoing.records);
        }
        let old = outgoing.replaces.first().or(outgoing.records.first());
        let old = old.and_then(|record| Fields::parse(record));
        let old = old.as_ref().filter(|_| !self.document.fresh);
        if let Some(summary) = summary(outgoing).filter(|_| is_first && !self.first_version) {
            // Nothing stands before it that could be kept.
            let rest = [
                ("summary", &*quoted(summary)),
                ("firstKeptEntryId", "\"\""),
                ("tokensBefore", "0"),
            ];
            return self.entry("compaction", old, &rest);
        }
        match message.role {
            Role::Assistant => self.reply(outgoing, old),
            role if role.is_system() => self.system(outgoing),
            _ => self.input(&message.parts, old),
        }
    }

    /// A prompt, or a change of it, as the tool said it. It makes its own where none is there.
    fn system(&mut self, outgoing: &Outgoing) -> Result<()> {
        for record in &outgoing.records {
            let entry: Record<'_> = serde_json::from_str(record).unwrap_or_default();
            let said = system::of(entry.system_message, entry.message);
            let is_its = |it: &&RawValue| {
                let texts = [system::whole(it), system::change(it)];
                let mut said = texts
                    .into_iter()
                    .map(|text| Message::text(Role::System, text));
                said.any(|message| message == outgoing.message)
            };
            let Some(said) = said.filter(is_its) else {
                continue;
            };
            // A compaction says the one that holds behind it.
            return match entry.system_message {
                Some(_) => self.entry("message", None, &[("message", said.get())]),
                None => self.untouched(std::slice::from_ref(record)),
            };
        }
        self.remarks.add(SYSTEM);
        Ok(())
    }

    /// Entries as they were; in a new session under new ids.
    fn untouched(&mut self, records: &[String]) -> Result<()> {
        for record in records {
            let entry = Fields::parse(record).filter(|_| self.document.fresh);
            let Some(entry) = entry else {
                self.kept(record)?;
                continue;
            };
            let own = ["type", "id", "parentId", "timestamp"];
            let rest = entry.members().filter(|(key, _)| !own.contains(key));
            let rest: Vec<(&str, &str)> = rest.map(|(key, value)| (key, value.get())).collect();
            let kind = entry.string("type").unwrap_or_default();
            self.entry(&kind, None, &rest)?;
        }
        Ok(())
    }

    /// What is no reply: a prompt, and each result by itself.
    fn input(&mut self, parts: &[Part], mut old: Option<&Fields>) -> Result<()> {
        let mut said = Vec::new();
        for part in parts {
            let Some((call, content, is_error)) = part.as_result() else {
                said.extend(self.block(part));
                continue;
            };
            let content: Vec<String> = content.iter().filter_map(|part| self.block(part)).collect();
            let name = self.calls.get(call).cloned().unwrap_or_default();
            let message = Object::new()
                .string("role", "toolResult")
                .string("toolCallId", call)
                .string("toolName", &name)
                .raw("content", &array(&content))
                .flag("isError", is_error)
                .number("timestamp", self.time.0);
            self.entry("message", old.take(), &[("message", &message.finish())])?;
        }
        if said.is_empty() && !parts.is_empty() {
            return Ok(());
        }
        let message = Object::new()
            .string("role", "user")
            .raw("content", &array(&said))
            .number("timestamp", self.time.0);
        self.entry("message", old, &[("message", &message.finish())])
    }

    fn reply(&mut self, outgoing: &Outgoing, old: Option<&Fields>) -> Result<()> {
        let model = outgoing.model().unwrap_or_else(|| "unknown".to_owned());
        let (api, provider) = maker(&model);
        let parts = &outgoing.message.parts;
        let content: Vec<String> = parts.iter().filter_map(|part| self.block(part)).collect();
        let calls = outgoing.message.calls().next().is_some();
        let usage = usage(outgoing.usage.unwrap_or_default());
        // What the tool wrote beside what was said before it was changed.
        let message = old.and_then(|old| Fields::parse(old.get("message")?.get()));
        let message = match message {
            Some(mut message) => {
                let content = RawValue::from_string(array(&content));
                let content = content.expect("what is written is JSON");
                message.set("content", &content);
                message.line()
            }
            None => Object::new()
                .string("role", "assistant")
                .raw("content", &array(&content))
                .string("api", api)
                .string("provider", provider)
                .string("model", &model)
                .raw("usage", &usage.to_string())
                .string("stopReason", if calls { "toolUse" } else { "stop" })
                .number("timestamp", self.time.0)
                .finish(),
        };
        self.entry("message", old, &[("message", &message)])
    }

    /// A part as a block; none where the tool has no such block.
    fn block(&mut self, part: &Part) -> Option<String> {
        let block = match part {
            Part::Text { text } => Object::typed("text").string("text", text),
            // What stands before a text or a call of Gemini's has no block of its own.
            Part::Thinking {
                text,
                provider: Some(provider),
                ..
            } if text.is_empty() && provider == gemini::PROVIDER => {
                self.remarks.add("a signature of Gemini's");
                return None;
            }
            Part::Thinking { text, .. } => {
                let block = Object::typed("thinking").string("thinking", text);
                let known = ["anthropic", PROVIDER, gemini::PROVIDER];
                let sealed = writers::seal(part, &known, &mut self.remarks);
                block.optional("thinkingSignature", sealed)
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => {
                let block = Object::typed("toolCall").string("id", id);
                let block = block.string("name", name);
                block.raw("arguments", &writers::input(arguments))
            }
            Part::Image(Media {
                source: MediaSource::Base64(data),
                media_type,
                ..
            }) => {
                let kind = media_type.as_deref().unwrap_or("image/png");
                Object::typed("image")
                    .string("data", data)
                    .string("mimeType", kind)
            }
            Part::Image(_) | Part::File(_) => {
                self.remarks.add("a file, or a picture that is elsewhere");
                return None;
            }
            Part::Opaque { provider, data } if provider == PROVIDER => return Some(data.clone()),
            Part::Opaque { provider, data } if provider == "anthropic" => {
                let sealed = text_at(data, "data")?;
                let block = Object::typed("thinking").string("thinking", "");
                let block = block.string("thinkingSignature", &sealed);
                block.flag("redacted", true)
            }
            Part::Opaque { .. } | Part::ToolResult { .. } => {
                self.remarks.add(FOREIGN);
                return None;
            }
        };
        Some(block.finish())
    }
}

/// The summary in a message that stands in place of what it sums up, in the tool's own frame.
fn summary(outgoing: &Outgoing) -> Option<&str> {
    let [before, after] = SUMMED_UP;
    match &outgoing.message.parts[..] {
        [Part::Text { text }] if outgoing.message.role == Role::User => {
            text.strip_prefix(before)?.strip_suffix(after)
        }
        _ => None,
    }
}

/// How a model of this name is talked to, and whose it is.
fn maker(model: &str) -> (&'static str, &'static str) {
    match model {
        model if model.starts_with("claude") => ("anthropic-messages", "anthropic"),
        model if model.starts_with("gemini") => ("google-generative-ai", "google"),
        _ => ("openai-responses", "openai"),
    }
}

fn usage(counted: Usage) -> Value {
    json!({
        "input": counted.uncached_tokens(), "output": counted.output_tokens,
        "cacheRead": counted.cached_tokens, "cacheWrite": counted.written_tokens,
        "totalTokens": counted.input_tokens.saturating_add(counted.output_tokens),
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
    })
}
