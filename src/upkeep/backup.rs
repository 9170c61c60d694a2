//! A copy of the repository in one file, checked.

use std::path::Path;

use crate::error::Result;
use crate::repo::repository::Repo;
use crate::store::sqlite::Sqlite;
use crate::upkeep::fsck::Fsck;

/// How far a backup has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupStep {
    /// So many pages are copied, of so many.
    Copying(u64, u64),
    /// So many messages are checked.
    Checking(u64),
}

impl Repo {
    /// Copies the repository as it is now into the file at `to`, which must be empty or not there, while
    /// others go on writing; then checks the copy like [`Repo::fsck`], without counting tokens again.
    /// The copy is complete without any other file, and holds nothing that was erased.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Store`] where the file cannot be written.
    pub fn backup(&self, to: &Path, progress: &mut dyn FnMut(BackupStep)) -> Result<Fsck> {
        self.store.backup(to, &mut |done, all| {
            progress(BackupStep::Copying(done, all))
        })?;
        let copy = Self::of_file(Sqlite::open_still(to)?);
        copy.fsck(false, &mut |checked| {
            progress(BackupStep::Checking(checked.contents));
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Draft, Message, Role};
    use crate::repo::{Call, CommitOptions};

    fn commit(repo: &Repo, number: u64) {
        // Nothing that could be packed: it is to fill pages.
        let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut text = String::new();
        while text.len() < 200_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text += &format!("{state:016x}");
        }
        let draft = Draft::append(Message::text(Role::User, text));
        let done = repo.commit(Call::default(), &[draft], &CommitOptions::default());
        done.expect("commits");
    }

    #[test]
    fn a_backup_is_what_was_there_when_it_began_whoever_writes_meanwhile() {
        let folder = tempfile::tempdir().expect("a folder");
        let (repo, _) = Repo::init(folder.path()).expect("made");
        for number in 0..20 {
            commit(&repo, number);
        }
        let other = Repo::open(folder.path()).expect("opens");
        let to = folder.path().join("copy.db");
        let (mut steps, mut written) = (0, 20);
        let found = repo.backup(&to, &mut |step| {
            if let BackupStep::Copying(_, _) = step {
                steps += 1;
                commit(&other, written);
                written += 1;
            }
        });
        let found = found.expect("copied");
        assert!(steps > 2, "{steps} steps");
        assert!(!found.is_damaged(), "{found:?}");
        assert_eq!(found.checked.commits, 20);
        for beside in ["copy.db-wal", "copy.db-shm", "copy.db-journal"] {
            assert!(!folder.path().join(beside).exists(), "{beside}");
        }
        let checked = repo.fsck(false, &mut |_| Ok(())).expect("checked").checked;
        assert_eq!(checked.commits, written);
    }
}
