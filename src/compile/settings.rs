//! Request settings as a provider's request keys: model, limits, sampling, tools.
//!
//! Values are JSON texts and go in byte for byte; only tools change their frame where the other
//! provider's form is stored. What the provider takes in another form, or not at all, is left out and
//! told; what a reply says of itself is no part of a request.
//!
//! # Source
//!
//! The providers' API references: OpenAI, "Create chat completion" and "Create a model response"; Anthropic, "Create a message",
//! with its beta fields; Google, "generateContent".

use std::borrow::Cow;

use crate::compile::gemini::{self, Placed};
use crate::compile::tool_names::renamed;
use crate::compile::tools::tools;
use crate::compile::{Notice, Provider};
use crate::model::Settings;
use crate::model::call::Arguments;
use crate::wire::json::{Object, quoted};

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
    /// Functions as chat completions had them before there were tools, or the one that is to be called.
    Functions,
    ResponseFormat,
}

/// What takes a key.
type Takers = &'static [Provider];
const ANY: Takers = &[
    Provider::OpenAi,
    Provider::Responses,
    Provider::Anthropic,
    Provider::Gemini,
];
const ANY_BUT_GEMINI: Takers = &[Provider::OpenAi, Provider::Responses, Provider::Anthropic];
const OPENAI: Takers = &[Provider::OpenAi, Provider::Responses];
const CHAT: Takers = &[Provider::OpenAi];
const RESPONSES: Takers = &[Provider::Responses];
const ANTHROPIC: Takers = &[Provider::Anthropic];
const CHAT_OR_ANTHROPIC: Takers = &[Provider::OpenAi, Provider::Anthropic];
const CHAT_OR_GEMINI: Takers = &[Provider::OpenAi, Provider::Gemini];
const RESPONSES_OR_GEMINI: Takers = &[Provider::Responses, Provider::Gemini];
const ANTHROPIC_OR_GEMINI: Takers = &[Provider::Anthropic, Provider::Gemini];
const GEMINI: Takers = &[Provider::Gemini];

/// The keys of a request, in their fixed order.
const KEYS: [(&str, Form, Takers); 60] = [
    ("model", Form::Text, ANY),
    ("max_completion_tokens", Form::Number, CHAT),
    ("max_tokens", Form::Number, CHAT_OR_ANTHROPIC),
    ("max_output_tokens", Form::Number, RESPONSES_OR_GEMINI),
    ("temperature", Form::Number, ANY),
    ("top_p", Form::Number, ANY),
    ("top_k", Form::Number, ANTHROPIC_OR_GEMINI),
    ("frequency_penalty", Form::Number, CHAT_OR_GEMINI),
    ("presence_penalty", Form::Number, CHAT_OR_GEMINI),
    ("seed", Form::Number, CHAT_OR_GEMINI),
    ("stop", Form::Stop, CHAT),
    ("stop_sequences", Form::Stop, ANTHROPIC_OR_GEMINI),
    ("thinking", Form::Object, ANTHROPIC),
    ("reasoning_effort", Form::Text, CHAT),
    ("reasoning", Form::Object, RESPONSES),
    ("response_format", Form::ResponseFormat, CHAT_OR_GEMINI),
    ("text", Form::Object, RESPONSES),
    ("tools", Form::Tools, ANY),
    ("tool_choice", Form::ToolChoice, ANY),
    ("parallel_tool_calls", Form::ToolFlag, OPENAI),
    ("audio", Form::Object, CHAT),
    ("background", Form::Flag, RESPONSES),
    ("cache_control", Form::Object, ANTHROPIC),
    ("container", Form::TextOrObject, ANTHROPIC),
    ("context_management", Form::List, RESPONSES),
    ("context_management", Form::Object, ANTHROPIC),
    ("conversation", Form::TextOrObject, RESPONSES),
    ("function_call", Form::Functions, CHAT),
    ("functions", Form::Functions, CHAT),
    ("include", Form::List, RESPONSES),
    ("inference_geo", Form::Text, ANTHROPIC),
    ("logit_bias", Form::Object, CHAT),
    ("logprobs", Form::Flag, CHAT),
    ("max_tool_calls", Form::Number, RESPONSES),
    ("mcp_servers", Form::List, ANTHROPIC),
    ("metadata", Form::Metadata, ANY_BUT_GEMINI),
    ("modalities", Form::List, CHAT),
    ("n", Form::Number, CHAT),
    ("output_config", Form::Object, ANTHROPIC),
    ("output_format", Form::Object, ANTHROPIC),
    ("prediction", Form::Object, CHAT),
    ("previous_response_id", Form::Text, RESPONSES),
    ("prompt", Form::Object, RESPONSES),
    ("prompt_cache_key", Form::Text, OPENAI),
    ("prompt_cache_retention", Form::Text, OPENAI),
    ("safety_identifier", Form::Text, OPENAI),
    ("service_tier", Form::ServiceTier, ANY_BUT_GEMINI),
    ("speed", Form::Text, ANTHROPIC),
    ("store", Form::Flag, OPENAI),
    ("stream", Form::Flag, ANY_BUT_GEMINI),
    ("stream_options", Form::Object, OPENAI),
    ("top_logprobs", Form::Number, OPENAI),
    ("truncation", Form::Text, RESPONSES),
    ("user", Form::Text, OPENAI),
    ("verbosity", Form::Text, CHAT),
    ("web_search_options", Form::Object, CHAT),
    ("cachedContent", Form::Text, GEMINI),
    ("responseModalities", Form::List, GEMINI),
    ("safetySettings", Form::List, GEMINI),
    ("thinkingConfig", Form::Object, GEMINI),
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
    if provider == Provider::Text {
        return String::new();
    }
    let mut keys = Keys {
        settings,
        provider,
        remarks,
        written: Vec::new(),
        has_tools: false,
        out: String::new(),
        generation: Vec::new(),
    };
    for (key, form) in keys_of(provider) {
        keys.known(key, form);
    }
    keys.refuse_second_words();
    keys.others(gives_back);
    keys.end()
}

fn keys_of(provider: Provider) -> impl Iterator<Item = (&'static str, Form)> {
    let own = KEYS.iter();
    let own = own.filter(move |(_, _, takers)| takers.contains(&provider));
    own.map(|(key, form, _)| (*key, *form))
}

/// The keys of a request on their way out.
struct Keys<'a> {
    settings: &'a Settings,
    provider: Provider,
    remarks: &'a mut Vec<Notice>,
    written: Vec<&'static str>,
    has_tools: bool,
    out: String,
    /// What Gemini has in an object of its own.
    generation: Vec<(&'static str, String)>,
}

impl<'a> Keys<'a> {
    fn put(&mut self, key: &str, value: &str) {
        self.out += &format!("{}:{value},", quoted(key));
    }

    /// Writes a setting where the provider has it.
    fn put_known(&mut self, key: &'static str, value: &str) {
        if self.provider != Provider::Gemini {
            return self.put(key, value);
        }
        match gemini::placed(key, value) {
            Placed::InRequest(key, value) => self.put(key, &value),
            Placed::InGeneration(members) => self.generation.extend(members),
        }
    }

    /// All that was written.
    fn end(mut self) -> String {
        let generation = std::mem::take(&mut self.generation);
        if !generation.is_empty() {
            let members = generation.into_iter();
            let object = members.fold(Object::new(), |object, (key, value)| {
                object.raw(key, &value)
            });
            self.put("generationConfig", &object.finish());
        }
        self.out
    }

    fn put_default_limit(&mut self) {
        self.put("max_tokens", &DEFAULT_MAX_TOKENS.to_string());
    }

    fn leave_out(&mut self, key: &str) {
        self.remarks.push(Notice::SettingLeftOut {
            key: key.to_owned(),
            provider: self.provider,
        });
    }

    /// What the settings say under a key of the provider's, maybe in another's words.
    fn value_of(&self, key: &str) -> Option<Cow<'a, str>> {
        let renamed = || {
            let is_asked = key == "max_completion_tokens" && self.provider == Provider::OpenAi;
            let is_asked = is_asked && counts_thinking(self.settings);
            is_asked
                .then(|| stored(self.settings, "max_tokens"))
                .flatten()
        };
        let value = stored(self.settings, key).or_else(renamed);
        let value = value.map(Cow::Borrowed);
        value.or_else(|| effort(self.settings, key, self.provider))
    }

    /// Writes what the settings say under a key that the provider knows.
    fn known(&mut self, key: &'static str, form: Form) {
        let provider = self.provider;
        let needs_one = key == "max_tokens" && provider == Provider::Anthropic;
        let Some(value) = self.value_of(key) else {
            if key == "model" {
                self.remarks.push(Notice::NoModel);
            } else if needs_one {
                let max_tokens = DEFAULT_MAX_TOKENS;
                self.remarks.push(Notice::DefaultMaxTokens { max_tokens });
                self.put_default_limit();
            }
            return;
        };
        let is_said = key == "max_tokens" && self.written.contains(&"max_completion_tokens");
        if is_said && provider == Provider::OpenAi {
            return;
        }
        let needs_tools = form.concerns_tools() && provider != Provider::Responses;
        let value = match form {
            _ if needs_tools && !self.has_tools => None,
            Form::Tools => tools(&value, provider, self.remarks),
            form => form.write(&value, provider),
        };
        let value = value.map(|value| match form {
            Form::ToolChoice | Form::Functions => renamed(value, provider).0,
            _ => value,
        });
        let Some(value) = value else {
            if needs_one {
                self.put_default_limit();
            }
            return self.leave_out(key);
        };
        self.has_tools |= key == "tools" && value != "[]";
        self.written.push(key);
        self.put_known(key, &value);
    }

    /// Tells of settings that say otherwise what is sent under another word.
    fn refuse_second_words(&mut self) {
        let set = |key: &str| self.settings.get(key).filter(|value| !is_null(value));
        for words in WORDS {
            // The word that the request's value stands under in the settings.
            let sent = words.iter().find(|word| self.written.contains(word));
            let used = sent.and_then(|key| {
                let mut asked = std::iter::once(key).chain(other_words(key)).chain(words);
                asked.find_map(|word| Some((*word, set(word)?)))
            });
            let Some((used, said)) = used else {
                continue;
            };
            for left_out in words.iter().copied() {
                let differs = set(left_out).is_some_and(|other| other.trim() != said.trim());
                if differs && !self.written.contains(&left_out) {
                    self.remarks.push(Notice::SetTwice { used, left_out });
                }
            }
        }
    }

    fn is_known(&self, key: &str) -> bool {
        let (settings, provider) = (self.settings, self.provider);
        let is_effort = match provider {
            Provider::Responses => {
                key == "reasoning_effort" && stored(settings, "reasoning").is_none()
            }
            _ => key == "reasoning" && effort(settings, "reasoning_effort", provider).is_some(),
        };
        let is_name = |(name, _): (&str, Form)| names(name, key);
        is_effort || keys_of(provider).any(is_name) || OF_A_REPLY.contains(&key)
    }

    /// What the settings hold beside; what nobody knows goes back to where it came from.
    fn others(&mut self, gives_back: bool) {
        for (key, value) in self.settings {
            if self.is_known(key) || is_null(value) {
                continue;
            }
            // In another's request, what some provider knows has no place.
            let is_anybodys = KEYS.iter().any(|(name, ..)| names(name, key));
            if gives_back && !is_anybodys {
                self.put(key, value)
            } else {
                self.leave_out(key)
            }
        }
    }
}

/// Whether a key stands for the same as another.
fn names(name: &str, key: &str) -> bool {
    name == key || other_words(name).contains(&key)
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
            Self::ResponseFormat if provider == Provider::Gemini => {
                gemini::is_response_format(&parsed)
            }
            Self::Object | Self::ResponseFormat => parsed.is_object(),
            Self::List => parsed.is_array(),
            Self::Functions => parsed.is_array() || parsed.is_string() || parsed.is_object(),
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
                if parsed.is_string() && provider != Provider::OpenAi {
                    return Some(format!("[{value}]"));
                }
                parsed.is_string() || parsed.is_array()
            }
            Self::ToolChoice if provider == Provider::Gemini => {
                return gemini::tool_config(&parsed);
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
