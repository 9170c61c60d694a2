//! Where a run works: here, or a directory of its own, which may be a git worktree.
//!
//! Directories of runs lie below the repository's own. They stay for people to look at; `tract run --clean` removes them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tract::Error;
use tract::model::Millis;
use tract::render::{listed, plural};
use tract::repo::Repo;

use crate::cli::{App, Failure, Result};

/// Where the directories of the runs by a name are.
pub fn of(repo: &Repo, name: &str, app: &App) -> PathBuf {
    let place = app.beside(repo, "runs");
    let place = place.unwrap_or_else(|| std::env::temp_dir().join("tract-runs"));
    place.join(name.replace('/', "-"))
}

/// What git worktrees are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The working tree's root.
    root: PathBuf,
    /// Where below it the session ran.
    below: PathBuf,
    /// The commit.
    commit: String,
    /// How it is known.
    pub known: &'static str,
}

impl Checkout {
    /// The commit that was checked out in a directory at a time, by git's own log of that; else the one at which the
    /// session began, by its own word; else the one that is now.
    pub fn of(directory: &Path, time: Option<Millis>, said: Option<&str>) -> Result<Self> {
        let refused = || {
            let what = format!(
                "{} is in no git repository with a commit",
                directory.display()
            );
            Failure::refused(what).with_hint("without --worktree each run has an empty directory")
        };
        let root = git(directory, &["rev-parse", "--show-toplevel"])
            .ok_or_else(refused)?
            .0;
        let below = git(directory, &["rev-parse", "--show-prefix"])
            .ok_or_else(refused)?
            .0;
        let head = git(directory, &["rev-parse", "--verify", "HEAD^{commit}"])
            .ok_or_else(refused)?
            .0;
        let then = time.and_then(|time| {
            let named = format!("HEAD@{{{}}}", time.0 / 1_000);
            let (commit, said) = git(directory, &["rev-parse", "--verify", &named])?;
            // It answers with the oldest that it knows where the log does not go back so far.
            (said.is_empty() && !commit.is_empty()).then_some(commit)
        });
        // What a session says may be anything: only a whole hash of a commit that is here is one.
        let is_hash = |said: &&str| said.len() >= 40 && said.bytes().all(|b| b.is_ascii_hexdigit());
        let begun = said.filter(is_hash).and_then(|said| {
            let named = format!("{said}^{{commit}}");
            Some(git(directory, &["rev-parse", "--verify", &named])?.0)
        });
        let (commit, known) = match (then, begun) {
            (Some(commit), _) => (commit, "checked out then, by git's reflog"),
            (None, Some(commit)) => (commit, "at which the session began, as it says itself"),
            (None, None) => (head, "checked out now: what was then is not known"),
        };
        Ok(Self {
            root: PathBuf::from(root),
            below: PathBuf::from(below),
            commit,
            known,
        })
    }

    /// The commit, in short.
    pub fn short(&self) -> &str {
        &self.commit[..self.commit.len().min(7)]
    }

    /// Makes a worktree; gives the directory to work in.
    fn make(&self, place: &Path) -> Result<PathBuf> {
        let shown = place.to_string_lossy();
        let words = [
            "worktree",
            "add",
            "--detach",
            "--quiet",
            &*shown,
            &*self.commit,
        ];
        let done = Command::new("git")
            .arg("-C")
            .arg(&self.root)
            .args(words)
            .output();
        let done = done.map_err(|error| Failure::refused(format!("git: {error}")))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            let last = said.lines().rfind(|line| !line.trim().is_empty());
            let what = format!(
                "git made no worktree: {}",
                last.unwrap_or("no reason given")
            );
            return Err(
                Failure::refused(what).with_hint("git worktree prune forgets those that are gone")
            );
        }
        Ok(place.join(&self.below))
    }
}

/// What git prints, and what it says beside; none where it fails.
fn git(directory: &Path, words: &[&str]) -> Option<(String, String)> {
    let done = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(words)
        .output()
        .ok()?;
    let text = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes)
            .trim_end_matches('\n')
            .to_owned()
    };
    done.status
        .success()
        .then(|| (text(&done.stdout), text(&done.stderr)))
}

/// Makes a run's directory, which must not be there.
pub fn make(place: &Path, checkout: Option<&Checkout>, name: &str) -> Result<PathBuf> {
    if fs::symlink_metadata(place).is_ok() {
        let failure = Failure::refused(format!("{} is there already", place.display()));
        return Err(failure.with_hint(format!(
            "tract run --clean {name} removes the directories of these runs, and no branch"
        )));
    }
    let above = place.parent().unwrap_or(place);
    fs::create_dir_all(above).map_err(Error::io(above))?;
    match checkout {
        Some(checkout) => checkout.make(place),
        None => {
            fs::create_dir(place).map_err(Error::io(place))?;
            Ok(place.to_owned())
        }
    }
}

/// Removes a run's directory, and what git knows of it.
pub fn remove(place: &Path) -> Result<()> {
    let link = place.join(".git");
    if fs::metadata(&link).is_ok_and(|facts| facts.is_file()) {
        let shown = place.to_string_lossy();
        // Where git does not want to, the directory goes all the same.
        let _ = git(
            place,
            &["worktree", "remove", "--force", "--force", &*shown],
        );
    }
    match fs::remove_dir_all(place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io(place)(error).into())
        }
        _ => Ok(()),
    }
}

/// Work that is nowhere else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Files that a worktree's commit does not have as they are, but for those that git ignores; all files where there is
    /// no worktree.
    pub files: usize,
    /// Commits that no branch and no tag leads to.
    pub commits: usize,
}

impl Work {
    /// How much it is, in words.
    pub fn counted(self) -> String {
        let counts = [(self.files, "file"), (self.commits, "commit")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(count, noun)| plural(count as u64, noun))
            .collect();
        listed(&counts)
    }

    /// What there is of it in a run's directory.
    fn of(place: &Path) -> Self {
        let is_worktree = fs::metadata(place.join(".git")).is_ok_and(|facts| facts.is_file());
        let ask = |words: &[&str]| git(place, words).map(|(told, _)| told);
        let status = ["status", "--porcelain", "--untracked-files=all"];
        let beyond = [
            "rev-list",
            "--count",
            "HEAD",
            "--not",
            "--branches",
            "--tags",
            "--remotes",
        ];
        match (is_worktree, ask(&status), ask(&beyond)) {
            (true, Some(files), Some(commits)) => Self {
                files: files.lines().count(),
                // What was checked out may itself have lost its branch: the worktree is at it then.
                commits: commits.parse().unwrap_or(0),
            },
            _ => Self {
                files: files_in(place),
                commits: 0,
            },
        }
    }
}

/// Removes a run's directory if nothing would be lost with it. Else it moves out of the way of another run by that number;
/// gives where it is then, and the work in it.
pub fn retire(place: &Path) -> Result<Option<(PathBuf, Work)>> {
    if fs::symlink_metadata(place).is_err() {
        return Ok(None);
    }
    let work = Work::of(place);
    if work == Work::default() {
        remove(place)?;
        return Ok(None);
    }
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let names = (1..).map(|number| place.with_file_name(format!("{name}-failed-{number}")));
    let free = names
        .into_iter()
        .find(|path| fs::symlink_metadata(path).is_err())
        .unwrap_or_else(|| place.to_owned());
    let is_worktree = fs::metadata(place.join(".git")).is_ok_and(|facts| facts.is_file());
    let has_moved = match is_worktree {
        true => {
            let (from, to) = (place.to_string_lossy(), free.to_string_lossy());
            git(place, &["worktree", "move", &*from, &*to]).is_some()
        }
        false => fs::rename(place, &free).is_ok(),
    };
    let kept = if has_moved { free } else { place.to_owned() };
    Ok(Some((kept, work)))
}

/// How many files a directory has, at any depth; one that cannot be read counts as one.
fn files_in(directory: &Path) -> usize {
    let Ok(entries) = fs::read_dir(directory) else {
        return 1;
    };
    let count = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => files_in(&entry.path()),
        _ => 1,
    };
    entries.flatten().map(count).sum()
}

/// The work that goes with the directories of the runs by a name, of each of these that has any.
pub fn work(folder: &Path) -> Vec<(PathBuf, Work)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(PathBuf, Work)> = entries
        .map(|entry| entry.path())
        .map(|place| (Work::of(&place), place))
        .filter(|(work, _)| *work != Work::default())
        .map(|(work, place)| (place, work))
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// Removes the directories of the runs by a name, whatever is in them; gives how many there were.
pub fn clean(folder: &Path) -> Result<usize> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(0);
    };
    let places: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    for place in &places {
        remove(place)?;
    }
    fs::remove_dir(folder).map_err(Error::io(folder))?;
    Ok(places.len())
}
