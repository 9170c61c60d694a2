//! What was set up: each file that was written, as it was before, so that all of it can be taken back. It stands in
//! the user's own settings of tract, in a folder of its own.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tract::Error;
use tract::hash::{fingerprint, hex};

use super::Part;
use super::place::{Place, broken};
use super::settings::{Entry, Form};
use crate::cli::machine::private;
use crate::cli::{Failure, Result};

const NAME: &str = "record.json";

/// What was set up, and not taken back.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// Where it is kept.
    #[serde(skip)]
    folder: PathBuf,
    /// The files that were written.
    pub files: Vec<Written>,
    /// The folders that were made.
    pub folders: Vec<PathBuf>,
    /// Whether the repository in the home directory was made.
    #[serde(default)]
    pub made_repository: bool,
    /// Whether the service was started.
    #[serde(default)]
    pub started_watch: bool,
}

/// A file that was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Written {
    /// What it belongs to.
    pub part: Part,
    /// Where it is.
    pub path: PathBuf,
    /// How it is written; none where all of it is ours.
    pub form: Option<Form>,
    /// The name of the copy of what was there before; none where nothing was.
    copy: Option<String>,
    /// The SHA-256 of what was written.
    hash: String,
    /// What of it is ours.
    pub entries: Vec<Entry>,
}

impl Written {
    /// Whether this is what was written.
    pub fn is(&self, content: &[u8]) -> bool {
        self.hash == hash(content)
    }

    /// The content without what is ours; none where nothing is left that was not made for it.
    ///
    /// # Errors
    ///
    /// Where it is broken now.
    pub fn without_ours(&self, place: &Place, before: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let Some(form) = self.form else {
            return Ok(place.content.clone());
        };
        let settings = before.and_then(|before| form.read(std::str::from_utf8(before).ok()?).ok());
        let settings = settings.unwrap_or(Value::Null);
        let text = form.remove(place.text()?, &self.entries, &settings);
        let text = text.map_err(|why| broken(&place.path, &why))?;
        let is_nothing = || before.is_none() && matches!(text.trim(), "" | "{}");
        Ok((!is_nothing()).then(|| text.into_bytes()))
    }
}

impl Record {
    /// Reads it; empty where nothing was set up. `settings` is where programs have their settings.
    pub fn load(settings: &Path) -> Result<Self> {
        let folder = settings.join("tract/setup");
        let path = folder.join(NAME);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self {
                    folder,
                    ..Self::default()
                });
            }
            text => text.map_err(Error::io(&path))?,
        };
        match serde_json::from_slice::<Self>(&text) {
            Ok(record) => Ok(Self { folder, ..record }),
            Err(error) => {
                let what = format!(
                    "{}: what was set up cannot be read: {error}",
                    path.display()
                );
                let hint = "the copies beside it are the files as they were before";
                Err(Failure::refused(what).with_hint(hint))
            }
        }
    }

    /// Keeps it.
    pub fn save(&mut self) -> Result<()> {
        let path = self.folder.join(NAME);
        self.make_folders(&path)?;
        let text =
            serde_json::to_vec_pretty(self).map_err(|error| Failure::refused(error.to_string()))?;
        private::swap(&path, None, |out| {
            Ok(out.write_all(&text).map_err(Error::io(&path))?)
        })
    }

    /// Makes the folders that are missing above a file.
    pub fn make_folders(&mut self, path: &Path) -> Result<()> {
        for folder in Place::read(path)?.missing_folders() {
            private::create_directory(&folder).map_err(Error::io(&folder))?;
            self.folders.push(folder);
        }
        Ok(())
    }

    /// What was written there, if anything.
    pub fn of(&self, path: &Path) -> Option<&Written> {
        self.files.iter().find(|written| written.path == path)
    }

    /// Writes a file, of which `entries` are new and ours, and first keeps how to take that back.
    pub fn write(
        &mut self,
        place: &Place,
        (part, form): (Part, Option<Form>),
        entries: Vec<Entry>,
        content: &[u8],
    ) -> Result<()> {
        self.make_folders(&place.path)?;
        let mut written = Written {
            part,
            form,
            path: place.path.clone(),
            copy: None,
            hash: hash(content),
            entries,
        };
        let known = self.files.iter().position(|known| known.path == place.path);
        let known = known.map(|at| self.files.remove(at));
        match (&known, &place.content) {
            (Some(known), Some(present)) => {
                if known.is(present) {
                    written.copy.clone_from(&known.copy);
                } else {
                    // Changed since: what is to come back is that, without what is ours.
                    let before = self.before(known)?;
                    let rest = known.without_ours(place, before.as_deref())?;
                    written.copy = rest.map(|rest| self.keep(place, &rest)).transpose()?;
                }
                written.entries.splice(..0, known.entries.iter().cloned());
            }
            (_, Some(present)) => written.copy = Some(self.keep(place, present)?),
            (_, None) => {}
        }
        let stale = known.filter(|known| known.copy != written.copy);
        self.files.push(written);
        self.save()?;
        stale.iter().try_for_each(|stale| self.drop_copy(stale))?;
        place.write(content)
    }

    /// Keeps a copy.
    fn keep(&mut self, place: &Place, content: &[u8]) -> Result<String> {
        let name = place.path.file_name().unwrap_or_default().to_string_lossy();
        let names = (1..).map(|number| format!("{number}-{name}"));
        let free = |name: &String| !self.folder.join(name).exists();
        let name = names.into_iter().find(free).expect("numbers do not end");
        let path = self.folder.join(&name);
        self.make_folders(&path)?;
        private::swap(&path, None, |out| {
            Ok(out.write_all(content).map_err(Error::io(&path))?)
        })?;
        Ok(name)
    }

    /// What was there before; none where nothing was.
    pub fn before(&self, written: &Written) -> Result<Option<Vec<u8>>> {
        let Some(copy) = &written.copy else {
            return Ok(None);
        };
        let path = self.folder.join(copy);
        Ok(Some(fs::read(&path).map_err(Error::io(&path))?))
    }

    fn drop_copy(&self, written: &Written) -> Result<()> {
        let Some(copy) = &written.copy else {
            return Ok(());
        };
        let path = self.folder.join(copy);
        match fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            done => Ok(done.map_err(Error::io(&path))?),
        }
    }

    /// Forgets a file that was taken back.
    pub fn forget(&mut self, path: &Path) -> Result<()> {
        let gone = self.files.extract_if(.., |written| written.path == path);
        let gone: Vec<Written> = gone.collect();
        self.save()?;
        gone.iter().try_for_each(|written| self.drop_copy(written))
    }

    /// Goes, with the folders that were made and are empty, once nothing is left to take back.
    pub fn close(&self) -> Result<()> {
        if !self.files.is_empty() || self.made_repository || self.started_watch {
            return Ok(());
        }
        let path = self.folder.join(NAME);
        match fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => done.map_err(Error::io(&path))?,
        }
        for folder in self.folders.iter().rev() {
            // Somebody may have put something into it.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }
}

fn hash(content: &[u8]) -> String {
    hex(&fingerprint(content))
}
