//! Anthropic's own blocks, which have no neutral form: where they may stand, and with whom.
//!
//! Only types of the published API are sent back, byte for byte; others (a client's own marks)
//! are not blocks that the API knows.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::compile::media::block_type;
use crate::compile::repair::Piece;
use crate::model::Part;

/// What a message may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    System,
    User,
    Assistant,
}

/// What becomes of an opaque block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// It is left out.
    Refused,
    /// It is sent, and is thinking: it may not end a reply.
    Thinking,
    /// It is sent.
    Sent,
}

/// A tool that the provider itself runs: a call or its result, with the id that ties them.
enum Server {
    Call(String),
    Result(String),
}

/// One answer for each piece; what is no opaque block is [`Own::Refused`], which nobody asks.
///
/// Calls of the provider's own tools and their results stand in one message, the call first; one
/// without the other is refused, and so is one whose id is among those `used` by earlier messages.
pub(super) fn own_blocks(
    pieces: &[Piece<'_>],
    place: Place,
    used: &mut HashSet<String>,
) -> Vec<Own> {
    let mut answers = vec![Own::Refused; pieces.len()];
    let mut open: HashMap<String, usize> = HashMap::new();
    for (index, piece) in pieces.iter().enumerate() {
        let Piece::Part(Part::Opaque { provider, data }) = piece else {
            continue;
        };
        if provider != "anthropic" {
            continue;
        }
        let Ok(block) = serde_json::from_str::<Value>(data) else {
            continue;
        };
        let Some(kind) = block.get("type").and_then(Value::as_str) else {
            continue;
        };
        match (place, kind) {
            (Place::Assistant, "redacted_thinking") => answers[index] = Own::Thinking,
            (Place::Assistant, "compaction") => answers[index] = Own::Sent,
            (Place::Assistant, kind) => match server(kind, &block) {
                Some(Server::Call(id)) if !used.contains(&id) => {
                    open.entry(id).or_insert(index);
                }
                Some(Server::Result(id)) => {
                    if let Some(call) = open.remove(&id) {
                        used.insert(id);
                        answers[call] = Own::Sent;
                        answers[index] = Own::Sent;
                    }
                }
                _ => {}
            },
            (Place::User, "image" | "document" | "search_result" | "container_upload") => {
                answers[index] = Own::Sent;
            }
            _ => {}
        }
    }
    answers
}

/// Whether an opaque block may stand in a tool's result.
pub(super) fn in_result(data: &str) -> bool {
    matches!(
        block_type(data).as_deref(),
        Some("image" | "document" | "search_result" | "tool_reference")
    )
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
