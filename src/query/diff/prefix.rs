//! How much of two requests is the same from their start, without a look at what is known of that.

use std::ops::Range;

use crate::compile::{Beginning, Prefix, Provider};
use crate::diff::{ContextDiff, DiffOptions, Side};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Encoding, Written};
use crate::query::diff::PAGE;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::repo::stretches::Outline;
use crate::store::View;

/// From how many messages on it is kept how long they are.
const MEASURED: usize = if cfg!(test) { 4 } else { 256 };

impl Repo {
    /// How much of the requests for the two contexts is the same from their start. Reads what was skipped of them,
    /// message by message; of a long beginning it is kept how long it is in OpenAI's form, so that only what is new is read
    /// after that.
    ///
    /// # Errors
    ///
    /// As [`crate::compile::shared_prefix`], and the store's.
    pub fn shared_prefix(
        &self,
        diff: &ContextDiff,
        provider: Provider,
        encoding: Encoding,
    ) -> Result<Prefix> {
        let (old, new) = (&diff.before, &diff.after);
        let (Some(before), Some(after), 1..) = (old.commit, new.commit, old.skipped) else {
            let (prefix, whole) = (Beginning::new(provider), [old.commit, new.commit]);
            return self.shared_from(prefix, diff, whole, provider, encoding);
        };
        let view = self.store.read()?;
        let purge = view.last_purge()?;
        let outlines = [Outline::of(&*view, &before)?, Outline::of(&*view, &after)?];
        let mut known = None;
        for outline in &outlines {
            let found = written(&*view, outline, encoding)?.into_iter().chain(known);
            let found = found.filter(|found| found.messages <= old.skipped as u64);
            known = found.max_by_key(|found| found.messages);
        }
        let mut beginning = match known {
            Some(known) => Beginning::after(provider, known),
            None => Beginning::new(provider),
        };
        let first = beginning.len();
        let listed = outlines[0].visible();
        for range in pages(first..old.skipped) {
            let entries = listed.read_in(&*view, range)?;
            let entries = entries.iter().map(|one| &one.entry);
            load::tell_beginning(&*view, entries, &mut beginning)?;
        }
        drop(view);
        if let Some(written) = beginning.written()
            && written.messages >= (first + MEASURED) as u64
        {
            for commit in [before, after] {
                if let Some(mut summary) = self.summary_near(&commit, encoding)? {
                    summary.written = Some(written);
                    self.keep_summary(&commit, encoding, &summary, purge);
                    break;
                }
            }
        }
        self.shared_from(
            beginning,
            diff,
            [Some(before), Some(after)],
            provider,
            encoding,
        )
    }

    /// What two contexts share that begin so. Where what a diff left out may matter to that, all of it is read.
    fn shared_from(
        &self,
        beginning: Beginning,
        diff: &ContextDiff,
        commits: [Option<CommitHash>; 2],
        provider: Provider,
        encoding: Encoding,
    ) -> Result<Prefix> {
        let sides = [&diff.before, &diff.after];
        let cut = |side: &Side| side.omitted.first().map(|omitted| omitted.slot);
        let [old, new] =
            sides.map(|side| &side.messages[..cut(side).unwrap_or(side.entries.len())]);
        let goes_on = sides.map(|side| cut(side).is_some());
        match (beginning.shared_before(old, new, goes_on)?, commits) {
            (Some(prefix), _) => Ok(prefix),
            (None, [Some(before), Some(after)]) => {
                let whole = DiffOptions::default();
                let whole = self.diff_of_rest(&before, &after, &whole, encoding)?;
                self.shared_prefix(&whole, provider, encoding)
            }
            (None, _) => Ok(Prefix::default()),
        }
    }
}

/// How long the request is of what a context begins with, as it was measured at a commit before whose context began with
/// the same.
fn written(view: &dyn View, outline: &Outline, encoding: Encoding) -> Result<Option<Written>> {
    let newest = view.newest_summary(&outline.tip, encoding)?;
    let Some((depth, Some(written))) = newest.map(|(depth, summary)| (depth, summary.written))
    else {
        return Ok(None);
    };
    if outline.only_appends_since(depth) {
        return Ok(Some(written));
    }
    let Some(there) = view.ancestor_at(&outline.tip, depth)? else {
        return Ok(None);
    };
    let same = Outline::of(view, &there)?.visible_in_common(outline, depth + 1);
    Ok(Some(written).filter(|written| written.messages <= same as u64))
}

/// A range in parts.
fn pages(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(PAGE).map(move |at| at..end.min(at + PAGE))
}
