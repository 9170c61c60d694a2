//! Request settings as a provider's request keys: model, limits, sampling, tools.
//!
//! Values are JSON texts and go in byte for byte; only tools change their frame where the other
//! provider's form is stored. What the provider takes in another form, or not at all, is left out and
//! told; what a reply says of itself is no part of a request.
//!
//! # Source
//!
//! The providers' API references: OpenAI, "Create chat completion" and "Create a model response"; Anthropic, "Create a message",
//! with its beta fields.

use std::borrow::Cow;

use crate::compile::tools::tools;
use crate::compile::{Notice, Provider};
use crate::model::Settings;
use crate::model::call::Arguments;
use crate::wire::json::quoted;

/// The limit where the settings hold none; Anthropic requires one.
pub(super) const DEFAULT_MAX_TOKENS: u32 = 4096;

/// What a key's value must be.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Number,
    Flag,
    /// A flag about tools: without any it is refused.
    ToolFlag,
    Object,
    List,
    TextOrObject,
    Metadata,
    ServiceTier,
    Stop,
    ToolChoice,
    Tools,
}

/// The keys of an OpenAI request, in their fixed order.
const OPENAI: [(&str, Form); 34] = [
    ("model", Form::Text),
    ("max_completion_tokens", Form::Number),
    ("max_tokens", Form::Number),
    ("temperature", Form::Number),
    ("top_p", Form::Number),
    ("frequency_penalty", Form::Number),
    ("presence_penalty", Form::Number),
    ("seed", Form::Number),
    ("stop", Form::Stop),
    ("reasoning_effort", Form::Text),
    ("response_format", Form::Object),
    ("tools", Form::Tools),
    ("tool_choice", Form::ToolChoice),
    ("parallel_tool_calls", Form::ToolFlag),
    ("audio", Form::Object),
    ("function_call", Form::TextOrObject),
    ("functions", Form::List),
    ("logit_bias", Form::Object),
    ("logprobs", Form::Flag),
    ("metadata", Form::Metadata),
    ("modalities", Form::List),
    ("n", Form::Number),
    ("prediction", Form::Object),
    ("prompt_cache_key", Form::Text),
    ("prompt_cache_retention", Form::Text),
    ("safety_identifier", Form::Text),
    ("service_tier", Form::ServiceTier),
    ("store", Form::Flag),
    ("stream", Form::Flag),
    ("stream_options", Form::Object),
    ("top_logprobs", Form::Number),
    ("user", Form::Text),
    ("verbosity", Form::Text),
    ("web_search_options", Form::Object),
];

/// The keys of a request of OpenAI's Responses API, in their fixed order.
const RESPONSES: [(&str, Form); 27] = [
    ("model", Form::Text),
    ("max_output_tokens", Form::Number),
    ("temperature", Form::Number),
    ("top_p", Form::Number),
    ("reasoning", Form::Object),
    ("text", Form::Object),
    ("tools", Form::Tools),
    ("tool_choice", Form::ToolChoice),
    ("parallel_tool_calls", Form::ToolFlag),
    ("background", Form::Flag),
    ("context_management", Form::List),
    ("conversation", Form::TextOrObject),
    ("include", Form::List),
    ("max_tool_calls", Form::Number),
    ("metadata", Form::Metadata),
    ("previous_response_id", Form::Text),
    ("prompt", Form::Object),
    ("prompt_cache_key", Form::Text),
    ("prompt_cache_retention", Form::Text),
    ("safety_identifier", Form::Text),
    ("service_tier", Form::ServiceTier),
    ("store", Form::Flag),
    ("stream", Form::Flag),
    ("stream_options", Form::Object),
    ("top_logprobs", Form::Number),
    ("truncation", Form::Text),
    ("user", Form::Text),
];

/// The keys of an Anthropic request, in their fixed order.
const ANTHROPIC: [(&str, Form); 19] = [
    ("model", Form::Text),
    ("max_tokens", Form::Number),
    ("temperature", Form::Number),
    ("top_p", Form::Number),
    ("top_k", Form::Number),
    ("stop_sequences", Form::Stop),
    ("thinking", Form::Object),
    ("tools", Form::Tools),
    ("tool_choice", Form::ToolChoice),
    ("cache_control", Form::Object),
    ("container", Form::TextOrObject),
    ("context_management", Form::Object),
    ("inference_geo", Form::Text),
    ("mcp_servers", Form::List),
    ("metadata", Form::Metadata),
    ("output_config", Form::Object),
    ("output_format", Form::Object),
    ("service_tier", Form::ServiceTier),
    ("stream", Form::Flag),
];

/// What has more words than one; settings may hold several.
const WORDS: [&[&str]; 2] = [
    &["max_completion_tokens", "max_tokens", "max_output_tokens"],
    &["stop", "stop_sequences"],
];

/// What a reply says of itself, which an import of one keeps beside its message.
const OF_A_REPLY: [&str; 11] = [
    "choices",
    "created",
    "id",
    "object",
    "provider",
    "role",
    "stop_reason",
    "stop_sequence",
    "system_fingerprint",
    "type",
    "usage",
];

/// The keys before the messages, each with a comma after it. `gives_back`: what nobody knows came with a
/// request of this provider's, and goes back to it.
pub(super) fn request_keys(
    settings: &Settings,
    provider: Provider,
    gives_back: bool,
    remarks: &mut Vec<Notice>,
) -> String {
    let keys: &[(&'static str, Form)] = match provider {
        Provider::OpenAi => &OPENAI,
        Provider::Responses => &RESPONSES,
        Provider::Anthropic => &ANTHROPIC,
        Provider::Text => return String::new(),
    };
    let mut out = String::new();
    let mut has_tools = false;
    let mut written = Vec::new();
    for &(key, form) in keys {
        let renamed = || {
            let is_asked = key == "max_completion_tokens" && provider == Provider::OpenAi;
            let is_asked = is_asked && counts_thinking(settings);
            is_asked.then(|| stored(settings, "max_tokens")).flatten()
        };
        let value = stored(settings, key).or_else(renamed).map(Cow::Borrowed);
        let Some(value) = value.or_else(|| effort(settings, key, provider)) else {
            match key {
                "model" => remarks.push(Notice::NoModel),
                "max_tokens" if provider == Provider::Anthropic => {
                    remarks.push(Notice::DefaultMaxTokens {
                        max_tokens: DEFAULT_MAX_TOKENS,
                    });
                    out.push_str(&format!(r#""max_tokens":{DEFAULT_MAX_TOKENS},"#));
                }
                _ => {}
            }
            continue;
        };
        if key == "max_tokens"
            && provider == Provider::OpenAi
            && out.contains("\"max_completion_tokens\":")
        {
            continue;
        }
        let needs_tools = form.concerns_tools() && provider != Provider::Responses;
        let value = if needs_tools && !has_tools {
            None
        } else if matches!(form, Form::Tools) {
            tools(&value, provider, remarks)
        } else {
            form.write(&value, provider)
        };
        match value {
            Some(value) => {
                has_tools |= key == "tools" && value != "[]";
                written.push(key);
                out.push_str(&quoted(key));
                out.push(':');
                out.push_str(&value);
                out.push(',');
            }
            None => {
                let key = key.to_owned();
                if key == "max_tokens" && provider == Provider::Anthropic {
                    out.push_str(&format!(r#""max_tokens":{DEFAULT_MAX_TOKENS},"#));
                }
                remarks.push(Notice::SettingLeftOut { key, provider });
            }
        }
    }
    let set = |key: &str| settings.get(key).filter(|value| !is_null(value));
    for words in WORDS {
        // The word that the request's value stands under in the settings.
        let sent = words.iter().copied().find(|word| written.contains(word));
        let used = sent.and_then(|key| {
            let asked = std::iter::once(&key).chain(other_words(key)).chain(words);
            asked.copied().find(|word| set(word).is_some())
        });
        let Some((used, said)) = used.and_then(|used| Some((used, set(used)?))) else {
            continue;
        };
        for left_out in words.iter().copied() {
            let differs = set(left_out).is_some_and(|other| other.trim() != said.trim());
            if differs && !written.contains(&left_out) {
                remarks.push(Notice::SetTwice { used, left_out });
            }
        }
    }
    let is_known = |key: &str| {
        let names = |(name, _): &(&str, Form)| *name == key || other_words(name).contains(&key);
        let is_effort = match provider {
            Provider::Responses => {
                key == "reasoning_effort" && stored(settings, "reasoning").is_none()
            }
            _ => key == "reasoning" && effort(settings, "reasoning_effort", provider).is_some(),
        };
        is_effort || keys.iter().any(names) || OF_A_REPLY.contains(&key)
    };
    let left_out = settings
        .iter()
        .filter(|(key, value)| !is_known(key) && !is_null(value));
    for (key, value) in left_out {
        match gives_back && !is_anybodys(key) {
            true => out.push_str(&format!("{}:{value},", quoted(key))),
            false => remarks.push(Notice::SettingLeftOut {
                key: key.clone(),
                provider,
            }),
        }
    }
    out
}

/// Whether some provider knows the key: in another's request it has no place.
fn is_anybodys(key: &str) -> bool {
    let all = OPENAI.iter().chain(&RESPONSES).chain(&ANTHROPIC);
    let mut names = all.map(|(name, _)| *name);
    names.any(|name| name == key || other_words(name).contains(&key))
}

/// Whether the model is one of OpenAI's that think: they refuse `max_tokens`.
///
/// # Source
///
/// OpenAI, API reference, chat completions, `max_tokens`: "not compatible with o-series models".
fn counts_thinking(settings: &Settings) -> bool {
    let model = settings.get("model");
    let model = model.and_then(|model| serde_json::from_str::<String>(model).ok());
    let model = model.unwrap_or_default();
    // Routers put the provider's name before it.
    let name = model.rsplit('/').next().unwrap_or_default();
    ["o1", "o3", "o4", "gpt-5"].iter().any(|begin| {
        let rest = name.strip_prefix(begin);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    })
}

/// The setting under `key`, or under the other provider's word for the same thing.
fn stored<'a>(settings: &'a Settings, key: &str) -> Option<&'a str> {
    std::iter::once(&key)
        .chain(other_words(key))
        .find_map(|key| settings.get(*key))
        .map(String::as_str)
        .filter(|value| !is_null(value))
}

/// Another provider's word, or an older one, for what a key says.
fn other_words(key: &str) -> &'static [&'static str] {
    match key {
        "max_tokens" => &["max_completion_tokens", "max_output_tokens"],
        "max_output_tokens" => &["max_completion_tokens", "max_tokens"],
        "stop" => &["stop_sequences"],
        "stop_sequences" => &["stop"],
        _ => &[],
    }
}

/// How hard the model is to think, which one API of OpenAI's has as a word and the other in an object.
fn effort(settings: &Settings, key: &str, provider: Provider) -> Option<Cow<'static, str>> {
    match (key, provider) {
        ("reasoning", Provider::Responses) => {
            let effort = stored(settings, "reasoning_effort")?;
            Some(format!(r#"{{"effort":{effort}}}"#).into())
        }
        ("reasoning_effort", Provider::OpenAi) => {
            let reasoning = stored(settings, "reasoning")?;
            let Arguments(members) = serde_json::from_str(reasoning).ok()?;
            match &members[..] {
                [(key, effort)] if key == "effort" => Some(effort.get().to_owned().into()),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_null(value: &str) -> bool {
    value.trim() == "null"
}

impl Form {
    fn concerns_tools(self) -> bool {
        matches!(self, Self::ToolChoice | Self::ToolFlag)
    }

    /// The value's JSON text, if it is what the provider takes.
    fn write(self, value: &str, provider: Provider) -> Option<String> {
        let parsed: serde_json::Value = serde_json::from_str(value).ok()?;
        let fits = match self {
            Self::Text => parsed.is_string(),
            Self::Number => parsed.is_number(),
            Self::Flag | Self::ToolFlag => parsed.is_boolean(),
            Self::Object => parsed.is_object(),
            Self::List => parsed.is_array(),
            Self::TextOrObject => parsed.is_string() || parsed.is_object(),
            Self::Metadata => parsed.as_object().is_some_and(|fields| match provider {
                Provider::Anthropic => fields.keys().all(|key| key == "user_id"),
                _ => fields.values().all(serde_json::Value::is_string),
            }),
            Self::ServiceTier => parsed.as_str().is_some_and(|tier| match provider {
                Provider::Anthropic => matches!(tier, "auto" | "standard_only"),
                _ => tier != "standard_only",
            }),
            Self::Stop => {
                if parsed.is_string() && provider == Provider::Anthropic {
                    return Some(format!("[{value}]"));
                }
                parsed.is_string() || parsed.is_array()
            }
            Self::ToolChoice => {
                let kind = parsed.get("type").and_then(|kind| kind.as_str());
                match provider {
                    Provider::Anthropic => {
                        matches!(kind, Some("auto" | "any" | "tool" | "none"))
                    }
                    Provider::Responses => {
                        let framed = |key| parsed.get(key).is_some();
                        matches!(parsed.as_str(), Some("auto" | "none" | "required"))
                            || kind.is_some_and(|kind| {
                                !matches!(kind, "auto" | "any" | "tool" | "none")
                                    && !framed("function")
                                    && !framed("custom")
                            })
                    }
                    _ => {
                        matches!(parsed.as_str(), Some("auto" | "none" | "required"))
                            || matches!(kind, Some("function" | "custom" | "allowed_tools"))
                    }
                }
            }
            Self::Tools => parsed.is_array(),
        };
        fits.then(|| value.to_owned())
    }
}
