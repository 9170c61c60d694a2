//! Compaction: a summary in place of a span.

use super::{Conversation, Hidden, by_user};
use crate::error::{Error, Result};
use crate::model::{Draft, HideKind, Operation, Replacement};

/// What is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// All but the system messages and the last so many messages.
    AllBut(usize),
    /// From one visible message to another, both included; places from 0.
    From(usize, usize),
}

/// Replaces a span by a summary. System and pinned messages inside it stay.
///
/// # Errors
///
/// [`Error::Refused`] if there is nothing worth summing up: at most one message, since the last
/// summary or at all.
pub fn compact(conversation: &Conversation, span: Span, summary: &str) -> Result<Draft> {
    let count = conversation.visible_count();
    let (first, last) = match span {
        Span::AllBut(keep) => (0, count.saturating_sub(keep)),
        Span::From(first, last) => (first, count.min(last.saturating_add(1))),
    };
    let stays = |at: usize| {
        at < first || at >= last || conversation.is_system(at) || conversation.is_pinned(at)
    };
    let taken = conversation.whole_groups((first..last).filter(|at| !stays(*at)), stays);
    let summed = |at: &&usize| {
        let placed = conversation.entry(**at).placed;
        placed.is_none_or(|(_, kind)| kind != HideKind::Compaction)
    };
    if taken.iter().filter(summed).count() <= 1 {
        return Err(Error::Refused {
            reason: "there is nothing to compact".to_owned(),
        });
    }
    let message = by_user(summary);
    let mut hide = conversation.hide(HideKind::Compaction, &taken, Hidden::Cover);
    let before = conversation.after(&taken);
    hide.replacements.push(Replacement {
        before,
        content: message.hash(),
    });
    Ok(Draft::new(Operation::Hide(hide), vec![message]))
}
