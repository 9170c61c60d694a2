//! What a push to a git host leaves in the repository of the code: objects that no ref leads to, until git collects them, and
//! a file with their names, so that a purge can say what is still there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::output;

/// Where the names are, below git's own directory: a file for each remote.
const FOLDER: &str = "tract-seen";

/// How many objects of conversations git keeps in the code's repository, if the working directory is in one, until it
/// collects what nothing leads to.
pub fn kept() -> u64 {
    let Some(folder) = folder() else {
        return 0;
    };
    let mut names = BTreeSet::new();
    for file in fs::read_dir(&folder).into_iter().flatten().flatten() {
        names.extend(read(&file.path()));
    }
    let gone = missing(names.iter().map(String::as_str)).unwrap_or_default();
    (names.len() - gone.len()) as u64
}

/// Those of these objects that are not here.
pub(super) fn missing<'a>(
    objects: impl Iterator<Item = &'a str>,
) -> std::io::Result<BTreeSet<String>> {
    let lines: String = objects.map(|object| format!("{object}\n")).collect();
    if lines.is_empty() {
        return Ok(BTreeSet::new());
    }
    let found = output(&["cat-file", "--batch-check"], lines.as_bytes())?;
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    let gone = found
        .lines()
        .filter_map(|line| line.strip_suffix(" missing"));
    Ok(gone.map(str::to_owned).collect())
}

/// Writes down what was seen of a remote, beside what was seen before and is still here.
pub(super) fn remember<'a>(remote: &str, objects: impl Iterator<Item = &'a str>) {
    let Some(path) = path(remote) else { return };
    let mut names: BTreeSet<String> = read(&path).into_iter().collect();
    names.extend(objects.filter(|it| !it.is_empty()).map(str::to_owned));
    let gone = missing(names.iter().map(String::as_str)).unwrap_or_default();
    let here = names.difference(&gone);
    let lines: String = here.map(|object| format!("{object}\n")).collect();
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let _ = fs::write(path, lines);
}

fn read(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let is_name = |line: &&str| line.len() >= 40 && line.bytes().all(|it| it.is_ascii_hexdigit());
    text.lines().filter(is_name).map(str::to_owned).collect()
}

/// The file of a remote, whose name may be a URL.
fn path(remote: &str) -> Option<PathBuf> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = remote.chars().map(plain).collect();
    Some(folder()?.join(name))
}

fn folder() -> Option<PathBuf> {
    let said = output(&["rev-parse", "--git-common-dir"], &[]).ok()?;
    let said = said.status.success().then_some(said.stdout)?;
    let said = String::from_utf8(said).ok()?;
    Some(PathBuf::from(said.trim_end_matches('\n')).join(FOLDER))
}
