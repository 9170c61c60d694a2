//! Clear: a fresh start.

use super::{Conversation, Hidden};
use crate::model::{Draft, HideKind, Operation};

/// Hides everything but pinned messages and, unless `all`, the system messages. None if that is
/// nothing.
pub fn clear(conversation: &Conversation, all: bool) -> Option<Draft> {
    let stays = |at: usize| conversation.is_pinned(at) || (!all && conversation.is_system(at));
    let wanted = (0..conversation.visible_count()).filter(|at| !stays(*at));
    let taken = conversation.whole_groups(wanted, stays);
    if taken.is_empty() {
        return None;
    }
    let hide = conversation.hide(HideKind::Clear, &taken, Hidden::Cover);
    Some(Draft::new(Operation::Hide(hide), Vec::new()))
}
