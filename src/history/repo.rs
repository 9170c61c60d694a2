//! The repository: a directory `.tract/` with one database, or one in memory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::context::{Context, Order};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::history::call::On;
use crate::history::{load, path};
use crate::model::{Head, Message, RefName, RefValue, Settings};
use crate::store::sqlite::Sqlite;
use crate::store::{SessionRow, Store, View};

/// The name of a repository's directory.
pub const DIRECTORY: &str = ".tract";
const DATABASE: &str = "tract.db";
const DEFAULT_BRANCH: &str = "refs/heads/main";

/// An open repository.
pub struct Repo {
    pub(crate) store: Box<dyn Store>,
    directory: Option<PathBuf>,
}

impl Repo {
    /// Makes `.tract/` in `dir`, or opens the one that is there. The flag says whether it is new.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be made, and whatever [`Repo::open`] returns.
    pub fn init(dir: &Path) -> Result<(Self, bool)> {
        let directory = dir.join(DIRECTORY);
        if directory.join(DATABASE).exists() {
            return Ok((Self::open(&directory)?, false));
        }
        fs::create_dir_all(&directory).map_err(Error::io(&directory))?;
        restrict(&directory)?;
        let ignore = directory.join(".gitignore");
        fs::write(&ignore, "*\n").map_err(Error::io(&ignore))?;
        let store = Sqlite::create(&directory.join(DATABASE))?;
        Ok((
            Self {
                store: Box::new(store),
                directory: Some(directory),
            },
            true,
        ))
    }

    /// Finds the repository of `start`: its own `.tract`, or that of the nearest directory above.
    ///
    /// # Errors
    ///
    /// [`Error::NoRepository`] if there is none, and whatever [`Repo::open`] returns.
    pub fn find(start: &Path) -> Result<Self> {
        start
            .ancestors()
            .map(|dir| dir.join(DIRECTORY))
            .find(|dir| dir.join(DATABASE).exists())
            .map_or_else(
                || {
                    Err(Error::NoRepository {
                        start: start.to_owned(),
                    })
                },
                |dir| Self::open(&dir),
            )
    }

    /// Opens a `.tract` directory, or the directory that holds one.
    ///
    /// # Errors
    ///
    /// [`Error::NoRepository`], [`Error::Damaged`], [`Error::ForeignDatabase`],
    /// [`Error::NewerDatabase`]; a database that is refused is left as it was.
    pub fn open(path: &Path) -> Result<Self> {
        let inner = path.join(DIRECTORY);
        let directory = if inner.join(DATABASE).exists() {
            inner
        } else {
            path.to_owned()
        };
        if !directory.join(DATABASE).exists() {
            return Err(Error::NoRepository {
                start: path.to_owned(),
            });
        }
        let store = Sqlite::open(&directory.join(DATABASE))?;
        Ok(Self {
            store: Box::new(store),
            directory: Some(directory),
        })
    }

    /// A repository in memory: the same code, gone with the process.
    pub fn ephemeral() -> Result<Self> {
        Ok(Self {
            store: Box::new(Sqlite::in_memory()?),
            directory: None,
        })
    }

    /// A repository in memory whose engine's steps are counted.
    #[cfg(test)]
    pub(crate) fn counted() -> (Self, std::sync::Arc<std::sync::atomic::AtomicU64>) {
        let mut store = Sqlite::in_memory().expect("made");
        let steps = store.count_steps();
        let repo = Self {
            store: Box::new(store),
            directory: None,
        };
        (repo, steps)
    }

    /// A repository in memory whose statements are counted.
    #[cfg(test)]
    pub(crate) fn counting_statements() -> (Self, std::sync::Arc<std::sync::atomic::AtomicU64>) {
        let store = Sqlite::in_memory().expect("made");
        let statements = store.statements();
        let repo = Self {
            store: Box::new(store),
            directory: None,
        };
        (repo, statements)
    }

    /// The `.tract` directory; none for a repository in memory.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Where `on` stands.
    pub fn head(&self, on: &On) -> Result<Head> {
        head(&*self.store.read()?, on)
    }

    /// What compiling `commit` gives, before any body is read.
    pub fn context(&self, commit: &CommitHash) -> Result<Context> {
        load::context(&*self.store.read()?, commit)
    }

    /// The whole order of entries at `commit`, hidden ones included. Grows with history.
    pub fn order(&self, commit: &CommitHash) -> Result<Order> {
        load::order(&*self.store.read()?, commit)
    }

    /// The messages of a context, in order, hidden parts left out or replaced.
    pub fn messages(&self, context: &Context) -> Result<Vec<Message>> {
        let view = self.store.read()?;
        load::messages(&*view, &context.entries)
    }

    /// The request settings in force in a context; JSON texts by key.
    pub fn settings(&self, context: &Context) -> Result<Settings> {
        load::settings(&*self.store.read()?, context)
    }

    /// The session that the newest imported commit on the path to `commit` came from.
    pub fn session_of(&self, commit: &CommitHash) -> Result<Option<(RefName, SessionRow)>> {
        path::session_of(&*self.store.read()?, commit)
    }

    /// All refs whose full name begins with `prefix`, by name.
    pub fn references(&self, prefix: &str) -> Result<Vec<(RefName, RefValue)>> {
        self.store.read()?.references(prefix)
    }
}

/// A thread may own a repository.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Repo>();
};

/// Where HEAD is until it has been moved.
pub(crate) fn default_branch() -> RefName {
    DEFAULT_BRANCH.parse().expect("a branch's name")
}

/// Where `on` stands, inside a transaction.
pub(crate) fn head(view: &dyn View, on: &On) -> Result<Head> {
    let branch = match on {
        On::Branch(branch) => branch.clone(),
        On::Head => match view.reference(&RefName::head())? {
            Some(RefValue::Commit(commit)) => return Ok(Head::Detached(commit)),
            Some(RefValue::Symbolic(branch)) => branch,
            None => default_branch(),
        },
    };
    let tip = match view.reference(&branch)? {
        Some(RefValue::Commit(commit)) => Some(commit),
        Some(RefValue::Symbolic(other)) => {
            return Err(Error::Damaged {
                detail: format!("{branch} points at {other}"),
            });
        }
        None => None,
    };
    Ok(Head::Attached { branch, tip })
}

/// The short name of the branch that HEAD was last attached to.
pub(crate) fn last_branch(view: &dyn View) -> Result<String> {
    for row in view.reflog(&RefName::head(), 1_000)? {
        if let Some(RefValue::Symbolic(branch)) = row.old {
            return Ok(branch.short().to_owned());
        }
    }
    Ok("main".to_owned())
}

/// Refuses a name that is taken.
pub(crate) fn refuse_taken(view: &dyn View, name: &RefName) -> Result<()> {
    match view.reference(name)? {
        None => Ok(()),
        Some(_) => Err(Error::RefExists {
            name: name.short().to_owned(),
        }),
    }
}

#[cfg(unix)]
fn restrict(directory: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let owner_only = fs::Permissions::from_mode(0o700);
    fs::set_permissions(directory, owner_only).map_err(Error::io(directory))
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> Result<()> {
    Ok(())
}
