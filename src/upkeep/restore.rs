//! A backup put back as the repository.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::repo::directory::{self, Standing};
use crate::repo::repository::Repo;
use crate::repo::server;
use crate::repo::visitor::Visitor;
use crate::store::sqlite::{Sqlite, Successor};
use crate::upkeep::backup::BackupStep;
use crate::upkeep::fsck::Fsck;

/// What became of a backup that was to be put back.
#[derive(Debug)]
pub struct PutBack {
    /// What a check of the backup found. Where that is damage, nothing was changed.
    pub found: Fsck,
    /// Where the file is that was there before, if one was.
    pub aside: Option<PathBuf>,
}

impl Repo {
    /// Makes the backup in the file at `from` the repository in `directory`, a `.tract`, which needs no
    /// database or a sound one for that: checks a copy, then puts it in place of the database that is there,
    /// which is kept beside it. Somebody who is killed meanwhile leaves the old one or the new one.
    ///
    /// Without `force`, a repository stays that has commits which the backup lacks, or of which nobody can tell.
    ///
    /// # Errors
    ///
    /// [`Error::WouldLose`] for such a one; [`Error::Busy`] where somebody has it open; [`Error::ServersOwn`] for
    /// a server's; for what is no backup of this format, what [`Repo::open_as`] says of it;
    /// [`Error::NotOwned`]; [`Error::Io`].
    pub fn put_back(
        directory: &Path,
        from: &Path,
        force: bool,
        visitor: &Visitor,
        progress: &mut dyn FnMut(BackupStep),
    ) -> Result<PutBack> {
        if server::address(directory).is_some() {
            return Err(Error::ServersOwn {
                what: "a server's repository from a backup",
            });
        }
        let database = directory::database(directory);
        if directory::look(directory)? == Standing::Nothing {
            return Err(Error::NoRepository {
                start: directory.to_owned(),
            });
        }
        visitor.enter(directory, &database)?;
        let source = Sqlite::open_still(from)?;
        let new = Successor::of(&source, &database, &mut |done, all| {
            progress(BackupStep::Copying(done, all));
        })?;
        drop(source);
        let copy = Self::of_file(Sqlite::open_still(new.draft())?);
        let found = copy.fsck(false, &mut |checked| {
            progress(BackupStep::Checking(checked.contents));
            Ok(())
        })?;
        drop(copy);
        let aside = if found.is_damaged() {
            None
        } else {
            new.settle(force)?
        };
        Ok(PutBack { found, aside })
    }

    /// The `.tract` of the repository at `place`, as [`Repo::open_as`] would find it, or of the one of `start`,
    /// as [`Repo::find_as`] would; a server's address stands for itself. Nothing is opened.
    ///
    /// # Errors
    ///
    /// As those.
    pub fn directory_at(place: Option<&Path>, start: &Path) -> Result<PathBuf> {
        match place {
            Some(place) if server::address(place).is_some() => Ok(place.to_owned()),
            Some(place) => Self::meant(place).map(|(directory, _)| directory),
            None => Self::sought(start).map(|(directory, _)| directory),
        }
    }
}
