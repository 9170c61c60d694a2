//! Objects from one repository to another: where their paths part, and what is beyond it.

use std::collections::VecDeque;

use super::carried::{Carried, packing, same};
use super::{Answers, files, strange};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::sync::bundle::BundleTip;

/// How many commits go into the first bundle. Each that follows takes twice as many, for every one is folded
/// from the root on.
const SLICE_FIRST: u64 = 1 << 10;
/// What is lost at most where a transfer breaks off.
const SLICE_MOST: u64 = 1 << 15;
/// How many paths are compared at once.
const GROUP: usize = 256;
/// How many commits of one path are asked for at once.
const SAMPLES: u64 = 32;

/// Paths that are to be carried.
pub struct Load<'a> {
    pub(super) wants: Vec<Want>,
    /// With the session files that they came from.
    pub(super) sources: bool,
    /// All paths whose session files are wanted, those that are there already among them.
    pub(super) paths: Vec<BundleTip>,
    /// Is told how many commits are there, and how many there will be; where it fails, nothing further is carried.
    pub(super) progress: &'a mut dyn FnMut(u64, u64) -> Result<()>,
}

/// A path that is wanted on the other side, by the ref that leads there.
#[derive(Clone, Debug)]
pub struct Want {
    pub(super) name: RefName,
    pub(super) commit: CommitHash,
    pub(super) depth: u64,
    /// The deepest commit on it that is there already, as far as that is known.
    base: Option<(u64, CommitHash)>,
    /// Whether the next one is known not to be.
    is_settled: bool,
}

impl Want {
    pub(super) fn new(name: RefName, commit: CommitHash, depth: u64) -> Self {
        Self {
            name,
            commit,
            depth,
            base: None,
            is_settled: false,
        }
    }

    /// What of it is missing there.
    pub(super) fn tip(&self) -> BundleTip {
        BundleTip {
            name: self.name.clone(),
            commit: self.commit,
            after: self.base.map(|(_, commit)| commit),
        }
    }

    /// Says how much of it is there.
    pub(super) fn settle(&mut self, base: Option<(u64, CommitHash)>) {
        self.base = base;
        self.is_settled = true;
    }

    pub(super) fn is_there(&self) -> bool {
        self.base.is_some_and(|(depth, _)| depth == self.depth)
    }

    /// The first depth that may be missing.
    fn begins(&self) -> u64 {
        self.base.map_or(0, |(depth, _)| depth + 1)
    }

    /// How many commits of its path may be missing there.
    pub(super) fn missing(&self) -> u64 {
        self.depth + 1 - self.begins()
    }
}

/// Finds where each path parts from what is there: a few rounds for all of them, whatever their length.
pub(super) fn compare(
    from: &mut dyn Answers,
    to: &mut dyn Answers,
    wants: &mut [Want],
) -> Result<()> {
    let tips: Vec<CommitHash> = wants.iter().map(|want| want.commit).collect();
    for (want, is_there) in wants.iter_mut().zip(has(to, &tips)?) {
        if is_there {
            want.settle(Some((want.depth, want.commit)));
        }
    }
    // Of each path, the least depth that is known to be missing.
    let mut ends: Vec<u64> = wants.iter().map(|want| want.depth).collect();
    let mut is_first = true;
    loop {
        let mut places = Vec::new();
        let mut whose = Vec::new();
        for (at, want) in wants.iter_mut().enumerate() {
            want.is_settled |= want.begins() == ends[at];
            if !want.is_settled {
                let depths = samples(want.begins()..ends[at], is_first);
                whose.extend(depths.iter().map(|depth| (at, *depth)));
                places.extend(depths.into_iter().map(|depth| (want.commit, depth)));
            }
        }
        if places.is_empty() {
            return Ok(());
        }
        let commits = from.at(&places)?;
        same(places.len(), commits.len())?;
        let there = has(to, &commits)?;
        for (((at, depth), commit), is_there) in whose.into_iter().zip(commits).zip(there) {
            let want = &mut wants[at];
            match is_there {
                true if want.begins() <= depth => want.base = Some((depth, commit)),
                true => {}
                false => ends[at] = ends[at].min(depth),
            }
        }
        for (want, end) in wants.iter().zip(&ends) {
            if !want.is_settled && want.begins() > *end {
                return Err(strange("has a commit and not what is before it"));
            }
        }
        is_first = false;
    }
}

/// Depths in a range of which the last is known to be missing at its end: near that at first, for mostly
/// little is new, and then evenly.
fn samples(range: std::ops::Range<u64>, is_first: bool) -> Vec<u64> {
    let (begin, end) = (range.start, range.end);
    let mut depths: Vec<u64> = if is_first {
        let backward = (0..SAMPLES - 1).map_while(|power| end.checked_sub(1 << power));
        backward.take_while(|depth| *depth > begin).collect()
    } else {
        let step = ((end - begin) / SAMPLES).max(1);
        let depths = (begin..end).step_by(usize::try_from(step).unwrap_or(usize::MAX));
        depths.take(SAMPLES as usize + 1).collect()
    };
    depths.push(begin);
    depths.sort_unstable();
    depths.dedup();
    depths
}

fn has(to: &mut dyn Answers, commits: &[CommitHash]) -> Result<Vec<bool>> {
    if commits.is_empty() {
        return Ok(Vec::new());
    }
    let there = to.has(commits)?;
    same(commits.len(), there.len())?;
    Ok(there)
}

/// Carries what is missing of these paths, then the session files that are, each by itself. Tells how many commits are
/// there, and how many there will be.
pub(super) fn carry(
    from: &mut dyn Answers,
    to: &mut dyn Answers,
    mut load: Load<'_>,
) -> Result<Carried> {
    let (paths, sources) = (std::mem::take(&mut load.paths), load.sources);
    let mut done = carry_commits(from, to, load)?;
    if sources {
        files::carry(from, to, &paths, &mut done)?;
    }
    Ok(done)
}

/// Carries the commits alone.
pub(super) fn carry_commits(
    from: &mut dyn Answers,
    to: &mut dyn Answers,
    load: Load<'_>,
) -> Result<Carried> {
    let Load {
        wants, progress, ..
    } = load;
    let mut done = Carried::default();
    let mut queue = VecDeque::from(wants);
    let mut slice = SLICE_FIRST;
    let (mut carried, mut whole) = (0, 0);
    loop {
        let group = queue.len().min(GROUP);
        let group = &mut queue.make_contiguous()[..group];
        if group.first().is_some_and(|want| !want.is_settled) {
            compare(from, to, group)?;
        }
        queue.retain(|want| !want.is_there());
        if queue.is_empty() {
            return Ok(done);
        }
        let missing = queue.iter().filter(|want| want.is_settled);
        whole = whole.max(carried + missing.map(Want::missing).sum::<u64>());
        progress(carried, whole)?;
        let (mut tips, mut room) = (Vec::new(), slice);
        let mut goes_on = false;
        while let Some(want) = queue.front_mut().filter(|want| want.is_settled) {
            if want.missing() <= room {
                room -= want.missing();
                tips.push(want.tip());
                queue.pop_front();
                continue;
            }
            if tips.is_empty() {
                let end = want.begins() + room - 1;
                let commit = from.at(&[(want.commit, end)])?;
                same(1, commit.len())?;
                tips.push(BundleTip {
                    commit: commit[0],
                    ..want.tip()
                });
                want.base = Some((end, commit[0]));
                room = 0;
                goes_on = true;
            }
            break;
        }
        // The others may share what has come now.
        let others = queue.iter_mut().skip(usize::from(goes_on));
        others.for_each(|want| want.is_settled = false);
        let bundle = from.give(&tips, packing(from, to))?;
        let brought = to.take(&bundle)?;
        carried = (carried + slice.saturating_sub(room)).min(whole);
        done.add(&bundle, brought);
        progress(carried, whole)?;
        slice = (slice * 2).min(SLICE_MOST);
    }
}
