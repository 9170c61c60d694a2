//! The exporter: requests and responses.
//!
//! What is said between two replies is one request, unless it was said at different times. Instructions are system
//! prompts; those that a kept record has beside its parts stay there.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::HIDDEN;
use super::message::{self, Said, is_own};
use super::read::History;
use crate::error::Result;
use crate::formats::shared::chat::write::write_all;
use crate::formats::shared::document::Document as _;
use crate::formats::shared::histories::write::{Run, begin_with, framed, runs};
use crate::formats::shared::records::rewritten;
use crate::formats::shared::remarks::{FOREIGN, Remarks};
use crate::formats::shared::writers::{called, texts};
use crate::formats::{Document, Export, Outgoing};
use crate::model::{Media, MediaSource, Message, Millis, Part, Role, Usage, base64};
use crate::wire::json::{Object, array, quoted, text_at, type_of};
use crate::wire::{Notes, anthropic, gemini, media};

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let document = export.document;
    let mut writing = Writing {
        document,
        remarks: Remarks::of(document),
        names: HashMap::new(),
        instructions: None,
        open: Request::default(),
        records: Vec::new(),
    };
    let mut instructions = None;
    let runs = runs(export.messages, |record, rest| {
        kept(record, rest, &mut instructions)
    });
    for run in runs {
        match run {
            Run::Kept(record) => writing.keep(record),
            Run::Anew(_, messages) => messages.iter().for_each(|it| writing.take(it)),
        }
    }
    writing.close();
    let Writing {
        records, remarks, ..
    } = writing;
    let text = framed(&records, History::RECORDS, document.source.as_deref(), None);
    write_all(export.out, &text)?;
    Ok(remarks.into_words())
}

/// How many messages a record still says, and the record: with the instructions that hold there.
fn kept(
    record: &str,
    messages: &[Outgoing],
    instructions: &mut Option<String>,
) -> Option<(usize, String)> {
    let raw: &RawValue = serde_json::from_str(record).ok()?;
    let Said {
        messages: said,
        leading,
        is_request,
        is_results,
        instructions: own,
        ..
    } = message::read(raw, &mut Notes::default()).ok()?;
    if is_request && own.is_some() && own != *instructions {
        let text = own.clone().unwrap_or_default();
        let system = Message::new(Role::System, vec![Part::text(text)]);
        let all = said[..leading]
            .iter()
            .chain([&system])
            .chain(&said[leading..]);
        if begin_with(messages, record, all) {
            *instructions = own;
            return Some((said.len() + 1, record.to_owned()));
        }
    }
    if !begin_with(messages, record, &said) {
        return None;
    }
    let says_nothing = !is_request || is_results && own.is_none();
    if says_nothing || own == *instructions {
        return Some((said.len(), record.to_owned()));
    }
    let holds = instructions.as_deref().map_or("null".to_owned(), quoted);
    let changed = rewritten(record, |key, value| match key {
        "instructions" => Some(holds.clone()),
        _ => Some(value.to_owned()),
    });
    let changed = match own {
        Some(_) => changed,
        None => changed.raw("instructions", &holds),
    };
    Some((said.len(), changed.finish()))
}

/// Records in the making.
struct Writing<'d> {
    document: &'d Document,
    remarks: Remarks,
    /// What each call calls, by its id.
    names: HashMap<String, String>,
    /// The instructions that kept records have.
    instructions: Option<String>,
    open: Request,
    records: Vec<String>,
}

/// A request in the making.
#[derive(Default)]
struct Request {
    parts: Vec<String>,
    time: Option<Millis>,
    ends_in_results: bool,
}

impl Writing<'_> {
    /// A record that stays.
    fn keep(&mut self, record: String) {
        self.close();
        let raw = serde_json::from_str::<&RawValue>(&record).ok();
        let said = raw.and_then(|raw| message::read(raw, &mut Notes::default()).ok());
        if let Some(said) = said {
            self.names.extend(said.messages.iter().flat_map(called));
            let is_silent = !said.is_request || said.is_results && said.instructions.is_none();
            if !is_silent {
                self.instructions = said.instructions;
            }
        }
        self.records.push(record);
    }

    fn take(&mut self, outgoing: &Outgoing) {
        let message = &outgoing.message;
        self.names.extend(called(message));
        if message.name.is_some() {
            self.remarks.add("the name of a speaker");
        }
        if message.role == Role::Assistant {
            self.close();
            let response = self.response(outgoing);
            self.records.push(response);
            return;
        }
        let is_results = message.parts.iter().any(Part::is_result);
        // Results that stand side by side are read as one message.
        if self.open.time != outgoing.time || is_results && self.open.ends_in_results {
            self.close();
        }
        let time = outgoing.time;
        let mut parts = Vec::new();
        let (results, said): (Vec<&Part>, Vec<&Part>) =
            message.parts.iter().partition(|part| part.is_result());
        parts.extend(
            results
                .into_iter()
                .filter_map(|part| self.result(part, time)),
        );
        if message.role.is_system() {
            if message.role == Role::Developer {
                self.remarks
                    .say("a developer's message is a system message");
            }
            if said.iter().any(|part| part.as_text().is_none()) {
                self.remarks.add("a part of instructions that is no text");
            }
            let text = texts(said, "");
            parts.push(part("system-prompt", &quoted(&text), time).finish());
        } else if !said.is_empty() {
            if message.role == Role::Tool {
                let what = "what stands beside a tool's results is a user message";
                self.remarks.say(what);
            }
            parts.extend(self.prompt(&said, time));
        }
        self.open.time = time;
        self.open.ends_in_results = is_results;
        self.open.parts.extend(parts);
    }

    /// Ends the request that is open.
    fn close(&mut self) {
        let request = std::mem::take(&mut self.open);
        if request.parts.is_empty() {
            return;
        }
        let time = request.time.map(Millis::to_iso);
        let object = Object::new()
            .raw("parts", &array(&request.parts))
            .optional("instructions", self.instructions.as_deref())
            .optional("timestamp", time.as_deref())
            .string("kind", "request");
        self.records.push(object.finish());
    }

    /// What a user has said.
    fn prompt(&mut self, said: &[&Part], time: Option<Millis>) -> Option<String> {
        if let [Part::Text { text }] = said {
            if text.is_empty() {
                self.remarks.add("an empty text");
                return None;
            }
            return Some(part("user-prompt", &quoted(text), time).finish());
        }
        let items = said.iter().filter_map(|part| self.item(part));
        let items: Vec<String> = items.collect();
        let prompt = || part("user-prompt", &array(&items), time).finish();
        (!items.is_empty()).then(prompt)
    }

    /// A text, a picture or a file among others.
    fn item(&mut self, part: &Part) -> Option<String> {
        let found = match part {
            Part::Text { text } if text.is_empty() => {
                self.remarks.add("an empty text");
                return None;
            }
            Part::Text { text } => Some(quoted(text)),
            Part::Image(media) => return self.medium(media, true),
            Part::File(media) => return self.medium(media, false),
            Part::Opaque { provider, data } if is_own(provider, data, "kind") => Some(data.clone()),
            _ => None,
        };
        if found.is_none() {
            self.remarks.add(FOREIGN);
        }
        found
    }

    fn medium(&mut self, media: &Media, is_picture: bool) -> Option<String> {
        if media.name.is_some() {
            self.remarks.add("the name of a file");
        }
        if media.detail.is_some() {
            self.remarks.add("how closely a picture is to be looked at");
        }
        let media_type = media.media_type.as_deref();
        let object = match &media.source {
            MediaSource::Url(url) => {
                let kind = match media_type.and_then(|it| it.split('/').next()) {
                    _ if is_picture => "image-url",
                    Some("audio") => "audio-url",
                    Some("video") => "video-url",
                    _ => "document-url",
                };
                Object::new()
                    .string("url", url)
                    .optional("media_type", media_type)
                    .string("kind", kind)
            }
            MediaSource::Base64(data) => {
                let found = media::image_type(media_type, data).filter(|_| is_picture);
                let known = media_type.or(found);
                if media_type.is_none() {
                    self.remarks.say("a file of unknown type is given one");
                }
                let Some(bytes) = base64::decode(data) else {
                    self.remarks.add("a file whose bytes are no base64");
                    return None;
                };
                let anew = base64::encode(&bytes);
                if anew != *data {
                    self.remarks.say("the base64 of a file is written anew");
                }
                // The framework reads the letters of addresses alone.
                Object::new()
                    .string("data", &anew.replace('+', "-").replace('/', "_"))
                    .string("media_type", known.unwrap_or("application/octet-stream"))
                    .string("kind", "binary")
            }
            MediaSource::FileId(id) => {
                if is_picture && !media_type.is_some_and(|it| it.starts_with("image/")) {
                    self.remarks.say("a picture of unknown type is a file");
                }
                let provider = match media::is_anthropic_file(id) {
                    true => anthropic::PROVIDER,
                    false => "openai",
                };
                Object::new()
                    .string("file_id", id)
                    .string("provider_name", provider)
                    .optional("media_type", media_type)
                    .string("kind", "uploaded-file")
            }
        };
        Some(object.finish())
    }

    /// What a call gave.
    fn result(&mut self, of: &Part, time: Option<Millis>) -> Option<String> {
        let (call, content, is_error) = of.as_result()?;
        let content = match content {
            [] => "null".to_owned(),
            [Part::Text { text }] => quoted(text),
            parts if parts.iter().all(|part| part.as_text().is_some()) => {
                self.remarks.say("the texts of a result are one text");
                quoted(&texts(parts, "\n"))
            }
            parts => {
                let items = parts.iter().filter_map(|part| self.item(part));
                array(items.collect::<Vec<String>>())
            }
        };
        let name = self.names.get(call).map_or("", String::as_str);
        let returned = part("tool-return", &content, time)
            .string("tool_name", name)
            .string("tool_call_id", call)
            .string("outcome", if is_error { "failed" } else { "success" });
        Some(returned.finish())
    }

    fn response(&mut self, outgoing: &Outgoing) -> String {
        let message = &outgoing.message;
        let parts = message.parts.iter().filter_map(|part| self.said(part));
        let parts: Vec<String> = parts.collect();
        let time = outgoing.time.or(self.document.now).map(Millis::to_iso);
        let model = outgoing.model();
        let counted = outgoing.usage.as_ref().map(usage);
        let state = message.interrupted.then_some("interrupted");
        let object = Object::new()
            .raw("parts", &array(&parts))
            .optional_raw("usage", counted.as_deref())
            .optional("model_name", model.as_deref())
            .optional("timestamp", time.as_deref())
            .optional("state", state)
            .string("kind", "response");
        object.finish()
    }

    /// A part of a reply.
    fn said(&mut self, part: &Part) -> Option<String> {
        let of = |kind: &str| Object::new().string("part_kind", kind);
        let object = match part {
            Part::Text { text } if text.is_empty() => {
                self.remarks.add("an empty text");
                return None;
            }
            Part::Text { text } => of("text").string("content", text),
            Part::Thinking {
                text,
                signature,
                provider,
            } => {
                if text.is_empty() && signature.is_none() {
                    self.remarks.add("an empty thought");
                    return None;
                }
                if signature.is_none() && provider.is_some() {
                    self.remarks.add("whose a thought is");
                }
                let provider = match provider.as_deref() {
                    Some(gemini::PROVIDER) => Some("google"),
                    other => other,
                };
                of("thinking")
                    .string("content", text)
                    .optional("signature", signature.as_deref())
                    .optional("provider_name", provider)
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                kind,
            } => {
                if kind.is_some() {
                    self.remarks.add("the kind of a call that is no function's");
                }
                of("tool-call")
                    .string("tool_name", name)
                    .string("args", arguments)
                    .string("tool_call_id", id)
            }
            Part::Opaque { provider, data } => {
                let hidden = type_of(data).filter(|kind| kind == HIDDEN);
                let hidden = hidden.and_then(|_| text_at(data, "data"));
                match hidden.filter(|_| provider == anthropic::PROVIDER) {
                    Some(hidden) => of("thinking")
                        .string("content", "")
                        .string("id", HIDDEN)
                        .string("signature", &hidden)
                        .string("provider_name", provider),
                    None if is_own(provider, data, "part_kind") => return Some(data.clone()),
                    None => {
                        self.remarks.add(FOREIGN);
                        return None;
                    }
                }
            }
            Part::Image(media) | Part::File(media) => match &media.source {
                MediaSource::Base64(_) => {
                    let is_picture = matches!(part, Part::Image(_));
                    of("file").raw("content", &self.medium(media, is_picture)?)
                }
                _ => {
                    self.remarks.add("a file of a reply that stands elsewhere");
                    return None;
                }
            },
            Part::ToolResult { .. } => {
                self.remarks.add("a result in a reply");
                return None;
            }
        };
        Some(object.finish())
    }
}

/// A part of a request, with its content as JSON.
fn part(kind: &str, content: &str, time: Option<Millis>) -> Object {
    let time = time.map(Millis::to_iso);
    Object::new()
        .raw("content", content)
        .optional("timestamp", time.as_deref())
        .string("part_kind", kind)
}

/// What was counted, by the names of the framework.
fn usage(usage: &Usage) -> String {
    let mut object = Object::new();
    for (key, count) in [
        ("input_tokens", usage.input_tokens),
        ("cache_write_tokens", usage.written_tokens),
        ("cache_write_1h_tokens", usage.written_hour_tokens),
        ("cache_read_tokens", usage.cached_tokens),
        ("output_tokens", usage.output_tokens),
        ("output_reasoning_tokens", usage.reasoning_tokens),
    ] {
        if count > 0 {
            object = object.number(key, count);
        }
    }
    object.finish()
}
