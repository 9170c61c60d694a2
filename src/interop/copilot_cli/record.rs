//! The events of a session as they are decoded.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::interop::Descent;
use crate::model::Millis;
use crate::wire::json::{Raw, decode, string, word};

/// One line.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Event<'a> {
    pub r#type: Raw<'a>,
    pub data: Raw<'a>,
    pub id: Raw<'a>,
    pub timestamp: Raw<'a>,
    /// The sub-agent that it tells of.
    pub agent_id: Raw<'a>,
}

impl Event<'_> {
    /// When it was written.
    pub(super) fn time(&self) -> Option<Millis> {
        word(self.timestamp).and_then(|text| Millis::parse(&text))
    }
}

/// The members that matter of all kinds of events.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Data<'a> {
    pub session_id: Raw<'a>,
    pub start_time: Raw<'a>,
    pub context: Raw<'a>,
    pub cwd: Raw<'a>,
    pub detached_from_spawning_parent_session_id: Raw<'a>,
    pub selected_model: Raw<'a>,
    pub new_model: Raw<'a>,
    pub reasoning_effort: Raw<'a>,
    pub title: Raw<'a>,
    pub role: Raw<'a>,
    pub name: Raw<'a>,
    pub content: Raw<'a>,
    pub transformed_content: Raw<'a>,
    pub attachments: Raw<'a>,
    pub model: Raw<'a>,
    pub api_call_id: Raw<'a>,
    pub chunk_index: Raw<'a>,
    pub tool_requests: Raw<'a>,
    pub reasoning_text: Raw<'a>,
    pub reasoning_opaque: Raw<'a>,
    pub encrypted_content: Raw<'a>,
    pub server_tools: Raw<'a>,
    pub tool_call_id: Raw<'a>,
    pub parent_tool_call_id: Raw<'a>,
    pub agent_display_name: Raw<'a>,
    pub is_user_requested: Raw<'a>,
    pub success: Raw<'a>,
    pub result: Raw<'a>,
    pub error: Raw<'a>,
    pub summary_content: Raw<'a>,
    pub up_to_event_id: Raw<'a>,
    pub initial_message: Raw<'a>,
    pub messages_removed_during_truncation: Raw<'a>,
    pub asset_id: Raw<'a>,
    pub mime_type: Raw<'a>,
    pub data: Raw<'a>,
}

/// A call.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Request<'a> {
    pub tool_call_id: Raw<'a>,
    pub name: Raw<'a>,
    pub arguments: Raw<'a>,
    pub r#type: Raw<'a>,
}

/// What a tool gave back.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Given<'a> {
    pub content: Raw<'a>,
    pub message: Raw<'a>,
    pub binary_results_for_llm: Raw<'a>,
}

/// Bytes that the model is sent: here, or in an event of their own.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Binary<'a> {
    pub data: Raw<'a>,
    pub mime_type: Raw<'a>,
    pub asset_id: Raw<'a>,
    pub display_name: Raw<'a>,
}

/// What a `session.start` says of its session.
pub(super) struct Start {
    pub id: Option<String>,
    pub cwd: Option<String>,
    pub descent: Descent,
}

impl Start {
    pub(super) fn of(data: &Data<'_>) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default, bound(deserialize = "'de: 'a"))]
        struct Context<'a> {
            cwd: Raw<'a>,
        }
        let context: Context<'_> = decode(data.context).unwrap_or_default();
        Self {
            id: string(data.session_id).filter(|id| !id.is_empty()),
            cwd: string(context.cwd),
            descent: Descent {
                base: None,
                spawned_by: string(data.detached_from_spawning_parent_session_id),
                begun: word(data.start_time).and_then(|text| Millis::parse(&text)),
            },
        }
    }
}

/// What a session's first line says, if it is one.
fn start(first_line: &str) -> Option<Start> {
    let event = serde_json::from_str::<Event<'_>>(first_line).ok()?;
    let data: &RawValue = event.data?;
    (word(event.r#type)? == "session.start")
        .then(|| Some(Start::of(&serde_json::from_str(data.get()).ok()?)))?
}

/// The working directory that a session's first line names.
pub(super) fn cwd(first_line: &str) -> Option<String> {
    start(first_line)?.cwd
}

/// The session's id by its first line, and what that says of others; nothing where there are none.
pub(super) fn descent(first_line: &str) -> Option<(String, Descent)> {
    let start = start(first_line)?;
    Some((start.id?, start.descent))
}
