//! A node of the tree: what the model was sent of it, or said.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::shared::parts::{self, media, opaque, text};
use crate::model::{MediaSource, Millis, Part, Role};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string, word};

/// One node.
pub(super) struct Node {
    pub(super) parent: Option<String>,
    pub(super) children: Vec<String>,
    pub(super) said: Result<Said, String>,
}

impl Node {
    /// One of which nothing is known.
    pub(super) fn unread() -> Self {
        Self {
            parent: None,
            children: Vec::new(),
            said: Err(String::new()),
        }
    }
}

/// What a node is.
pub(super) enum Said {
    /// Nothing that is sent: what it is instead.
    Nothing(String),
    Message(Text),
    /// What the model asked of a tool.
    Call {
        tool: String,
        text: Text,
    },
    /// What a tool gave.
    Result {
        tool: String,
        text: Text,
    },
}

/// What is said, and when.
pub(super) struct Text {
    pub(super) role: Role,
    /// What the client calls it, where it is the client's own.
    pub(super) attached: Option<String>,
    pub(super) parts: Vec<Part>,
    /// Whether a tool failed.
    pub(super) is_error: bool,
    pub(super) time: Option<Millis>,
    pub(super) model: Option<String>,
}

lazy! {
    #[derive(Debug)]
    struct Inner { author, create_time, content, weight, metadata, recipient }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Content<'a> {
    content_type: Raw<'a>,
    parts: Vec<&'a RawValue>,
    text: Raw<'a>,
    result: Raw<'a>,
    summary: Raw<'a>,
    url: Raw<'a>,
    title: Raw<'a>,
    thoughts: Vec<Thought<'a>>,
    user_profile: Raw<'a>,
    user_instructions: Raw<'a>,
    model_set_context: Raw<'a>,
}

lazy! {
    #[derive(Debug)]
    struct Thought { summary, content }
}

lazy! {
    #[derive(Debug)]
    struct Metadata { model_slug, attachments }
}

lazy! {
    #[derive(Debug)]
    struct Attachment { id, name, mime_type, older_mime_type = "mimeType" }
}

/// Reads a node.
pub(super) fn node(raw: &RawValue, notes: &mut Notes) -> Result<Node, String> {
    lazy! { struct Links { message, parent, children } }
    let links: Links<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let said = match links.message {
        None => Ok(Said::Nothing("node without a message".to_owned())),
        Some(message) => said(message, notes),
    };
    Ok(Node {
        parent: string(links.parent),
        children: decode(links.children).unwrap_or_default(),
        said,
    })
}

fn said(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    let bad = |error: serde_json::Error| format!("a message that is none: {error}");
    let inner: Inner<'_> = serde_json::from_str(raw.get()).map_err(bad)?;
    let (role, name) = author(inner.author)?;
    let content: Content<'_> = match inner.content {
        Some(content) => serde_json::from_str(content.get()).map_err(bad)?,
        None => Content::default(),
    };
    let metadata: Metadata<'_> = decode(inner.metadata).unwrap_or_default();
    let kind = string(content.content_type).unwrap_or_default();
    // What a tool gave weighs nothing either, and the reply below it cites it.
    if decode::<f64>(inner.weight) == Some(0.0) && role != Role::Tool {
        return Ok(Said::Nothing(format!("{role} {kind} (not sent)")));
    }
    let mut said = content_parts(&kind, &content, inner.content, notes);
    said.extend(attachments(metadata.attachments, &said));
    let is_empty = said.is_empty();
    let is_context = kind.ends_with("_editable_context");
    let may_call = matches!(&*kind, "text" | "code" | "multimodal_text");
    let text = Text {
        role: if is_context { Role::User } else { role },
        attached: is_context.then(|| kind.clone()),
        parts: said,
        is_error: kind == "system_error",
        time: parts::seconds(inner.create_time),
        model: string(metadata.model_slug).filter(|_| role == Role::Assistant),
    };
    let recipient = string(inner.recipient).filter(|to| to != "all");
    Ok(match (role, recipient) {
        (Role::Assistant, Some(tool)) if may_call => Said::Call { tool, text },
        (Role::Tool, _) => Said::Result {
            tool: name.unwrap_or_else(|| "tool".to_owned()),
            text,
        },
        // That it has thought is for the screen.
        _ if kind == "reasoning_recap" => Said::Nothing(kind),
        _ if is_empty => Said::Nothing(format!("{role} {kind} (empty)")),
        _ => Said::Message(text),
    })
}

/// Whose message it is, and the tool's name.
fn author(raw: Raw<'_>) -> Result<(Role, Option<String>), String> {
    lazy! { struct Author { role, name } }
    let author: Author<'_> = decode(raw).ok_or("a message without an author")?;
    let role = string(author.role).unwrap_or_default();
    let role = role.parse().map_err(|_| format!("unknown role '{role}'"))?;
    Ok((role, string(author.name)))
}

/// What a content says; nothing of it that is empty, or that only the screen shows.
fn content_parts(kind: &str, content: &Content<'_>, raw: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    let texts = |texts: &[Raw<'_>]| texts.iter().filter_map(|raw| text(*raw)).collect();
    match kind {
        "text" | "multimodal_text" => {
            let pieces = content.parts.iter().map(|raw| piece(raw, notes));
            pieces.flatten().collect()
        }
        "code" | "execution_output" | "system_error" => texts(&[content.text]),
        "tether_browsing_display" => texts(&[content.result, content.summary]),
        "tether_quote" => texts(&[content.title, content.url, content.text]),
        "thoughts" => content.thoughts.iter().filter_map(thought).collect(),
        "reasoning_recap" => Vec::new(),
        "user_editable_context" => texts(&[content.user_profile, content.user_instructions]),
        "model_editable_context" => texts(&[content.model_set_context]),
        other => {
            let block = raw.map(|raw| opaque(PROVIDER, other, raw.get().to_owned(), notes));
            block.into_iter().collect()
        }
    }
}

fn thought(thought: &Thought<'_>) -> Option<Part> {
    let texts = [thought.summary, thought.content];
    let texts: Vec<String> = texts.into_iter().filter_map(parts::said).collect();
    let text = texts.join("\n");
    (!text.is_empty()).then(|| parts::thought(text))
}

/// One of several parts: a text, a picture, or what was said aloud.
fn piece(raw: &RawValue, notes: &mut Notes) -> Option<Part> {
    lazy! { struct Piece { content_type, asset_pointer, text } }
    if let Some(text) = string(Some(raw)) {
        return (!text.is_empty()).then(|| Part::text(text));
    }
    let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
    let kind = word(piece.content_type).unwrap_or_default();
    match (&*kind, string(piece.asset_pointer), string(piece.text)) {
        ("image_asset_pointer", Some(pointer), _) => {
            Some(Part::Image(media(MediaSource::FileId(pointer), None, None)))
        }
        ("audio_transcription", _, Some(text)) => Some(Part::text(text)),
        (kind, ..) => Some(opaque(PROVIDER, kind, raw.get().to_owned(), notes)),
    }
}

/// The files beside a prompt that no part of it points to.
fn attachments(raw: Raw<'_>, shown: &[Part]) -> Vec<Part> {
    let found: Vec<Attachment<'_>> = decode(raw).unwrap_or_default();
    let is_shown = |id: &str| {
        shown.iter().any(|part| match part {
            Part::Image(media) => {
                matches!(&media.source, MediaSource::FileId(pointer) if pointer.ends_with(id))
            }
            _ => false,
        })
    };
    let found = found.into_iter().filter_map(|file| {
        let id = parts::said(file.id).filter(|id| !is_shown(id))?;
        let media_type = string(file.mime_type).or_else(|| string(file.older_mime_type));
        let media = media(MediaSource::FileId(id), media_type, string(file.name));
        Some(Part::media(media))
    });
    found.collect()
}
