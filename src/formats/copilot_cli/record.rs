//! The events of a session as they are decoded.

use std::collections::BTreeMap;

use serde_json::Number;
use serde_json::value::RawValue;

use crate::formats::Descent;
use crate::formats::shared::parts;
use crate::model::{Usage, UsageRecord};
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
        mime_type = "mimeType", data, model_metrics = "modelMetrics", input_tokens = "inputTokens",
        output_tokens = "outputTokens", cache_read_tokens = "cacheReadTokens",
        cache_write_tokens = "cacheWriteTokens", reasoning_tokens = "reasoningTokens", usage, cost,
        compaction_tokens_used = "compactionTokensUsed", input, output, cached_input = "cachedInput",
        source,
    }
}

lazy! {
    /// What the requests to a model came to.
    struct Metrics { requests, usage }
}

lazy! {
    struct Requests { count }
}

lazy! {
    /// A call.
    pub(super) struct Request { tool_call_id = "toolCallId", name, arguments, r#type }
}

lazy! {
    /// What a tool gave back.
    pub(super) struct Given { content, message, code, binary_results_for_llm = "binaryResultsForLlm" }
}

lazy! {
    /// Bytes that the model is sent: here, or in an event of their own.
    pub(super) struct Binary {
        data, mime_type = "mimeType", asset_id = "assetId", display_name = "displayName",
    }
}

impl Data<'_> {
    /// Whether the tool says a prompt in the user's name: the body of a skill, which the model called or the user did.
    pub(super) fn is_injected(&self) -> bool {
        word(self.source).is_some_and(|source| source.starts_with("skill-"))
    }

    /// What was counted for one request; what a cache had a part in is part of its input.
    pub(super) fn usage(&self) -> Option<Usage> {
        // Compactions of early versions have shorter names.
        let [input, output, cached] = [
            self.input_tokens.or(self.input),
            self.output_tokens.or(self.output),
            self.cache_read_tokens.or(self.cached_input),
        ];
        let usage = Usage::new(decode(input)?, decode(output)?);
        let [cached, written, reasoning] = [cached, self.cache_write_tokens, self.reasoning_tokens]
            .map(|raw| decode(raw).unwrap_or_default());
        Some(usage.cached(cached, written).reasoned(reasoning))
    }

    /// The same with what it cost by the tool's own measure.
    pub(super) fn usage_record(&self) -> Option<UsageRecord> {
        let mut record = UsageRecord::from(self.usage()?);
        let cost = decode::<Number>(self.cost).filter(|cost| cost.as_f64() != Some(0.0));
        let cost = cost.map(|cost| ("cost".to_owned(), cost.to_string()));
        record.detail.amounts.extend(cost);
        Some(record)
    }

    /// What requests to each model came to, and how many they were.
    pub(super) fn metrics(&self) -> BTreeMap<String, (u64, Usage)> {
        let models: BTreeMap<String, Metrics<'_>> = decode(self.model_metrics).unwrap_or_default();
        let counted = models.into_iter().filter_map(|(model, metrics)| {
            let requests: Requests<'_> = decode(metrics.requests)?;
            let usage = decode::<Data<'_>>(metrics.usage)?.usage()?;
            Some((model, (decode(requests.count)?, usage)))
        });
        counted.collect()
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

/// Whether an event is a prompt that the tool says in the user's name.
pub(super) fn is_injected(record: &str) -> bool {
    let event: Event<'_> = serde_json::from_str(record).unwrap_or_default();
    let data: Data<'_> = decode(event.data).unwrap_or_default();
    word(event.r#type).is_some_and(|kind| kind == "user.message") && data.is_injected()
}
