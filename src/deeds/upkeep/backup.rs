//! The whole repository, in one file.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::advice::Exit;
use crate::deeds::{ApiError, At, Deed, Method, WorkProgress};
use crate::upkeep::{BackupStep, Fsck};

/// Copy the whole repository into one file
///
/// The copy shows one moment, even while others write. It needs no other file, and it is checked before
/// it gets its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct BackupParams {
    /// The file to write
    pub file: PathBuf,
    /// Overwrite an existing file
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
}

/// What a backup holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BackupAnswer {
    /// Messages.
    pub messages: u64,
    /// Commits.
    pub commits: u64,
    /// Kept session files.
    pub session_files: u64,
}

impl From<BackupStep> for WorkProgress {
    /// While it copies, of how much it is; while it checks, nobody knows.
    fn from(step: BackupStep) -> Self {
        let (done, total) = match step {
            BackupStep::Copying(done, all) => (done, Some(all)),
            BackupStep::Checking(messages) => (messages, None),
        };
        Self { done, total }
    }
}

impl From<&Fsck> for BackupAnswer {
    fn from(found: &Fsck) -> Self {
        Self {
            messages: found.checked.contents,
            commits: found.checked.commits,
            session_files: found.checked.sources,
        }
    }
}

/// Refuses the place of a database that is in use: its journal would be read into the copy.
fn is_no_database(path: &Path) -> Result<(), ApiError> {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-wal");
    if !Path::new(&journal).exists() {
        return Ok(());
    }
    let fault = ApiError::refused(format!("{} is a database in use", path.display()));
    Err(fault
        .with_hint("another name; `tract backup --restore FILE` makes a backup the repository"))
}

impl BackupParams {
    /// Writes it; `told` hears how far it is.
    ///
    /// # Errors
    ///
    /// Where a file is there, or the repository is damaged; as [`crate::Repo::backup`].
    pub fn carry_out(
        &self,
        at: &At<'_>,
        told: &mut dyn FnMut(WorkProgress),
    ) -> Result<BackupAnswer, ApiError> {
        let path = at.host.path(&self.file)?;
        is_no_database(&path)?;
        at.repo.sweep_backups();
        let mut answer = None;
        let mut note = |draft: &Path| Ok(at.repo.note_backup(draft)?);
        let mut make = |draft: &Path| {
            let found = at.repo.backup(draft, &mut |step| told(step.into()))?;
            if found.is_damaged() {
                let what = "the repository is damaged; no backup was made";
                let fault = ApiError::new("damaged", Exit::Damaged, what);
                return Err(fault.with_hint("`tract fsck` says what is damaged and what to do"));
            }
            answer = Some(BackupAnswer::from(&found));
            Ok(())
        };
        at.host
            .place_file(&path, self.force, &mut note, &mut make)?;
        answer.ok_or_else(|| ApiError::refused("no backup was made"))
    }
}

impl Method for BackupParams {
    const NAME: &'static str = "backup";
    const CHANGES: bool = false;
    type Answer = BackupAnswer;

    fn act(self, at: &mut At<'_>) -> Result<BackupAnswer, ApiError> {
        let mut goes_on = std::mem::replace(&mut at.goes_on, Box::new(|_| true));
        // A copy is soon made, and is not ended in the middle.
        let done = self.carry_out(at, &mut |step| {
            goes_on(step);
        });
        at.goes_on = goes_on;
        done
    }
}

impl Deed for BackupParams {
    const PLACES: &'static [&'static str] = &["file"];
}
