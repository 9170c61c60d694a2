//! Skip: an annotation that takes messages out of the context.

use std::collections::BTreeSet;

use super::Conversation;
use crate::error::{Error, Result};
use crate::model::{Draft, Operation, Priority};

/// Marks the named messages (places from 0), with their tool partners, to be skipped.
///
/// # Errors
///
/// [`Error::Refused`] if one of them, or a partner, is pinned or still being answered.
pub fn skip(conversation: &Conversation, named: &[usize], reason: Option<String>) -> Result<Draft> {
    let refuse = |reason: &str| {
        Err(Error::Refused {
            reason: reason.to_owned(),
        })
    };
    let groups: BTreeSet<usize> = named
        .iter()
        .flat_map(|at| conversation.pairs().group(*at))
        .copied()
        .collect();
    if groups.is_empty() {
        return refuse("no message is named");
    }
    if groups.iter().any(|at| conversation.is_pinned(*at)) {
        return refuse("a pinned message, or a tool partner of one, cannot be skipped");
    }
    if groups.iter().any(|at| conversation.pairs().is_open(*at)) {
        return refuse("a call that is still being answered cannot be skipped");
    }
    let targets = groups.iter().map(|at| conversation.entry(*at).id).collect();
    let operation = Operation::Annotate {
        targets,
        priority: Priority::Skip,
        reason,
    };
    Ok(Draft::new(operation, Vec::new()))
}
