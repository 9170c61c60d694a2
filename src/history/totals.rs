//! The tokens along a path: from a total that is kept, or summed up once at its beginning; then only
//! added to and taken from.

use crate::context::Context;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::change::Change;
use crate::history::counts::{Counts, key, key_of};
use crate::history::load;
use crate::history::repo::Repo;
use crate::model::{Encoding, Operation, TokenCount, Total};
use crate::store::{CommitRow, CountKey, ListedCommit, Store, View};

/// How many appends may stand between a commit and the total that is kept before it.
const GAP: u64 = 256;

/// From how many commits on it is quicker to begin at a checkpoint than to go on.
const LEAP: u64 = 256;

/// The context on the way along a path, forward.
#[derive(Default)]
pub(crate) struct Along {
    /// How many commits lie behind.
    depth: u64,
    pub(crate) context: Context,
}

impl Along {
    /// Goes on, or leaps, to where the next commit is `row`.
    pub(crate) fn advance_to(&mut self, view: &dyn View, row: &CommitRow) -> Result<()> {
        let Some(parent) = row.commit.parent.filter(|_| self.depth < row.depth) else {
            return Ok(());
        };
        if row.depth - self.depth > LEAP || self.depth == 0 {
            self.context = load::context(view, &parent)?;
        } else {
            let steps = (row.depth - self.depth) as usize;
            for row in view.ancestors(&parent, None, steps)?.iter().rev() {
                self.take(view, row)?;
            }
        }
        self.depth = row.depth;
        Ok(())
    }

    /// Takes the next commit in and says what it changed.
    pub(crate) fn step(&mut self, view: &dyn View, row: &CommitRow) -> Result<Change> {
        if let Operation::Append { .. } = row.commit.operation {
            self.take(view, row)?;
            return Ok(Change::appended(&self.context));
        }
        let before = self.context.clone();
        self.take(view, row)?;
        Ok(Change::between(&before, &self.context))
    }

    fn take(&mut self, view: &dyn View, row: &CommitRow) -> Result<()> {
        let before = std::mem::take(&mut self.context);
        self.context = load::next(view, before, row.hash, &row.commit)?;
        self.depth = row.depth + 1;
        Ok(())
    }
}

/// Follows a change.
pub(crate) fn apply(total: &mut Total, change: &Change, counts: &Counts) {
    for (_, entry) in &change.gained {
        total.add(counts.get(entry));
    }
    for (_, entry) in &change.lost {
        total.remove(counts.get(entry));
    }
}

/// What a context comes to before a commit, and at it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    pub(crate) before: Total,
    pub(crate) at: Total,
}

/// The sums at these commits of one path, newest first, from totals that are kept; oldest first. Reads
/// the totals, at most [`GAP`] commits before each that does not follow the one before it, and their
/// counts.
/// None where that is not enough to know them.
pub(crate) fn kept(
    view: &dyn View,
    listed: &[ListedCommit],
    encoding: Encoding,
) -> Result<Option<Vec<Sums>>> {
    let mut sums: Vec<Sums> = Vec::with_capacity(listed.len());
    let mut last: Option<&CommitRow> = None;
    for one in listed.iter().rev() {
        let row = &one.row;
        let follows = last.is_some_and(|last| row.commit.parent == Some(last.hash));
        last = Some(row);
        let before = match (sums.last(), &row.commit.parent) {
            (Some(last), _) if follows => Some(last.at),
            (_, Some(parent)) => at_commit(view, parent, encoding)?,
            (_, None) => Some(Total::default()),
        };
        let at = match (row.appended().is_some(), before) {
            (true, Some(mut total)) => one.count.map(|count| {
                total.add(count);
                total
            }),
            (false, Some(_)) => view.total(&row.hash, encoding)?,
            (_, None) => None,
        };
        match (before, at) {
            (Some(before), Some(at)) => sums.push(Sums { before, at }),
            _ => return Ok(None),
        }
    }
    Ok(Some(sums))
}

/// The total at a commit: the newest one that is kept, and the messages appended since.
pub(crate) fn at_commit(
    view: &dyn View,
    commit: &CommitHash,
    encoding: Encoding,
) -> Result<Option<Total>> {
    let Some(row) = view.commit(commit)? else {
        return Ok(None);
    };
    let (ahead, mut total) = match view.newest_total(commit, encoding)? {
        Some((depth, total)) => (row.depth - depth, total),
        None => (row.depth + 1, Total::default()),
    };
    if ahead > GAP {
        return Ok(None);
    }
    let since = match ahead {
        0 => Vec::new(),
        ahead => view.ancestors(commit, None, ahead as usize)?,
    };
    let key = |row: &CommitRow| row.appended().map(key_of);
    let keys: Option<Vec<CountKey>> = since.iter().map(key).collect();
    let Some(keys) = keys else {
        return Ok(None);
    };
    let counts: Option<Vec<TokenCount>> = view.counts(&keys, encoding)?.into_iter().collect();
    Ok(counts.map(|counts| {
        total.extend(counts);
        total
    }))
}

/// The total at a commit where none is known: of its whole context, counting what has no count yet. And whether
/// it may be kept: not where a message is lost, whose tokens are guessed. No view may be open.
pub(crate) fn of_context(
    repo: &Repo,
    commit: &CommitHash,
    encoding: Encoding,
) -> Result<(Total, bool)> {
    let context = repo.context(commit)?;
    let mut total = Total::default();
    total.extend(repo.counts(&context, encoding)?);
    let keys: Vec<CountKey> = context.entries.iter().map(key).collect();
    let known = repo.store.read()?.counts(&keys, encoding)?;
    Ok((total, known.iter().all(Option::is_some)))
}

/// How many messages are visible at a commit, where a total says so.
pub(crate) fn messages_at(view: &dyn View, commit: &CommitHash) -> Result<Option<usize>> {
    for encoding in Encoding::ALL {
        if let Some(total) = at_commit(view, commit, encoding)? {
            return Ok(Some(total.messages as usize));
        }
    }
    Ok(None)
}

/// Keeps totals for later. They hold as long as nothing is purged: `purge` is the newest one that the
/// counts know of. A repository that cannot be written to is no obstacle.
pub(crate) fn keep(
    store: &dyn Store,
    purge: Option<u64>,
    encoding: Encoding,
    totals: impl Iterator<Item = (CommitHash, Total)>,
) {
    let _ = store.write_if_free().and_then(|tx| {
        if tx.last_purge()? == purge {
            for (commit, total) in totals {
                tx.put_total(&commit, encoding, total)?;
            }
        }
        tx.commit()
    });
}
