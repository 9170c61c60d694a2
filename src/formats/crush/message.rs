//! One message: what of its parts is sent, and as what.

use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::shared::parts;
use crate::model::{Media, MediaSource, Message, Millis, Part, Role, base64};
use crate::wire::json::{Raw, decode, is_true, string, tight};
use crate::wire::{Notes, anthropic, gemini, media, openai};

/// What stands between a prompt and the text files that the user attached to it, as the tool sends it.
const ATTACHED: &str = "\n<system_info>The files below have been attached by the user, consider them in your response</system_info>\n";

lazy! {
    /// What of a record is looked at.
    struct Wire { id, role, parts, model, is_summary_message, created_at }

    /// A part: what it is, and what it says.
    struct Block { r#type, data }

    /// What parts say.
    struct Data {
        text, thinking, signature, thought_signature, responses_data, url, path = "Path", mime = "MIMEType",
        bytes = "Data", id, name, input, tool_call_id, content, data, mime_type, is_error, reason, command, output,
        exit_code,
    }

    /// What OpenAI's reasoning bears.
    struct Sealed { data, encrypted_content }
}

/// How a reply ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It is being written, or what wrote it has died.
    Open,
    Failed,
    Cut,
    Done,
}

/// A record.
pub(super) struct Said {
    pub(super) id: String,
    pub(super) role: Role,
    pub(super) time: Option<Millis>,
    /// As JSON.
    pub(super) model: Option<String>,
    pub(super) is_summary: bool,
    pub(super) end: End,
    pub(super) parts: Vec<Part>,
}

impl Said {
    /// What is sent of it; none where that is nothing.
    pub(super) fn message(self) -> Option<Message> {
        let is_cut = matches!(self.end, End::Cut | End::Open);
        let interrupted = self.role == Role::Assistant && is_cut;
        let message = parts::message(self.role, self.parts)?;
        Some(Message {
            interrupted,
            ..message
        })
    }

    /// The same of a summary, which is sent as the user's, without what was thought.
    pub(super) fn summary(mut self) -> Option<Message> {
        self.parts.retain(|part| matches!(part, Part::Text { .. }));
        parts::message(Role::User, self.parts)
    }
}

/// What a record says.
pub(super) fn said(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    let wire: Wire<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    let role = parts::role(wire.role, &[Role::User, Role::Assistant, Role::Tool])?;
    let blocks: Vec<&RawValue> =
        decode(wire.parts).ok_or_else(|| "its parts are no list".to_owned())?;
    let mut said = Said {
        id: string(wire.id).unwrap_or_default(),
        role,
        // Newer versions count seconds, as SQLite does.
        time: decode::<i64>(wire.created_at).map(|time| Millis(time.saturating_mul(1_000))),
        model: parts::said(wire.model)
            .and(wire.model)
            .map(|raw| tight(raw.get())),
        is_summary: decode(wire.is_summary_message).unwrap_or(0) != 0,
        end: End::Open,
        parts: Vec::new(),
    };
    let mut found = Notes::default();
    for block in blocks {
        said.take(block, &mut found);
    }
    let probe = Message::new(role, said.parts.clone());
    parts::checked([&probe])?;
    notes.merge(found);
    Ok(said)
}

impl Said {
    fn take(&mut self, raw: &RawValue, notes: &mut Notes) {
        let block: Block<'_> = decode(Some(raw)).unwrap_or_default();
        let kind = string(block.r#type).unwrap_or_default();
        let data: Data<'_> = decode(block.data).unwrap_or_default();
        let part = match kind.as_str() {
            "text" => parts::text(data.text),
            "reasoning" => thought(&data),
            "image_url" => {
                string(data.url).map(|url| parts::picture(media::attachment(url, None, None)))
            }
            "binary" => return self.file(&data),
            "tool_call" => {
                let input = parts::said(data.input);
                Some(parts::call(string(data.id), string(data.name), input))
            }
            "tool_result" => Some(result(&data)),
            "shell_command" => return self.say(&shell(&data), "\n\n"),
            "finish" => {
                self.end = match string(data.reason).as_deref() {
                    Some("error") => End::Failed,
                    Some("canceled") => End::Cut,
                    _ => End::Done,
                };
                None
            }
            other => Some(parts::opaque(
                PROVIDER,
                other,
                parts::object(raw.get()),
                notes,
            )),
        };
        self.parts.extend(part);
    }

    /// Puts a text behind what the user said, as the tool does.
    fn say(&mut self, more: &str, between: &str) {
        match self.parts.last_mut() {
            Some(Part::Text { text }) => *text += &format!("{between}{more}"),
            _ => self.parts.push(Part::text(more)),
        }
    }

    /// A file that the user attached: one of text is sent as text.
    fn file(&mut self, data: &Data<'_>) {
        let (path, kind) = (parts::said(data.path), string(data.mime));
        let held = string(data.bytes).unwrap_or_default();
        let is_text = kind
            .as_deref()
            .is_some_and(|kind| kind.starts_with("text/"));
        let text = is_text.then(|| base64::decode(&held)).flatten();
        if let Some(text) = text {
            let path = path
                .map(|path| format!(" path='{path}'"))
                .unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let text = format!("<file{path}>\n\n{text}\n</file>\n");
            let is_first =
                !matches!(self.parts.last(), Some(Part::Text { text }) if text.contains(ATTACHED));
            return self.say(&text, if is_first { ATTACHED } else { "" });
        }
        self.parts.push(attached(held, kind, path));
    }
}

fn attached(data: String, kind: Option<String>, name: Option<String>) -> Part {
    let is_picture = kind
        .as_deref()
        .is_some_and(|kind| kind.starts_with("image/"));
    let media: Media = parts::media(MediaSource::Base64(data), kind, name);
    if is_picture {
        Part::Image(media)
    } else {
        Part::File(media)
    }
}

/// What was thought; none of what the tool does not send again, for want of words.
fn thought(data: &Data<'_>) -> Option<Part> {
    let text = parts::said(data.thinking)?;
    let sealed: Sealed<'_> = decode(data.responses_data).unwrap_or_default();
    let inner: Sealed<'_> = decode(sealed.data).unwrap_or_default();
    let seals: [(Raw<'_>, &str); 3] = [
        (data.signature, anthropic::PROVIDER),
        (
            sealed.encrypted_content.or(inner.encrypted_content),
            openai::PROVIDER,
        ),
        (data.thought_signature, gemini::PROVIDER),
    ];
    let mut seals = seals.into_iter();
    let seal = seals.find_map(|(seal, whose)| Some((parts::said(seal)?, whose)));
    let (seal, whose) = seal.unzip();
    Some(parts::sealed(text, seal, whose.unwrap_or_default()))
}

/// What a tool gave: a file alone, where there is one, or its text.
fn result(data: &Data<'_>) -> Part {
    let is_error = is_true(data.is_error);
    let file = parts::said(data.data).filter(|_| !is_error);
    let content = match file {
        Some(file) => Some(attached(file, string(data.mime_type), None)),
        None => parts::text(data.content),
    };
    parts::result(
        string(data.tool_call_id),
        content.into_iter().collect(),
        is_error,
    )
}

/// A command that the user ran, as the tool tells the model of it.
fn shell(data: &Data<'_>) -> String {
    let [command, output] =
        [data.command, data.output].map(|text| string(text).unwrap_or_default());
    let code: i64 = decode(data.exit_code).unwrap_or_default();
    format!("$ {command}\n{output}\n(exit code {code})")
}
