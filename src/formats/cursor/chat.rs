//! The importer of chats: each bubble what was asked, or a piece of what came back: a text, a thought, a call with its
//! result.

use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{BUBBLES, CHAT};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller, Said};
use crate::formats::shared::parts::{self, call, checked, said as not_empty, text, usage};
use crate::model::{Millis, Part, Role};
use crate::wire::json::{Raw, decode, quoted, string, text_or_json};

/// A chat.
#[derive(Default)]
pub(super) struct Chat {
    /// How many ids were made.
    made: u64,
}

impl Document for Chat {
    const RECORDS: &'static str = BUBBLES;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        if member.key != CHAT {
            return false;
        }
        let about: Value = decode(Some(member.raw)).unwrap_or_default();
        let word = |key: &str| about.get(key)?.as_str().filter(|it| !it.is_empty());
        let id = word("composerId").or_else(|| word("tabId"));
        teller.name(id.map(str::to_owned));
        let title = word("name").or_else(|| word("chatTitle"));
        teller.end.title = title.map(str::to_owned);
        let config = about.get("modelConfig").and_then(|it| it.get("modelName"));
        teller.set("model", config.and_then(Value::as_str).map(quoted));
        // Whether it was sent yet is not told.
        if about
            .get("latestConversationSummary")
            .is_some_and(|it| !it.is_null())
        {
            teller.end.other("summary");
        }
        false
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let said = teller.read(at, |raw, _| said(raw, &mut self.made))?;
        said.map_or(Ok(()), |said| teller.tell(said, at).map(drop))
    }
}

lazy! {
    /// A bubble, of composers and of older chats.
    struct Bubble {
        r#type, text, raw_text = "rawText", thinking, tool = "toolFormerData", model_type = "modelType",
        model_info = "modelInfo", created_at = "createdAt", counted = "tokenCount", missing,
    }
}

lazy! { struct Tool { name, id = "toolCallId", raw_args = "rawArgs", params, result, error, status } }

/// Reads a bubble; `made` counts the ids that were made.
fn said(raw: &RawValue, made: &mut u64) -> Result<Said, String> {
    let bubble: Bubble<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    if bubble.missing.is_some() {
        return Err("a bubble that is not in the database".to_owned());
    }
    // The editor writes zeros where it was told nothing.
    let usage = usage(bubble.counted, &["inputTokens", "outputTokens"]);
    let mut said = Said {
        kind: "empty bubble".to_owned(),
        time: parts::time(bubble.created_at).or_else(|| decode(bubble.created_at).map(Millis)),
        usage: usage.filter(|usage| usage.input_tokens > 0).map(Into::into),
        model: model(&bubble),
        ..Said::default()
    };
    let is_users = match bubble.r#type.map(RawValue::get) {
        Some("1" | "\"user\"") => true,
        Some("2" | "\"ai\"") => false,
        kind => {
            let kind = kind.unwrap_or("null");
            return Err(format!("a bubble of an unknown kind {kind}"));
        }
    };
    let thought = thought(bubble.thinking).filter(|_| !is_users);
    let mut parts: Vec<Part> = thought.map(parts::thought).into_iter().collect();
    parts.extend(text(bubble.text).or_else(|| text(bubble.raw_text)));
    let tool: Tool<'_> = decode(bubble.tool).unwrap_or_default();
    let name = not_empty(tool.name).filter(|_| !is_users);
    let mut result = None;
    if let Some(name) = name {
        let id = not_empty(tool.id).unwrap_or_else(|| {
            *made += 1;
            format!("call-{made}")
        });
        let arguments = not_empty(tool.raw_args).or_else(|| said_or_json(tool.params));
        result = given(&tool, &id);
        parts.push(call(Some(id), Some(name), arguments));
    }
    let role = if is_users {
        Role::User
    } else {
        Role::Assistant
    };
    said.messages.extend(parts::message(role, parts));
    let result = result.into_iter().collect();
    said.messages.extend(parts::message(Role::Tool, result));
    checked(&said.messages)?;
    Ok(said)
}

/// What a call gave; none while it is to come.
fn given(tool: &Tool<'_>, id: &str) -> Option<Part> {
    let result = said_or_json(tool.result);
    let error = said_or_json(tool.error);
    let status = string(tool.status).unwrap_or_default();
    let is_error = error.is_some() || ["error", "cancelled"].contains(&status.as_str());
    let is_over = is_error || result.is_some() || status == "completed";
    let content = result.or(error).map(Part::text).into_iter().collect();
    is_over.then(|| parts::result(Some(id.to_owned()), content, is_error))
}

/// A text as it is, anything else as its JSON; none of nothing, nor of an empty text.
fn said_or_json(raw: Raw<'_>) -> Option<String> {
    text_or_json(raw).filter(|text| !text.is_empty())
}

/// A thought, which is a text or has one.
fn thought(raw: Raw<'_>) -> Option<String> {
    lazy! { struct Held { text } }
    let held: Held<'_> = decode(raw).unwrap_or_default();
    not_empty(raw).or_else(|| not_empty(held.text))
}

fn model(bubble: &Bubble<'_>) -> Option<String> {
    lazy! { struct Named { name = "modelName" } }
    let named: Named<'_> = decode(bubble.model_info).unwrap_or_default();
    let named = string(named.name).or_else(|| string(bubble.model_type));
    named.filter(|it| !it.is_empty()).map(|it| quoted(&it))
}
