//! The request settings in force at a commit, where the newest checkpoint is far: whoever writes the next one asks, and would read
//! all commits since.
//!
//! Deliberately absent: what a setting says, and who sums contexts up.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Encoding;
use crate::store::View;

/// From how many commits since a checkpoint on it is far: so many are read within a millisecond.
const FAR: u64 = if cfg!(test) { 4 } else { 1_024 };
/// How many entries a context has at least before anybody asks how far the checkpoint is.
const FEWEST: u64 = if cfg!(test) { 6 } else { 2_048 };
/// What a commit behind a summary costs beside one behind a checkpoint, of which most are told apart unread.
const READ: u64 = 8;

/// For each setting in force the commit that set it last.
type SetBy = BTreeMap<String, CommitHash>;

/// The settings in force at `tip`, whose context has so many entries.
pub(crate) fn at(view: &dyn View, tip: &CommitHash, entries: u64) -> Result<SetBy> {
    let known = if entries < FEWEST {
        None
    } else {
        far(view, tip)?
    };
    known.map_or_else(|| view.settings_at(tip), Ok)
}

/// The same where the newest checkpoint is far, gone on from those that a summary has, if that is nearer by far; none where the
/// checkpoint is near.
pub(crate) fn far(view: &dyn View, tip: &CommitHash) -> Result<Option<SetBy>> {
    let since = view.commits_since_checkpoint(tip)?;
    if since < FAR {
        return Ok(None);
    }
    let depth = view.commit(tip)?.map_or(0, |row| row.depth);
    let mut best: Option<(u64, SetBy)> = None;
    for encoding in Encoding::ALL {
        let Some((at, summary)) = view.newest_summary(tip, encoding)? else {
            continue;
        };
        let is_nearer = best.as_ref().is_none_or(|(best, _)| *best < at)
            && depth.saturating_sub(at) * READ < since;
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
