//! The laws of a repository. With `TRACT_TEST_ENGINE=postgres` it is a schema on a server of the tests' own.

#[cfg(feature = "postgres")]
mod beside;
mod bills;
mod collections;
pub(crate) mod commands;
mod diffs;
mod merges;
mod moves;
mod people;
mod picks;
mod pictures;
mod purges;
mod rebases;
mod resumes;
mod second_reader;
mod shares;
mod totals;
#[cfg(feature = "postgres")]
mod trips;
mod vectors;

use std::path::{Path, PathBuf};

use crate::repo::Repo;

/// A place for a repository: a folder, or an address.
struct Ground {
    /// Gone with this.
    folder: Option<tempfile::TempDir>,
    path: PathBuf,
}

impl Ground {
    fn new() -> Self {
        if let Some(address) = address() {
            return Self {
                folder: None,
                path: address.into(),
            };
        }
        let folder = tempfile::tempdir().expect("a folder");
        Self {
            path: folder.path().to_owned(),
            folder: Some(folder),
        }
    }

    fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is a folder with a file.
    fn is_folder(&self) -> bool {
        self.folder.is_some()
    }
}

/// An empty repository, in memory where nobody asks for another.
pub(crate) fn repository() -> Repo {
    let made = match address() {
        Some(address) => Repo::init(Path::new(&address)).map(|made| made.0),
        None => Repo::ephemeral(),
    };
    made.expect("a repository")
}

/// The address of a schema that nobody has named yet, where servers are asked for.
fn address() -> Option<String> {
    crate::conditions::on_servers().then(new_schema)
}

#[cfg(feature = "postgres")]
fn new_schema() -> String {
    crate::store::postgres::tests::cluster::address().expect("a server")
}

#[cfg(not(feature = "postgres"))]
fn new_schema() -> String {
    panic!("cargo test --features postgres knows servers");
}
