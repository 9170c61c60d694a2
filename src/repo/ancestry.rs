//! What leads to a commit by either parent: whether one commit is in another's history, what is only in one of two, and
//! where two histories meet last.
//!
//! A history is a few paths, each along first parents: the commit's own, and that of each commit which was merged on one
//! of them. So what the store knows of paths answers here, too. Deliberately absent: the fold, which follows first
//! parents alone.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::hash::CommitHash;
use crate::repo::path;
use crate::store::{CommitRow, Spot, Trail, Trails, View};

/// All that leads to some commits.
#[derive(Default)]
pub(crate) struct History {
    /// The ends of its paths, none of which is on another one of them.
    ends: Vec<End>,
    /// All that is on its paths.
    trails: Trails,
}

struct End {
    commit: CommitHash,
    at: Option<Spot>,
}

impl History {
    /// What leads to any of these commits, themselves included.
    pub(crate) fn of(view: &dyn View, tips: &[CommitHash]) -> Result<Self> {
        let mut history = Self::default();
        for tip in tips {
            history.add(view, tip)?;
        }
        Ok(history)
    }

    fn add(&mut self, view: &dyn View, tip: &CommitHash) -> Result<()> {
        let mut open = vec![*tip];
        while let Some(end) = open.pop() {
            let (trail, at) = trail(view, end)?;
            if at.is_some_and(|at| self.trails.hold(at)) {
                continue;
            }
            let merged = view.merges(&end)?.into_iter();
            open.extend(merged.filter_map(|row| row.commit.merged));
            self.take(end, at, &trail);
        }
        Ok(())
    }

    /// One more path, and none that is a beginning of it.
    pub(crate) fn put(&mut self, view: &dyn View, end: CommitHash) -> Result<()> {
        let (trail, at) = trail(view, end)?;
        self.take(end, at, &trail);
        Ok(())
    }

    fn take(&mut self, commit: CommitHash, at: Option<Spot>, trail: &Trail) {
        let is_begun = |end: &End| end.at.is_some_and(|at| trail.holds(at));
        self.ends.retain(|end| !is_begun(end));
        self.ends.push(End { commit, at });
        self.trails.add(trail);
    }

    /// Which of these commits are in it.
    pub(crate) fn holds(&self, view: &dyn View, commits: &[CommitHash]) -> Result<Vec<bool>> {
        let Some(end) = self.ends.first() else {
            return Ok(vec![false; commits.len()]);
        };
        let (_, standings) = view.trail(&end.commit, commits)?;
        let standings = standings.into_iter();
        let held = standings.map(|at| at.is_some_and(|at| self.trails.hold(at)));
        Ok(held.collect())
    }

    /// The last commit on the path to `tip` that is in it.
    pub(crate) fn last_on(&self, view: &dyn View, tip: &CommitHash) -> Result<Option<CommitHash>> {
        let (trail, _) = view.trail(tip, &[])?;
        match self.trails.last_on(&trail) {
            Some(depth) => view.ancestor_at(tip, depth),
            None => Ok(None),
        }
    }
}

/// Whether `commit` leads to `tip` by either parent, `tip` itself included.
pub(crate) fn leads_to(view: &dyn View, commit: &CommitHash, tip: &CommitHash) -> Result<bool> {
    if view.is_ancestor(commit, tip)? {
        return Ok(true);
    }
    let history = History::of(view, &[*tip])?;
    Ok(history.holds(view, &[*commit])?[0])
}

/// The path to a commit, and where it stands itself.
fn trail(view: &dyn View, tip: CommitHash) -> Result<(Trail, Option<Spot>)> {
    let (trail, at) = view.trail(&tip, &[tip])?;
    Ok((trail, at.into_iter().next().flatten()))
}

/// What leads to `tip` and to none of `others`, each commit behind both of its parents and what it is a copy of.
pub(crate) fn beyond(
    view: &dyn View,
    tip: &CommitHash,
    others: &[CommitHash],
) -> Result<Vec<CommitRow>> {
    let rows = walk(view, vec![*tip], History::of(view, others)?)?;
    Ok(parents_first(rows))
}

/// The commits that lead to any of these, each once.
pub(crate) fn leading_to(view: &dyn View, tips: &[CommitHash]) -> Result<Vec<CommitHash>> {
    let rows = match tips {
        // One reading of all there is costs less than as many questions as pairs.
        tips if tips.len() > FEW => view.by_reach(tips)?.reached,
        tips => walk(view, tips.to_vec(), History::default())?,
    };
    Ok(rows.iter().map(|row| row.hash).collect())
}

/// How many histories are followed one after the other.
const FEW: usize = 16;

/// What leads to these commits and is not known, in no order.
fn walk(view: &dyn View, mut open: Vec<CommitHash>, mut known: History) -> Result<Vec<CommitRow>> {
    let mut rows = Vec::new();
    while let Some(end) = open.pop() {
        let (trail, at) = trail(view, end)?;
        if at.is_some_and(|at| known.trails.hold(at)) {
            continue;
        }
        let after = known.last_on(view, &end)?;
        view.walk(&end, after.as_ref(), usize::MAX, &mut |row| {
            open.extend(row.commit.merged);
            rows.push(row);
            Ok(())
        })?;
        known.take(end, at, &trail);
    }
    Ok(rows)
}

/// These commits, each behind those among them that are its parents, or of which it is a copy.
pub(crate) fn parents_first(mut rows: Vec<CommitRow>) -> Vec<CommitRow> {
    rows.sort_by_key(|row| row.depth);
    let places: HashMap<CommitHash, usize> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| (row.hash, at))
        .collect();
    let before = |row: &CommitRow| {
        let commit = &row.commit;
        let named = [commit.origin, commit.merged, commit.parent];
        named.map(|name| name.and_then(|name| places.get(&name).copied()))
    };
    let mut order = Vec::with_capacity(rows.len());
    let mut seen = HashSet::new();
    for at in 0..rows.len() {
        let mut open = vec![(at, false)];
        while let Some((at, is_done)) = open.pop() {
            if is_done {
                order.push(at);
            } else if seen.insert(at) {
                open.push((at, true));
                let before = before(&rows[at]).into_iter().flatten();
                open.extend(before.filter(|at| !seen.contains(at)).map(|at| (at, false)));
            }
        }
    }
    let mut rows: Vec<Option<CommitRow>> = rows.into_iter().map(Some).collect();
    let rows = order.into_iter().filter_map(|at| rows[at].take());
    rows.collect()
}

/// Where two histories meet last: the commits in both that lead to no other such commit. Where each merged the other
/// crosswise there are several; they are in the order of their hashes.
pub(crate) fn bases(
    view: &dyn View,
    ours: &CommitHash,
    theirs: &CommitHash,
) -> Result<Vec<CommitHash>> {
    let (ours, theirs) = (History::of(view, &[*ours])?, History::of(view, &[*theirs])?);
    let mut shared: Vec<CommitHash> = Vec::new();
    for end in &ours.ends {
        for other in &theirs.ends {
            shared.extend(path::last_shared(view, &end.commit, &other.commit)?);
        }
    }
    shared.sort_unstable();
    shared.dedup();
    let mut bases = Vec::new();
    for base in &shared {
        let others: Vec<CommitHash> = shared.iter().filter(|it| *it != base).copied().collect();
        let mut is_last = true;
        for other in &others {
            is_last &= !leads_to(view, base, other)?;
        }
        bases.extend(is_last.then_some(*base));
    }
    Ok(bases)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::{Commit, Message, Millis, Operation, Role, Settings};
    use crate::repo::Repo;
    use proptest::prelude::*;

    /// Commits by their numbers, each with up to two parents among those before it.
    fn grown(repo: &Repo, parents: &[(u8, u8)]) -> (Vec<CommitHash>, Vec<Vec<usize>>) {
        let (mut made, mut above): (Vec<CommitHash>, Vec<Vec<usize>>) = Default::default();
        let tx = repo.store.write().expect("the lock");
        for (at, (one, two)) in parents.iter().enumerate() {
            let pick = |draw: u8, most: usize| {
                let back = usize::from(draw) % most;
                (back > 0).then(|| at.checked_sub(back)).flatten()
            };
            // Most go on from the one before; sometimes there is another root.
            let parent = if one % 3 == 0 {
                pick(*one, 9)
            } else {
                at.checked_sub(1)
            };
            let merged = if two % 4 == 0 { pick(*two, 11) } else { None };
            let content = tx.keep(&Message::text(Role::User, "x")).expect("kept");
            let commit = Commit {
                parent: parent.map(|at| made[at]),
                operation: Operation::Append { content },
                time: Some(Millis(at as i64)),
                settings: Settings::new(),
                note: None,
                author: None,
                merged: merged.map(|at| made[at]),
                origin: None,
            };
            made.push(tx.keep_commit(&commit).expect("kept").0);
            above.push(parent.into_iter().chain(merged).collect());
        }
        tx.commit().expect("written");
        (made, above)
    }

    fn closure(above: &[Vec<usize>], tips: &[usize]) -> BTreeSet<usize> {
        let (mut all, mut open) = (BTreeSet::new(), tips.to_vec());
        while let Some(at) = open.pop() {
            if all.insert(at) {
                open.extend(&above[at]);
            }
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            source_file: Some(file!()),
            ..crate::conditions::laws(256)
        })]

        /// All answers are those of a walk along both parents.
        #[test]
        fn a_history_is_what_both_parents_lead_to(
            parents in prop::collection::vec(any::<(u8, u8)>(), 1..40),
            ours in any::<prop::sample::Index>(),
            theirs in any::<prop::sample::Index>(),
            third in any::<prop::sample::Index>(),
        ) {
            let repo = Repo::ephemeral().expect("made");
            let (made, above) = grown(&repo, &parents);
            let [ours, theirs, third] = [ours, theirs, third].map(|it| it.index(made.len()));
            let view = repo.store.read().expect("a view");
            let own = closure(&above, &[ours]);
            let history = History::of(&*view, &[made[ours]]).expect("found");
            let held = history.holds(&*view, &made).expect("asked");
            for at in 0..made.len() {
                prop_assert_eq!(held[at], own.contains(&at));
                prop_assert_eq!(leads_to(&*view, &made[at], &made[ours]).expect("asked"), own.contains(&at));
            }
            let others = closure(&above, &[theirs, third]);
            let rows = beyond(&*view, &made[ours], &[made[theirs], made[third]]).expect("found");
            let mut seen: BTreeSet<CommitHash> = BTreeSet::new();
            for row in &rows {
                let parents = [row.commit.parent, row.commit.merged].into_iter().flatten();
                for parent in parents {
                    let at = made.iter().position(|it| *it == parent).expect("known");
                    prop_assert!(seen.contains(&parent) || others.contains(&at));
                }
                prop_assert!(seen.insert(row.hash), "told twice");
            }
            let wanted: BTreeSet<CommitHash> = own.difference(&others).map(|at| made[*at]).collect();
            prop_assert_eq!(seen, wanted);

            let shared: BTreeSet<usize> =
                own.intersection(&closure(&above, &[theirs])).copied().collect();
            let is_last = |at: &&usize| {
                let mut others = shared.iter().filter(|it| it != at);
                !others.any(|other| closure(&above, &[*other]).contains(at))
            };
            let mut wanted: Vec<CommitHash> =
                shared.iter().filter(is_last).map(|at| made[*at]).collect();
            wanted.sort_unstable();
            prop_assert_eq!(bases(&*view, &made[ours], &made[theirs]).expect("found"), wanted);

            // The engine takes out what both parents do not lead to.
            let reach = view.by_reach(&[made[ours]]).expect("told");
            let reached: BTreeSet<CommitHash> = reach.reached.iter().map(|row| row.hash).collect();
            prop_assert_eq!(reached, own.iter().map(|at| made[*at]).collect());
            repo.second_reading()?;
        }
    }
}
