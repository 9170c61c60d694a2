//! Response items, to what they are in messages.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::PROVIDER;
use super::write::{PATCH, SHELL};
use crate::model::{Media, MediaSource, Message, Part, Role, depth};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string, word};
use crate::wire::media::{attachment, image_at};

/// A response item: the fields of all its types.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Item<'a> {
    r#type: Raw<'a>,
    role: Raw<'a>,
    content: Raw<'a>,
    summary: Raw<'a>,
    encrypted_content: Raw<'a>,
    id: Raw<'a>,
    call_id: Raw<'a>,
    name: Raw<'a>,
    arguments: Raw<'a>,
    input: Raw<'a>,
    action: Raw<'a>,
    operation: Raw<'a>,
    output: Raw<'a>,
    status: Raw<'a>,
    author: Raw<'a>,
    recipient: Raw<'a>,
}

/// A piece of a message's content, of an output, or of reasoning.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Piece<'a> {
    r#type: Raw<'a>,
    text: Raw<'a>,
    image_url: Raw<'a>,
    detail: Raw<'a>,
    file_id: Raw<'a>,
    file_url: Raw<'a>,
    file_data: Raw<'a>,
    filename: Raw<'a>,
}

/// What a response item is.
#[derive(Debug)]
pub enum Meaning {
    /// A piece of the model's reply: its parts.
    Reply(Vec<Part>),
    /// A tool's output: a message of one result.
    Output(Message),
    /// Input of its own: user, developer, system.
    Input(Message),
    /// Not sent to the model.
    Aside,
    /// Nested too deep; why, in words.
    TooDeep(String),
}

/// What `payload` is, and the type of each block in it that stays opaque.
pub fn read(payload: &RawValue, notes: &mut Notes) -> Meaning {
    within(notes, |notes| meaning(payload, notes))
}

/// The messages that a list of response items makes, each with its items. `trouble` is told why one
/// makes none.
pub fn messages<'a>(
    items: &[&'a RawValue],
    notes: &mut Notes,
    mut trouble: impl FnMut(String),
) -> Vec<(Message, Vec<&'a RawValue>)> {
    let mut messages: Vec<(Message, Vec<&RawValue>)> = Vec::new();
    let mut reply = false;
    for item in items {
        let (message, is_reply) = match read(item, notes) {
            Meaning::Aside => continue,
            Meaning::TooDeep(reason) => {
                trouble(reason);
                continue;
            }
            Meaning::Reply(parts) => {
                if let (true, Some((last, items))) = (reply, messages.last_mut()) {
                    last.parts.extend(parts);
                    items.push(item);
                    continue;
                }
                (Message::new(Role::Assistant, parts), true)
            }
            Meaning::Input(message) | Meaning::Output(message) => (message, false),
        };
        reply = is_reply;
        messages.push((message, vec![item]));
    }
    messages
}

/// The id and the kind of the call that a part is, where outputs may answer it: the kind is none for a
/// function's, and its item's type where it has no form of ours.
pub fn call_of(part: &Part) -> Option<(String, Option<String>)> {
    match part {
        Part::ToolCall { id, kind, .. } => Some((id.clone(), kind.clone())),
        Part::Opaque { provider, data } if provider == PROVIDER => {
            let item = serde_json::from_str::<Item<'_>>(data).ok()?;
            let kind = string(item.r#type).filter(|kind| kind.ends_with("_call"))?;
            Some((string(item.call_id)?, Some(kind)))
        }
        _ => None,
    }
}

/// What items say: their messages, if each is one.
pub fn of_items(items: &[String]) -> Option<Vec<Message>> {
    let items = items.iter().map(|item| serde_json::from_str(item).ok());
    let items: Vec<&RawValue> = items.collect::<Option<_>>()?;
    let mut whole = true;
    let found = messages(&items, &mut Notes::default(), |_| whole = false);
    whole.then(|| found.into_iter().map(|(message, _)| message).collect())
}

/// A message of nothing but opaque input: what another agent sent, in a record of its own.
pub fn communication(payload: &RawValue, notes: &mut Notes) -> Meaning {
    let item = serde_json::from_str::<Item<'_>>(payload.get());
    let said = item.ok().filter(|item| item.content.is_some());
    within(notes, |notes| match said {
        Some(item) => Meaning::Input(from_agent(&item, notes)),
        None => Meaning::Aside,
    })
}

/// What is read, unless it is nested too deep.
fn within(notes: &mut Notes, read: impl FnOnce(&mut Notes) -> Meaning) -> Meaning {
    let mut found = Notes::default();
    let meaning = read(&mut found);
    let fits = match &meaning {
        Meaning::Reply(parts) => depth::check_parts(parts),
        Meaning::Output(message) | Meaning::Input(message) => depth::check_message(message),
        Meaning::Aside | Meaning::TooDeep(_) => Ok(()),
    };
    match fits {
        Ok(()) => {
            notes.merge(found);
            meaning
        }
        Err(error) => Meaning::TooDeep(error.to_string()),
    }
}

fn meaning(payload: &RawValue, notes: &mut Notes) -> Meaning {
    let Ok(item) = serde_json::from_str::<Item<'_>>(payload.get()) else {
        return unknown(payload, "damaged item", notes);
    };
    let kind = word(item.r#type).unwrap_or_default();
    match kind.as_ref() {
        "message" => message(&item, payload, notes),
        // Its short form.
        "" if item.r#type.is_none() && item.role.is_some() => message(&item, payload, notes),
        "reasoning" => Meaning::Reply(vec![reasoning(&item)]),
        "function_call" | "custom_tool_call" | "local_shell_call" | "shell_call"
        | "apply_patch_call" | "tool_search_call" => {
            let call = call(&item, &kind).map(|call| Meaning::Reply(vec![call]));
            call.unwrap_or_else(|| unknown(payload, &kind, notes))
        }
        "tool_search_output" => {
            let kept = notes.keep(&kind, PROVIDER, payload.get());
            output(&item, vec![kept])
        }
        "agent_message" => Meaning::Input(from_agent(&item, notes)),
        "ghost_snapshot" => Meaning::Aside,
        _ if kind.ends_with("_output") && item.call_id.is_some() => {
            output(&item, content(item.output, notes))
        }
        _ => unknown(payload, &kind, notes),
    }
}

fn from_agent(item: &Item<'_>, notes: &mut Notes) -> Message {
    Message {
        recipient: string(item.recipient),
        name: string(item.author),
        ..Message::new(Role::User, content(item.content, notes))
    }
}

fn unknown(payload: &RawValue, kind: &str, notes: &mut Notes) -> Meaning {
    Meaning::Reply(vec![notes.keep(kind, PROVIDER, payload.get())])
}

fn message(item: &Item<'_>, payload: &RawValue, notes: &mut Notes) -> Meaning {
    let role = match word(item.role).as_deref() {
        Some("assistant") => return Meaning::Reply(content(item.content, notes)),
        Some("user") => Role::User,
        Some("developer") => Role::Developer,
        Some("system") => Role::System,
        _ => return unknown(payload, "message", notes),
    };
    Meaning::Input(Message::new(role, content(item.content, notes)))
}

/// Content in any of its shapes: nothing, a string, a list of pieces.
fn content(raw: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    let Some(raw) = raw else {
        return Vec::new();
    };
    if let Some(text) = string(Some(raw)) {
        return vec![Part::text(text)];
    }
    let Some(pieces) = decode::<Vec<&RawValue>>(Some(raw)) else {
        return vec![notes.keep("content", PROVIDER, raw.get())];
    };
    pieces
        .into_iter()
        .map(|raw| {
            let piece = decode::<Piece<'_>>(Some(raw));
            let kind = piece.as_ref().and_then(|piece| string(piece.r#type));
            let part = piece.and_then(|piece| known_piece(&piece));
            part.unwrap_or_else(|| {
                notes.keep(kind.as_deref().unwrap_or("content"), PROVIDER, raw.get())
            })
        })
        .collect()
}

fn known_piece(piece: &Piece<'_>) -> Option<Part> {
    match word(piece.r#type)?.as_ref() {
        "input_text" | "output_text" | "text" => Some(Part::text(string(piece.text)?)),
        "input_image" => {
            let detail = string(piece.detail);
            let image = string(piece.image_url).map(|url| image_at(url, detail.clone()));
            let kept = || {
                let source = MediaSource::FileId(string(piece.file_id)?);
                let media = Media::new(None, source);
                Some(Media { detail, ..media })
            };
            Some(Part::Image(image.or_else(kept)?))
        }
        "input_file" => file(piece),
        _ => None,
    }
}

/// A file: by its address, its bytes, or the id that the provider gave it.
fn file(piece: &Piece<'_>) -> Option<Part> {
    let name = string(piece.filename);
    let source = if let Some(url) = string(piece.file_url).or_else(|| string(piece.file_data)) {
        let is_text = piece.file_url.is_none() && !url.starts_with("data:");
        if !is_text {
            return Some(match attachment(url, None, name) {
                Part::Image(media) => Part::File(media),
                part => part,
            });
        }
        MediaSource::Base64(url)
    } else {
        MediaSource::FileId(string(piece.file_id)?)
    };
    let media = Media::new(None, source);
    Some(Part::File(Media { name, ..media }))
}

fn reasoning(item: &Item<'_>) -> Part {
    let mut texts = Vec::new();
    for list in [item.summary, item.content] {
        for piece in decode::<Vec<Piece<'_>>>(list).unwrap_or_default() {
            texts.extend(string(piece.text));
        }
    }
    let signature = string(item.encrypted_content);
    Part::thinking(texts.join("\n\n"), signature, Some(PROVIDER))
}

/// The call in an item of a type; none where its arguments are missing.
fn call(item: &Item<'_>, of_type: &str) -> Option<Part> {
    let json = |raw: Raw<'_>| Some(raw?.get().to_owned());
    let own = |name: &str| Some(name.to_owned());
    let (kind, name, arguments) = match of_type {
        "custom_tool_call" => (Some("custom"), string(item.name), string(item.input)),
        // The provider's own tools go by their kind.
        "local_shell_call" => (Some("local_shell"), own("local_shell"), json(item.action)),
        "shell_call" => (Some(SHELL), own("shell"), json(item.action)),
        "apply_patch_call" => (Some(PATCH), own("apply_patch"), json(item.operation)),
        "tool_search_call" => (
            Some("tool_search"),
            own("tool_search"),
            json(item.arguments),
        ),
        _ => (None, string(item.name), string(item.arguments)),
    };
    let id = string(item.call_id).or_else(|| string(item.id));
    let (id, name) = (id.unwrap_or_default(), name.unwrap_or_default());
    Some(Part::call(id, name, arguments?, kind))
}

fn output(item: &Item<'_>, content: Vec<Part>) -> Meaning {
    let call = string(item.call_id).unwrap_or_default();
    // A patch says whether it went in.
    let is_error = word(item.r#type).as_deref() == Some("apply_patch_call_output")
        && word(item.status).as_deref() == Some("failed");
    let result = Part::result(call, content, is_error);
    Meaning::Output(Message::new(Role::Tool, vec![result]))
}
