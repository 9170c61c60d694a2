//! What is missing here, read from a shelf: commits first, then the session files that came of them.

use super::OnShelf;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::sync::bundle::FileState;
use crate::sync::carried::Carried;
use crate::sync::carry::Load;
use crate::sync::shelved::{Shelf, ShelvedBundle};
use crate::sync::{Answers, Here};

impl<S: Shelf> OnShelf<'_, S> {
    /// Brings one bundle here; whether it was still there.
    fn take(
        &mut self,
        mine: &mut Here<'_>,
        bundle: &ShelvedBundle,
        done: &mut Carried,
    ) -> Result<bool> {
        let Some(bytes) = self.shelf.read(&bundle.name)? else {
            return Ok(false);
        };
        let brought = mine.take(&bytes)?;
        done.add(&bytes, brought);
        Ok(true)
    }

    /// Brings what is missing; whether all that was to be there was.
    pub(super) fn brought(
        &mut self,
        mine: &mut Here<'_>,
        load: &mut Load<'_>,
        done: &mut Carried,
    ) -> Result<bool> {
        let wants: Vec<CommitHash> = load.wants.iter().map(|want| want.commit).collect();
        let bundles = self.is.bundles.clone();
        let mut missing: Vec<&ShelvedBundle> = Vec::new();
        if mine.has(&wants)?.contains(&false) {
            for bundle in bundles.iter().filter(|it| !it.is_of_files()) {
                if mine.has(&bundle.ends)?.contains(&false) {
                    missing.push(bundle);
                }
            }
        }
        let names: Vec<String> = missing.iter().map(|it| it.name.clone()).collect();
        self.shelf.foresee(&names)?;
        let commits = missing.iter().map(|it| it.commits);
        let all = commits.fold(0, u64::saturating_add);
        let mut carried: u64 = 0;
        for bundle in missing {
            (load.progress)(carried, all)?;
            if !self.take(mine, bundle, done)? {
                return Ok(false);
            }
            carried = carried.saturating_add(bundle.commits);
            // What others have put behind it need not come.
            if !mine.has(&wants)?.contains(&false) {
                break;
            }
        }
        if mine.has(&wants)?.contains(&false) {
            return Ok(false);
        }
        if load.sources {
            return self.files_brought(mine, &bundles, done);
        }
        Ok(true)
    }

    /// Brings the session files of what is here; whether all of them were there.
    fn files_brought(
        &mut self,
        mine: &mut Here<'_>,
        bundles: &[ShelvedBundle],
        done: &mut Carried,
    ) -> Result<bool> {
        let mut wanted = Vec::new();
        done.refused_files = 0;
        for bundle in bundles.iter().filter(|it| !it.files.is_empty()) {
            if mine.has(&bundle.ends)?.contains(&false) {
                continue;
            }
            let states = mine.file_states(&bundle.ends, &bundle.files)?;
            let is_wanted =
                |it: &FileState| matches!(it, FileState::Missing | FileState::Unrecorded);
            let refused = states.iter().filter(|it| **it == FileState::Refused);
            done.refused_files += refused.count() as u64;
            if states.iter().any(is_wanted) {
                wanted.push(bundle);
            }
        }
        let names: Vec<String> = wanted.iter().map(|it| it.name.clone()).collect();
        self.shelf.foresee(&names)?;
        for bundle in wanted {
            if !self.take(mine, bundle, done)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
