//! One message of a conversation: what was said, who sees it, and when.
//!
//! An export is written over many lines, and a row is not: what is kept as JSON has no space between its tokens,
//! so that both say the same.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::shared::parts;
use crate::model::{Media, MediaSource, Message, Millis, Part, Role, depth};
use crate::wire::json::{Raw, decode, string, tight};
use crate::wire::{Notes, anthropic};

/// Times of some clients are in milliseconds: whatever is later than the year 5138 in seconds.
const SECONDS_MAX: i64 = 100_000_000_000;
/// What the tool sends in place of a call that it could not make out.
const UNREADABLE: &str = "unparseable_tool_call";

lazy! {
    /// What of a record is looked at.
    struct Wire { role, created, content, metadata }
}

/// Who sees a message. Older versions did not say: then everybody does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) by_agent: bool,
    pub(super) by_user: bool,
}

/// Whose message a record is and who sees it, without what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) role: Role,
    pub(super) seen: Seen,
}

/// A record.
pub(super) struct Said {
    pub(super) time: Option<Millis>,
    pub(super) kind: Kind,
    /// What is sent of it; none where nothing is.
    pub(super) message: Option<Message>,
}

/// A record's kind; none where it is no message.
pub(super) fn kind(text: &str) -> Option<Kind> {
    Wire::of(text).ok()?.kind().ok()
}

/// What a record says.
pub(super) fn said(text: &str, notes: &mut Notes) -> Result<Said, String> {
    let wire = Wire::of(text)?;
    let kind = wire.kind()?;
    let content = wire.content.map_or("null", RawValue::get);
    depth::check_json("content", content, 1).map_err(|error| error.to_string())?;
    let blocks: Vec<&RawValue> =
        serde_json::from_str(content).map_err(|error| format!("its content: {error}"))?;
    let mut found = Notes::default();
    let parts = blocks
        .into_iter()
        .filter_map(|block| part(block, &mut found));
    let parts: Vec<Part> = parts.collect();
    depth::check_parts(&parts).map_err(|error| error.to_string())?;
    notes.merge(found);
    let role = match kind.role {
        Role::User if !parts.is_empty() && parts.iter().all(Part::is_result) => Role::Tool,
        role => role,
    };
    let time = decode::<i64>(wire.created).map(|time| match time {
        ..=SECONDS_MAX => Millis(time.saturating_mul(1_000)),
        _ => Millis(time),
    });
    Ok(Said {
        time,
        kind,
        message: parts::message(role, parts),
    })
}

impl<'a> Wire<'a> {
    fn of(text: &'a str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("a message: {error}"))
    }

    fn kind(&self) -> Result<Kind, String> {
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct Metadata {
            agent_visible: Option<bool>,
            user_visible: Option<bool>,
        }
        let role = match string(self.role).as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some(other) => return Err(format!("unknown role '{other}'")),
            None => return Err("a message without a role".to_owned()),
        };
        let metadata: Metadata = decode(self.metadata).unwrap_or_default();
        let seen = Seen {
            by_agent: metadata.agent_visible.unwrap_or(true),
            by_user: metadata.user_visible.unwrap_or(true),
        };
        Ok(Kind { role, seen })
    }
}

lazy! {
    /// A block, or an item of what a tool gave.
    struct Block {
        r#type, id, text, data, mime_type = "mimeType", resource, tool_call = "toolCall",
        tool_result = "toolResult", thinking, signature, annotations,
    }
}

lazy! {
    /// How a call or a tool ended.
    struct Outcome { value, error }
}

/// What is sent of a block; none where that is nothing.
fn part(raw: &RawValue, notes: &mut Notes) -> Option<Part> {
    let Some(block) = decode::<Block<'_>>(Some(raw)) else {
        return Some(opaque(raw, "(no block)", notes));
    };
    let kind = string(block.r#type).unwrap_or_default();
    let text = |text: Raw<'_>| string(text).unwrap_or_default();
    Some(match kind.as_str() {
        "text" if is_users(&block) => return None,
        "text" => Part::text(text(block.text)),
        "image" => image(&block),
        "toolRequest" | "frontendToolRequest" => call(&block),
        "toolResponse" => result(&block, notes),
        // Where it bears a seal, that is Anthropic's.
        "thinking" => {
            let seal = string(block.signature);
            parts::sealed(text(block.thinking), seal, anthropic::PROVIDER)
        }
        "reasoning" => parts::thought(text(block.text)),
        "redactedThinking" => parts::redacted(&text(block.data)),
        // What the user is asked or told, and marks of older versions.
        "toolConfirmationRequest"
        | "actionRequired"
        | "systemNotification"
        | "conversationCompacted"
        | "contextLengthExceeded"
        | "summarizationRequested" => return None,
        other => opaque(raw, other, notes),
    })
}

fn opaque(raw: &RawValue, kind: &str, notes: &mut Notes) -> Part {
    parts::opaque(PROVIDER, kind, tight(raw.get()), notes)
}

/// Whether something is meant for the user alone.
fn is_users(block: &Block<'_>) -> bool {
    #[derive(Deserialize)]
    struct Annotations {
        audience: Option<Vec<String>>,
    }
    let audience = decode::<Annotations>(block.annotations).and_then(|it| it.audience);
    audience.is_some_and(|who| !who.iter().any(|it| it == "assistant"))
}

fn image(block: &Block<'_>) -> Part {
    let source = MediaSource::Base64(string(block.data).unwrap_or_default());
    Part::Image(Media::new(string(block.mime_type), source))
}

fn call(block: &Block<'_>) -> Part {
    lazy! { struct Call { name, arguments } }
    let outcome: Outcome<'_> = decode(block.tool_call).unwrap_or_default();
    let call: Call<'_> = decode(outcome.value).unwrap_or_default();
    let name = string(call.name).unwrap_or_else(|| UNREADABLE.to_owned());
    let arguments = call.arguments.map(|arguments| tight(arguments.get()));
    parts::call(string(block.id), Some(name), arguments)
}

fn result(block: &Block<'_>, notes: &mut Notes) -> Part {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
    struct Given<'a> {
        content: Raw<'a>,
        is_error: Option<bool>,
    }
    let outcome: Outcome<'_> = decode(block.tool_result).unwrap_or_default();
    // Older versions have the list itself.
    let given = match outcome.value.map(RawValue::get) {
        Some(list) if list.starts_with('[') => Given {
            content: outcome.value,
            is_error: None,
        },
        _ => decode(outcome.value).unwrap_or_default(),
    };
    let items: Vec<&RawValue> = decode(given.content).unwrap_or_default();
    let items = items.into_iter().filter_map(|raw| item(raw, notes));
    let mut content: Vec<Part> = items.collect();
    let error = string(outcome.error);
    let is_error = error.is_some() || given.is_error == Some(true);
    content.extend(error.map(Part::text));
    parts::result(string(block.id), content, is_error)
}

/// What is sent of an item that a tool gave; none of what is meant for the user alone.
fn item(raw: &RawValue, notes: &mut Notes) -> Option<Part> {
    lazy! { struct Resource { text } }
    let Some(block) = decode::<Block<'_>>(Some(raw)) else {
        return Some(opaque(raw, "(no item)", notes));
    };
    if is_users(&block) {
        return None;
    }
    let kind = string(block.r#type).unwrap_or_default();
    let resource: Resource<'_> = decode(block.resource).unwrap_or_default();
    Some(match (kind.as_str(), string(resource.text)) {
        ("text", _) => Part::text(string(block.text).unwrap_or_default()),
        ("image", _) => image(&block),
        ("resource", Some(text)) => Part::text(text),
        (other, _) => opaque(raw, other, notes),
    })
}
