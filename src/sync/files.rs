//! Session files, compared by themselves and carried after the commits that came of them.

use super::carried::{Carried, packing, same};
use super::{Answers, Here};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::sync::bundle::{BundleTip, FileState, KeptFile};

/// The files behind these paths of which the other side has no bytes, and may have them.
pub(super) fn missing(
    from: &mut Here<'_>,
    to: &mut dyn Answers,
    paths: &[BundleTip],
) -> Result<Vec<KeptFile>> {
    let told = compared(from, to, paths)?.into_iter();
    let missing = told.filter(|(_, state)| *state == FileState::Missing);
    Ok(missing.map(|(file, _)| file).collect())
}

/// Carries what is missing of the files behind these paths, each by itself.
pub(super) fn carry(
    from: &mut dyn Answers,
    to: &mut dyn Answers,
    paths: &[BundleTip],
    done: &mut Carried,
) -> Result<()> {
    for (file, state) in compared(from, to, paths)? {
        match state {
            FileState::Here => {}
            FileState::Refused => done.refused_files += 1,
            FileState::Missing | FileState::Unrecorded => {
                let packing = packing(from, to);
                let bundle = from.give_files(paths, std::slice::from_ref(&file), packing)?;
                let brought = to.take(&bundle)?;
                done.add(&bundle, brought);
            }
        }
    }
    Ok(())
}

/// What the one has, and what the other has of it.
fn compared(
    from: &mut dyn Answers,
    to: &mut dyn Answers,
    paths: &[BundleTip],
) -> Result<Vec<(KeptFile, FileState)>> {
    let tips: Vec<CommitHash> = paths.iter().map(|path| path.commit).collect();
    let files = from.kept_files(&tips)?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let states = to.file_states(&tips, &files)?;
    same(files.len(), states.len())?;
    Ok(files.into_iter().zip(states).collect())
}
