//! Who opens a repository, and whether it is theirs to open.
//!
//! What lies in a repository acts on whoever opens it: its settings name commands, its database may
//! hold more than tables. So one that belongs to somebody else is opened only where its visitor said
//! so beforehand, and so is one that everybody may write to. Deliberately absent: how it is found out who runs, and where it is said what is
//! safe; that is asked of the system and read by the program, and handed in as a value.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::repo::directory::DIRECTORY;
use crate::store::{Look, Servers};

/// Who opens a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visitor {
    /// The ids of the users whose repositories are the visitor's own: who runs and, where that is
    /// root on somebody's behalf, who asked for it. None: it doesn't matter whose it is.
    pub users: Option<Vec<u32>>,
    /// The repositories of others that may be opened all the same.
    pub safe: Vec<SafePlace>,
    /// What the visitor's surroundings say of how servers are reached.
    pub servers: Servers,
    /// Whence the visitor looks who wants to see all at once, see [`Repo::hold`](crate::repo::Repo::hold).
    pub look: Option<Look>,
}

/// Which repositories of others may be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SafePlace {
    /// All of them.
    Everywhere,
    /// The one of this directory, which holds a `.tract` or is one.
    At(PathBuf),
    /// Those of this directory and of all below it.
    Below(PathBuf),
}

/// `*`, `PATH` or `PATH/*`. A path that isn't absolute means nothing.
impl FromStr for SafePlace {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.strip_suffix("/*") {
            _ if text == "*" => Self::Everywhere,
            Some("") => Self::Below("/".into()),
            Some(above) => Self::Below(above.into()),
            None => Self::At(text.into()),
        })
    }
}

impl SafePlace {
    /// Whether it means the repository in `directory`, a `.tract` whose links are resolved.
    fn covers(&self, directory: &Path) -> bool {
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match self {
            Self::Everywhere => true,
            Self::At(path) | Self::Below(path) if !path.is_absolute() => false,
            Self::At(path) => {
                let path = real(path);
                directory == path || directory.parent() == Some(&path)
            }
            Self::Below(path) => directory.starts_with(real(path)),
        }
    }
}

impl Visitor {
    /// One whose own are the repositories of these users.
    pub fn new(users: impl IntoIterator<Item = u32>) -> Self {
        Self {
            users: Some(users.into_iter().collect()),
            ..Self::default()
        }
    }

    /// Whether the repository in `directory`, with its database, is the visitor's own. A link
    /// belongs to who made it and to the owner of what it leads to, both.
    ///
    /// # Errors
    ///
    /// [`Error::NotOwned`] for another's that isn't said to be safe, [`Error::OpenToAll`] for one that anybody may
    /// have changed; [`Error::Io`] where it can't be
    /// found out.
    pub(crate) fn enter(&self, directory: &Path, database: &Path) -> Result<bool> {
        let Some(users) = &self.users else {
            return Ok(true);
        };
        let mut stranger = None;
        for path in [directory, database] {
            let owners = owners(path)?;
            let strange = owners.into_iter().find(|owner| !users.contains(owner));
            stranger = stranger.or(strange.map(|owner| (path, owner)));
        }
        let trouble = match stranger {
            Some((path, owner)) => Some((path, Some(owner))),
            None => open_to_all(directory, database)?.map(|path| (path, None)),
        };
        let Some((path, owner)) = trouble else {
            return Ok(true);
        };
        let real = fs::canonicalize(directory).map_err(Error::io(directory))?;
        if self.safe.iter().any(|safe| safe.covers(&real)) {
            return Ok(false);
        }
        // The one by which it is found, without links: what is to be allowed.
        let place = match real.parent() {
            Some(holder) if real.ends_with(DIRECTORY) => holder.to_owned(),
            _ => real,
        };
        let path = path.to_owned();
        Err(match owner {
            Some(owner) => Error::NotOwned { path, owner, place },
            None => Error::OpenToAll { path, place },
        })
    }
}

/// To whom a path belongs, and what it leads to; nobody where there is nothing.
#[cfg(unix)]
fn owners(path: &Path) -> Result<Vec<u32>> {
    use std::os::unix::fs::MetadataExt;
    let mut owners = Vec::new();
    for found in [fs::symlink_metadata(path), fs::metadata(path)] {
        match found {
            Ok(found) => owners.push(found.uid()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(path)(error)),
        }
    }
    Ok(owners)
}

/// What everybody may write to: the directory, or a database in one that everybody may enter.
#[cfg(unix)]
fn open_to_all<'a>(directory: &'a Path, database: &'a Path) -> Result<Option<&'a Path>> {
    use std::os::unix::fs::MetadataExt;
    let mode = |path: &Path| match fs::metadata(path) {
        Ok(found) => Ok(found.mode()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(Error::io(path)(error)),
    };
    const WRITE: u32 = 0o002;
    const ENTER: u32 = 0o001;
    let folder = mode(directory)?;
    if folder & WRITE != 0 {
        return Ok(Some(directory));
    }
    let is_open = folder & ENTER != 0 && mode(database)? & WRITE != 0;
    Ok(is_open.then_some(database))
}

#[cfg(not(unix))]
fn open_to_all<'a>(_: &'a Path, _: &'a Path) -> Result<Option<&'a Path>> {
    Ok(None)
}

/// Where files have no numbered owners everything counts as one's own: who may write to a directory
/// there is for the system to say.
#[cfg(not(unix))]
fn owners(_: &Path) -> Result<Vec<u32>> {
    Ok(Vec::new())
}
