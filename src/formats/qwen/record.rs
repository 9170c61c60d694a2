//! One record of a session: its place in the tree, and what is said in it.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::formats::shared::list::Listed;
use crate::formats::shared::parts;
use crate::formats::{Descent, Step};
use crate::model::{Message, Part, Role, Span, Usage, UsageDetail, UsageRecord};
use crate::wire::Notes;
use crate::wire::gemini::message_parts;
use crate::wire::json::{Raw, decode, is_true, quoted, string};
use crate::wire::usage::by_modality;

lazy! {
    /// What of a record is looked at.
    pub(super) struct Record {
        uuid, parent_uuid = "parentUuid", session_id = "sessionId", agent_id = "agentId",
        is_sidechain = "isSidechain", timestamp, r#type, subtype, cwd, model, message,
        usage_metadata = "usageMetadata", system_payload = "systemPayload",
    }
}

lazy! {
    /// A message in the API's form.
    struct Content { role, parts }
}

lazy! {
    /// The payload of a record of the tool's own.
    pub(super) struct Payload {
        custom_title = "customTitle", compressed_history = "compressedHistory", ui_event = "uiEvent",
    }
}

lazy! {
    /// What the tool tells of a request that was answered, be it a reply's or none's.
    struct Answered {
        name = "event.name", model, input_token_count, output_token_count, total_token_count,
        cached_content_token_count, thoughts_token_count,
    }
}

lazy! {
    struct Counts {
        prompt_token_count = "promptTokenCount", candidates_token_count = "candidatesTokenCount",
        total_token_count = "totalTokenCount", cached_content_token_count = "cachedContentTokenCount",
        thoughts_token_count = "thoughtsTokenCount",
    }
}

impl Record<'_> {
    /// Its type, with its subtype if the tool alone reads it.
    pub(super) fn kind(&self) -> String {
        let kind = string(self.r#type).unwrap_or_else(|| "(no type)".to_owned());
        match string(self.subtype).filter(|_| self.is_own()) {
            Some(subtype) => format!("{kind}/{subtype}"),
            None => kind,
        }
    }

    /// Whether it is a note of the tool's: its message, if it has one, is not sent.
    pub(super) fn is_own(&self) -> bool {
        string(self.r#type).is_none_or(|kind| kind == "system")
    }

    /// Whether it puts another history in place of what was sent.
    pub(super) fn is_compression(&self) -> bool {
        let history = || decode::<Payload<'_>>(self.system_payload)?.compressed_history;
        self.is_own()
            && string(self.subtype).is_some_and(|subtype| subtype == "chat_compression")
            && history().is_some_and(|history| history.get().starts_with('['))
    }

    /// The model that it names.
    pub(super) fn model(&self) -> String {
        string(self.model).unwrap_or_default()
    }

    /// The model of a request that it tells of, and what was counted for that.
    pub(super) fn answered(&self) -> Option<(String, Usage)> {
        let payload = self.system_payload.filter(|_| self.is_own());
        let event: Answered<'_> = decode(decode::<Payload<'_>>(payload)?.ui_event)?;
        string(event.name).filter(|name| name.ends_with(".api_response"))?;
        let usage = counted(&Counts {
            prompt_token_count: event.input_token_count,
            candidates_token_count: event.output_token_count,
            total_token_count: event.total_token_count,
            cached_content_token_count: event.cached_content_token_count,
            thoughts_token_count: event.thoughts_token_count,
        })?;
        Some((string(event.model).unwrap_or_default(), usage))
    }

    /// The session's id: an agent's has its own below that of the session that started it.
    pub(super) fn session(&self) -> Option<String> {
        let session = parts::said(self.session_id)?;
        Some(match self.agent() {
            Some(agent) => format!("{session}/agent-{agent}"),
            None => session,
        })
    }

    /// The agent that writes it, if one does.
    pub(super) fn agent(&self) -> Option<String> {
        parts::said(self.agent_id).filter(|_| is_true(self.is_sidechain))
    }

    /// What it says of the session that started it.
    pub(super) fn descent(&self) -> Descent {
        Descent::spawned_by(self.agent().and_then(|_| string(self.session_id)))
    }

    /// What is said in it.
    pub(super) fn listed(&self, span: Span, notes: &mut Notes) -> Result<Listed, String> {
        let mut listed = Listed {
            is_reply: string(self.r#type).is_some_and(|kind| kind == "assistant"),
            ..Listed::default()
        };
        let message = self.message.filter(|_| !self.is_own());
        let message = message.map(|raw| message_of(raw, notes)).transpose()?;
        let Some(message) = message.flatten() else {
            return Ok(listed);
        };
        let model = string(self.model).map(|model| quoted(&model));
        listed.steps.push(
            Step::append(message, span)
                .at(parts::time(self.timestamp))
                .by_model(model)
                .recorded(usage(self.usage_metadata)),
        );
        Ok(listed)
    }
}

/// What a session's first line says of others, and its id: an agent's file names the session that started it.
pub(super) fn descent(first_line: &str) -> Option<(String, Descent)> {
    let record: Record<'_> = serde_json::from_str(first_line).ok()?;
    record.agent()?;
    Some((record.session()?, record.descent()))
}

/// The message in the API's form; none if nothing is said in it.
pub(super) fn message_of(raw: &RawValue, notes: &mut Notes) -> Result<Option<Message>, String> {
    let bad = |error| format!("a message: {error}");
    let content: Content<'_> = serde_json::from_str(raw.get()).map_err(bad)?;
    let parts = message_parts(content.parts, notes);
    if parts.is_empty() {
        return Ok(None);
    }
    let role = match string(content.role).as_deref() {
        Some("model") => Role::Assistant,
        _ if parts.iter().all(Part::is_result) => Role::Tool,
        _ => Role::User,
    };
    let message = Message::new(role, parts);
    parts::checked([&message])?;
    Ok(Some(message))
}

/// What the provider counted: all that is no prompt was said.
fn usage(raw: Raw<'_>) -> Option<UsageRecord> {
    let usage = counted(&decode(raw)?)?;
    let mut detail = UsageDetail::default();
    let all: Value = decode(raw)?;
    by_modality(all.get("promptTokensDetails"), "input", &mut detail);
    by_modality(all.get("candidatesTokensDetails"), "output", &mut detail);
    by_modality(all.get("cacheTokensDetails"), "cached", &mut detail);
    Some(UsageRecord { usage, detail })
}

fn counted(counts: &Counts<'_>) -> Option<Usage> {
    let input_tokens = decode::<u64>(counts.prompt_token_count)?;
    let total = decode::<u64>(counts.total_token_count);
    let said = total.and_then(|total| total.checked_sub(input_tokens));
    let output_tokens = said.or_else(|| decode(counts.candidates_token_count));
    let usage = Usage::new(input_tokens, output_tokens.unwrap_or(0));
    let count = |raw| decode::<u64>(raw).unwrap_or(0);
    let usage = usage.cached(count(counts.cached_content_token_count), 0);
    Some(usage.reasoned(count(counts.thoughts_token_count)))
}
