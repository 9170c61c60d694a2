//! Drop: single messages out, verbatim.

use super::{Conversation, Hidden};
use crate::error::{Error, Result};
use crate::model::{Draft, HideKind, Operation, Role};

/// Hides the named messages (places from 0) with their tool partners; all or nothing.
///
/// # Errors
///
/// [`Error::Refused`] if one of them, or a partner, is pinned or still being answered; without
/// `force` also for the task and the last user message.
pub fn drop_messages(conversation: &Conversation, named: &[usize], force: bool) -> Result<Draft> {
    let refuse = |reason: &str| {
        Err(Error::Refused {
            reason: reason.to_owned(),
        })
    };
    let last_user = (0..conversation.visible_count())
        .rev()
        .find(|at| conversation.facts(*at).role == Role::User);
    let groups: Vec<usize> = named
        .iter()
        .flat_map(|at| conversation.pairs().group(*at))
        .copied()
        .collect();
    for at in &groups {
        if conversation.is_pinned(*at) {
            return refuse("a pinned message, or a tool partner of one, cannot be dropped");
        }
        if conversation.pairs().is_open(*at) {
            return refuse("a call that is still being answered cannot be dropped");
        }
        if !force && (conversation.task() == Some(*at) || last_user == Some(*at)) {
            return refuse("the task and the last user message are dropped only by force");
        }
    }
    let taken = conversation.whole_groups(groups, |_| false);
    if taken.is_empty() {
        return refuse("no message is named");
    }
    let hide = conversation.hide(HideKind::Drop, &taken, Hidden::Leave);
    Ok(Draft::new(Operation::Hide(hide), Vec::new()))
}
