//! What others did: passed over where each has a HEAD of their own, and named where it is in the way.

use super::{RECENT, operation};
use crate::error::{Error, Result};
use crate::model::RefName;
use crate::repo::seat::Own;
use crate::store::{OperationRow, View};

/// Whether an operation was done elsewhere, or by somebody else, where that is passed over.
pub(crate) fn is_elsewhere(
    own: Option<&Own>,
    view: &dyn View,
    operation: &OperationRow,
) -> Result<bool> {
    own.map_or(Ok(false), |own| own.is_elsewhere(view, operation))
}

/// Refuses what another person did, where each undoes their own.
pub(super) fn refuse_others(view: &dyn View, operation: &OperationRow) -> Result<()> {
    let own = Own::of(view)?.filter(|own| matches!(own, Own::Person(_)));
    if !is_elsewhere(own.as_ref(), view, operation)? {
        return Ok(());
    }
    Err(Error::NotYours {
        id: operation.id,
        what: operation.what.clone(),
        by: operation.by.as_ref().and_then(|by| by.name.clone()),
    })
}

/// Who moved a ref last since an operation, but for who is at work.
pub(super) fn moved_by(view: &dyn View, name: &RefName, since: u64) -> Result<Option<String>> {
    let own = view.worker().and_then(|who| who.name.as_ref());
    for row in view.reflog(name, RECENT)? {
        if row.operation <= since {
            break;
        }
        let by = operation(view, row.operation)?.by.and_then(|by| by.name);
        if by.is_some() && by.as_ref() != own {
            return Ok(by);
        }
    }
    Ok(None)
}
