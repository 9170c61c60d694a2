//! Where Claude Code and Codex keep their sessions, and which of them belong to a directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;

use super::file::FileInput;
use crate::interop::Format;
use crate::interop::lines::{Lines, mend};

/// The tools' own directories.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Claude Code's: `~/.claude`, or what `CLAUDE_CONFIG_DIR` says.
    pub claude: Option<PathBuf>,
    /// Codex's: `~/.codex`, or what `CODEX_HOME` says.
    pub codex: Option<PathBuf>,
}

/// A session file that a tool wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// Which tool's.
    pub format: Format,
    /// When it was last written.
    pub modified: SystemTime,
}

impl Places {
    /// The sessions of the working directory `cwd`, newest first. What cannot be read is passed
    /// over.
    pub fn sessions_of(&self, cwd: &Path) -> Vec<Found> {
        let mut found = Vec::new();
        if let Some(claude) = &self.claude {
            let directory = claude.join("projects").join(slug(&cwd.to_string_lossy()));
            for path in files_in(&directory) {
                let agent = path
                    .file_name()
                    .is_some_and(|n| n.to_string_lossy().starts_with("agent-"));
                if !agent {
                    found.extend(entry(path, Format::ClaudeCode));
                }
            }
        }
        if let Some(codex) = &self.codex {
            let mut files = Vec::new();
            collect(&codex.join("sessions"), 3, &mut files);
            for path in files {
                if codex_cwd(&path).is_some_and(|dir| Path::new(&dir) == cwd) {
                    found.extend(entry(path, Format::Codex));
                }
            }
        }
        found.sort_by(|a, b| {
            b.modified
                .cmp(&a.modified)
                .then_with(|| a.path.cmp(&b.path))
        });
        found
    }

    /// Where a new session of `format` must lie so that its tool finds it. `local_time` is the
    /// moment's local date and time as `YYYY-MM-DDThh-mm-ss`. None for formats that have no such
    /// place, or whose tool's directory is unknown.
    pub fn new_session(
        &self,
        format: Format,
        cwd: &Path,
        id: &str,
        local_time: &str,
    ) -> Option<PathBuf> {
        match format {
            Format::ClaudeCode => {
                let projects = self.claude.as_ref()?.join("projects");
                Some(
                    projects
                        .join(slug(&cwd.to_string_lossy()))
                        .join(format!("{id}.jsonl")),
                )
            }
            Format::Codex => {
                let mut date = local_time.get(..10)?.split('-');
                let mut directory = self.codex.as_ref()?.join("sessions");
                for _ in 0..3 {
                    directory.push(date.next()?);
                }
                Some(directory.join(format!("rollout-{local_time}-{id}.jsonl")))
            }
            Format::OpenAi | Format::Anthropic | Format::Roo => None,
        }
    }
}

/// Every regular file below `directory` that could be a session (`.json` or `.jsonl`), by path.
pub fn walk_directory(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(directory, 16, &mut files);
    files.sort();
    files
}

/// The directory name under which Claude Code files a working directory.
///
/// # Source
///
/// Observed: every character that is not a letter or digit becomes `-`.
fn slug(cwd: &str) -> String {
    cwd.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(directory, 0, &mut files);
    files
}

/// Adds the session files in `directory` and down to `depth` levels below it. Links to
/// directories are not followed.
fn collect(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, files);
            }
        } else if path
            .extension()
            .is_some_and(|e| e == "jsonl" || e == "json")
            && !path.to_string_lossy().ends_with(".meta.json")
        {
            files.push(path);
        }
    }
}

fn entry(path: PathBuf, format: Format) -> Option<Found> {
    let modified = fs::metadata(&path).ok()?.modified().ok()?;
    Some(Found {
        path,
        format,
        modified,
    })
}

/// The working directory that a rollout's first line names.
fn codex_cwd(path: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct First {
        payload: Option<Payload>,
        cwd: Option<String>,
    }
    #[derive(Deserialize)]
    struct Payload {
        cwd: Option<String>,
    }
    let input = FileInput::open(path).ok()?;
    let mut lines = Lines::new(&input).ok()?;
    let line = lines.next_line().ok()??;
    let first: First = serde_json::from_str(&mend(line.bytes).text).ok()?;
    first.payload.and_then(|payload| payload.cwd).or(first.cwd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_found_where_their_tools_put_them() {
        let home = tempfile::tempdir().expect("a directory");
        let places = Places {
            claude: Some(home.path().join("claude")),
            codex: Some(home.path().join("codex")),
        };
        let cwd = Path::new("/home/u/my.repo");
        let claude = places
            .new_session(Format::ClaudeCode, cwd, "id", "")
            .expect("a place");
        assert!(
            claude.ends_with("projects/-home-u-my-repo/id.jsonl"),
            "{claude:?}"
        );
        let codex = places
            .new_session(Format::Codex, cwd, "id", "2026-01-02T03-04-05")
            .expect("a place");
        assert!(codex.ends_with("sessions/2026/01/02/rollout-2026-01-02T03-04-05-id.jsonl"));
        for (path, text) in [
            (&claude, "{}\n"),
            (
                &codex,
                "{\"type\":\"session_meta\",\"payload\":{\"cwd\":\"/home/u/my.repo\"}}\n",
            ),
        ] {
            fs::create_dir_all(path.parent().expect("it has one")).expect("made");
            fs::write(path, text).expect("written");
        }
        let found: Vec<_> = places
            .sessions_of(cwd)
            .into_iter()
            .map(|f| f.format)
            .collect();
        assert_eq!(found.len(), 2);
        assert!(places.sessions_of(Path::new("/elsewhere")).is_empty());
    }
}
