//! A message as events: what a stored conversation is replayed from where it has no records.

use super::event::{Event, Happening};
use crate::model::{HideKind, Message, Part, Role};

/// What Claude Code has the user say when they cancel a reply, or a call.
///
/// # Source
///
/// Observed in its sessions and streams.
const CANCELLED: [&str; 2] = [
    "[Request interrupted by user]",
    "[Request interrupted by user for tool use]",
];

/// What a message says, as events; `placed` by a hide of a kind that marks, it is a marker.
pub fn events_of(message: &Message, placed: Option<HideKind>) -> Vec<Event> {
    let (role, parts) = (message.role, message.parts.as_slice());
    if let Some(kind) = placed.filter(|kind| kind.marks()) {
        let parts = parts.to_vec();
        return vec![
            Happening::Marker {
                kind,
                role,
                parts,
                covers: false,
            }
            .into(),
        ];
    }
    let is_result = |part: &&Part| matches!(part, Part::ToolResult { .. });
    let block = |part: &Part| Event::from(Happening::Block(part.clone()));
    if role == Role::Assistant {
        let cut = message.interrupted.then(|| Happening::Cut.into());
        return parts.iter().map(block).chain(cut).collect();
    }
    let mut events: Vec<Event> = parts.iter().filter(is_result).map(block).collect();
    let rest = parts.iter().filter(|part| !is_result(part)).cloned();
    let rest: Vec<Part> = rest.collect();
    if rest.is_empty() && !events.is_empty() {
        return events;
    }
    let what = match role {
        Role::User => said(Message {
            attached: message.attached.clone(),
            ..Message::new(role, rest)
        }),
        role => Happening::Note { role, parts: rest },
    };
    events.push(what.into());
    events
}

/// What the user said, or had said for them.
pub(crate) fn user(parts: Vec<Part>) -> Happening {
    said(Message::new(Role::User, parts))
}

fn said(message: Message) -> Happening {
    let is_injected = message.is_injected();
    let parts = message.parts;
    match &parts[..] {
        [Part::Text { text }] if CANCELLED.contains(&text.as_str()) => {
            Happening::Interrupt { said: parts }
        }
        _ if is_injected => Happening::Note {
            role: Role::User,
            parts,
        },
        _ => Happening::User { parts, from: None },
    }
}
