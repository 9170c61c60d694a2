//! One response item, to what it is in a message.

use serde_json::value::RawValue;

use super::PROVIDER;
use super::record::{Item, Piece};
use crate::model::{Media, MediaSource, Message, Part, Role};
use crate::wire::json::{Raw, decode, string, word};

/// What a response item is.
#[derive(Debug)]
pub(super) enum Meaning {
    /// A piece of the model's reply.
    Reply {
        /// Its parts.
        parts: Vec<Part>,
        /// The id of the call in it.
        call: Option<String>,
    },
    /// A tool's output.
    Output {
        /// The call that it answers.
        call: String,
        /// The message.
        message: Message,
    },
    /// Input of its own: user, developer, system.
    Input(Message),
    /// Not sent to the model.
    Aside,
}

/// What `payload` is, and the type of each block in it that stays opaque.
pub(super) fn read(payload: &RawValue, opaque: &mut Vec<String>) -> Meaning {
    let Ok(item) = serde_json::from_str::<Item<'_>>(payload.get()) else {
        return unknown(payload, "damaged item", opaque);
    };
    let kind = word(item.r#type).unwrap_or_default();
    match kind.as_ref() {
        "message" => message(&item, payload, opaque),
        "reasoning" => reply(vec![reasoning(&item)]),
        "function_call" => match string(item.arguments) {
            Some(arguments) => call(&item, string(item.name), arguments, None),
            None => unknown(payload, &kind, opaque),
        },
        "custom_tool_call" => match string(item.input) {
            Some(input) => call(&item, string(item.name), input, Some("custom")),
            None => unknown(payload, &kind, opaque),
        },
        "local_shell_call" => match item.action {
            Some(action) => {
                let name = Some("local_shell".to_owned());
                call(&item, name, action.get().to_owned(), Some("local_shell"))
            }
            None => unknown(payload, &kind, opaque),
        },
        "tool_search_call" => match item.arguments {
            Some(arguments) => {
                let name = Some("tool_search".to_owned());
                call(&item, name, arguments.get().to_owned(), Some("tool_search"))
            }
            None => unknown(payload, &kind, opaque),
        },
        "tool_search_output" => {
            opaque.push(kind.into_owned());
            output(&item, vec![opaque_part(payload)])
        }
        "agent_message" => Meaning::Input(Message {
            role: Role::User,
            name: string(item.author),
            parts: content(item.content, opaque),
        }),
        "ghost_snapshot" => Meaning::Aside,
        _ if kind.ends_with("_output") && item.call_id.is_some() => {
            output(&item, content(item.output, opaque))
        }
        _ => unknown(payload, &kind, opaque),
    }
}

/// A message of nothing but opaque input: what another agent sent, in a record of its own.
pub(super) fn communication(payload: &RawValue, opaque: &mut Vec<String>) -> Option<Message> {
    let item = serde_json::from_str::<Item<'_>>(payload.get()).ok()?;
    item.content?;
    Some(Message {
        role: Role::User,
        name: string(item.author),
        parts: content(item.content, opaque),
    })
}

fn reply(parts: Vec<Part>) -> Meaning {
    Meaning::Reply { parts, call: None }
}

fn unknown(payload: &RawValue, kind: &str, opaque: &mut Vec<String>) -> Meaning {
    opaque.push(kind.to_owned());
    reply(vec![opaque_part(payload)])
}

fn opaque_part(raw: &RawValue) -> Part {
    Part::Opaque {
        provider: PROVIDER.to_owned(),
        data: raw.get().to_owned(),
    }
}

fn message(item: &Item<'_>, payload: &RawValue, opaque: &mut Vec<String>) -> Meaning {
    let role = match word(item.role).as_deref() {
        Some("assistant") => return reply(content(item.content, opaque)),
        Some("user") => Role::User,
        Some("developer") => Role::Developer,
        Some("system") => Role::System,
        _ => return unknown(payload, "message", opaque),
    };
    Meaning::Input(Message {
        role,
        name: None,
        parts: content(item.content, opaque),
    })
}

/// Content in any of its shapes: nothing, a string, a list of pieces.
fn content(raw: Raw<'_>, opaque: &mut Vec<String>) -> Vec<Part> {
    let Some(raw) = raw else {
        return Vec::new();
    };
    if let Some(text) = string(Some(raw)) {
        return vec![Part::text(text)];
    }
    let Some(pieces) = decode::<Vec<&RawValue>>(Some(raw)) else {
        opaque.push("content".to_owned());
        return vec![opaque_part(raw)];
    };
    pieces
        .into_iter()
        .map(|raw| {
            let piece = decode::<Piece<'_>>(Some(raw));
            let kind = piece.as_ref().and_then(|piece| string(piece.r#type));
            let part = piece.and_then(|piece| known_piece(&piece));
            part.unwrap_or_else(|| {
                opaque.push(kind.unwrap_or_else(|| "content".to_owned()));
                opaque_part(raw)
            })
        })
        .collect()
}

fn known_piece(piece: &Piece<'_>) -> Option<Part> {
    match word(piece.r#type)?.as_ref() {
        "input_text" | "output_text" | "text" => Some(Part::text(string(piece.text)?)),
        "input_image" => Some(Part::Image(image(
            &word(piece.image_url)?,
            string(piece.detail),
        ))),
        _ => None,
    }
}

/// A picture by its address, which may be a data URL that holds it.
fn image(url: &str, detail: Option<String>) -> Media {
    let data = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    let (media_type, source) = match data {
        Some((media_type, data)) if !media_type.is_empty() => (
            Some(media_type.to_owned()),
            MediaSource::Base64(data.to_owned()),
        ),
        _ => (None, MediaSource::Url(url.to_owned())),
    };
    Media {
        media_type,
        name: None,
        detail,
        source,
    }
}

fn reasoning(item: &Item<'_>) -> Part {
    let mut texts = Vec::new();
    for list in [item.summary, item.content] {
        for piece in decode::<Vec<Piece<'_>>>(list).unwrap_or_default() {
            texts.extend(string(piece.text));
        }
    }
    Part::Thinking {
        text: texts.join("\n\n"),
        signature: string(item.encrypted_content),
        provider: Some(PROVIDER.to_owned()),
    }
}

fn call(
    item: &Item<'_>,
    name: Option<String>,
    arguments: String,
    kind: Option<&'static str>,
) -> Meaning {
    let id = string(item.call_id)
        .or_else(|| string(item.id))
        .unwrap_or_default();
    let part = Part::ToolCall {
        id: id.clone(),
        name: name.unwrap_or_default(),
        arguments,
        kind: kind.map(str::to_owned),
    };
    Meaning::Reply {
        parts: vec![part],
        call: Some(id),
    }
}

fn output(item: &Item<'_>, content: Vec<Part>) -> Meaning {
    let call = string(item.call_id).unwrap_or_default();
    let part = Part::ToolResult {
        call: call.clone(),
        content,
        is_error: false,
    };
    let message = Message {
        role: Role::Tool,
        name: None,
        parts: vec![part],
    };
    Meaning::Output { call, message }
}
