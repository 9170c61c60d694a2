//! A message by its class and what it was made of.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::formats::shared::parts::{self, CountPaths, checked};
use crate::formats::shared::states::Said;
use crate::model::{MediaSource, Message, Part, Role};
use crate::wire::json::{Raw, decode, quoted, string, text_or_json, word};
use crate::wire::media::attachment;
use crate::wire::{Notes, anthropic, openai};

/// Whose opaque blocks these are, where they are no provider's.
const PROVIDER: &str = "langchain";

/// LangChain's `UsageMetadata` (`langchain_core.messages.ai`). In front of what a tier of OpenAI's counts stands the tier's name;
/// what Anthropic keeps for an hour is counted apart (`langchain_openai.chat_models.base`, `langchain_anthropic.chat_models`).
const COUNTS: CountPaths = CountPaths {
    input: &["input_tokens"],
    output: &["output_tokens"],
    cached: &[
        "input_token_details.cache_read",
        "input_token_details.flex_cache_read",
        "input_token_details.priority_cache_read",
    ],
    written: &[
        "input_token_details.cache_creation",
        "input_token_details.ephemeral_5m_input_tokens",
        "input_token_details.flex_cache_creation",
        "input_token_details.priority_cache_creation",
    ],
    written_hour: &["input_token_details.ephemeral_1h_input_tokens"],
    reasoning: &[
        "output_token_details.reasoning",
        "output_token_details.flex_reasoning",
        "output_token_details.priority_reasoning",
    ],
};

lazy! { struct Record { class, kwargs } }

lazy! {
    struct MadeOf {
        content, name, role, tool_calls, invalid_tool_calls, additional_kwargs, tool_call_id, status,
        usage_metadata, response_metadata,
    }
}

lazy! { struct Call { id, name, args, function, arguments } }

/// Reads a record.
pub(super) fn said(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    let record: Record<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let class = string(record.class).unwrap_or_default();
    let made_of: MadeOf<'_> = decode(record.kwargs).unwrap_or_default();
    let role = role(&class, &made_of)?;
    let mut found = Notes::default();
    let calls = match role {
        Role::Assistant => calls(&made_of),
        _ => Vec::new(),
    };
    let mut said = content(made_of.content, !calls.is_empty(), &mut found);
    if role == Role::Assistant {
        lazy! { struct Beside { reasoning_content } }
        let beside: Beside<'_> = decode(made_of.additional_kwargs).unwrap_or_default();
        let thought = parts::said(beside.reasoning_content).map(parts::thought);
        said.splice(..0, thought);
    }
    let message = match role {
        Role::Tool => {
            let is_error = word(made_of.status).as_deref() == Some("error");
            let call = string(made_of.tool_call_id);
            Message::new(role, vec![parts::result(call, said, is_error)])
        }
        _ => {
            said.extend(calls);
            Message {
                name: parts::said(made_of.name),
                ..Message::new(role, said)
            }
        }
    };
    checked([&message])?;
    notes.merge(found);
    Ok(Said {
        message,
        time: None,
        tools: None,
        usage: parts::counts(made_of.usage_metadata, &COUNTS),
        model: model(made_of.response_metadata),
    })
}

fn role(class: &str, made_of: &MadeOf<'_>) -> Result<Role, String> {
    let name = class.strip_suffix("Chunk").unwrap_or(class);
    Ok(match name {
        "HumanMessage" => Role::User,
        "AIMessage" => Role::Assistant,
        "SystemMessage" => Role::System,
        "ToolMessage" | "FunctionMessage" => Role::Tool,
        "ChatMessage" => match word(made_of.role).as_deref() {
            Some("user" | "human") => Role::User,
            Some("assistant" | "ai") => Role::Assistant,
            Some("system") => Role::System,
            Some("developer") => Role::Developer,
            role => return Err(format!("unknown role '{}'", role.unwrap_or_default())),
        },
        _ => return Err(format!("a message of an unknown class '{class}'")),
    })
}

/// What is said: a text, or blocks as one provider or another has them.
fn content(raw: Raw<'_>, has_calls: bool, notes: &mut Notes) -> Vec<Part> {
    if let Some(text) = string(raw) {
        let text = Some(text).filter(|text| !text.is_empty());
        return text.map(Part::text).into_iter().collect();
    }
    let blocks: Vec<&RawValue> = decode(raw).unwrap_or_default();
    let parts = blocks.into_iter().filter_map(|raw| {
        if let Some(text) = string(Some(raw)) {
            return Some(Part::text(text));
        }
        block(raw, has_calls, notes)
    });
    parts.collect()
}

lazy! {
    /// What of a block is looked at: the framework's own, or a provider's.
    struct Block {
        r#type, text, thinking, signature, image_url, reasoning, summary, encrypted_content, extras, base64, data, url,
        file_id, id, mime_type, media_type, source_type, source, file, file_data, filename, title,
        name, args, output, status, tool_call_id,
    }
}

/// A block; none of a call that stands beside the content as well.
fn block(raw: &RawValue, has_calls: bool, notes: &mut Notes) -> Option<Part> {
    #[derive(Deserialize)]
    struct Address {
        url: String,
    }
    let found: Block<'_> = decode(Some(raw)).unwrap_or_default();
    let kind = string(found.r#type).unwrap_or_default();
    let known = match kind.as_str() {
        "text" => string(found.text).map(Part::text),
        "thinking" => string(found.thinking)
            .map(|text| parts::sealed(text, string(found.signature), anthropic::PROVIDER)),
        "redacted_thinking" => string(found.data).map(|data| parts::redacted(&data)),
        "reasoning" => reasoning(&found),
        "image_url" => {
            let url = string(found.image_url);
            let url = url.or_else(|| decode::<Address>(found.image_url).map(|it| it.url));
            url.map(|url| parts::picture(attachment(url, None, None)))
        }
        "image" => media(&found).map(parts::picture),
        "audio" | "video" | "document" => media(&found),
        "text-plain" if found.text.is_some() => string(found.text).map(Part::text),
        "file" | "text-plain" => media(&found).or_else(|| media(&decode(found.file)?)),
        // What the provider ran itself, and what that gave.
        "server_tool_call" if found.name.is_some() => {
            let arguments = text_or_json(found.args);
            Some(parts::call(string(found.id), string(found.name), arguments))
        }
        "server_tool_result" => {
            let given = text_or_json(found.output).filter(|text| text != "null");
            let given = given.map(Part::text).into_iter().collect();
            let is_error = word(found.status).as_deref() == Some("error");
            Some(parts::result(string(found.tool_call_id), given, is_error))
        }
        "tool_use" | "function_call" | "input_json_delta" | "tool_call" | "tool_call_chunk"
        | "invalid_tool_call"
            if has_calls =>
        {
            return None;
        }
        _ => None,
    };
    let opaque = || parts::opaque(PROVIDER, &kind, parts::object(raw.get()), notes);
    Some(known.unwrap_or_else(opaque))
}

/// What a model thought, in words or as its provider takes it back; none of neither.
fn reasoning(block: &Block<'_>) -> Option<Part> {
    let summary: Vec<Block<'_>> = decode(block.summary).unwrap_or_default();
    let summary: Vec<String> = summary.iter().filter_map(|it| string(it.text)).collect();
    let text = string(block.reasoning).unwrap_or_else(|| summary.join("\n\n"));
    let extras: Block<'_> = decode(block.extras).unwrap_or_default();
    let sealed = string(block.encrypted_content).or_else(|| string(extras.encrypted_content));
    let part = match sealed {
        Some(sealed) => parts::sealed(text, Some(sealed), openai::PROVIDER),
        None => parts::sealed(text, string(extras.signature), anthropic::PROVIDER),
    };
    let says = |part: &Part| matches!(part, Part::Thinking { text, signature, .. } if !text.is_empty() || signature.is_some());
    Some(part).filter(says)
}

/// A picture or a file: here, at an address, or with its provider.
fn media(block: &Block<'_>) -> Option<Part> {
    if let Some(source) = decode::<Block<'_>>(block.source) {
        return media(&source);
    }
    let of_type = |kind: &str| {
        let told = string(block.source_type).or_else(|| string(block.r#type));
        told.as_deref() == Some(kind)
    };
    let name = parts::said(block.filename).or_else(|| parts::said(block.title));
    let kind = parts::said(block.mime_type).or_else(|| parts::said(block.media_type));
    if let Some(url) = string(block.url).or_else(|| string(block.file_data)) {
        return Some(attachment(url, kind, name));
    }
    let id = string(block.file_id).or_else(|| string(block.id).filter(|_| of_type("id")));
    let held = string(block.base64).or_else(|| string(block.data).filter(|_| of_type("base64")));
    let source = held
        .map(MediaSource::Base64)
        .or(id.map(MediaSource::FileId))?;
    Some(Part::File(parts::media(source, kind, name)))
}

/// The calls of a reply: the framework's own list, with those that it could not make out, or the provider's.
fn calls(made_of: &MadeOf<'_>) -> Vec<Part> {
    lazy! { struct Beside { tool_calls } }
    let own = [made_of.tool_calls, made_of.invalid_tool_calls];
    let own = own
        .into_iter()
        .flat_map(|raw| decode::<Vec<Call<'_>>>(raw).unwrap_or_default());
    let own: Vec<Part> = own.map(|it| call(&it)).collect();
    if !own.is_empty() {
        return own;
    }
    let beside: Beside<'_> = decode(made_of.additional_kwargs).unwrap_or_default();
    let theirs: Vec<Call<'_>> = decode(beside.tool_calls).unwrap_or_default();
    let function = |it: Call<'_>| {
        let function: Call<'_> = decode(it.function).unwrap_or_default();
        call(&Call {
            id: it.id,
            args: function.arguments,
            ..function
        })
    };
    theirs.into_iter().map(function).collect()
}

fn call(call: &Call<'_>) -> Part {
    // Arguments that are no JSON are a text.
    let arguments = text_or_json(call.args).filter(|arguments| arguments != "null");
    parts::call(string(call.id), string(call.name), arguments)
}

fn model(raw: Raw<'_>) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Told {
        model_name: Option<String>,
        model: Option<String>,
    }
    let told: Told = decode(raw)?;
    let model = told.model_name.or(told.model);
    model
        .filter(|model| !model.is_empty())
        .map(|it| quoted(&it))
}
