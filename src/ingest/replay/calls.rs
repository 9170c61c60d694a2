//! Calls and their results across the borders of what is read of a conversation.
//!
//! A result whose call stands before a part, or a call whose result stands behind it, is looked up
//! within a bound. Deliberately absent: anything within one part; that is the fold's.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::model::Part;
use crate::repo::{ListedEntry, load};
use crate::store::View;
use crate::tree::{Event, Happening};

/// How many messages before or behind a part may hold the other ends of its calls.
pub(super) const LOOK: usize = 64;

/// What is known of the messages before a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Nobody sees them: a result brings its call along.
    Alone,
    /// They are shown above it: a result stands there, at its call.
    Seen,
}

/// The call that an event makes.
fn called(event: &Event) -> Option<&String> {
    match &event.what {
        Happening::CallStart { call, .. }
        | Happening::Call { call, .. }
        | Happening::Block(Part::ToolCall { id: call, .. }) => Some(call),
        _ => None,
    }
}

/// The call that an event answers.
fn answered(event: &Event) -> Option<&String> {
    match &event.what {
        Happening::Answer { call, .. } | Happening::Block(Part::ToolResult { call, .. }) => {
            Some(call)
        }
        _ => None,
    }
}

/// The calls whose results stand at the beginning of a part, and which stand `before` it
/// themselves: they are brought in, or, where they are seen there, their results are left out.
pub(super) fn with_calls(
    view: &dyn View,
    before: impl FnOnce() -> Result<Vec<ListedEntry>>,
    start: Start,
    events: &mut Vec<(usize, Event)>,
) -> Result<()> {
    let mut known = BTreeSet::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    for (at, (_, event)) in events.iter().enumerate() {
        if let Some(call) = called(event) {
            known.insert(call.clone());
        } else if let Some(call) = answered(event).filter(|_| event.parent.is_none()) {
            let is_new = match start {
                Start::Alone => known.insert(call.clone()),
                Start::Seen => !known.contains(call) && events[at].0 < LOOK,
            };
            if is_new {
                open.push((at, call.clone()));
            }
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    let before = before()?;
    let messages = load::messages(view, before.iter().map(|one| &one.entry))?;
    if start == Start::Seen {
        // Each answers the newest call that waits, and there it is seen.
        let mut waits = waiting(messages.iter().flat_map(|message| &message.parts));
        let mut seen = Vec::new();
        for (at, call) in open {
            if let Some(last) = waits.iter().rposition(|one| **one == call) {
                waits.remove(last);
                seen.push(at);
            }
        }
        seen.into_iter().rev().for_each(|at| {
            events.remove(at);
        });
        return Ok(());
    }
    let parts = messages
        .iter()
        .rev()
        .flat_map(|message| message.parts.iter().rev());
    for (at, call) in open.into_iter().rev() {
        let is_it = |part: &&Part| matches!(part, Part::ToolCall { id, .. } if *id == call);
        if let Some(part) = parts.clone().find(is_it) {
            let (entry, result) = &events[at];
            let call = Event {
                id: None,
                what: Happening::Block(part.clone()),
                ..result.clone()
            };
            events.insert(at, (*entry, call));
        }
    }
    Ok(())
}

/// The calls among these parts that are not answered there, oldest first.
fn waiting<'a>(parts: impl Iterator<Item = &'a Part>) -> Vec<&'a String> {
    let mut waits = Vec::new();
    for part in parts {
        match part {
            Part::ToolCall { id, .. } => waits.push(id),
            Part::ToolResult { call, .. } => {
                if let Some(last) = waits.iter().rposition(|one| *one == call) {
                    waits.remove(last);
                }
            }
            _ => {}
        }
    }
    waits
}

/// The results of the last calls of a part, of `count` messages, that stand behind it. Gives the
/// messages that they come from; events name them as those that follow.
pub(super) fn with_results(
    view: &dyn View,
    behind: impl FnOnce() -> Result<Vec<ListedEntry>>,
    count: usize,
    events: &mut Vec<(usize, Event)>,
) -> Result<Vec<(usize, ListedEntry)>> {
    let mut open: Vec<&String> = Vec::new();
    for (at, event) in events.iter().filter(|(_, event)| event.parent.is_none()) {
        if let Some(call) = called(event).filter(|_| *at + LOOK >= count) {
            open.push(call);
        } else if let Some(call) = answered(event)
            && let Some(last) = open.iter().rposition(|one| *one == call)
        {
            open.remove(last);
        }
    }
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let mut open: Vec<String> = open.into_iter().cloned().collect();
    let behind = behind()?;
    let contents: Vec<_> = behind.iter().map(|one| one.entry.content).collect();
    let rows = load::rows(view, &contents)?;
    let mut found = Vec::new();
    for (at, one) in behind.into_iter().enumerate() {
        if open.is_empty() {
            break;
        }
        let row = &rows[&one.entry.content];
        if row.calls + row.results == 0 {
            continue;
        }
        let mut is_used = false;
        for part in load::message(view, &one.entry)?.parts {
            let call = match &part {
                Part::ToolResult { call, .. } => call,
                // From here on the id is another call's.
                Part::ToolCall { id, .. } => {
                    open.retain(|one| one != id);
                    continue;
                }
                _ => continue,
            };
            if let Some(last) = open.iter().rposition(|one| one == call) {
                open.remove(last);
                is_used = true;
                let event = Event::new(Happening::Block(part));
                events.push((count + found.len(), event));
            }
        }
        if is_used {
            found.push((at, one));
        }
    }
    Ok(found)
}
