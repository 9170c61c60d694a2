//! Whole copies of a repository in its own folder: files that a restore has kept of what was there before.
//!
//! They hold what the repository held, so what is erased is erased there, too, and whoever sums up the room tells of them.
//! Deliberately absent: deleting one. Somebody may still want what only it has.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::repo::directory;
use crate::repo::repository::Repo;
use crate::store::sqlite::{Sqlite, kept_aside, sweep_drafts};

/// A copy of the whole repository from before a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Its file.
    pub path: PathBuf,
    /// The size of its files in bytes.
    pub size_bytes: u64,
}

/// What became of a copy when messages were erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasedAside {
    /// Its file.
    pub path: PathBuf,
    /// How many messages were erased in it, or would be.
    pub messages: u64,
    /// Why it still holds them, if it does.
    pub failed: Option<String>,
}

impl Repo {
    /// The copies that restores have kept beside the database, by name.
    pub fn asides(&self) -> Vec<Aside> {
        let size = |path: &Path| fs::metadata(path).map_or(0, |facts| facts.len());
        let aside = |path: PathBuf| Aside {
            size_bytes: size(&path),
            path,
        };
        let database = self.directory().map(directory::database);
        let paths = database.map_or_else(Vec::new, |path| kept_aside(&path));
        paths.into_iter().map(aside).collect()
    }

    /// Does something with each copy; tells of those alone in which it met messages, or which could not be opened.
    pub(crate) fn each_aside(&self, act: &dyn Fn(&Self) -> Result<u64>) -> Vec<ErasedAside> {
        let acted = self.asides().into_iter().map(|aside| {
            let done = Sqlite::open(&aside.path).and_then(|store| act(&Self::of_file(store)));
            let (messages, failed) = match done {
                Ok(messages) => (messages, None),
                Err(error) => (0, Some(error.to_string())),
            };
            ErasedAside {
                path: aside.path,
                messages,
                failed,
            }
        });
        acted
            .filter(|aside| aside.messages > 0 || aside.failed.is_some())
            .collect()
    }

    /// Takes away what restores have left that were killed.
    pub(crate) fn sweep_drafts(&self) {
        if let Some(directory) = self.directory() {
            sweep_drafts(&directory::database(directory));
        }
    }
}
