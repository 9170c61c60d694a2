//! The tokens along a path: from a total that is kept, or summed up once at its beginning; then only
//! added to and taken from.

use std::collections::VecDeque;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Encoding, Operation, TokenCount, Total};
use crate::repo::change::Change;
use crate::repo::counts::{Counts, key, key_of};
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::repo::stretches::Outline;
use crate::store::{Appended, CommitRow, CountKey, Facts, ListedCommit, Store, Tx, View};

/// How many appends may stand between a commit and the total that is kept before it.
const GAP: u64 = 256;

/// How far apart totals are kept near the end of a path.
const NEAR: u64 = 16;

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

impl Sums {
    /// Whether any message in them is estimated.
    pub(crate) fn is_estimated(&self) -> bool {
        self.before.estimates + self.at.estimates > 0
    }
}

/// The sums at these commits of one path, newest first, from totals that are kept; oldest first. Reads
/// the totals, at most [`GAP`] commits before each that does not follow the one before it, and their
/// counts; `new` are counts that may not be kept.
/// None where that is not enough to know them.
pub(crate) fn kept(
    view: &dyn View,
    listed: &[ListedCommit],
    new: &Counts,
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
            (_, Some(parent)) => at_commit(view, parent, new, encoding)?,
            (_, None) => Some(Total::default()),
        };
        let at = match (row.appended(), before) {
            (Some(content), Some(mut total)) => {
                let count = one.count.or_else(|| new.find(&key_of(content)));
                count.map(|count| {
                    total.add(count);
                    total
                })
            }
            (None, Some(_)) => {
                let newest = view.newest_total(&row.hash, encoding)?;
                let at = newest.filter(|(depth, _)| *depth == row.depth);
                at.map(|(_, total)| total)
            }
            (_, None) => None,
        };
        match (before, at) {
            (Some(before), Some(at)) => sums.push(Sums { before, at }),
            _ => return Ok(None),
        }
    }
    Ok(Some(sums))
}

/// The total at a commit: the newest one that is kept, and the messages appended since. `new` are counts
/// that may not be kept.
pub(crate) fn at_commit(
    view: &dyn View,
    commit: &CommitHash,
    new: &Counts,
    encoding: Encoding,
) -> Result<Option<Total>> {
    let Some((mut total, appended)) = since(view, commit, encoding)? else {
        return Ok(None);
    };
    let count = |one: &Appended| one.count.or_else(|| new.find(&key_of(one.content)));
    let counts: Option<Vec<TokenCount>> = appended.iter().map(count).collect();
    Ok(counts.map(|counts| {
        total.extend(counts);
        total
    }))
}

/// The total at a commit, where all that was appended since one that is kept has a count, and whether that one is near.
pub(crate) fn known_at(
    view: &dyn View,
    commit: &CommitHash,
    encoding: Encoding,
) -> Result<Option<(Total, bool)>> {
    let Some((mut total, appended)) = since(view, commit, encoding)? else {
        return Ok(None);
    };
    let counts: Option<Vec<TokenCount>> = appended.iter().map(|one| one.count).collect();
    Ok(counts.map(|counts| {
        total.extend(counts);
        (total, appended.len() as u64 <= NEAR)
    }))
}

/// The newest total that is kept on the path to a commit, and what was appended since, oldest first. None
/// where that is more than [`GAP`], or something else came since.
fn since(
    view: &dyn View,
    commit: &CommitHash,
    encoding: Encoding,
) -> Result<Option<(Total, Vec<Appended>)>> {
    let Some(row) = view.commit(commit)? else {
        return Ok(None);
    };
    let (first, total) = match view.newest_total(commit, encoding)? {
        Some((depth, total)) => (depth + 1, total),
        None => (0, Total::default()),
    };
    let ahead = row.depth + 1 - first;
    if ahead > GAP {
        return Ok(None);
    }
    let mut appended = Vec::new();
    if ahead > 0 {
        let facts = Facts {
            counts: Some(encoding),
            ..Facts::default()
        };
        let read = view.appended(commit, first..row.depth + 1, facts, &mut |one| {
            appended.push(one);
            Ok(())
        });
        // Whoever reads the commits themselves says what is damaged.
        match read {
            Err(Error::Damaged { .. }) => return Ok(None),
            read => read?,
        }
    }
    let ends = appended.last().is_none_or(|one| one.commit == *commit);
    let is_all = ends && appended.len() as u64 == ahead;
    Ok(is_all.then_some((total, appended)))
}

/// Counts what was appended since the newest total that is kept on the path to a commit, so that
/// [`kept`] and [`at_commit`] are enough again: with totals on the way, where that is far. Counts nothing where something else came
/// since: the context is to be summed up there. No view may be open.
pub(crate) fn catch_up(
    store: &dyn Store,
    commit: &CommitHash,
    encoding: Encoding,
) -> Result<Counts> {
    let view = store.read()?;
    let purge = view.last_purge()?;
    let Some(row) = view.commit(commit)? else {
        return Ok(Counts::default());
    };
    let (first, mut total) = match view.newest_total(commit, encoding)? {
        Some((depth, total)) => (depth + 1, total),
        None => (0, Total::default()),
    };
    let Some(keys) = appended_since(&*view, commit, first)? else {
        return Ok(Counts::default());
    };
    drop(view);
    let counts = Counts::of_contents(store, &keys, encoding)?;
    let own: Vec<CountKey> = keys.iter().map(|(_, key)| *key).collect();
    if keys.len() as u64 > GAP && Counts::are_kept(store, &own, encoding)? {
        let counted = keys.iter().zip(first..).map(|((commit, key), depth)| {
            total.extend(counts.find(key));
            // What is looked at next begins close to the end.
            let ahead = row.depth - depth;
            let each = if ahead < GAP { NEAR } else { GAP };
            (ahead == 0 || depth % each == 0).then_some((*commit, total))
        });
        let totals: Vec<(CommitHash, Total)> = counted.flatten().collect();
        keep(store, purge, encoding, totals.into_iter());
    }
    Ok(counts)
}

/// The commits of a path from a depth on with what they append, oldest first; none where they are not all
/// appends.
pub(crate) fn appended_since(
    view: &dyn View,
    tip: &CommitHash,
    first: u64,
) -> Result<Option<Vec<(CommitHash, CountKey)>>> {
    let (mut keys, mut next) = (Vec::new(), Some(*tip));
    while let Some(from) = next.take() {
        let rows = view.ancestors(&from, None, GAP as usize)?;
        for row in rows {
            if row.depth < first {
                break;
            }
            let Some(content) = row.appended() else {
                return Ok(None);
            };
            keys.push((row.hash, key_of(content)));
            next = row.commit.parent.filter(|_| row.depth > first);
        }
    }
    keys.reverse();
    Ok(Some(keys))
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
    total.extend(repo.counts_in(&context, encoding)?);
    let keys: Vec<CountKey> = context.entries.iter().map(key).collect();
    Ok((total, Counts::are_kept(&*repo.store, &keys, encoding)?))
}

/// The total at a commit: as it is known, else summed up, and kept where that took a look at many. No view may be open.
pub(crate) fn of_commit(repo: &Repo, commit: &CommitHash, encoding: Encoding) -> Result<Total> {
    let known = |new: &Counts| at_commit(&*repo.store.read()?, commit, new, encoding);
    if let Some(total) = known(&Counts::default())? {
        return Ok(total);
    }
    if let Some(total) = known(&catch_up(&*repo.store, commit, encoding)?)? {
        return Ok(total);
    }
    let view = repo.store.read()?;
    let purge = view.last_purge()?;
    let counts = Outline::of(&*view, commit)?.counts(&*view, encoding)?;
    drop(view);
    let (total, is_known) = if counts.iter().all(Option::is_some) {
        let mut total = Total::default();
        total.extend(counts.into_iter().flatten());
        (total, true)
    } else {
        of_context(repo, commit, encoding)?
    };
    if is_known {
        keep(
            &*repo.store,
            purge,
            encoding,
            [(*commit, total)].into_iter(),
        );
    }
    Ok(total)
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

/// The totals of a path while messages are appended to it: where these are many, they are kept so that whoever looks next finds
/// one near. Of a few nothing is kept: they are added when somebody looks.
pub(crate) struct Running {
    encoding: Encoding,
    /// The newest purge when it began: of what was purged since, the counts are others.
    purge: Option<u64>,
    /// The commit behind which it began.
    behind: Option<CommitHash>,
    /// What that comes to, once it is asked for; none where nobody knows.
    base: Option<Total>,
    /// How many messages were appended, and what they come to.
    appended: u64,
    since: Total,
    /// What they came to at some of the newest commits.
    near: VecDeque<(CommitHash, Total)>,
}

impl Running {
    /// Behind a commit, or at the beginning of a path.
    pub(crate) fn behind(
        view: &dyn View,
        behind: Option<CommitHash>,
        encoding: Encoding,
    ) -> Result<Self> {
        Ok(Self {
            encoding,
            purge: view.last_purge()?,
            behind,
            base: None,
            appended: 0,
            since: Total::default(),
            near: VecDeque::new(),
        })
    }

    /// Takes in that a commit appended a message.
    pub(crate) fn append(
        &mut self,
        tx: &dyn Tx,
        commit: CommitHash,
        count: TokenCount,
    ) -> Result<()> {
        self.since.add(count);
        self.appended += 1;
        if self.appended == NEAR {
            self.base = match &self.behind {
                Some(behind) => at_commit(tx, behind, &Counts::default(), self.encoding)?,
                None => Some(Total::default()),
            };
        }
        if self.base.is_some() && self.appended.is_multiple_of(NEAR) {
            let is_full = self.near.len() as u64 == GAP / NEAR;
            let oldest = self.near.pop_front_if(|_| is_full);
            self.near.push_back((commit, self.since));
            if let Some(oldest) = oldest.filter(|_| self.appended.is_multiple_of(GAP)) {
                self.put(tx, [oldest])?;
            }
        }
        Ok(())
    }

    /// Keeps the totals at the end: nothing is appended any more.
    pub(crate) fn keep(&mut self, tx: &dyn Tx) -> Result<()> {
        let near = std::mem::take(&mut self.near);
        self.put(tx, near)
    }

    fn put(
        &self,
        tx: &dyn Tx,
        totals: impl IntoIterator<Item = (CommitHash, Total)>,
    ) -> Result<()> {
        let Some(base) = self.base else {
            return Ok(());
        };
        if tx.last_purge()? != self.purge {
            return Ok(());
        }
        for (commit, since) in totals {
            tx.put_total(&commit, self.encoding, base.with(since))?;
        }
        Ok(())
    }
}
