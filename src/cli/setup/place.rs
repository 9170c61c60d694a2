//! Files of the user's other programs: read as they are, and written only where nothing speaks against it.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tract::Error;
use tract::render::shell_word;

use crate::cli::machine::private;
use crate::cli::{Failure, Result};

/// A place for a file, and what is there.
pub struct Place {
    /// Where it is, behind all links.
    pub path: PathBuf,
    /// What is in it, if it is there.
    pub content: Option<Vec<u8>>,
    facts: Option<Metadata>,
}

/// Says why a file is left alone.
pub fn refuse(path: &Path, why: &str, hint: impl Into<String>) -> Failure {
    let what = format!("{}: {why}, so it is left as it is", path.display());
    Failure::refused(what).with_hint(hint)
}

impl Place {
    /// Reads what is there.
    ///
    /// # Errors
    ///
    /// Where it is no file, or a link that leads to none, or cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let failed = |error| Failure::from(Error::io(path)(error));
        let is_missing = |error: &std::io::Error| error.kind() == ErrorKind::NotFound;
        match fs::symlink_metadata(path) {
            Err(error) if is_missing(&error) => {
                return Ok(Self {
                    path: real(path),
                    content: None,
                    facts: None,
                });
            }
            found => found.map_err(failed)?,
        };
        let real = match fs::canonicalize(path) {
            Err(error) if is_missing(&error) => {
                let hint = format!(
                    "rm {} removes the link",
                    shell_word(&path.to_string_lossy())
                );
                return Err(refuse(path, "the link leads nowhere", hint));
            }
            real => real.map_err(failed)?,
        };
        let facts = fs::metadata(&real).map_err(failed)?;
        if !facts.is_file() {
            return Err(refuse(
                path,
                "it is not a file",
                "move it away, and try again",
            ));
        }
        Ok(Self {
            content: Some(fs::read(&real).map_err(failed)?),
            path: real,
            facts: Some(facts),
        })
    }

    /// Refuses what is another user's, or is not to be written.
    pub fn may_be_written(&self, user: Option<u32>) -> Result<()> {
        if let Some(facts) = &self.facts {
            self.may_change(&self.path, facts, user)?;
            if names(facts) > 1 {
                let path = shell_word(&self.path.to_string_lossy());
                let hint = format!(
                    "cp {path} {path}.new && mv {path}.new {path} makes it a file of its own"
                );
                return Err(refuse(
                    &self.path,
                    "it has another name as well (a hard link)",
                    hint,
                ));
            }
        }
        let mut above = self.path.ancestors().skip(1);
        let folder = above.find_map(|folder| Some((folder, fs::metadata(folder).ok()?)));
        match folder {
            Some((folder, facts)) if facts.is_dir() => self.may_change(folder, &facts, user),
            _ => Err(refuse(
                &self.path,
                "there is no folder for it",
                "make the folder, and try again",
            )),
        }
    }

    /// The same of one file or folder on the way.
    fn may_change(&self, path: &Path, facts: &Metadata, user: Option<u32>) -> Result<()> {
        let word = shell_word(&path.to_string_lossy());
        let which = |what: &str| {
            let it = if path == self.path {
                "it"
            } else {
                "its folder"
            };
            format!("{it} {what}")
        };
        if user.is_some_and(|user| owner(facts) != Some(user)) {
            let hint = "run tract setup as that user";
            return Err(refuse(&self.path, &which("belongs to another user"), hint));
        }
        if !is_writable(facts) {
            let hint = format!("chmod u+w {word}, and try again");
            return Err(refuse(&self.path, &which("is read-only"), hint));
        }
        Ok(())
    }

    /// The text; refused where it is none.
    pub fn text(&self) -> Result<&str> {
        let content = self.content.as_deref().unwrap_or_default();
        std::str::from_utf8(content).map_err(|_| broken(&self.path, "not UTF-8"))
    }

    /// Writes a file in its place, as readable as the one before.
    pub fn write(&self, content: &[u8]) -> Result<()> {
        let permissions = self.facts.as_ref().map(Metadata::permissions);
        private::swap(&self.path, permissions, |out| {
            Ok(out.write_all(content).map_err(Error::io(&self.path))?)
        })
    }

    /// The folders that are missing above it, the outermost first.
    pub fn missing_folders(&self) -> Vec<PathBuf> {
        let above = self.path.ancestors().skip(1);
        let mut missing: Vec<PathBuf> = above
            .take_while(|folder| !folder.exists())
            .map(Path::to_owned)
            .collect();
        missing.reverse();
        missing
    }
}

/// A path to what is not there, without the links in its folders.
fn real(path: &Path) -> PathBuf {
    let mut folders = path.ancestors().skip(1);
    let found = folders.find_map(|folder| Some((folder, fs::canonicalize(folder).ok()?)));
    match found.map(|(folder, real)| (path.strip_prefix(folder), real)) {
        Some((Ok(below), real)) => real.join(below),
        _ => path.to_owned(),
    }
}

/// Refuses settings that are broken.
pub fn broken(path: &Path, why: &str) -> Failure {
    refuse(path, why, "mend it, and try again")
}

#[cfg(unix)]
fn owner(facts: &Metadata) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::uid(facts))
}

#[cfg(not(unix))]
fn owner(_: &Metadata) -> Option<u32> {
    None
}

/// How many names a file has.
#[cfg(unix)]
fn names(facts: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(facts)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

/// Whether its owner may write it. Whoever may write everything keeps to that, too.
#[cfg(unix)]
fn is_writable(facts: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o200 != 0
}

#[cfg(not(unix))]
fn is_writable(facts: &Metadata) -> bool {
    !facts.permissions().readonly()
}
