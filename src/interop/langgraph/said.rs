//! A message by its class and what it was made of.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::interop::states::Said;
use crate::model::{Message, Part, Role, Usage, depth};
use crate::wire::Notes;
use crate::wire::json::{Object, Raw, decode, quoted, string, tight, word};
use crate::wire::media::attachment;

/// Whose opaque blocks these are, where they are no provider's.
const PROVIDER: &str = "langchain";

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
    let mut parts = content(made_of.content, !calls.is_empty(), &mut found);
    let message = match role {
        Role::Tool => Message::new(
            role,
            vec![Part::ToolResult {
                call: string(made_of.tool_call_id).unwrap_or_default(),
                content: parts,
                is_error: word(made_of.status).as_deref() == Some("error"),
            }],
        ),
        _ => {
            parts.extend(calls);
            Message {
                name: string(made_of.name).filter(|name| !name.is_empty()),
                ..Message::new(role, parts)
            }
        }
    };
    depth::check_message(&message).map_err(|error| error.to_string())?;
    notes.merge(found);
    Ok(Said {
        message,
        usage: usage(made_of.usage_metadata),
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

/// A block; none of a call that stands beside the content as well.
fn block(raw: &RawValue, has_calls: bool, notes: &mut Notes) -> Option<Part> {
    lazy! { struct Block { r#type, text, thinking, signature, image_url } }
    #[derive(Deserialize)]
    struct Address {
        url: String,
    }
    let found: Block<'_> = decode(Some(raw)).unwrap_or_default();
    let kind = string(found.r#type).unwrap_or_default();
    let known = match kind.as_str() {
        "text" => string(found.text).map(Part::text),
        "thinking" => string(found.thinking).map(|text| {
            let signature = string(found.signature).filter(|seal| !seal.is_empty());
            Part::Thinking {
                text,
                provider: signature.as_ref().map(|_| "anthropic".to_owned()),
                signature,
            }
        }),
        "image_url" => {
            let url = string(found.image_url);
            let url = url.or_else(|| decode::<Address>(found.image_url).map(|it| it.url));
            url.map(|url| match attachment(url, None, None) {
                Part::File(media) => Part::Image(media),
                part => part,
            })
        }
        "tool_use" | "function_call" | "input_json_delta" if has_calls => return None,
        _ => None,
    };
    Some(known.unwrap_or_else(|| {
        notes.opaque(if kind.is_empty() { "(no type)" } else { &kind });
        Part::Opaque {
            provider: PROVIDER.to_owned(),
            data: match raw.get().starts_with('{') {
                true => tight(raw.get()),
                false => Object::new().raw("value", raw.get()).finish(),
            },
        }
    }))
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
    let arguments = string(call.args).or_else(|| Some(tight(call.args?.get())));
    let arguments = arguments.filter(|arguments| arguments != "null");
    Part::ToolCall {
        id: string(call.id).unwrap_or_default(),
        name: string(call.name).unwrap_or_default(),
        arguments: arguments.unwrap_or_else(|| "{}".to_owned()),
        kind: None,
    }
}

fn usage(raw: Raw<'_>) -> Option<Usage> {
    #[derive(Deserialize)]
    struct Counted {
        input_tokens: u64,
        output_tokens: u64,
    }
    let counted: Counted = decode(raw)?;
    Some(Usage {
        input_tokens: counted.input_tokens,
        output_tokens: counted.output_tokens,
    })
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
