//! When replies came whose stream gives them no time, as far as it gives times to what stands around them.
//!
//! Claude Code's stream times the results of tools alone. A reply comes soon behind what it answers, and what it asked for
//! soon behind it.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Millis;
use crate::store::Tx;

/// How many commits without a time are looked at above what goes on from another import.
const FEW: usize = 16;

/// The commits without a time behind the last one that has any.
#[derive(Default)]
pub(super) struct Untimed {
    /// The commit up to which this is so, and its time; none where nobody looked yet.
    at: Option<(CommitHash, Option<Millis>)>,
    waiting: Vec<CommitHash>,
}

impl Untimed {
    /// Notes the next commit, with its time.
    pub(super) fn note(
        &mut self,
        tx: &dyn Tx,
        (commit, parent): (CommitHash, Option<&CommitHash>),
        time: Option<Millis>,
    ) -> Result<()> {
        if self.at.as_ref().map(|(at, _)| at) != parent {
            self.go_on_behind(tx, parent)?;
        }
        let before = self.at.and_then(|(_, time)| time);
        self.at = Some((commit, time));
        if let Some(time) = time {
            // Who recorded them may know that they came earlier.
            let came = std::mem::take(&mut self.waiting);
            return put(tx, &came, time, |known| known.is_none_or(|it| time < it));
        }
        self.waiting.push(commit);
        match before {
            Some(before) => put(tx, &[commit], before, |known| known.is_none()),
            None => Ok(()),
        }
    }

    /// Goes on behind a commit of an earlier import or on another path.
    fn go_on_behind(&mut self, tx: &dyn Tx, parent: Option<&CommitHash>) -> Result<()> {
        *self = Self::default();
        let Some(row) = parent.map(|it| tx.commit(it)).transpose()?.flatten() else {
            return Ok(());
        };
        let time = row.commit.time;
        self.at = Some((row.hash, time));
        // Most messages have a time.
        if time.is_none() {
            let before = tx.ancestors(&row.hash, None, FEW)?.into_iter();
            let untimed = before.take_while(|row| row.commit.time.is_none());
            self.waiting.extend(untimed.map(|row| row.hash));
        }
        Ok(())
    }
}

/// Writes down of those that are counted replies when they came, where that is better than what is known.
fn put(
    tx: &dyn Tx,
    commits: &[CommitHash],
    time: Millis,
    is_better: impl Fn(Option<Millis>) -> bool,
) -> Result<()> {
    if commits.is_empty() {
        return Ok(());
    }
    let counted = tx.usage(commits)?;
    let mut details = tx.usage_details(commits)?;
    for (commit, usage) in commits.iter().zip(counted) {
        let mut detail = details.remove(commit).unwrap_or_default();
        if usage.is_some() && is_better(detail.recorded) {
            detail.recorded = Some(time);
            tx.put_usage_detail(commit, &detail)?;
        }
    }
    Ok(())
}
