//! An entry of the file: what the model is sent of it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::index::Record;
use super::{CAME_BACK, PROVIDER, SUMMED_UP};
use crate::formats::shared::parts;
use crate::model::{Media, MediaSource, Message, Part, Role, Usage};
use crate::wire::json::{Raw, decode, is_true, string, text_at, word};
use crate::wire::{Notes, gemini};

/// What the names of Google's interfaces begin with.
const GOOGLE: &str = "google-";

/// What is sent of an entry.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) message: Message,
    /// The model that said it.
    pub(super) model: Option<String>,
    pub(super) usage: Option<Usage>,
}

lazy! {
    /// The message of an entry.
    struct Inner {
        role, content, api, model, usage, stop_reason = "stopReason", tool_call_id = "toolCallId",
        is_error = "isError", command, output, exit_code = "exitCode", cancelled, truncated,
        full_output_path = "fullOutputPath", exclude_from_context = "excludeFromContext", summary,
    }
}

lazy! {
    struct Block {
        r#type, text, thinking, thinking_signature = "thinkingSignature", redacted, id, name, arguments,
        data, mime_type = "mimeType",
        /// What Gemini's models gave with a text or a call.
        text_signature = "textSignature", thought_signature = "thoughtSignature",
    }
}

/// What is sent of an entry, with a content in place of its own where an edit says one: nothing, or a message.
pub(super) fn said(
    record: &Record<'_>,
    edit: Raw<'_>,
    notes: &mut Notes,
) -> Result<Option<Said>, String> {
    let said = match word(record.r#type).as_deref() {
        Some("message") => {
            let mut inner = decode::<Inner<'_>>(record.message).ok_or("a message that is none")?;
            inner.content = edit.or(inner.content);
            inner.said(notes)?
        }
        Some("custom_message") => Some(user(content(edit.or(record.content), "", notes)?)),
        // One that says nothing is not sent.
        Some("branch_summary") => {
            parts::said(record.summary).map(|summary| within(&summary, CAME_BACK))
        }
        Some("compaction") => {
            let summary = string(record.summary).unwrap_or_default();
            Some(within(&summary, SUMMED_UP))
        }
        _ => None,
    };
    parts::checked(said.iter().map(|said| &said.message))?;
    Ok(said)
}

/// What was counted with an entry that is no reply that is sent again, and its model, where it says one: a reply that
/// was broken off, a summary, what a tool asked models for, a request on the side.
pub(super) fn counted(record: &Record<'_>) -> Option<(Option<String>, Usage)> {
    let inner = decode::<Inner<'_>>(record.message).unwrap_or_default();
    let model = string(inner.model.or(record.model));
    let counted = usage(inner.usage.or(record.usage))?;
    (counted != Usage::default()).then_some((model, counted))
}

/// The content that an edit puts in place of another; none where the entry is not sent.
pub(super) fn replacement<'a>(record: &Record<'a>) -> Raw<'a> {
    lazy! { struct Replacement { content } }
    decode::<Replacement<'_>>(record.replacement)?.content
}

fn user(parts: Vec<Part>) -> Said {
    of(Role::User, parts)
}

fn of(role: Role, parts: Vec<Part>) -> Said {
    Said {
        message: Message::new(role, parts),
        model: None,
        usage: None,
    }
}

/// A summary as it is sent.
fn within(summary: &str, [before, after]: [&str; 2]) -> Said {
    user(vec![Part::text(format!("{before}{summary}{after}"))])
}

impl Inner<'_> {
    fn said(&self, notes: &mut Notes) -> Result<Option<Said>, String> {
        if is_true(self.exclude_from_context) {
            return Ok(None);
        }
        let role = word(self.role).unwrap_or_default();
        Ok(Some(match &*role {
            "user" | "custom" | "hookMessage" => user(content(self.content, "", notes)?),
            "assistant" => {
                let stopped = word(self.stop_reason);
                if let Some("error" | "aborted") = stopped.as_deref() {
                    return Ok(None);
                }
                let api = word(self.api).unwrap_or_default();
                let parts = content(self.content, &api, notes)?;
                Said {
                    model: string(self.model),
                    usage: usage(self.usage),
                    ..of(Role::Assistant, parts)
                }
            }
            "toolResult" => {
                let content = content(self.content, "", notes)?;
                let call = call_id(self.tool_call_id);
                let result = parts::result(call, content, is_true(self.is_error));
                of(Role::Tool, vec![result])
            }
            "bashExecution" => user(vec![Part::text(self.command())]),
            "branchSummary" => within(&string(self.summary).unwrap_or_default(), CAME_BACK),
            "compactionSummary" => within(&string(self.summary).unwrap_or_default(), SUMMED_UP),
            other => return Err(format!("unknown role '{other}'")),
        }))
    }

    /// A command that the user ran, in the tool's words.
    fn command(&self) -> String {
        let command = string(self.command).unwrap_or_default();
        let output = string(self.output).unwrap_or_default();
        let mut text = format!("Ran `{command}`\n");
        if output.is_empty() {
            text += "(no output)"
        } else {
            text += &format!("```\n{output}\n```")
        }
        let code = decode::<i64>(self.exit_code).filter(|code| *code != 0);
        if is_true(self.cancelled) {
            text += "\n\n(command cancelled)";
        } else if let Some(code) = code {
            text += &format!("\n\nCommand exited with code {code}");
        }
        let path = string(self.full_output_path);
        if let Some(path) = path.filter(|_| is_true(self.truncated)) {
            text += &format!("\n\n[Output truncated. Full output: {path}]");
        }
        text
    }
}

/// What the provider counted. The tool counts what was cached apart.
fn usage(raw: Raw<'_>) -> Option<Usage> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Counts {
        input: u64,
        output: u64,
        cache_read: u64,
        cache_write: u64,
    }
    let counts: Counts = decode(raw)?;
    let input = [counts.input, counts.cache_read, counts.cache_write];
    Usage::apart(input, [counts.output, 0])
}

/// The parts of a content: a text, or blocks.
fn content(raw: Raw<'_>, api: &str, notes: &mut Notes) -> Result<Vec<Part>, String> {
    let Some(raw) = raw else {
        return Ok(Vec::new());
    };
    if let Some(text) = string(Some(raw)) {
        return Ok(vec![Part::Text { text }]);
    }
    let blocks = serde_json::from_str::<Vec<&RawValue>>(raw.get());
    let blocks = blocks.map_err(|error| format!("its content: {error}"))?;
    let parts = blocks.into_iter().map(|raw| {
        let block = serde_json::from_str::<Block<'_>>(raw.get());
        let block = block.map_err(|error| format!("its content: {error}"))?;
        Ok([signature(&block, api), Some(part(&block, raw, api, notes))])
    });
    let parts: Result<Vec<_>, String> = parts.collect();
    Ok(parts?.into_iter().flatten().flatten().collect())
}

/// The signature that a model of Gemini's gave with a text or a call: it stands before that.
fn signature(block: &Block<'_>, api: &str) -> Option<Part> {
    let given = block.thought_signature.or(block.text_signature);
    api.starts_with(GOOGLE)
        .then(|| parts::said(given))
        .flatten()
        .map(parts::seal)
}

fn part(block: &Block<'_>, raw: &RawValue, api: &str, notes: &mut Notes) -> Part {
    let text_of = |raw| string(raw).unwrap_or_default();
    match word(block.r#type).as_deref() {
        Some("text") => Part::text(text_of(block.text)),
        Some("thinking") => thinking(block, api),
        Some("toolCall") => {
            let arguments = block.arguments.map(|raw| raw.get().to_owned());
            parts::call(call_id(block.id), string(block.name), arguments)
        }
        Some("image") => {
            let source = MediaSource::Base64(text_of(block.data));
            Part::Image(Media::new(string(block.mime_type), source))
        }
        kind => {
            let data = raw.get().to_owned();
            parts::opaque(PROVIDER, kind.unwrap_or_default(), data, notes)
        }
    }
}

/// A call's id. Behind a `|` stands the id of its item in OpenAI's form, which is not sent as part of it.
fn call_id(raw: Raw<'_>) -> Option<String> {
    let id = string(raw)?;
    let call = id.split('|').next().filter(|call| !call.is_empty());
    Some(call.unwrap_or(&id).to_owned())
}

/// Reasoning, with what its provider needs to take it back.
fn thinking(block: &Block<'_>, api: &str) -> Part {
    let text = string(block.thinking).unwrap_or_default();
    let Some(signature) = parts::said(block.thinking_signature) else {
        return parts::thought(text);
    };
    let (provider, signature) = match api {
        "anthropic-messages" if is_true(block.redacted) => return parts::redacted(&signature),
        "anthropic-messages" => ("anthropic", Some(signature)),
        api if api.starts_with(GOOGLE) => (gemini::PROVIDER, Some(signature)),
        // There the whole item of the response stands in its place.
        api if api.contains("responses") => ("openai", text_at(&signature, "encrypted_content")),
        _ => (PROVIDER, Some(signature)),
    };
    let provider = signature.is_some().then_some(provider);
    Part::thinking(text, signature, provider)
}
