//! One event of a conversation of today.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::shared::condensation::{Forget, Said};
use crate::formats::shared::parts;
use crate::model::{Message, Part, Role};
use crate::wire::json::{Raw, decode, is_true, string};
use crate::wire::{Notes, anthropic, media, openai};

/// What the tool says before what a failed call gave.
const FAILED: &str = "[An error occurred during execution.]\n";

lazy! {
    /// What of an event is looked at.
    pub(super) struct Event {
        kind, id, timestamp, system_prompt, dynamic_context, llm_message, extended_content, thought, reasoning_content,
        thinking_blocks, responses_reasoning_item, tool_call, tool_call_id, llm_response_id, observation,
        rejection_reason, error, forgotten_event_ids, summary, summary_offset, key, value,
    }

    /// What was noted of a command: what stands around its output, where it ran, and how it ended.
    struct Noted { prefix, suffix, working_dir, py_interpreter_path, exit_code }

    /// A message as it goes to a model.
    struct Sent {
        role, content, tool_calls, tool_call_id, reasoning_content, thinking_blocks, responses_reasoning_item,
    }

    /// A piece of content, a thought, a call, or what a tool gave.
    struct Piece {
        r#type, text, image_urls, thinking, signature, data, id, name, arguments, content, is_error, summary,
        encrypted_content, metadata,
    }
}

/// What an event says.
pub(super) fn said(event: &Event<'_>, notes: &mut Notes) -> Result<Said, String> {
    let kind = string(event.kind).unwrap_or_default();
    let message = match kind.as_str() {
        "SystemPromptEvent" => {
            let texts = [event.system_prompt, event.dynamic_context];
            let found = texts.into_iter().filter_map(|raw| piece(raw?, notes));
            parts::message(Role::System, found.flatten().collect())
        }
        "MessageEvent" => sent(event, notes)?,
        "ActionEvent" => {
            let mut found = thoughts([
                event.thinking_blocks,
                event.responses_reasoning_item,
                event.reasoning_content,
            ]);
            found.extend(content(event.thought, notes));
            found.extend(decode::<Piece<'_>>(event.tool_call).map(|it| call(&it)));
            let message = parts::message(Role::Assistant, found);
            parts::checked(&message)?;
            return Ok(match (message, parts::said(event.llm_response_id)) {
                (None, _) => Said::Nothing(format!("{kind} (empty)")),
                (Some(message), Some(reply)) => Said::Piece(reply, message),
                (Some(message), None) => Said::Message(message),
            });
        }
        "ObservationEvent" => Some(observed(event, notes)),
        "UserRejectObservation" => {
            let reason = string(event.rejection_reason).unwrap_or_default();
            Some(result(
                event,
                vec![Part::text(format!("Action rejected: {reason}"))],
                true,
            ))
        }
        "AgentErrorEvent" => {
            let error = parts::text(event.error).into_iter().collect();
            Some(result(event, error, true))
        }
        "Condensation" => {
            return Ok(Said::Forget(Forget {
                ids: ids(event.forgotten_event_ids),
                summary: string(event.summary),
                offset: decode(event.summary_offset),
            }));
        }
        _ => return Ok(Said::Nothing(kind)),
    };
    parts::checked(&message)?;
    Ok(message.map_or_else(|| Said::Nothing(format!("{kind} (empty)")), Said::Message))
}

/// The ids of a list; what in it is none is passed over.
fn ids(listed: Raw<'_>) -> HashSet<String> {
    let listed: Vec<&RawValue> = decode(listed).unwrap_or_default();
    let texts = listed.into_iter().map(|id| string(Some(id)));
    texts.flatten().collect()
}

fn sent(event: &Event<'_>, notes: &mut Notes) -> Result<Option<Message>, String> {
    let sent: Sent<'_> = decode(event.llm_message).unwrap_or_default();
    let role = parts::role(
        sent.role,
        &[Role::User, Role::Assistant, Role::System, Role::Tool],
    )?;
    let mut found = thoughts([
        sent.thinking_blocks,
        sent.responses_reasoning_item,
        sent.reasoning_content,
    ]);
    found.extend(content(sent.content, notes));
    found.extend(content(event.extended_content, notes));
    let calls: Vec<Piece<'_>> = decode(sent.tool_calls).unwrap_or_default();
    found.extend(calls.iter().map(call));
    if role == Role::Tool {
        found = vec![parts::result(string(sent.tool_call_id), found, false)];
    }
    Ok(parts::message(role, found))
}

/// What a model thought: Anthropic's blocks, else OpenAI's item, else the text alone.
fn thoughts([blocks, item, text]: [Raw<'_>; 3]) -> Vec<Part> {
    let blocks: Vec<Piece<'_>> = decode(blocks).unwrap_or_default();
    let blocks = blocks.iter().map(|block| match parts::said(block.data) {
        Some(data) => parts::redacted(&data),
        None => {
            let text = string(block.thinking).unwrap_or_default();
            parts::sealed(text, string(block.signature), anthropic::PROVIDER)
        }
    });
    let blocks: Vec<Part> = blocks.collect();
    if !blocks.is_empty() {
        return blocks;
    }
    let item = decode::<Piece<'_>>(item).map(|item| {
        let [summary, own] = [item.summary, item.content]
            .map(|texts| decode::<Vec<String>>(texts).unwrap_or_default());
        let texts = [summary, own].concat().join("\n\n");
        parts::sealed(texts, string(item.encrypted_content), openai::PROVIDER)
    });
    let thought = item.or_else(|| parts::said(text).map(parts::thought));
    thought.into_iter().collect()
}

fn call(piece: &Piece<'_>) -> Part {
    parts::call(
        string(piece.id),
        string(piece.name),
        parts::said(piece.arguments),
    )
}

fn content(raw: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    let pieces: Vec<&RawValue> = decode(raw).unwrap_or_default();
    let pieces = pieces.into_iter().filter_map(|raw| piece(raw, notes));
    pieces.flatten().collect()
}

/// A piece of content as parts; none of one that says nothing.
fn piece(raw: &RawValue, notes: &mut Notes) -> Option<Vec<Part>> {
    let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
    let kind = string(piece.r#type).unwrap_or_default();
    Some(match kind.as_str() {
        "text" => vec![parts::text(piece.text)?],
        "image" => {
            let urls: Vec<String> = decode(piece.image_urls).unwrap_or_default();
            let pictures = urls
                .into_iter()
                .map(|url| media::attachment(url, None, None));
            pictures.map(parts::picture).collect()
        }
        other => vec![parts::opaque(
            PROVIDER,
            other,
            parts::object(raw.get()),
            notes,
        )],
    })
}

/// What a command gave, with what was noted of it; none of what is no command's.
///
/// # Source
///
/// `openhands-tools/openhands/tools/terminal/definition.py` of the SDK, and requests of 1.16.0.
fn command(metadata: Raw<'_>, output: &[Part]) -> Option<Part> {
    let noted: Noted<'_> = decode(metadata)?;
    noted.suffix?;
    let mut text = string(noted.prefix).unwrap_or_default();
    text.extend(output.iter().filter_map(Part::as_text));
    text += &string(noted.suffix).unwrap_or_default();
    let mut line = |what: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text += &format!("\n[{what} {value}]");
        }
    };
    line("Current working directory:", string(noted.working_dir));
    line("Python interpreter:", string(noted.py_interpreter_path));
    let code = decode::<i64>(noted.exit_code).filter(|code| *code != -1);
    line(
        "Command finished with exit code",
        code.map(|code| code.to_string()),
    );
    (!text.is_empty()).then(|| Part::text(text))
}

/// What a tool gave. How some tools word it for the model is theirs: but of commands it is what they say that they gave.
fn observed(event: &Event<'_>, notes: &mut Notes) -> Message {
    let given: Piece<'_> = decode(event.observation).unwrap_or_default();
    let is_error = is_true(given.is_error);
    let mut found: Vec<Part> = is_error.then(|| Part::text(FAILED)).into_iter().collect();
    let own = content(given.content, notes);
    let is_known = !own.is_empty() || given.content.is_some_and(|raw| raw.get().starts_with('['));
    let is_text = own.iter().all(|part| part.as_text().is_some());
    match command(given.metadata, &own).filter(|_| is_text) {
        Some(text) => found.push(text),
        None => found.extend(own),
    }
    match event.observation {
        Some(raw) if !is_known => found.push(parts::opaque(
            PROVIDER,
            "observation",
            parts::object(raw.get()),
            notes,
        )),
        _ => {}
    }
    found.extend(content(event.extended_content, notes));
    result(event, found, is_error)
}

fn result(event: &Event<'_>, content: Vec<Part>, is_error: bool) -> Message {
    let part = parts::result(string(event.tool_call_id), content, is_error);
    Message::new(Role::Tool, vec![part])
}
