//! Where tools keep their sessions, and which of them belong to a directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::file::FileInput;
use crate::interop::records::beginning;
use crate::interop::{Format, Home, NewFile};

/// How long a first line may be, in a compressed file.
const FIRST_BYTES: u64 = 1 << 20;

/// What a compressed file's name ends with.
const PACKED: &str = ".zst";

/// The tools' own directories, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct ToolDirs(pub Vec<(&'static Format, PathBuf)>);

/// A session file that a tool wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    /// The file.
    pub path: PathBuf,
    /// Which tool's.
    pub format: &'static Format,
    /// When it was last written.
    pub modified: SystemTime,
}

impl ToolDirs {
    /// The sessions of the working directory `cwd`, newest first. What cannot be read is passed
    /// over.
    pub fn sessions_of(&self, cwd: &Path) -> Vec<SessionFile> {
        self.newest_first(|directory, home| sessions_in(directory, home, &cwd.to_string_lossy()))
    }

    /// The sessions of all working directories, newest first. What cannot be read is passed over.
    pub fn sessions(&self) -> Vec<SessionFile> {
        self.newest_first(|directory, home| {
            let everywhere = &home.everywhere;
            let mut files = session_files(&directory.join(everywhere.folder), everywhere.depth);
            files.retain(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                (everywhere.is_session)(&name)
            });
            files
        })
    }

    /// The folders in which the tools keep sessions, whether they are there or not; without links where they
    /// are.
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for (format, directory) in &self.0 {
            let Some(home) = &format.home else { continue };
            let names = home.beside.iter().copied();
            let own = std::iter::once(home.everywhere.folder).chain(names);
            folders.extend(own.map(|name| directory.join(name)));
        }
        for folder in &mut folders {
            if let Ok(real) = fs::canonicalize(&*folder) {
                *folder = real;
            }
        }
        folders.sort();
        folders.dedup();
        folders
    }

    /// Every file in those folders that could be a session, those of sub-agents too, by path. What cannot be
    /// read is passed over.
    pub fn files(&self) -> Vec<PathBuf> {
        let folders = self.folders();
        let mut files: Vec<PathBuf> = folders.iter().flat_map(|it| walk_directory(it)).collect();
        files.sort();
        files.dedup();
        files
    }

    fn newest_first(&self, files: impl Fn(&Path, &Home) -> Vec<PathBuf>) -> Vec<SessionFile> {
        let mut found = Vec::new();
        for (format, directory) in &self.0 {
            let Some(home) = &format.home else { continue };
            let sessions = files(directory, home);
            found.extend(sessions.into_iter().filter_map(|path| {
                let modified = fs::metadata(&path).ok()?.modified().ok()?;
                Some(SessionFile {
                    path,
                    format,
                    modified,
                })
            }));
        }
        found.sort_by(|a, b| (b.modified, &a.path).cmp(&(a.modified, &b.path)));
        found
    }

    /// The provider that a format's tool talks to by its own settings, if it says so.
    pub fn provider(&self, format: &Format) -> Option<String> {
        let (_, directory) = self.0.iter().find(|(known, _)| *known == format)?;
        let (file, read) = format.resume()?.provider?;
        read(&fs::read_to_string(directory.join(file)).ok()?)
    }

    /// Where a new session of `format` must lie so that its tool finds it. `local_time` is the
    /// moment's local date and time as `YYYY-MM-DDThh-mm-ss`. None for formats that have no such
    /// place, or whose tool's directory is unknown.
    pub fn new_session(
        &self,
        format: &Format,
        cwd: &Path,
        id: &str,
        local_time: &str,
    ) -> Option<PathBuf> {
        let (_, directory) = self.0.iter().find(|(known, _)| *known == format)?;
        let cwd = &*cwd.to_string_lossy();
        let folders = format.home.as_ref().and_then(|home| home.folders);
        let folder = folders.and_then(|(file, read)| {
            let list = fs::read_to_string(directory.join(file)).ok()?;
            read(&list, cwd)
        });
        let file = (format.resume()?.file)(&NewFile {
            cwd,
            id,
            local_time,
            folder: folder.as_deref(),
        });
        Some(directory.join(file))
    }
}

/// The sessions of `cwd` in a tool's directory.
fn sessions_in(directory: &Path, home: &Home, cwd: &str) -> Vec<PathBuf> {
    let mut files = session_files(&directory.join((home.sessions)(cwd)), home.depth);
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let read = || beginning(&FileInput::open_up_to(path, FIRST_BYTES).ok()?).ok()?;
        (home.belongs)(&name, cwd, &read)
    });
    files
}

/// A session file's name without directory and extension, compressed or not.
pub fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = Path::new(name.strip_suffix(PACKED).unwrap_or(&name));
    plain
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into()
}

/// The name of the folder that a file is in; empty if it is in none.
pub(super) fn folder_of(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_default();
    let folder = absolute.parent().and_then(Path::file_name);
    folder.unwrap_or_default().to_string_lossy().into()
}

/// Every regular file below `directory` that could be a session (`.json`, `.jsonl`, or one of them
/// compressed), by path.
pub fn walk_directory(directory: &Path) -> Vec<PathBuf> {
    let mut files = session_files(directory, 16);
    files.sort();
    files
}

/// The session files in `directory` and down to `depth` levels below it. Links to directories are
/// not followed.
fn session_files(directory: &Path, depth: usize) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let name = path.to_string_lossy();
        let plain = Path::new(name.strip_suffix(PACKED).unwrap_or(&name));
        // A tool that goes on with a compressed session makes a plain file again; that one counts.
        if plain.as_os_str() != path.as_os_str() && plain.exists() {
            continue;
        }
        if kind.is_dir() {
            if depth > 0 {
                files.extend(session_files(&path, depth - 1));
            }
        } else if is_session_name(&path)
            // A link may lead to a file, or nowhere; pipes, sockets and devices are passed over.
            && leads_to_file(&path)
        {
            files.push(path);
        }
    }
    files
}

/// Whether a file of this name could be a session: `.json`, `.jsonl`, or one of them compressed. What a
/// tool notes beside one (`.meta.json`) is none.
pub fn is_session_name(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let plain = Path::new(name.strip_suffix(PACKED).unwrap_or(&name));
    let extension = plain.extension().unwrap_or_default();
    (extension == "jsonl" || extension == "json") && !name.ends_with(".meta.json")
}

/// Whether a path leads to a file; one that cannot be looked at may do so.
fn leads_to_file(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(facts) => facts.is_file(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_found_where_their_tools_put_them() {
        let home = tempfile::tempdir().expect("a directory");
        let [claude, codex] = ["claude-code", "codex"].map(|name| {
            let format = Format::named(name).expect("known");
            (format, home.path().join(name))
        });
        let (claude_format, codex_format) = (claude.0, codex.0);
        let dirs = ToolDirs(vec![claude, codex]);
        let cwd = Path::new("/home/u/my.repo");
        let claude = dirs
            .new_session(claude_format, cwd, "id", "")
            .expect("a place");
        assert!(
            claude.ends_with("projects/-home-u-my-repo/id.jsonl"),
            "{claude:?}"
        );
        let codex = dirs
            .new_session(codex_format, cwd, "id", "2026-01-02T03-04-05")
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
        let found = dirs.sessions_of(cwd);
        assert_eq!(found.len(), 2);
        assert!(dirs.sessions_of(Path::new("/elsewhere")).is_empty());
        assert_eq!(dirs.sessions(), found, "those of all directories");
    }
}
