//! What a user has set for all repositories: a file of lines `KEY = VALUE`, in their own home.
//!
//! A key may stand there several times. A line that begins with `#` is a remark; a key that is not
//! known here may be known to a newer tract.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use tract::Error;
use tract::repo::AUTHOR_NAME;

use crate::cli::machine::pager::CORE_PAGER;
use crate::cli::machine::private;
use crate::cli::{Failure, Result};

/// Which repositories of others may be opened: a path, a path and `/*`, or `*`.
pub const SAFE_DIRECTORY: &str = "safe.directory";
/// What is no secret, whatever it looks like: a regular expression.
pub const SECRETS_ALLOW: &str = "secrets.allow";
/// Whether `resume` writes secrets: [`ALLOW`].
pub const SECRETS_RESUME: &str = "secrets.resume";
/// How far `recall` and `did` look for an agent at most: one of [`PLACES`].
pub const RECALL_WHERE: &str = "recall.where";
/// What settings begin with that name the directories of a program's sessions: its format stands behind it.
pub const SOURCES: &str = "sources.";
/// The folder of a static model, by which messages are found by what they mean.
pub const RECALL_MODEL: &str = "recall.model";
/// This conversation, conversations of this directory, all conversations.
pub const PLACES: [&str; 3] = ["here", "project", "all"];
/// It does.
pub const ALLOW: &str = "allow";

/// The user's own settings.
#[derive(Clone, Debug, Default)]
pub struct UserConfig {
    /// Where they are kept; none where there is no home.
    path: Option<PathBuf>,
    lines: Vec<String>,
}

impl UserConfig {
    /// The keys that there are.
    pub const KEYS: [&str; 7] = [
        AUTHOR_NAME,
        CORE_PAGER,
        RECALL_MODEL,
        RECALL_WHERE,
        SAFE_DIRECTORY,
        SECRETS_ALLOW,
        SECRETS_RESUME,
    ];

    /// Reads the file; one that isn't there, or is kept from us, is empty.
    pub fn load(path: Option<PathBuf>) -> Result<Self> {
        let Some(file) = &path else {
            return Ok(Self::default());
        };
        let kept_away = [
            ErrorKind::NotFound,
            ErrorKind::NotADirectory,
            ErrorKind::PermissionDenied,
        ];
        let text = match fs::read_to_string(file) {
            Err(error) if kept_away.contains(&error.kind()) => String::new(),
            text => text.map_err(Error::io(file))?,
        };
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let is_odd = |line: &String| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#') && setting(line).is_none()
        };
        if let Some(at) = lines.iter().position(is_odd) {
            let what = format!("{}:{}: no KEY = VALUE", file.display(), at + 1);
            let hint = format!("such as {SAFE_DIRECTORY} = /srv/shared");
            return Err(Failure::usage(what).with_hint(hint));
        }
        Ok(Self { path, lines })
    }

    /// All that is set, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines.iter().filter_map(|line| setting(line))
    }

    /// The values of one key, in order.
    pub fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let of_key = self.iter().filter(move |(of, _)| *of == key);
        of_key.map(|(_, value)| value)
    }

    /// Puts a value, which may be empty, in place of those that the key has, and keeps it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        fits(key, value)?;
        self.lines
            .retain(|line| setting(line).is_none_or(|(of, _)| of != key));
        self.lines.push(format!("{key} = {value}"));
        self.save()
    }

    /// Adds a value, unless it is there, and keeps it.
    pub fn add(&mut self, key: &str, value: &str) -> Result<()> {
        fits(key, value)?;
        if value.is_empty() {
            return Err(does_not_fit(key, value));
        }
        if self.values(key).any(|kept| kept == value) {
            return Ok(());
        }
        self.lines.push(format!("{key} = {value}"));
        self.save()
    }

    /// Removes all values of a key.
    pub fn remove(&mut self, key: &str) -> Result<()> {
        self.lines
            .retain(|line| setting(line).is_none_or(|(of, _)| of != key));
        self.save()
    }

    /// Writes the file anew.
    fn save(&self) -> Result<()> {
        let Some(path) = &self.path else {
            return Err(Failure::refused(
                "HOME is not set, so there is no place to keep it",
            ));
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        private::replace(path, |out| {
            Ok(out.write_all(text.as_bytes()).map_err(Error::io(path))?)
        })
    }
}

/// Refuses a value that a line does not hold.
fn fits(key: &str, value: &str) -> Result<()> {
    if value.chars().any(char::is_control) || value.trim() != value {
        return Err(does_not_fit(key, value));
    }
    Ok(())
}

fn does_not_fit(key: &str, value: &str) -> Failure {
    let what = format!("{key}: '{value}' can't be kept: it doesn't fit into a line");
    Failure::usage(what)
}

/// A line's key and value.
fn setting(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (key, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
    let (key, value) = (key.trim(), value.trim());
    (!key.is_empty() && !key.contains(char::is_whitespace)).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_and_removed_leaves_the_rest_of_the_file_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tract/config");
        let load = || UserConfig::load(Some(path.clone())).expect("it can be read");
        let text = || fs::read_to_string(&path).expect("it is there");
        load().add(SAFE_DIRECTORY, "/a = b").expect("kept");
        load().add(SAFE_DIRECTORY, "/a = b").expect("kept");
        assert_eq!(text(), "safe.directory = /a = b\n");
        fs::write(&path, "# mine\n\nlater.key=1\nsafe.directory=*\n").expect("written");
        load().add(SAFE_DIRECTORY, "/c").expect("kept");
        assert_eq!(
            load().values(SAFE_DIRECTORY).collect::<Vec<_>>(),
            ["*", "/c"]
        );
        load().remove(SAFE_DIRECTORY).expect("kept");
        assert_eq!(text(), "# mine\n\nlater.key=1\n");
        load().set(CORE_PAGER, "more").expect("kept");
        load().set(CORE_PAGER, "").expect("kept");
        assert_eq!(load().values(CORE_PAGER).collect::<Vec<_>>(), [""]);
        assert!(load().set(CORE_PAGER, "a\nb").is_err());
        load().remove(CORE_PAGER).expect("kept");
        for odd in ["", " /x", "/x\ny", "/x\u{1b}[2J"] {
            assert!(load().add(SAFE_DIRECTORY, odd).is_err(), "{odd:?}");
        }
        fs::write(&path, "safe.directory /x\n").expect("written");
        assert!(UserConfig::load(Some(path.clone())).is_err());
        let nowhere = UserConfig::load(None).expect("nothing is set");
        assert_eq!(nowhere.iter().count(), 0);
    }
}
