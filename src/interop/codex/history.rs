//! What a history holds: the messages that a list of items makes, and which of them a person typed.

use serde_json::value::RawValue;

use crate::model::{Message, Part, Role};
use crate::wire::Notes;
use crate::wire::responses::{self, Meaning};

/// The messages that a list of response items makes, each with its items. `trouble` is told why one
/// makes none.
pub(super) fn history<'a>(
    items: &[&'a RawValue],
    notes: &mut Notes,
    mut trouble: impl FnMut(String),
) -> Vec<(Message, Vec<&'a RawValue>)> {
    let mut messages: Vec<(Message, Vec<&RawValue>)> = Vec::new();
    let mut reply = false;
    for item in items {
        let (message, is_reply) = match responses::read(item, notes) {
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

/// All text of a message.
pub(super) fn prompt_text(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Whether a user message looks typed by a person, and not put there by the tool.
pub(super) fn typed(message: &Message) -> bool {
    const INJECTED: [&str; 10] = [
        "<environment_context>",
        "<user_instructions>",
        "# AGENTS.md instructions",
        "<permissions instructions>",
        "<turn_aborted>",
        "<subagent_notification>",
        "<user_action>",
        "<recommended_plugins>",
        "<skill>",
        "<collaboration_mode>",
    ];
    if message.role != Role::User {
        return false;
    }
    let text = prompt_text(message);
    let text = text.trim_start();
    !INJECTED.iter().any(|mark| text.starts_with(mark))
}
