//! What is to stand on a shelf next: small bundles folded into larger ones, and what is not to stay taken out of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::erased::named_on;
use super::shelved::{Shelf, Shelved, ShelvedBundle};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::store::View;
use crate::sync::bundle::{Folding, KeptFile, Survey, fold, here};
use crate::upkeep::erase::ERASED;

/// How many bundles with commits stand beside each other, the full ones apart.
const MOST: usize = 5;
/// From how many bytes on a bundle is full: it is folded no more. Git hosts take no file of more than 100 MB.
const FULL: u64 = 16 << 20;

/// A bundle that is to be put, and the session files in it.
pub(super) struct New {
    pub(super) bytes: Vec<u8>,
    pub(super) survey: Survey,
    pub(super) files: Vec<KeptFile>,
}

/// What is to stand there next.
pub(super) struct Layout<'a, S> {
    shelf: &'a mut S,
    /// What is written of it.
    pub(super) is: Shelved,
    /// The bundles that are not there yet, by their names.
    new: BTreeMap<String, Vec<u8>>,
    /// Those that were read, for as long as nothing else is put.
    read: &'a mut BTreeMap<String, Vec<u8>>,
}

impl<'a, S: Shelf> Layout<'a, S> {
    pub(super) fn of(
        shelf: &'a mut S,
        is: Shelved,
        read: &'a mut BTreeMap<String, Vec<u8>>,
    ) -> Self {
        Self {
            shelf,
            is,
            new: BTreeMap::new(),
            read,
        }
    }

    /// Puts it there, if what was there is still as it was looked at; what is there now.
    pub(super) fn put(mut self) -> Result<Option<Shelved>> {
        self.is.put = self.shelf.name()?;
        // Those that bring files alone stand behind.
        self.is.bundles.sort_by_key(ShelvedBundle::is_of_files);
        let named = |name: &String| self.is.bundles.iter().any(|it| it.name == *name);
        let new: Vec<(String, Vec<u8>)> =
            self.new.into_iter().filter(|(it, _)| named(it)).collect();
        let is_put = self.shelf.put(&self.is, &new)?;
        Ok(is_put.then_some(self.is))
    }

    /// One more bundle, without what was erased.
    pub(super) fn add(&mut self, new: &New) -> Result<()> {
        let erased: BTreeSet<ContentHash> = self.is.erased.iter().copied().collect();
        let (at, files) = (self.is.bundles.len(), new.files.clone());
        if !new.survey.contents.iter().any(|it| erased.contains(it)) {
            return self.place(at, new.bytes.clone(), &new.survey, files, Vec::new());
        }
        let what = Folding {
            erased: Some(&erased),
            ..Folding::default()
        };
        self.place_folded(at, fold(&[&new.bytes], what)?, files, Vec::new())
    }

    /// Puts what was folded at a place in their order, if anything is left of it.
    fn place_folded(
        &mut self,
        at: usize,
        bytes: Option<Vec<u8>>,
        files: Vec<KeptFile>,
        marks: Vec<CommitHash>,
    ) -> Result<()> {
        let Some(bytes) = bytes else { return Ok(()) };
        let survey = Survey::of(&bytes)?;
        self.place(at, bytes, &survey, files, marks)
    }

    /// Puts a bundle at a place in their order.
    fn place(
        &mut self,
        at: usize,
        bytes: Vec<u8>,
        survey: &Survey,
        mut files: Vec<KeptFile>,
        marks: Vec<CommitHash>,
    ) -> Result<()> {
        if survey.sources == 0 {
            files.clear();
        }
        let name = self.shelf.name()?;
        let bundle = ShelvedBundle::of(name.clone(), &bytes, survey, files, marks);
        self.is.bundles.insert(at, bundle);
        self.new.insert(name, bytes);
        Ok(())
    }

    /// Makes sure that these bundles were read, as far as they are there.
    fn fetch(&mut self, names: &[String]) -> Result<()> {
        let is_far = |it: &&String| !self.new.contains_key(*it) && !self.read.contains_key(*it);
        let far: Vec<String> = names.iter().filter(is_far).cloned().collect();
        self.shelf.foresee(&far)?;
        for name in far {
            if let Some(bytes) = self.shelf.read(&name)? {
                self.read.insert(name, bytes);
            }
        }
        Ok(())
    }

    fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.new
            .get(name)
            .or(self.read.get(name))
            .map(Vec::as_slice)
    }

    /// Makes one of some bundles that stand beside each other. Where one of them is gone or broken, they stay as they are.
    fn join(&mut self, range: Range<usize>, what: Folding<'_>) -> Result<bool> {
        let parts = self.is.bundles[range.clone()].to_vec();
        let names: Vec<String> = parts.iter().map(|it| it.name.clone()).collect();
        self.fetch(&names)?;
        let bytes: Option<Vec<&[u8]>> = names.iter().map(|name| self.bytes(name)).collect();
        let Some(bytes) = bytes else { return Ok(false) };
        let folded = match fold(&bytes, what) {
            Ok(folded) => folded,
            Err(Error::BrokenBundle { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let marks = parts
            .iter()
            .flat_map(|it| it.marks.iter().chain(&it.ends).copied());
        let marks = marks.filter(|it| what.keep.is_none_or(|keep| keep.contains(it)));
        let marks: Vec<CommitHash> = marks.collect();
        let files = parts
            .iter()
            .flat_map(|it| it.files.iter().cloned())
            .collect();
        self.is.bundles.drain(range.clone());
        self.place_folded(range.start, folded, files, marks)?;
        Ok(true)
    }

    /// Folds the smallest while there are too many.
    pub(super) fn fold(&mut self) -> Result<()> {
        self.is.bundles.sort_by_key(ShelvedBundle::is_of_files);
        let commits = |it: &&ShelvedBundle| !it.is_of_files();
        loop {
            let sizes = self
                .is
                .bundles
                .iter()
                .take_while(commits)
                .map(|it| it.size_bytes);
            let Some(range) = crowded(&sizes.collect::<Vec<u64>>()) else {
                return Ok(());
            };
            if !self.join(range, Folding::default())? {
                return Ok(());
            }
        }
    }

    /// Takes out the commits that no ref leads to, and the files that came of them.
    pub(super) fn prune(&mut self) -> Result<()> {
        let surveys = self.surveys()?;
        if !self.is.odd.is_empty() || surveys.iter().any(Option::is_none) {
            // Nobody knows what leads where.
            return Ok(());
        }
        let members = surveys.iter().flatten().flat_map(|survey| &survey.commits);
        let parents: HashMap<CommitHash, &[CommitHash]> =
            members.map(|it| (it.hash, it.parents.as_slice())).collect();
        let mut keep: HashSet<CommitHash> = HashSet::new();
        let mut open: Vec<CommitHash> = self.is.refs.iter().map(|row| row.commit).collect();
        while let Some(commit) = open.pop() {
            if keep.insert(commit) {
                open.extend(parents.get(&commit).copied().unwrap_or_default());
            }
        }
        let what = Folding {
            keep: Some(&keep),
            ..Folding::default()
        };
        let is_touched = |survey: &Survey, bundle: &ShelvedBundle| {
            survey.commits.iter().any(|it| !keep.contains(&it.hash))
                || bundle.ends.iter().any(|it| !keep.contains(it))
        };
        self.rewrite(&surveys, what, &is_touched)
    }

    /// Leaves tombstones of these messages, and takes session files away that may hold them.
    pub(super) fn erase(
        &mut self,
        view: &dyn View,
        contents: &BTreeSet<ContentHash>,
    ) -> Result<()> {
        if contents.is_empty() {
            return Ok(());
        }
        let mut spoiled: HashSet<String> = HashSet::new();
        for bundle in &self.is.bundles {
            if bundle.files.is_empty() {
                continue;
            }
            let named = named_on(view, &here(view, &bundle.ends)?)?;
            let mut is_spoiled = named.iter().any(|it| contents.contains(it));
            for file in &bundle.files {
                let session = view.session(&file.session)?;
                is_spoiled |= session.is_some_and(|it| it.absent.iter().any(|it| it == ERASED));
            }
            if is_spoiled {
                spoiled.insert(bundle.name.clone());
            }
        }
        self.is
            .bundles
            .retain(|it| !it.is_of_files() || !spoiled.contains(&it.name));
        let surveys = self.surveys()?;
        let what = Folding {
            erased: Some(contents),
            ..Folding::default()
        };
        let is_touched = |survey: &Survey, _: &ShelvedBundle| {
            survey.contents.iter().any(|it| contents.contains(it))
        };
        self.rewrite(&surveys, what, &is_touched)
    }

    /// What is in each bundle; none where it is gone, or is none.
    fn surveys(&mut self) -> Result<Vec<Option<Survey>>> {
        let names: Vec<String> = self.is.bundles.iter().map(|it| it.name.clone()).collect();
        self.fetch(&names)?;
        let surveys = names
            .iter()
            .map(|name| match self.bytes(name).map(Survey::of) {
                None | Some(Err(Error::BrokenBundle { .. })) => Ok(None),
                Some(survey) => survey.map(Some),
            });
        surveys.collect()
    }

    /// Makes those bundles anew that hold what is not to stay.
    fn rewrite(
        &mut self,
        surveys: &[Option<Survey>],
        what: Folding<'_>,
        is_touched: &dyn Fn(&Survey, &ShelvedBundle) -> bool,
    ) -> Result<()> {
        for (at, survey) in surveys.iter().enumerate().rev() {
            let bundle = &self.is.bundles[at];
            if survey
                .as_ref()
                .is_some_and(|survey| is_touched(survey, bundle))
            {
                self.join(at..at + 1, what)?;
            }
        }
        Ok(())
    }
}

/// Which of the newest bundles are to be one: at least two, and each that is not much larger than those behind it together. How
/// much that is grows with all of them, so that the few that may stand are a row in which each is as many times the next: then of
/// `n` equal pushes each is folded about as often as the fifth root of `n` says, not `n` times.
fn crowded(sizes: &[u64]) -> Option<Range<usize>> {
    let first = sizes
        .iter()
        .rposition(|size| *size >= FULL)
        .map_or(0, |at| at + 1);
    let open = &sizes[first..];
    if open.len() <= MOST {
        return None;
    }
    let (all, newest) = (open.iter().sum::<u64>(), open[open.len() - 1].max(1));
    let ratio = ((all as f64 / newest as f64).powf(1.0 / MOST as f64) / 2.0).max(1.0);
    let mut from = sizes.len() - 2;
    let mut sum: u64 = sizes[from..].iter().sum();
    while from > first && sizes[from - 1] as f64 <= sum as f64 * ratio {
        from -= 1;
        sum += sizes[from];
    }
    Some(from..sizes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often what was put is put again by so many pushes of the same size, and how many bundles are left.
    fn put(pushes: u64) -> (u64, usize) {
        let (mut sizes, mut all) = (Vec::new(), 0);
        for _ in 0..pushes {
            sizes.push(1);
            let before = all;
            while let Some(range) = crowded(&sizes) {
                let sum = sizes[range.clone()].iter().sum();
                sizes.splice(range, [sum]);
                all += sum;
            }
            all += u64::from(all == before);
        }
        (all / pushes, sizes.len())
    }

    #[test]
    fn few_are_left_and_each_is_put_a_few_times() {
        for (pushes, most) in [(5, 1), (40, 3), (400, 6), (5_000, 11), (20_000, 15)] {
            let (times, left) = put(pushes);
            assert!(times <= most && left <= MOST, "{pushes}: {times}, {left}");
        }
    }

    #[test]
    fn what_is_full_is_left_alone_and_what_is_large_for_long() {
        let full = [FULL, FULL + 7, 1, 1, FULL, 3, 2, 2, 1, 1];
        assert_eq!(crowded(&full), None);
        let one_more = [&full[..], &[1]].concat();
        let range = crowded(&one_more).expect("one too many");
        assert!(range.start >= 5, "{range:?}");
        assert_eq!(crowded(&[1_000_000, 1, 1, 1, 1, 1]), Some(1..6));
        assert_eq!(crowded(&[]), None);
    }
}
