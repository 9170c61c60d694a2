//! Anthropic's own blocks, which have no neutral form: where each may stand.
//!
//! Only types of the published API are sent back, byte for byte; others (a client's own marks)
//! are not blocks that the API knows.

use serde_json::Value;

use super::{Block, Place};

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
    match (place, block.get("type")?.as_str()?) {
        (Place::Assistant, "redacted_thinking") => Some(Block::Thinking(raw())),
        (Place::Assistant, "compaction")
        | (Place::User | Place::Result, "image" | "document" | "search_result")
        | (Place::User, "container_upload")
        | (Place::Result, "tool_reference") => Some(Block::Other(raw())),
        (Place::Assistant, kind) => Some(Block::Server(raw(), server(kind, &block)?)),
        _ => None,
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
