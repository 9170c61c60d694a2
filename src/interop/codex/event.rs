//! Records around the items: a turn's settings, and what the tool shows and counts.

use serde::Serialize;

use crate::model::Usage;

#[derive(Serialize)]
pub(super) struct Sandbox {
    pub(super) r#type: &'static str,
}

#[derive(Serialize)]
pub(super) struct NewTurn<'a> {
    pub(super) cwd: &'a str,
    pub(super) approval_policy: &'static str,
    pub(super) sandbox_policy: Sandbox,
    pub(super) model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effort: Option<String>,
    pub(super) summary: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum NewEvent<'a> {
    UserMessage {
        message: String,
        images: Vec<String>,
        local_images: [&'a str; 0],
        text_elements: [&'a str; 0],
    },
    AgentMessage {
        message: String,
    },
    TokenCount {
        info: NewInfo,
    },
    ThreadNameUpdated {
        thread_id: &'a str,
        thread_name: &'a str,
    },
}

#[derive(Serialize)]
pub(super) struct NewInfo {
    pub(super) total_token_usage: NewUsage,
    pub(super) last_token_usage: NewUsage,
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct NewUsage {
    pub(super) input_tokens: u64,
    pub(super) cached_input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) reasoning_output_tokens: u64,
    pub(super) total_tokens: u64,
}

impl From<Usage> for NewUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            cached_input_tokens: 0,
            output_tokens: usage.output_tokens,
            reasoning_output_tokens: 0,
            total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
        }
    }
}

/// A value as JSON text.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings, lists and raw JSON can be written")
}
