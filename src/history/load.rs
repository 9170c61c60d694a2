//! From a commit back to a checkpoint, and forward again to its context.

use crate::context::{Context, Entry, Order};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::Message;
use crate::store::{CommitRow, View};

/// The commit, which must be here.
pub(crate) fn commit(view: &dyn View, hash: &CommitHash) -> Result<CommitRow> {
    view.commit(hash)?.ok_or_else(|| Error::UnknownRevision {
        text: hash.to_string(),
        nearest: None,
    })
}

/// The content, which must be here.
pub(crate) fn content(view: &dyn View, hash: &ContentHash) -> Result<Message> {
    view.content(hash)?.ok_or_else(|| Error::Damaged {
        detail: format!("content {hash:.10} is missing"),
    })
}

/// The message of a visible entry, hidden parts left out or replaced.
pub(crate) fn message(view: &dyn View, entry: &Entry) -> Result<Message> {
    let message = content(view, &entry.content)?;
    let mut stubs = Vec::new();
    for part in entry.mask.parts() {
        if let Some(stub) = part.stub {
            stubs.push((stub, content(view, &stub)?));
        }
    }
    let stub = |hash: &ContentHash| {
        stubs
            .iter()
            .find(|(known, _)| known == hash)
            .map(|(_, message)| message.clone())
    };
    Ok(entry.mask.apply(message, stub))
}

/// The context at `tip`: from the newest checkpoint forward, or, where an operation reaches
/// beyond what is visible, from the root.
pub(crate) fn context(view: &dyn View, tip: &CommitHash) -> Result<Context> {
    let (base, mut context) = match view.checkpoint(tip)? {
        Some((base, context)) => (Some(base), context),
        None => {
            commit(view, tip)?;
            (None, Context::default())
        }
    };
    let rows = view.ancestors(tip, base.as_ref(), usize::MAX)?;
    for row in rows.iter().rev() {
        match context.step(row.hash, &row.commit) {
            Some(next) => context = next,
            None => return Ok(order(view, tip)?.context()),
        }
    }
    Ok(context)
}

/// The whole order at `tip`, folded from the root over commit rows, without bodies.
pub(crate) fn order(view: &dyn View, tip: &CommitHash) -> Result<Order> {
    let mut order = Order::default();
    for row in view.ancestors(tip, None, usize::MAX)?.iter().rev() {
        order.apply(row.hash, &row.commit)?;
    }
    Ok(order)
}
