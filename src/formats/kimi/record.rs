//! The records of a log as they are decoded.

use serde::Deserialize;

use crate::model::{Millis, Usage};
use crate::wire::json::{Raw, decode, string, word};

/// What tells of the context, of all kinds of records: by these a log is told from others.
pub(super) const OWN: [&str; 8] = [
    "config.update",
    "profile.bind",
    "turn.prompt",
    "context.append_message",
    "context.append_loop_event",
    "context.apply_compaction",
    "context.clear",
    "context.undo",
];

lazy! {
    /// One line: the members that matter of all kinds.
    pub(super) struct Record {
        r#type, time, protocol_version, cwd, environment_disclosure = "environmentDisclosure",
        system_prompt = "systemPrompt", model_alias = "modelAlias", message, event, summary,
        context_summary = "contextSummary", compacted_count = "compactedCount",
        kept_user_message_count = "keptUserMessageCount",
        kept_head_user_message_count = "keptHeadUserMessageCount", legacy_tail = "legacyTail", count, cutoff,
        kind, provider, model, thinking_effort = "thinkingEffort", temperature, top_p = "topP",
        tools_hash = "toolsHash", hash, tools, usage, usage_scope = "usageScope", length,
    }
}

impl Record<'_> {
    /// When it was written.
    pub(super) fn time(&self) -> Option<Millis> {
        decode(self.time).map(Millis)
    }

    /// The working directory that it names.
    pub(super) fn directory(&self) -> Option<String> {
        lazy! { struct Environment { cwd } }
        let environment = || decode::<Environment<'_>>(self.environment_disclosure);
        let found = string(self.cwd).or_else(|| string(environment()?.cwd));
        found.filter(|cwd| !cwd.is_empty())
    }
}

lazy! {
    /// A message, whole.
    pub(super) struct Said {
        id, role, name, content, tool_calls = "toolCalls", tool_call_id = "toolCallId", is_error = "isError",
        note, origin,
    }
}

lazy! {
    /// Whose words a message is.
    pub(super) struct Origin { kind, variant, trigger, owner_prompt_id = "ownerPromptId" }
}

lazy! {
    /// A call in a message; the oldest logs have its name and arguments one level down.
    pub(super) struct Call { id, name, arguments, function }
}

lazy! {
    /// A piece of a reply, or what a call gave.
    pub(super) struct Event {
        r#type, uuid, step_uuid = "stepUuid", part, tool_call_id = "toolCallId", name, args, result, usage,
        finish_reason = "finishReason",
    }
}

lazy! {
    /// What a call gave.
    pub(super) struct Given { output, is_error = "isError", note, duration_ms = "durationMs" }
}

/// Whether a line opens a log.
pub(super) fn is_opening(line: &str) -> bool {
    let record = serde_json::from_str::<Record<'_>>(line).unwrap_or_default();
    word(record.r#type).as_deref() == Some("metadata") && record.protocol_version.is_some()
}

/// Whether a protocol's version is 1.5 or later, where taking back takes what came after a prompt, too.
pub(super) fn is_later(version: &str) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse::<u64>());
    let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
    (next(), next()) >= (1, 5)
}

/// What the provider counted.
pub(super) fn usage(raw: Raw<'_>) -> Option<Usage> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Counted {
        input_other: u64,
        input_cache_read: u64,
        input_cache_creation: u64,
        output: u64,
    }
    let it: Counted = decode(raw)?;
    let input = [it.input_other, it.input_cache_read, it.input_cache_creation];
    Usage::apart(input, [it.output, 0])
}
