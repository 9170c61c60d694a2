//! What lies between two looks at a line of history: what came, and what is gone.
//!
//! Deliberately absent: waiting for it, and what of it is shown.

use std::collections::HashSet;

use crate::error::Result;
use crate::hash::CommitHash;
use crate::repo::repository::Repo;
use crate::store::{CommitRow, View};

/// How many commits are looked at at first for one that both have: most often that is the very end of the old way.
const FIRST: usize = 4;
/// How many times as many are looked at next, and how many at most.
const MORE: usize = 4;
const MOST: usize = 1024;

/// The way from one commit to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Whether the commit that was left is here no longer, so that nothing is known of its way.
    pub is_lost: bool,
    /// How many messages were appended on the way that was left.
    pub gone: usize,
    /// How many are appended on the new way.
    pub came: usize,
    /// What else is done on the new way, oldest first: the commit, and the word for it.
    pub changes: Vec<(CommitHash, &'static str)>,
    /// All commits on the new way.
    commits: HashSet<CommitHash>,
}

impl Moved {
    /// Whether a commit is on the new way.
    pub fn has(&self, commit: &CommitHash) -> bool {
        self.commits.contains(commit)
    }
}

impl Repo {
    /// A number that is another one once another process has written: cheap enough to be asked for
    /// many times a second.
    pub fn version(&self) -> Result<u64> {
        self.store.version()
    }

    /// What became of a line of history that ended in `old` (none: it had no commit), and ends in
    /// `new` now.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, Repo};
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let say = |text| [Draft::append(Message::text(Role::User, text))];
    /// let commit = |text| -> tract::Result<_> {
    ///     let done = repo.commit(Call::default(), &say(text), &CommitOptions::default())?;
    ///     Ok(done[0].hash)
    /// };
    /// let (one, two) = (commit("one")?, commit("two")?);
    /// let moved = repo.moved(Some(&one), Some(&two))?;
    /// assert_eq!((moved.gone, moved.came), (0, 1));
    /// let back = repo.moved(Some(&two), None)?;
    /// assert_eq!((back.gone, back.came), (2, 0));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn moved(&self, old: Option<&CommitHash>, new: Option<&CommitHash>) -> Result<Moved> {
        let view = self.store.read()?;
        let appends = |row: &CommitRow| row.appended().is_some();
        let (mut gone, mut common, mut from) = (0, None, old.copied());
        let mut is_lost = false;
        let mut step = FIRST;
        while let (Some(tip), None) = (from, common) {
            let rows = view.ancestors(&tip, None, step)?;
            step = (step * MORE).min(MOST);
            is_lost |= rows.is_empty();
            let shared = match new {
                Some(new) => shared(&*view, &rows, new)?,
                None => rows.len(),
            };
            gone += rows[..shared].iter().filter(|row| appends(row)).count();
            common = rows.get(shared).map(|row| row.hash);
            from = rows.last().and_then(|row| row.commit.parent);
        }
        let came = match new {
            Some(new) => view.ancestors(new, common.as_ref(), usize::MAX)?,
            None => Vec::new(),
        };
        let changes = came.iter().rev().filter(|row| !appends(row));
        Ok(Moved {
            is_lost,
            gone,
            came: came.iter().filter(|row| appends(row)).count(),
            changes: changes
                .map(|row| (row.hash, row.commit.operation.verb()))
                .collect(),
            commits: came.iter().map(|row| row.hash).collect(),
        })
    }
}

/// How many of these, newest first, are not on the path to `new`.
fn shared(view: &dyn View, rows: &[CommitRow], new: &CommitHash) -> Result<usize> {
    let hashes: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
    let on_path = view.are_ancestors(&hashes, new)?;
    Ok(on_path.iter().position(|on| *on).unwrap_or(rows.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Draft, Message, Role};
    use crate::repo::{Call, CommitOptions, On, ResetMode};
    use crate::rewrite::SurgeryOptions;
    use crate::rewrite::{Extent, Summary};

    #[test]
    fn what_came_and_what_is_gone_is_told_across_a_fork() {
        let repo = Repo::ephemeral().expect("made");
        let commit = |from: usize, to: usize| {
            let say = |at: usize| Draft::append(Message::text(Role::User, at.to_string()));
            let drafts: Vec<Draft> = (from..to).map(say).collect();
            let done = repo.commit(Call::default(), &drafts, &CommitOptions::default());
            done.expect("commits").last().expect("some").hash
        };
        let base = commit(0, 1_500);
        let old = commit(1_500, 3_000);
        repo.reset(Call::default(), &base.to_string(), ResetMode::Soft)
            .expect("moves");
        commit(5_000, 5_007);
        let (call, options) = (Call::default(), SurgeryOptions::default());
        repo.compact(call, &Extent::All, Summary::Text("short"), &options)
            .expect("compacts");
        let new = commit(6_000, 6_003);
        let moved = repo.moved(Some(&old), Some(&new)).expect("told");
        assert_eq!((moved.gone, moved.came), (1_500, 10));
        let words: Vec<&str> = moved.changes.iter().map(|(_, word)| *word).collect();
        assert_eq!(words, ["compact"]);
        assert!(moved.has(&new) && !moved.has(&base) && !moved.has(&old));
        assert_eq!(
            repo.moved(Some(&new), Some(&new)).expect("told"),
            Moved::default()
        );
        let elsewhere = Repo::ephemeral().expect("made");
        let moved = elsewhere.moved(Some(&old), None).expect("told");
        assert!(moved.is_lost && moved.gone == 0);
        let from_nothing = repo.moved(None, Some(&base)).expect("told");
        assert_eq!((from_nothing.gone, from_nothing.came), (0, 1_500));
        assert_eq!(repo.head(&On::Head).expect("a head").commit(), Some(new));
    }
}
