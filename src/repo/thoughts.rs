//! Signed thoughts of a tool loop that still runs, of which the provider takes all or none.
//!
//! While results go back to a reply that called, the provider wants the thoughts of that loop unchanged. An edit, a drop of
//! a part or a redaction may have taken one of them. Then a request, or a file that a tool goes on with, has none of them:
//! the provider thinks anew. Deliberately absent: taking them out of what is stored, so an undo brings all back.

use std::ops::Range;

use crate::compile::is_thought;
use crate::context::{Context, Entry};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::model::{Message, Part, Role};
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::View;

/// How many entries are looked at together, from the end on.
const TOGETHER: usize = 64;

impl Repo {
    /// The visible entries whose signed thoughts no request may have: those of the tool loop that the context ends in, if any
    /// of its thoughts is gone or was changed.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn lost_thoughts(&self, context: &Context) -> Result<Option<Range<usize>>> {
        lost_thoughts(&*self.store.read()?, context)
    }
}

/// The same.
pub(crate) fn lost_thoughts(view: &dyn View, context: &Context) -> Result<Option<Range<usize>>> {
    let entries: Vec<&Entry> = context.entries.iter().collect();
    let Some(last) = entries.iter().rposition(|entry| is_changed(entry)) else {
        return Ok(None);
    };
    let Some(running) = running_loop(view, &entries, last)? else {
        return Ok(None);
    };
    for entry in &entries[running.clone()] {
        if is_changed(entry) && has_lost(view, entry)? {
            return Ok(Some(running));
        }
    }
    Ok(None)
}

/// Takes the thoughts out of a message; how many there were.
pub(crate) fn take_thoughts(message: &mut Message) -> usize {
    let before = message.parts.len();
    message.parts.retain(|part| !is_thought(part));
    before - message.parts.len()
}

/// Whether it is an appended message that something has changed since.
fn is_changed(entry: &Entry) -> bool {
    entry.placed.is_none() && !entry.is_as_appended()
}

/// The tool loop that a context ends in, from its first reply to its last, if it reaches back to this entry: the last
/// reply calls, and nobody typed anything since the first one.
fn running_loop(
    view: &dyn View,
    entries: &[&Entry],
    reaching: usize,
) -> Result<Option<Range<usize>>> {
    let mut found: Option<Range<usize>> = None;
    let mut end = entries.len();
    while end > 0 {
        let start = end.saturating_sub(TOGETHER);
        let some = entries[start..end].iter().map(|entry| entry.content);
        let some: Vec<ContentHash> = some.collect();
        let rows = load::rows(view, &some)?;
        for (at, content) in (start..end).zip(&some).rev() {
            let row = &rows[content];
            match (&mut found, row.role) {
                (None, Role::Assistant) if row.calls == row.results => return Ok(None),
                (None, Role::Assistant) => found = Some(at..at + 1),
                (Some(found), Role::Assistant) => found.start = at,
                _ if row.attached || row.results > 0 || row.role == Role::Tool => {}
                // What is typed while results go back belongs to them.
                (None, Role::User) => {}
                _ => return Ok(found.filter(|found| found.start <= reaching)),
            }
        }
        end = start;
    }
    Ok(found.filter(|found| found.start <= reaching))
}

/// Whether an entry shows fewer thoughts than were appended, or other ones.
fn has_lost(view: &dyn View, entry: &Entry) -> Result<bool> {
    let appended = load::commit(view, &entry.id.commit)?.appended();
    let Some(appended) = appended else {
        return Ok(false);
    };
    let was = load::content(view, &appended)?;
    let mut thoughts = was.parts.iter().filter(|part| is_thought(part)).peekable();
    if thoughts.peek().is_none() {
        return Ok(false);
    }
    let is: Vec<Part> = load::message(view, entry)?.parts;
    Ok(thoughts.any(|thought| !is.contains(thought)))
}
