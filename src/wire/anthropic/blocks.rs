//! Content blocks: where each may stand, and Anthropic's own, which have no neutral form.
//!
//! Of these only types of the published API are sent back, byte for byte; others (a client's own
//! marks) are not blocks that the API knows.

use serde_json::Value;

use super::PROVIDER;
use crate::model::{Part, Role};
use crate::wire::json::Object;
use crate::wire::media::{PDF, image_type};

/// Where a block is to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the system prompt: text alone.
    System,
    /// In a user message.
    User,
    /// In a reply.
    Assistant,
    /// In a tool's result.
    Result,
    /// In the result of a tool that failed: text alone.
    Failure,
}

impl Place {
    /// Where the blocks of a message stand.
    pub const fn of(role: Role) -> Self {
        match role {
            Role::Assistant => Self::Assistant,
            Role::User | Role::Tool => Self::User,
            Role::System | Role::Developer => Self::System,
        }
    }

    pub(super) const fn takes_media(self) -> bool {
        matches!(self, Self::User | Self::Result)
    }
}

/// A content block, by what a request must know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// Text; the last one of a request may not end in white space.
    Text(&'a str),
    /// Thinking; it may not end a reply.
    Thinking(String),
    /// What stands only beside its partner.
    Server(String, Server),
    /// Anything else.
    Other(String),
}

impl Block<'_> {
    /// The block's JSON.
    pub fn json(&self) -> String {
        match self {
            Self::Text(text) => text_block(text),
            Self::Thinking(raw) | Self::Server(raw, _) | Self::Other(raw) => raw.clone(),
        }
    }
}

/// A text's block.
pub fn text_block(text: &str) -> String {
    Object::typed("text").string("text", text).finish()
}

/// A tool that the provider itself runs: a call or its result, with the id that ties them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// What calls it.
    Call(String),
    /// What it gave.
    Result(String),
}

/// What becomes of a block in `place`; none: the provider refuses it there.
pub(super) fn own(data: &str, place: Place) -> Option<Block<'static>> {
    let block: Value = serde_json::from_str(data).ok()?;
    let raw = || data.to_owned();
    let kind = block.get("type")?.as_str()?;
    let is_whole = match kind {
        "image" | "document" => has_source(kind, &block["source"]),
        "redacted_thinking" => block["data"].is_string(),
        _ => true,
    };
    if !is_whole {
        return None;
    }
    match (place, kind) {
        (Place::Assistant, "redacted_thinking") => Some(Block::Thinking(raw())),
        (Place::Assistant, "compaction")
        | (Place::User | Place::Result, "image" | "document" | "search_result")
        | (Place::User, "container_upload")
        | (Place::Result, "tool_reference") => Some(Block::Other(raw())),
        (Place::Assistant, kind) => Some(Block::Server(raw(), server(kind, &block)?)),
        _ => None,
    }
}

/// Whether a block of the provider's own may stand in what a tool gave.
pub fn may_be_given(data: &str) -> bool {
    own(data, Place::Result).is_some()
}

/// Whether a part is a thought as the provider gave it, signed or sealed: it takes that back unchanged or not at all.
pub fn is_thought(part: &Part) -> bool {
    match part {
        Part::Thinking {
            signature: Some(signature),
            provider,
            ..
        } => !signature.is_empty() && provider.as_deref() == Some(PROVIDER),
        Part::Opaque { provider, data } => {
            let is_sealed = |block| matches!(block, Block::Thinking(_));
            provider == PROVIDER && own(data, Place::Assistant).is_some_and(is_sealed)
        }
        _ => false,
    }
}

/// Whether a picture or a document has a source that its kind may have: one that was broken has none.
fn has_source(kind: &str, source: &Value) -> bool {
    let media_type = source["media_type"].as_str().unwrap_or_default();
    match (kind, source["type"].as_str().unwrap_or_default()) {
        (_, "url" | "file") => true,
        ("image", "base64") => image_type(Some(media_type), "").is_some(),
        (_, "base64") => media_type == PDF,
        (kind, "text" | "content") => kind == "document",
        _ => false,
    }
}

fn server(kind: &str, block: &Value) -> Option<Server> {
    let id = |key: &str| Some(block.get(key)?.as_str()?.to_owned());
    match kind {
        "server_tool_use" | "mcp_tool_use" => id("id").map(Server::Call),
        "web_search_tool_result"
        | "web_fetch_tool_result"
        | "code_execution_tool_result"
        | "bash_code_execution_tool_result"
        | "text_editor_code_execution_tool_result"
        | "tool_search_tool_result"
        | "mcp_tool_result" => id("tool_use_id").map(Server::Result),
        _ => None,
    }
}
