//! A message: a role and ordered parts, with its canonical form.
//!
//! Everything whose exact text matters to a provider (arguments, opaque blocks) is kept as text.
//! Deliberately absent: any provider's own spelling; that is [`crate::formats`] and
//! [`crate::compile`].

mod canonical;

use std::borrow::Cow;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hash::{ContentHash, as_text};
use crate::model::told::{exit_code, tells_failure};
use crate::model::word::word;
use crate::model::{Sealable, base64};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Instructions that frame the conversation.
    System,
    /// The same, as newer OpenAI models name it.
    Developer,
    /// The person, or a program in their place.
    User,
    /// The model.
    Assistant,
    /// Results of tool calls. A message of nothing but tool results has this role, whatever role
    /// the provider files it under.
    Tool,
}

impl Role {
    /// All roles, in the order in which listings show them.
    pub const ALL: [Self; 5] = [
        Self::System,
        Self::Developer,
        Self::User,
        Self::Assistant,
        Self::Tool,
    ];

    /// The word in the stored form: `system`, `developer`, `user`, `assistant`, `tool`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// Whether this is a system message in design's sense: system or developer.
    pub const fn is_system(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }

    /// Whether what a client says by itself may stand in a message of this role.
    pub(crate) const fn speaks_for_client(self) -> bool {
        matches!(self, Self::User | Self::System | Self::Developer)
    }
}

word!(Role, |text| Error::UnknownRole { text });

as_text!(Role);

/// Whose messages are asked for: a role's, where those of the user leave out what a client says in the user's name; or
/// that alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// Whoever has this role.
    Role(Role),
    /// A client, in the user's name.
    Injected,
}

impl Speaker {
    /// The word for what a client says in the user's name.
    pub const INJECTED: &'static str = "injected";

    /// The role that its messages have.
    pub const fn role(self) -> Role {
        match self {
            Self::Role(role) => role,
            Self::Injected => Role::User,
        }
    }

    /// Whether it is meant where a message has this role, and a client says it in the user's name or not.
    pub fn says(self, role: Role, is_injected: bool) -> bool {
        match self {
            Self::Role(Role::User) => role == Role::User && !is_injected,
            Self::Role(of) => role == of,
            Self::Injected => is_injected,
        }
    }
}

impl FromStr for Speaker {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            Self::INJECTED => Ok(Self::Injected),
            text => text.parse().map(Self::Role),
        }
    }
}

/// One entry of a conversation: what a provider's `messages` array holds at one place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The speaker's name, where the provider knows one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the client calls it, where it is the client's own: something attached to the message
    /// before it (a file that was mentioned, a reminder), which a provider is sent in a form of its
    /// own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached: Option<String>,
    /// Whom it is for, where one agent speaks to another: `name` is who sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// Whether it was cut before its end: the model was stopped, or what told of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What is said, in order. May be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// Plain text.
    Text {
        /// The text, as received.
        text: String,
    },
    /// The model's reasoning.
    Thinking {
        /// The readable reasoning, or its summary; may be empty.
        text: String,
        /// What the provider needs to accept it back (a signature, or the encrypted reasoning).
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
        /// Whose it is: `anthropic`, `openai`. Other providers are not sent it.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
    },
    /// A request to run a tool.
    ToolCall {
        /// The call's id; a conversation may repeat it.
        id: String,
        /// The tool.
        name: String,
        /// The arguments, as the text that the model wrote: JSON most of the time.
        arguments: String,
        /// The provider's kind of call where it is not a function: `custom`, `local_shell`, …
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    },
    /// What a tool gave back.
    ToolResult {
        /// The id of the call that it answers.
        call: String,
        /// Text, images, files or opaque parts, in order; may be empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        content: Vec<Part>,
        /// Whether the tool reported failure.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// A picture.
    Image(Media),
    /// A document or another file.
    File(Media),
    /// A block that only one provider understands.
    Opaque {
        /// Whose it is: `anthropic`, `openai`.
        provider: String,
        /// The block's JSON text, byte for byte.
        data: String,
    },
}

/// Bytes, or where to find them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "StoredMedia", try_from = "StoredMedia")]
pub struct Media {
    /// The MIME type, where it is known.
    pub media_type: Option<String>,
    /// The file's name or title, where it has one.
    pub name: Option<String>,
    /// How closely a model should look (`auto`, `low`, `high`), where that was said.
    pub detail: Option<String>,
    /// The bytes, or a reference.
    pub source: MediaSource,
}

impl Media {
    /// One of which no more is known.
    pub fn new(media_type: Option<String>, source: MediaSource) -> Self {
        Self {
            media_type,
            name: None,
            detail: None,
            source,
        }
    }

    /// The bytes, where they are here.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match &self.source {
            MediaSource::Base64(text) => base64::decode(text),
            MediaSource::Url(_) | MediaSource::FileId(_) => None,
        }
    }
}

/// Where a picture's or file's bytes are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MediaSource {
    /// Here, as base64 text, as received.
    Base64(String),
    /// At an address.
    Url(String),
    /// With the provider, under an id.
    FileId(String),
}

impl Message {
    /// A message of nobody's name.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self {
            role,
            name: None,
            attached: None,
            recipient: None,
            interrupted: false,
            parts,
        }
    }

    /// The message as it replaces another one. A thought that says something else than it did there has no signature
    /// any more, for its provider signed other words and would refuse these.
    #[must_use]
    pub fn replacing(mut self, before: &Self) -> Self {
        for part in &mut self.parts {
            let is_as_signed = before.parts.contains(part);
            if let Part::Thinking { signature, .. } = part
                && !is_as_signed
                && before.parts.iter().any(|old| {
                    matches!(old, Part::Thinking { signature: Some(of), .. } if Some(of) == signature.as_ref())
                })
            {
                *signature = None;
            }
        }
        self
    }

    /// What a client attached, under its own name for such.
    pub fn attached(kind: impl Into<String>, parts: Vec<Part>) -> Self {
        Self {
            attached: Some(kind.into()),
            ..Self::new(Role::User, parts)
        }
    }

    /// Whether one agent sent it to another.
    pub fn is_between_agents(&self) -> bool {
        self.recipient.is_some()
    }

    /// Whether a client attached it.
    pub fn is_attached(&self) -> bool {
        self.attached.is_some()
    }

    /// A message of one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![Part::text(text)])
    }

    /// The types of its parts, each with how many there are, in order of first appearance.
    pub fn part_types(&self) -> Vec<(&'static str, usize)> {
        let mut types: Vec<(&'static str, usize)> = Vec::new();
        for part in &self.parts {
            match types.iter_mut().find(|(name, _)| *name == part.type_name()) {
                Some((_, count)) => *count += 1,
                None => types.push((part.type_name(), 1)),
            }
        }
        types
    }

    /// The canonical bytes (`docs/object-format.md`, "Content").
    pub fn canonical(&self) -> String {
        canonical::canonical(self)
    }

    /// The content hash.
    pub fn hash(&self) -> ContentHash {
        ContentHash::of(&self.canonical())
    }

    /// Reads canonical bytes back. That it was written again ([`crate::model::Sealed::again`]) is no
    /// part of the message.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if `canonical` isn't a message's canonical form.
    pub fn from_canonical(canonical: &str) -> Result<Self> {
        serde_json::from_str(&plain(canonical)).map_err(|error| Error::malformed("content", error))
    }

    /// Whether no part holds anything: no text, no call, no picture.
    pub fn is_empty(&self) -> bool {
        self.parts
            .iter()
            .all(|part| matches!(part, Part::Text { text } if text.is_empty()))
    }

    /// The ids of the tool calls in this message, in order.
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall { id, .. } => Some(id.as_str()),
            _ => None,
        })
    }

    /// The ids that the tool results in this message answer, in order.
    pub fn results(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolResult { call, .. } => Some(call.as_str()),
            _ => None,
        })
    }
}

/// How a canonical form begins that says how often its message was erased before: the field's name
/// is the first of all in its order.
pub(super) const AGAIN: &str = "{\"again\":";

/// The canonical form without the word that it was written again; as it is where that is not there,
/// or is not as it must be.
fn plain(canonical: &str) -> Cow<'_, str> {
    let Some((times, rest)) = canonical
        .strip_prefix(AGAIN)
        .and_then(|rest| rest.split_once(','))
    else {
        return canonical.into();
    };
    let is_canonical = times
        .parse()
        .is_ok_and(|number: u32| number > 0 && number.to_string() == times);
    if is_canonical {
        format!("{{{rest}").into()
    } else {
        canonical.into()
    }
}

impl Sealable for Message {
    type Name = ContentHash;

    fn canonical(&self) -> String {
        Message::canonical(self)
    }

    fn name(canonical: &str) -> ContentHash {
        ContentHash::of(canonical)
    }
}

impl Part {
    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Whether it is the model's reasoning, readable or sealed for its provider alone.
    pub fn is_thinking(&self) -> bool {
        #[derive(Deserialize)]
        struct Kind {
            r#type: String,
        }
        match self {
            Self::Thinking { .. } => true,
            Self::Opaque { data, .. } => serde_json::from_str::<Kind>(data).is_ok_and(|kind| {
                ["redacted_thinking", "thinking", "reasoning"].contains(&&*kind.r#type)
            }),
            _ => false,
        }
    }

    /// What a model thought, with what its provider needs to accept it back.
    pub fn thinking(text: String, signature: Option<String>, provider: Option<&str>) -> Self {
        Self::Thinking {
            text,
            signature,
            provider: provider.map(str::to_owned),
        }
    }

    /// A request to run a tool; of a kind where it is no function.
    pub fn call(id: String, name: String, arguments: String, kind: Option<&str>) -> Self {
        Self::ToolCall {
            id,
            name,
            arguments,
            kind: kind.map(str::to_owned),
        }
    }

    /// What a tool gave back.
    pub fn result(call: String, content: Vec<Self>, is_error: bool) -> Self {
        Self::ToolResult {
            call,
            content,
            is_error,
        }
    }

    /// What it says, if it is plain text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }

    /// The call that it answers, what that gave and whether it failed, if it is what a tool gave back.
    pub fn as_result(&self) -> Option<(&str, &[Self], bool)> {
        match self {
            Self::ToolResult {
                call,
                content,
                is_error,
            } => Some((call, content, *is_error)),
            _ => None,
        }
    }

    /// Whether it is what a tool gave back that says that its call failed. This is the one answer to that question, for all
    /// formats: by the tool's flag, by an exit code other than 0, or in the words of a client that refused the call.
    pub fn has_failed(&self) -> bool {
        match self {
            Self::ToolResult {
                content, is_error, ..
            } => {
                let mut texts = content.iter().filter_map(Self::as_text);
                *is_error || texts.any(tells_failure)
            }
            _ => false,
        }
    }

    /// The exit code that it tells, if it is what a tool gave back.
    pub fn exit_code(&self) -> Option<i64> {
        match self {
            Self::ToolResult { content, .. } => {
                let mut texts = content.iter().filter_map(Self::as_text);
                texts.find_map(exit_code)
            }
            _ => None,
        }
    }

    /// Whether it is what a tool gave back.
    pub const fn is_result(&self) -> bool {
        matches!(self, Self::ToolResult { .. })
    }

    /// A block that only its provider knows.
    pub fn opaque(provider: &str, data: impl Into<String>) -> Self {
        Self::Opaque {
            provider: provider.to_owned(),
            data: data.into(),
        }
    }

    /// A picture, if its type says that it is one, else a file.
    pub fn media(media: Media) -> Self {
        let media_type = media.media_type.as_deref().unwrap_or_default();
        if media_type.starts_with("image/") {
            Self::Image(media)
        } else {
            Self::File(media)
        }
    }

    /// The word in the stored form: `text`, `thinking`, `tool_call`, `tool_result`, `image`,
    /// `file`, `opaque`.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Thinking { .. } => "thinking",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::Image(_) => "image",
            Self::File(_) => "file",
            Self::Opaque { .. } => "opaque",
        }
    }
}

/// A [`Media`] as it is stored: its source is one of three keys beside the others.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredMedia {
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl From<Media> for StoredMedia {
    fn from(media: Media) -> Self {
        let (mut data, mut file_id, mut url) = (None, None, None);
        match media.source {
            MediaSource::Base64(text) => data = Some(text),
            MediaSource::FileId(id) => file_id = Some(id),
            MediaSource::Url(address) => url = Some(address),
        }
        Self {
            data,
            detail: media.detail,
            file_id,
            media_type: media.media_type,
            name: media.name,
            url,
        }
    }
}

impl TryFrom<StoredMedia> for Media {
    type Error = &'static str;

    fn try_from(stored: StoredMedia) -> Result<Self, Self::Error> {
        let source = match (stored.data, stored.file_id, stored.url) {
            (Some(data), None, None) => MediaSource::Base64(data),
            (None, Some(id), None) => MediaSource::FileId(id),
            (None, None, Some(url)) => MediaSource::Url(url),
            _ => return Err("a file needs one of 'data', 'file_id', 'url'"),
        };
        Ok(Self {
            media_type: stored.media_type,
            name: stored.name,
            detail: stored.detail,
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thought_that_is_changed_loses_its_signature_and_no_other_does() {
        let thought = |text: &str, signed: Option<&str>| {
            Part::thinking(text.into(), signed.map(Into::into), Some("anthropic"))
        };
        let said = |parts| Message::new(Role::Assistant, parts);
        let old = said(vec![thought("a", Some("1")), thought("b", Some("2"))]);
        let new = said(vec![
            thought("b", Some("2")),
            thought("other", Some("1")),
            thought("new", Some("3")),
        ]);
        let replacing = said(vec![
            thought("b", Some("2")),
            thought("other", None),
            thought("new", Some("3")),
        ]);
        assert_eq!(new.replacing(&old), replacing);
    }

    #[test]
    fn every_kind_of_part_survives_its_canonical_form() {
        let media = |source| Media {
            media_type: Some("image/png".into()),
            name: None,
            detail: Some("low".into()),
            source,
        };
        let message = Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role: Role::Assistant,
            name: Some("bob".into()),
            parts: vec![
                Part::text("a\u{0}b"),
                Part::Thinking {
                    text: String::new(),
                    signature: Some("s".into()),
                    provider: Some("anthropic".into()),
                },
                Part::ToolCall {
                    id: "1".into(),
                    name: "f".into(),
                    arguments: "{\"a\": 1.0}".into(),
                    kind: Some("custom".into()),
                },
                Part::ToolResult {
                    call: "1".into(),
                    content: vec![
                        Part::text("x"),
                        Part::Image(media(MediaSource::Url("u".into()))),
                    ],
                    is_error: true,
                },
                Part::Image(media(MediaSource::Base64("AA==".into()))),
                Part::File(media(MediaSource::FileId("file".into()))),
                Part::Opaque {
                    provider: "openai".into(),
                    data: "{\"k\":1e3}".into(),
                },
            ],
        };
        let canonical = message.canonical();
        assert_eq!(
            Message::from_canonical(&canonical).expect("reads back"),
            message
        );
    }

    #[test]
    fn absent_is_left_out() {
        let message = Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role: Role::User,
            name: None,
            parts: vec![],
        };
        assert_eq!(message.canonical(), r#"{"role":"user"}"#);
        let hello = Message::text(Role::User, "hello");
        assert_eq!(
            hello.canonical(),
            r#"{"parts":[{"text":"hello","type":"text"}],"role":"user"}"#
        );
    }
}
