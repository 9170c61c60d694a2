//! Messages to OpenAI's JSON, by its rules.

use serde_json::Value;

use super::PROVIDER;
use crate::model::{Media, MediaSource, Part, Role};
use crate::wire::json::{Object, array, quoted};
use crate::wire::media::{FILE_WORD, IMAGE_WORD, PDF, image_url, is_anthropic_file};
use crate::wire::name::ToolNames;
use crate::wire::{Repair, Repairs};

/// The longest name of a speaker.
const NAME_MAX_CHARS: usize = 64;

/// A message in the making: all but a tool's.
#[derive(Debug)]
pub struct MessageWriter<'a> {
    number: usize,
    role: Role,
    name: Option<&'a str>,
    content: Content<'a>,
    calls: Vec<String>,
    /// Reasoning in words, which some servers tell; OpenAI's own takes none.
    pub reasoning: Option<String>,
    /// The call of old, without an id.
    pub function_call: Option<String>,
}

impl<'a> MessageWriter<'a> {
    /// A message without content. A tool's, which holds its results apart, is the user's.
    pub fn new(role: Role, name: Option<&'a str>, number: usize, repairs: &mut Repairs) -> Self {
        if role == Role::Tool {
            repairs.add(Repair::ToolText, number);
        }
        Self {
            number,
            role: if role == Role::Tool { Role::User } else { role },
            name,
            content: Content::default(),
            calls: Vec::new(),
            reasoning: None,
            function_call: None,
        }
    }

    /// Adds a part that is neither call nor result, if the provider takes it in this role.
    pub fn part(&mut self, part: &'a Part, repairs: &mut Repairs) {
        self.content.add(part, self.role, self.number, repairs);
    }

    /// Adds a call.
    pub fn call(
        &mut self,
        id: &str,
        name: &str,
        arguments: &str,
        kind: Option<&str>,
        repairs: &mut Repairs,
    ) {
        let name = ToolNames::OPENAI.of_call(name, self.number, repairs);
        let call = Object::new().string("id", id);
        let call = match kind {
            Some("custom") => {
                let custom = Object::new().string("name", &name);
                let custom = custom.string("input", arguments).finish();
                call.string("type", "custom").raw("custom", &custom)
            }
            _ => call
                .string("type", "function")
                .raw("function", &function(&name, arguments)),
        };
        self.calls.push(call.finish());
    }

    /// The message; none if all that it held had to be left out.
    pub fn finish(self, repairs: &mut Repairs) -> Option<String> {
        let content = &self.content;
        let has_calls = !self.calls.is_empty() || self.function_call.is_some();
        if content.parts.is_empty() && !has_calls && content.left_out {
            return None;
        }
        let name = self.name.and_then(speaker_name);
        if name.as_deref() != self.name {
            repairs.add(Repair::SpeakerName, self.number);
        }
        let mut object = Object::new()
            .string("role", self.role.as_str())
            .optional("name", name.as_deref())
            .optional("reasoning_content", self.reasoning.as_deref());
        object = if content.parts.is_empty() && has_calls {
            object.raw("content", "null")
        } else {
            object.raw("content", &content.json())
        };
        if !self.calls.is_empty() {
            object = object.raw("tool_calls", &array(&self.calls));
        }
        if let Some(call) = &self.function_call {
            object = object.raw("function_call", call);
        }
        Some(object.finish())
    }
}

/// A function's name and arguments.
pub fn function(name: &str, arguments: &str) -> String {
    let object = Object::new().string("name", name);
    object.string("arguments", arguments).finish()
}

/// The value of `content` for what a tool gave: text alone.
pub fn result_content(parts: &[Part], number: usize, repairs: &mut Repairs) -> String {
    let mut content = Content::default();
    for part in parts {
        content.add(part, Role::Tool, number, repairs);
    }
    content.json()
}

/// A tool's message around its content, a JSON text.
pub fn tool_message(call: &str, name: Option<&str>, content: &str) -> String {
    let object = Object::new().string("role", "tool");
    let object = object.string("tool_call_id", call).optional("name", name);
    object.raw("content", content).finish()
}

/// A speaker's name without the characters that are not allowed in it.
fn speaker_name(name: &str) -> Option<String> {
    let refused = |c: char| c.is_whitespace() || c.is_control() || "<|\\/>".contains(c);
    let name: String = name
        .chars()
        .take(NAME_MAX_CHARS)
        .map(|c| if refused(c) { '_' } else { c })
        .collect();
    (!name.is_empty()).then_some(name)
}

/// The content of a message as it grows.
#[derive(Debug, Default)]
struct Content<'a> {
    parts: Vec<ContentPart<'a>>,
    /// Whether something had to be left out.
    left_out: bool,
}

#[derive(Debug)]
enum ContentPart<'a> {
    Text(&'a str),
    Raw(String),
}

impl<'a> Content<'a> {
    fn add(&mut self, part: &'a Part, role: Role, number: usize, repairs: &mut Repairs) {
        let (taken, word) = match part {
            Part::Text { text } => return self.text(text),
            Part::Image(media) => (image(media), IMAGE_WORD),
            Part::File(media) => (file(media), FILE_WORD),
            Part::Opaque { provider, data } if provider == PROVIDER && takes(role, data) => {
                return self.parts.push(ContentPart::Raw(data.clone()));
            }
            // Calls and results inside a result are no provider's; they go as foreign blocks do.
            _ => {
                let is_thinking = matches!(part, Part::Thinking { .. });
                let repair = if is_thinking {
                    Repair::Thinking
                } else {
                    Repair::Opaque
                };
                repairs.add(repair, number);
                self.left_out = true;
                return;
            }
        };
        match taken.filter(|_| role == Role::User) {
            Some(raw) => self.parts.push(ContentPart::Raw(raw)),
            None => {
                repairs.add(Repair::Media, number);
                self.text(word);
            }
        }
    }

    fn text(&mut self, text: &'a str) {
        if !text.is_empty() {
            self.parts.push(ContentPart::Text(text));
        }
    }

    /// A string where there is one text or nothing, else a list.
    fn json(&self) -> String {
        match &self.parts[..] {
            [] => quoted(""),
            [ContentPart::Text(text)] => quoted(text),
            parts => array(parts.iter().map(ContentPart::json)),
        }
    }
}

impl ContentPart<'_> {
    fn json(&self) -> String {
        match self {
            Self::Raw(raw) => raw.clone(),
            Self::Text(text) => Object::typed("text").string("text", text).finish(),
        }
    }
}

/// Whether a message of `role` may hold this content part, which has no neutral form: it is of a type that
/// may stand there, and not broken, for then it lacks what its type is about.
fn takes(role: Role, data: &str) -> bool {
    let part = serde_json::from_str::<Value>(data).unwrap_or_default();
    let of = |kind: &str| part.get(kind).filter(|_| part["type"] == kind);
    match role {
        Role::User => {
            of("input_audio").is_some_and(Value::is_object)
                || of("image_url").is_some_and(|image| image["url"].is_string())
                || of("file").is_some_and(Value::is_object)
        }
        Role::Assistant => of("refusal").is_some_and(Value::is_string),
        Role::System | Role::Developer | Role::Tool => false,
    }
}

/// The part for a picture, where the provider takes it.
fn image(media: &Media) -> Option<String> {
    let known = |detail: &&str| matches!(*detail, "auto" | "low" | "high");
    let inner = Object::new().string("url", &image_url(media)?);
    let inner = inner.optional("detail", media.detail.as_deref().filter(known));
    let image = Object::typed("image_url").raw("image_url", &inner.finish());
    Some(image.finish())
}

/// The part for a file, where the provider takes it: sound has one of its own, in two forms.
fn file(media: &Media) -> Option<String> {
    let media_type = media.media_type.as_deref().unwrap_or(PDF);
    let inner = match &media.source {
        MediaSource::Base64(data) if media_type.starts_with("audio/") => {
            let format = match media_type {
                "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
                "audio/mpeg" | "audio/mp3" => "mp3",
                _ => return None,
            };
            let audio = Object::new().string("data", data).string("format", format);
            let part = Object::typed("input_audio").raw("input_audio", &audio.finish());
            return Some(part.finish());
        }
        MediaSource::Base64(data) => Object::new()
            .string("filename", media.name.as_deref().unwrap_or("file"))
            .string("file_data", &format!("data:{media_type};base64,{data}")),
        MediaSource::FileId(id) if !is_anthropic_file(id) => Object::new().string("file_id", id),
        _ => return None,
    };
    Some(Object::typed("file").raw("file", &inner.finish()).finish())
}
