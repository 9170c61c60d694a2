//! The events of a session as they are decoded.

use serde_json::value::RawValue;

use crate::interop::{Descent, parts};
use crate::wire::json::{decode, string, word};

lazy! {
    /// One line.
    #[derive(Clone, Copy)]
    pub(super) struct Event {
        r#type, data, id, timestamp,
        /// The sub-agent that it tells of.
        agent_id = "agentId",
    }
}

lazy! {
    /// The members that matter of all kinds of events.
    pub(super) struct Data {
        session_id = "sessionId", start_time = "startTime", context, cwd,
        detached_from_spawning_parent_session_id = "detachedFromSpawningParentSessionId",
        selected_model = "selectedModel", new_model = "newModel", reasoning_effort = "reasoningEffort",
        title, role, name, content, transformed_content = "transformedContent", attachments, model,
        api_call_id = "apiCallId", chunk_index = "chunkIndex", tool_requests = "toolRequests",
        reasoning_text = "reasoningText", reasoning_opaque = "reasoningOpaque",
        encrypted_content = "encryptedContent", server_tools = "serverTools", tool_call_id = "toolCallId",
        parent_tool_call_id = "parentToolCallId", agent_display_name = "agentDisplayName",
        is_user_requested = "isUserRequested", success, result, error, summary_content = "summaryContent",
        up_to_event_id = "upToEventId", initial_message = "initialMessage",
        messages_removed_during_truncation = "messagesRemovedDuringTruncation", asset_id = "assetId",
        mime_type = "mimeType", data,
    }
}

lazy! {
    /// A call.
    pub(super) struct Request { tool_call_id = "toolCallId", name, arguments, r#type }
}

lazy! {
    /// What a tool gave back.
    pub(super) struct Given { content, message, binary_results_for_llm = "binaryResultsForLlm" }
}

lazy! {
    /// Bytes that the model is sent: here, or in an event of their own.
    pub(super) struct Binary {
        data, mime_type = "mimeType", asset_id = "assetId", display_name = "displayName",
    }
}

/// What a `session.start` says of its session.
pub(super) struct Start {
    pub id: Option<String>,
    pub cwd: Option<String>,
    pub descent: Descent,
}

impl Start {
    pub(super) fn of(data: &Data<'_>) -> Self {
        lazy! { struct Context { cwd } }
        let context: Context<'_> = decode(data.context).unwrap_or_default();
        Self {
            id: parts::said(data.session_id),
            cwd: string(context.cwd),
            descent: Descent {
                base: None,
                spawned_by: string(data.detached_from_spawning_parent_session_id),
                begun: parts::time(data.start_time),
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
