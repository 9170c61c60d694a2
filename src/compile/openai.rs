//! Requests in OpenAI's chat-completions form. Messages are never merged.
//!
//! # Source
//!
//! OpenAI's API reference, "Create chat completion": every call is answered by a tool message
//! right after the message that makes it.

use crate::compile::body::Body;
use crate::compile::ids::IdRule;
use crate::compile::repair::{Answer, Item, Piece, Spoken, arrange};
use crate::compile::said::{Contents, as_said};
use crate::model::Message;
use crate::wire::json::{push_list, quoted};
use crate::wire::openai::{MessageWriter, result_content, tool_message};
use crate::wire::{INTERRUPTED, Repairs};

/// Writes the request; `head` are the keys before `messages`, each with a comma after it.
pub(super) fn write(
    messages: &[Message],
    contents: &Contents,
    head: &str,
    repairs: &mut Repairs,
) -> Body {
    let as_said = |written, number: usize| as_said(written, contents.get(number - 1));
    let mut written = Vec::with_capacity(messages.len());
    for item in arrange(messages, IdRule::UniqueInMessage, repairs) {
        match item {
            Item::Spoken(spoken) => {
                let message = message(&spoken, repairs);
                written.extend(message.map(|message| as_said(message, spoken.number)));
            }
            Item::Answers(answers) => written.extend(answers.iter().map(|answer| {
                let message = answered(answer, repairs);
                match answer.content {
                    Some(_) => as_said(message, answer.number),
                    None => message,
                }
            })),
        }
    }
    let mut payload = format!(r#"{{{head}"messages":["#);
    push_list(&mut payload, &written);
    let stable_bytes = payload.len();
    payload.push_str("]}");
    Body {
        payload,
        stable_bytes,
        nothing_to_send: written.is_empty(),
    }
}

/// A message, or nothing if all that it held had to be left out.
fn message(spoken: &Spoken<'_>, repairs: &mut Repairs) -> Option<String> {
    let mut message = MessageWriter::new(spoken.role, spoken.name, spoken.number, repairs);
    for piece in &spoken.pieces {
        match piece {
            Piece::Part(part) => message.part(part, repairs),
            Piece::Call {
                id,
                name,
                arguments,
                kind,
            } => message.call(id, name, arguments, *kind, repairs),
        }
    }
    message.finish(repairs)
}

fn answered(answer: &Answer<'_>, repairs: &mut Repairs) -> String {
    let content = match answer.content {
        None => quoted(INTERRUPTED),
        Some(parts) => result_content(parts, answer.number, repairs),
    };
    tool_message(&answer.id, None, &content)
}
