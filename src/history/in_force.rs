//! The request settings in force at a commit, where the newest checkpoint is far: whoever writes the next one asks, and would read
//! all commits since.
//!
//! Deliberately absent: what a setting says, and who sums contexts up.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::load;
use crate::model::Encoding;
use crate::store::View;

/// From how many commits since a checkpoint on it is far: so many are read within a millisecond.
const FAR: u64 = if cfg!(test) { 4 } else { 1_024 };

/// For each setting in force the commit that set it last.
type SetBy = BTreeMap<String, CommitHash>;

/// The settings in force at `tip`.
pub(super) fn at(view: &dyn View, tip: &CommitHash) -> Result<SetBy> {
    match far(view, tip)? {
        Some(settings) => Ok(settings),
        None => view.settings_at(tip),
    }
}

/// The same where the newest checkpoint is far, gone on from those that a summary has, if that is nearer; none where the
/// checkpoint is near.
pub(super) fn far(view: &dyn View, tip: &CommitHash) -> Result<Option<SetBy>> {
    let since = view.commits_since_checkpoint(tip)?;
    if since < FAR {
        return Ok(None);
    }
    let depth = load::commit(view, tip)?.depth;
    let mut best: Option<(u64, SetBy)> = None;
    for encoding in Encoding::ALL {
        let Some((at, summary)) = view.newest_summary(tip, encoding)? else {
            continue;
        };
        let is_nearer = best.as_ref().is_none_or(|(best, _)| *best < at) && depth - at < since;
        best = summary
            .settings
            .filter(|_| is_nearer)
            .map(|settings| (at, settings))
            .or(best);
    }
    let Some((at, mut settings)) = best else {
        return view.settings_at(tip).map(Some);
    };
    view.walk(tip, None, (depth - at) as usize, &mut |row| {
        let keys = row.commit.settings.into_keys();
        settings.extend(keys.map(|key| (key, row.hash)));
        Ok(())
    })?;
    Ok(Some(settings))
}
