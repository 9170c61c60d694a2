//! What was erased of paths.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::repo::ancestry;
use crate::store::View;
use crate::upkeep::purge::{contents_of, is_any_erased};

/// What is erased of the paths to these commits, as far as they are here: also what came so from elsewhere.
pub(super) fn erased_on(view: &dyn View, tips: &[CommitHash]) -> Result<Vec<ContentHash>> {
    if !is_any_erased(view)? {
        return Ok(Vec::new());
    }
    let named = named_on(view, tips)?;
    let purged = view.purged(&named)?;
    let erased = named.into_iter().zip(purged).filter(|(_, purged)| *purged);
    Ok(erased.map(|(content, _)| content).collect())
}

/// All messages that what leads to these commits names.
pub(super) fn named_on(view: &dyn View, tips: &[CommitHash]) -> Result<Vec<ContentHash>> {
    let mut named: BTreeSet<ContentHash> = BTreeSet::new();
    for some in ancestry::leading_to(view, tips)?.chunks(SOME) {
        let rows = view.commits(some)?;
        let rows: Vec<_> = rows.into_iter().flatten().collect();
        named.extend(contents_of(&rows));
    }
    Ok(named.into_iter().collect())
}

/// How many commits are held at once.
const SOME: usize = 1 << 12;
