//! What changed inside a message between two requests.

use crate::model::{Message, Part};

/// A part that is hidden, and what stands in its place.
pub(super) type Changed = (u32, Option<Message>);

/// The parts of a message that are gone, or results of tools that say something else; none where more than that
/// is different.
pub(super) fn changed(old: &Message, new: &Message) -> Option<Vec<Changed>> {
    let frame = |message: &Message| Message {
        parts: Vec::new(),
        ..message.clone()
    };
    if frame(old) != frame(new) || new.parts.is_empty() {
        return None;
    }
    if old.parts.len() == new.parts.len() {
        other_results(old, new)
    } else {
        gone(old, new)
    }
}

fn gone(old: &Message, new: &Message) -> Option<Vec<Changed>> {
    let mut rest = new.parts.iter().peekable();
    let mut hidden = Vec::new();
    for (at, part) in (0..).zip(&old.parts) {
        match rest.next_if_eq(&part) {
            Some(_) => {}
            None => hidden.push((at, None)),
        }
    }
    rest.peek().is_none().then_some(hidden)
}

fn other_results(old: &Message, new: &Message) -> Option<Vec<Changed>> {
    let call = |part: &Part| Some(part.as_result()?.0.to_owned());
    let mut stubs = Vec::new();
    for ((at, old), part) in (0..).zip(&old.parts).zip(&new.parts) {
        if old == part {
            continue;
        }
        call(old).filter(|old| call(part).as_ref() == Some(old))?;
        stubs.push((at, Some(Message::new(new.role, vec![part.clone()]))));
    }
    Some(stubs)
}
