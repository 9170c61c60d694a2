//! A folder of pages in the making: what is made stands aside until all of it is, and then takes its place. A file of
//! others is written over only by force.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use tract::Error;

use crate::cli::machine::private;
use crate::cli::{Failure, Result};

/// What is in the folder that we wrote: one path a line.
const LIST: &str = ".tract-web";

/// A folder that is being filled.
pub struct Folder {
    place: PathBuf,
    aside: PathBuf,
    /// What was written before, and is no file of others.
    own: BTreeSet<String>,
    made: BTreeSet<String>,
    force: bool,
    /// Whether it was made for this, and holds nothing yet.
    is_new: bool,
}

impl Folder {
    /// The folder at a place, which is made where it is missing.
    pub fn of(place: &Path, force: bool) -> Result<Self> {
        let is_new = match fs::metadata(place) {
            Ok(facts) if !facts.is_dir() => {
                let what = format!("{} is not a directory", place.display());
                return Err(Failure::usage(what));
            }
            Ok(_) => false,
            Err(_) => {
                private::create_directory(place).map_err(Error::io(place))?;
                true
            }
        };
        let own = fs::read_to_string(place.join(LIST)).unwrap_or_default();
        let own: BTreeSet<String> = own
            .lines()
            .filter(|line| is_below(line))
            .map(str::to_owned)
            .collect();
        let is_others = |name: &str| {
            name != LIST
                && !own
                    .iter()
                    .any(|own| own == name || own.starts_with(&format!("{name}/")))
        };
        if !force {
            let entries = fs::read_dir(place).map_err(Error::io(place))?;
            for entry in entries {
                let entry = entry.map_err(Error::io(place))?;
                let name = entry.file_name();
                if is_others(&name.to_string_lossy()) {
                    let what = format!(
                        "{} holds files of others, such as {}",
                        place.display(),
                        tract::render::shell_word(&name.to_string_lossy())
                    );
                    return Err(Failure::refused(what)
                        .with_hint("an empty directory is best; --force writes into this one"));
                }
            }
        }
        let aside = place.join(format!(".tract-web-{}", private::random_name::<4>()?));
        private::create_directory(&aside).map_err(Error::io(&aside))?;
        Ok(Self {
            place: place.to_owned(),
            aside,
            own,
            made: BTreeSet::new(),
            force,
            is_new,
        })
    }

    /// Makes a file.
    pub fn put(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        if !is_below(name) {
            return Err(Failure::refused(format!("'{name}' is no path of a page")));
        }
        let path = self.aside.join(name);
        directories(&self.aside, name)?;
        private::write(&path, false, |out| {
            Ok(out.write_all(bytes).map_err(Error::io(&path))?)
        })?;
        self.made.insert(name.to_owned());
        Ok(())
    }

    /// Puts everything in its place, and takes away what was written before and is none of it.
    pub fn settle(mut self) -> Result<PathBuf> {
        for name in &self.made {
            let to = self.place.join(name);
            if !self.own.contains(name) && !self.force && fs::symlink_metadata(&to).is_ok() {
                let what = format!("{} exists already", to.display());
                return Err(Failure::refused(what).with_hint("--force writes over it"));
            }
        }
        self.is_new = false;
        // First what is ours, so that what a failure leaves behind is known as such.
        let all: BTreeSet<&String> = self.own.union(&self.made).collect();
        self.list(all.into_iter())?;
        for name in &self.made {
            let (from, to) = (self.aside.join(name), self.place.join(name));
            directories(&self.place, name)?;
            fs::rename(&from, &to).map_err(Error::io(&to))?;
        }
        for name in self.own.difference(&self.made) {
            let _ = fs::remove_file(self.place.join(name));
            let folders = Path::new(name).ancestors().skip(1);
            for folder in folders.filter(|folder| !folder.as_os_str().is_empty()) {
                let _ = fs::remove_dir(self.place.join(folder));
            }
        }
        self.list(self.made.iter())?;
        Ok(std::mem::take(&mut self.place))
    }

    fn list<'a>(&self, names: impl Iterator<Item = &'a String>) -> Result<()> {
        let text: String = names.map(|name| format!("{name}\n")).collect();
        let path = self.aside.parent().unwrap_or(&self.aside).join(LIST);
        private::write(&path, true, |out| {
            Ok(out.write_all(text.as_bytes()).map_err(Error::io(&path))?)
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.aside);
        if self.is_new {
            let _ = fs::remove_dir(&self.place);
        }
    }
}

/// Whether a path leads to a file below, and nowhere else.
fn is_below(name: &str) -> bool {
    let path = Path::new(name);
    !name.is_empty()
        && !name.contains('\n')
        && path
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}

/// Makes the directories of a file.
fn directories(base: &Path, name: &str) -> Result<()> {
    let mut at = base.to_owned();
    let folders = Path::new(name)
        .parent()
        .into_iter()
        .flat_map(Path::components);
    for folder in folders {
        at.push(folder);
        if !at.is_dir() {
            private::create_directory(&at).map_err(Error::io(&at))?;
        }
    }
    Ok(())
}
