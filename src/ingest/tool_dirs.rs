//! Where tools keep their sessions, and which of them belong to a directory.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::database::{self, LOG};
use super::file::FileInput;
use super::file_along::{self, FileAlong};
use super::joined_files;
use super::record_files::is_record;
use super::{small_files, stub};
use crate::error::Result;
use crate::formats::shared::origin;
use crate::formats::shared::records::beginning;
use crate::formats::shared::rows::StoredSession;
use crate::formats::{FORMATS, Format, Home, Input, NewFile};
use crate::repo::directory::DIRECTORY;

/// How far down session files are looked for.
const DEPTH: usize = 16;

/// How much of a file is looked at for its working directory.
const CWD_BYTES: u64 = 64 << 10;

/// How long a first line may be, in a compressed file.
const FIRST_BYTES: u64 = 1 << 20;

/// What a compressed file's name ends with.
const PACKED: &str = ".zst";

/// What the name of a chat history in Markdown ends with.
const HISTORY: &str = "chat.history.md";

/// The folder in which SpecStory writes a file of Markdown for each session.
const SPECSTORY: &str = ".specstory/history";

/// What shows that a directory is a project's, beside a repository.
const GIT: &str = ".git";

/// What the name of a database ends with.
const DATABASES: [&str; 4] = ["db", "sqlite", "sqlite3", "vscdb"];

/// The tools' own directories, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct ToolDirs(pub Vec<(&'static Format, PathBuf)>);

impl ToolDirs {
    /// The directories that variables name, by format. `variable` gives the value of one that is set.
    pub fn named(variable: impl Fn(&str) -> Option<PathBuf>) -> BTreeMap<&'static str, PathBuf> {
        let named = |format: &'static Format| {
            let dir = variable(format.home.as_ref()?.variable?)?;
            Some((format.name, dir))
        };
        FORMATS.into_iter().filter_map(named).collect()
    }

    /// The directories that are named, by format; of all other formats the usual ones in the user's home.
    pub fn of(home: Option<&Path>, named: &BTreeMap<&str, PathBuf>) -> Self {
        let mut dirs = Vec::new();
        for format in FORMATS {
            let Some(usual) = &format.home else { continue };
            if let Some(dir) = named.get(format.name) {
                dirs.extend(several(dir).into_iter().map(|dir| (format, dir)));
                continue;
            }
            let Some((home, own)) = home.zip(usual.directory) else {
                continue;
            };
            dirs.push((format, home.join(own)));
            let former = usual.formerly.iter().map(|name| home.join(name));
            let former = former.filter(|dir| dir.exists());
            dirs.extend(former.map(|dir| (format, dir)));
        }
        Self(dirs)
    }

    /// The same, and the databases that programs keep in a working directory and in the projects around it, as far as they
    /// are there.
    pub fn with_projects(mut self, cwd: &Path) -> Self {
        let shows = |it: &Path| [GIT, DIRECTORY].iter().any(|own| it.join(own).exists());
        for project in cwd.ancestors().filter(|it| *it == cwd || shows(it)) {
            let mut asked: HashMap<PathBuf, Vec<(PathBuf, Option<&Format>)>> = HashMap::new();
            for (format, dir) in folders_in_project(project) {
                let databases = asked.entry(dir.clone()).or_insert_with(|| {
                    let owned = |path: PathBuf| {
                        let owner = database::format_of(&path);
                        (path, owner)
                    };
                    databases_in(&dir).into_iter().map(owned).collect()
                });
                let is_own = |(path, owner): &(PathBuf, Option<&Format>)| {
                    *owner == Some(format) || is_named(path, format)
                };
                // That of an agent's own folder is one of its project, too.
                let is_new = !self.0.contains(&(format, dir.clone()));
                if is_new && databases.iter().any(is_own) {
                    self.0.push((format, dir));
                }
            }
        }
        self
    }
}

/// Where programs of a project may keep databases, by format.
fn folders_in_project(project: &Path) -> Vec<(&'static Format, PathBuf)> {
    let mut found = Vec::new();
    for format in FORMATS {
        let mut folders = Vec::new();
        for folder in format.home.iter().flat_map(|home| home.in_projects) {
            match folder.strip_prefix("*/") {
                Some(inner) => {
                    let entries = fs::read_dir(project).into_iter().flatten().flatten();
                    folders.extend(entries.map(|entry| entry.path().join(inner)));
                }
                None if folder.is_empty() => folders.push(project.to_owned()),
                None => folders.push(project.join(folder)),
            }
        }
        folders.retain(|folder| folder.is_dir());
        folders.sort();
        found.extend(folders.into_iter().map(|folder| (format, folder)));
    }
    found
}

/// Whether a database has the name that its tool gives it. One that has and cannot be read is told of.
fn is_named(path: &Path, format: &Format) -> bool {
    let tables = format.tables.as_ref();
    tables.is_some_and(|tables| path.ends_with(tables.file))
}

/// What may be a database of a format in a directory: the one that its tool names; where programs made with it give names of
/// their own, every one.
fn databases_of(format: &Format, directory: &Path) -> Vec<PathBuf> {
    match (&format.home, &format.tables) {
        (Some(home), _) if !home.in_projects.is_empty() => databases_in(directory),
        (_, Some(tables)) => vec![directory.join(tables.file)],
        _ => Vec::new(),
    }
}

/// A folder in which something may change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolFolder {
    /// The folder.
    pub path: PathBuf,
    /// Whether what is in the folders inside it counts, too.
    pub is_deep: bool,
}

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
        let spelled = self.spellings(cwd);
        let files = |directory: &Path, home: &Home| {
            let files = spelled.iter();
            let files = files.flat_map(|cwd| sessions_in(directory, home, cwd));
            let files: BTreeSet<PathBuf> = files.collect();
            files.into_iter().map(FoundFile::named).collect()
        };
        let own = folders_in_project(cwd);
        let is_here = |place: (&Format, &Path), session: &StoredSession| match &session.cwd {
            Some(cwd) => spelled.contains(cwd),
            None => own
                .iter()
                .any(|(format, folder)| (*format, &**folder) == place),
        };
        self.newest_first(files, &is_here)
    }

    /// A working directory as it is said, and as sessions say it that reached it by a link, or before it was moved and
    /// a link put in its place.
    fn spellings(&self, cwd: &Path) -> Vec<String> {
        let mut spelled = vec![cwd.to_string_lossy().into_owned()];
        let Ok(here) = fs::canonicalize(cwd) else {
            return spelled;
        };
        for (format, directory) in &self.0 {
            let Some(home) = format.home.as_ref().filter(|it| it.of_directory.is_some()) else {
                continue;
            };
            let Home { everywhere, .. } = home;
            let Ok(folders) = fs::read_dir(directory.join(everywhere.folder)) else {
                continue;
            };
            for folder in folders.flatten() {
                let depth = everywhere.depth.saturating_sub(1);
                let mut files = tools_files(&folder.path(), depth).into_iter();
                let told = files.find_map(|file| cwd_of(&file));
                let told = told.filter(|told| !spelled.contains(told));
                let leads_here = |told: &String| fs::canonicalize(told).is_ok_and(|it| it == here);
                spelled.extend(told.filter(leads_here));
            }
        }
        spelled
    }

    /// The sessions of all working directories, newest first. A database or a folder that cannot be read stands
    /// for its sessions.
    pub fn sessions(&self) -> Vec<SessionFile> {
        let files = |directory: &Path, home: &Home| {
            let everywhere = &home.everywhere;
            let own = home.beside.iter().filter(|it| **it != everywhere.folder);
            let folders = own.copied().chain([everywhere.folder]);
            let files = folders.flat_map(|it| dated_files(&directory.join(it), everywhere.depth));
            let mut files: Vec<FoundFile> = files.collect();
            files.retain(|FoundFile { path, .. }| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                (everywhere.is_session)(&name) || is_closed(path)
            });
            files
        };
        self.newest_first(files, &|_, _| true)
    }

    /// The sessions of all working directories, newest first, and behind them every other file that could be one: a
    /// sub-agent's, an archived one, one that is not called as a session is. A session is named once, however its
    /// folder is reached.
    pub fn everything(&self) -> Vec<PathBuf> {
        let sessions = self.sessions().into_iter();
        let mut all: Vec<PathBuf> = sessions.map(|session| session.path).collect();
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut known: HashSet<PathBuf> = all.iter().map(|path| real(path)).collect();
        let others = self.files().into_iter();
        // What is in a database was asked of it.
        let others = others.filter(|path| !is_database_name(path) && known.insert(real(path)));
        all.extend(others);
        all
    }

    /// The folders in which the tools keep sessions, whether they are there or not; without links where they
    /// are.
    pub fn folders(&self) -> Vec<ToolFolder> {
        let mut folders = Vec::new();
        for (format, directory) in &self.0 {
            let Some(home) = &format.home else { continue };
            let tables = format.tables.as_ref();
            // A database's own folder may hold much that is no session.
            folders.extend(tables.map(|_| (directory.clone(), false)));
            // A tool that has one has taken its files into it, and writes them no more, unless those are databases, too.
            let has_files = |file| !(home.everywhere.is_session)(file);
            if tables.is_some_and(|it| has_files(it.file) && directory.join(it.file).exists()) {
                continue;
            }
            let names = home.beside.iter().copied();
            let own = std::iter::once(home.everywhere.folder).chain(names);
            folders.extend(own.map(|name| (directory.join(name), true)));
        }
        let mut folders: Vec<ToolFolder> = folders
            .into_iter()
            .map(|(path, is_deep)| ToolFolder {
                path: fs::canonicalize(&path).unwrap_or(path),
                is_deep,
            })
            .collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// Every file in those folders that could be a session, those of sub-agents too, and the databases that
    /// could hold any, by path; and the folders that cannot be read.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for folder in self.folders() {
            if folder.is_deep {
                files.extend(tools_files(&folder.path, DEPTH))
            } else {
                files.extend(databases_in(&folder.path))
            }
        }
        files.sort();
        files.dedup();
        files
    }

    fn newest_first(
        &self,
        files: impl Fn(&Path, &Home) -> Vec<FoundFile>,
        is_meant: &dyn Fn((&Format, &Path), &StoredSession) -> bool,
    ) -> Vec<SessionFile> {
        let mut found = Vec::new();
        for (format, directory) in &self.0 {
            let Some(home) = &format.home else { continue };
            let of = |path: PathBuf, modified| SessionFile {
                path,
                format,
                modified,
            };
            let file = |file: FoundFile| {
                let read = || fs::metadata(&file.path).ok()?.modified().ok();
                let modified = file.modified.or_else(read)?;
                Some(of(file.path, modified))
            };
            let mut sessions = files(directory, home);
            sessions.retain(|file| !is_agents(&file.path, format));
            if home.leaves_stubs {
                let left_out = stub::left_out(sessions.iter().map(|file| &*file.path), format);
                sessions.retain(|file| !left_out.contains(&file.path));
            }
            if format.tables.is_some() {
                // One for all, or one for each further down.
                let (databases, others): (Vec<FoundFile>, Vec<FoundFile>) = sessions
                    .into_iter()
                    .partition(|file| is_database_name(&file.path));
                let databases = databases.into_iter().map(|file| file.path);
                sessions = others;
                for path in databases.chain(databases_of(format, directory)) {
                    let is_named = home.in_projects.is_empty() || is_named(&path, format);
                    match database::listed(&path) {
                        Ok(Some((owner, _))) if owner != *format && !is_named => {}
                        Ok(stored) => {
                            let stored = stored.map_or_else(Vec::new, |(_, stored)| stored);
                            // What the tool has taken into it goes on there.
                            sessions.retain(|file| {
                                stored.iter().all(|(_, it)| it.id != stem(&file.path))
                            });
                            let own = database::own(&stored).into_iter();
                            let own =
                                own.filter(|(_, session)| is_meant((format, directory), session));
                            let own =
                                own.map(|(path, it)| of(path.clone(), database::modified(it)));
                            found.extend(own);
                        }
                        Err(_) if is_named => found.extend(file(FoundFile::named(path))),
                        Err(_) => {}
                    }
                }
            }
            found.extend(sessions.into_iter().filter_map(file));
        }
        found.sort_by(|a, b| (b.modified, &a.path).cmp(&(a.modified, &b.path)));
        found
    }

    /// The provider that a format's tool talks to by its own settings, if it says so.
    pub fn provider(&self, format: &Format) -> Option<String> {
        let directory = self.directory_of(format)?;
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
        let directory = self.directory_of(format)?;
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

    /// How many of the files that a new session of `format` names are nowhere.
    pub fn gone_files(&self, format: &Format, files: &[FileAlong]) -> usize {
        file_along::gone(self.directory_of(format), files)
    }

    /// Copies the files that a new session of `format` names to where its tool looks for them, as far as they are
    /// there. What stands in such a place already stays.
    ///
    /// # Errors
    ///
    /// Where one that is there cannot be copied.
    pub fn take_along(&self, format: &Format, files: &[FileAlong]) -> Result<()> {
        match self.directory_of(format) {
            Some(directory) => file_along::link(directory, files),
            None => Ok(()),
        }
    }

    fn directory_of(&self, format: &Format) -> Option<&Path> {
        let known = self.0.iter().find(|(known, _)| *known == format);
        known.map(|(_, directory)| directory.as_path())
    }
}

/// The directories that a variable names: several with commas between, but for one that is called so.
fn several(named: &Path) -> Vec<PathBuf> {
    let text = named.to_string_lossy();
    let parts = text.split(',').map(str::trim).filter(|it| !it.is_empty());
    let parts: Vec<PathBuf> = parts.map(PathBuf::from).collect();
    if parts.len() < 2 || named.exists() {
        return vec![named.to_owned()];
    }
    parts
}

/// The sessions of `cwd` in a tool's directory.
fn sessions_in(directory: &Path, home: &Home, cwd: &str) -> Vec<PathBuf> {
    let (folder, depth) = home.sessions(cwd);
    let mut files = tools_files(&directory.join(&folder), depth);
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let read = || beginning(&FileInput::open_up_to(path, FIRST_BYTES).ok()?).ok()?;
        (home.belongs)(&name, cwd, &read) && !is_of_another(path, home, cwd, &folder)
    });
    files
}

/// Whether a session is of another directory than `cwd`, whose sessions lie in the same `folder`.
fn is_of_another(path: &Path, home: &Home, cwd: &str, folder: &str) -> bool {
    let Some((folder_of, _)) = home.of_directory else {
        return false;
    };
    // What was moved here with its directory says where that was.
    cwd_of(path).is_some_and(|told| told != cwd && folder_of(&told) == folder)
}

/// The working directory that the first records of a file tell.
fn cwd_of(path: &Path) -> Option<String> {
    let input = FileInput::open_up_to(path, FIRST_BYTES).ok()?;
    let front = input.front(CWD_BYTES).ok()?;
    origin::cwd(&String::from_utf8_lossy(&front))
}

/// A session file's name without directory and extension, compressed or not, ended or not.
pub fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = without_end(&name);
    let plain = Path::new(name.strip_suffix(PACKED).unwrap_or(name));
    plain
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into()
}

/// The name of the folder that a file of `format` is in; empty if it is in none. That of an agent is named
/// from its session's own on: `SESSION/agents/NAME`.
pub(super) fn folder_of(path: &Path, format: &Format) -> String {
    let absolute = std::path::absolute(path).unwrap_or_default();
    let mut folders = absolute.ancestors().skip(1).map(|folder| {
        let name = folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    });
    let own = folders.next().unwrap_or_default();
    let above = folders.next().zip(folders.next());
    match (&format.agents, above) {
        (Some(agents), Some((folder, session))) if folder == agents.folder => {
            format!("{session}/{folder}/{own}")
        }
        _ => own,
    }
}

/// Whether a file of `format` is that of an agent to which nobody but another one speaks.
pub(super) fn is_agents(path: &Path, format: &Format) -> bool {
    format.agents.is_some_and(|agents| {
        let folder = folder_of(path, format);
        folder
            .rsplit_once('/')
            .is_some_and(|(_, own)| own != agents.main)
    })
}

/// Every regular file below `directory` that could be a session (`.json`, `.jsonl`, `.traj`, a chat
/// history in Markdown, or one of them compressed) or a database of them (`.db` and its like), by path; and the folders
/// that cannot be read.
pub fn walk_directory(directory: &Path) -> Vec<PathBuf> {
    let mut files = session_files(directory, DEPTH, &mut Search::default());
    files.sort();
    files.into_iter().map(|file| file.path).collect()
}

/// The same of a folder of a tool's own, down to a depth, where links to folders are followed, too: each folder is looked
/// into once.
fn tools_files(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let files = own_files(folder, depth, false).into_iter();
    files.map(|file| file.path).collect()
}

/// The same with the times of files.
fn dated_files(folder: &Path, depth: usize) -> Vec<FoundFile> {
    own_files(folder, depth, true)
}

fn own_files(folder: &Path, depth: usize, dates: bool) -> Vec<FoundFile> {
    let mut search = Search {
        seen: Some(fs::canonicalize(folder).into_iter().collect()),
        dates,
    };
    let mut files = session_files(folder, depth, &mut search);
    files.sort();
    files
}

/// A file that could be a session, or a folder that stands for some.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FoundFile {
    path: PathBuf,
    /// When it was last written, where that was asked and needed no look of its own.
    modified: Option<SystemTime>,
}

impl FoundFile {
    const fn named(path: PathBuf) -> Self {
        let modified = None;
        Self { path, modified }
    }
}

/// How folders are looked through.
#[derive(Default)]
struct Search {
    /// The folders that were seen, where links to folders are followed: into none of these.
    seen: Option<HashSet<PathBuf>>,
    /// Whether it is asked when a file was last written. Asked of its folder's entry, that costs no second way to the file.
    dates: bool,
}

/// The name of a file without what its tool has put behind it when the session ended: OpenClaw's
/// `ID.jsonl.reset.TIME` and `ID.jsonl.deleted.TIME`.
fn without_end(name: &str) -> &str {
    let ends = [".jsonl.reset.", ".jsonl.deleted."];
    let found = ends.iter().find_map(|end| name.find(end));
    found.map_or(name, |at| &name[..at + ".jsonl".len()])
}

/// The same of the files in a folder, not of those further down.
pub(super) fn files_in(folder: &Path) -> Vec<PathBuf> {
    tools_files(folder, 0)
}

/// The databases in a folder, not in those inside it.
fn databases_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = tools_files(folder, 0);
    files.retain(|path| is_database_name(path));
    files
}

/// The session files and databases in `directory` and down to `depth` levels below it; of a folder that is one
/// source, with a file for each record, the folder, and so of one that cannot be looked into: whoever reads it
/// is told why. The entries of a folder come in the order of their names.
fn session_files(directory: &Path, depth: usize, search: &mut Search) -> Vec<FoundFile> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            let is_none = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
            return if is_none {
                Vec::new()
            } else {
                vec![FoundFile::named(directory.to_owned())]
            };
        }
    };
    let mut files = Vec::new();
    let mut links = Vec::new();
    let mut is_source = false;
    let mut entries: Vec<_> = entries
        .flatten()
        .map(|entry| (entry.file_name(), entry))
        .collect();
    // Most of a long list is then in order.
    entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    for (name, entry) in entries {
        let path = directory.join(&name);
        if name.to_str().is_some_and(is_record) {
            is_source = true;
            continue;
        }
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
            let is_own = path.file_name() == Some(OsStr::new(DIRECTORY));
            let is_part = small_files::is_beside(&path) || joined_files::is_part(&path);
            if depth > 0 && !is_own && !is_part {
                if let Some(seen) = &mut search.seen {
                    seen.extend(fs::canonicalize(&path));
                }
                files.extend(session_files(&path, depth - 1, search));
            }
        } else if kind.is_symlink() && search.seen.is_some() && path.is_dir() {
            links.push(path);
        } else if (is_session_name(&path) || is_database_name(&path) || joined_files::is_shown(&path))
            // A link may lead to a file, or nowhere; pipes, sockets and devices are passed over.
            && (kind.is_file() || leads_to_file(&path))
            && !joined_files::is_part(&path)
        {
            let facts = || entry.metadata().ok()?.modified().ok();
            let modified = (search.dates && kind.is_file()).then(facts).flatten();
            files.push(FoundFile { path, modified });
        }
    }
    files.extend(is_source.then(|| FoundFile::named(directory.to_owned())));
    for link in links.into_iter().filter(|_| depth > 0) {
        let leads = fs::canonicalize(&link);
        let is_new = |seen: &mut HashSet<PathBuf>| leads.is_ok_and(|it| seen.insert(it));
        if search.seen.as_mut().is_some_and(is_new) {
            files.extend(session_files(&link, depth - 1, search));
        }
    }
    files
}

/// Whether this is a folder that cannot be looked into.
fn is_closed(path: &Path) -> bool {
    path.is_dir() && fs::read_dir(path).is_err()
}

/// Whether a file of this name could be a session: `.json`, `.jsonl`, `.traj`, `.eval`, a chat history in Markdown, or one
/// of them compressed. What a tool notes beside one (`.meta.json`) is none.
fn is_session_name(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let name = without_end(&name);
    let plain = Path::new(name.strip_suffix(PACKED).unwrap_or(name));
    let extension = plain.extension().unwrap_or_default();
    let is_one = ["jsonl", "json", "traj", "eval"]
        .iter()
        .any(|it| extension == *it);
    let is_history = name.ends_with(HISTORY) || extension == "md" && is_in(plain, SPECSTORY);
    let is_one = is_one || is_history;
    is_one && !name.ends_with(".meta.json")
}

/// Whether a file lies in a folder of this name.
fn is_in(path: &Path, folder: &str) -> bool {
    path.parent().is_some_and(|parent| parent.ends_with(folder))
}

/// Whether a file of this name could be a database.
fn is_database_name(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| DATABASES.iter().any(|it| extension == *it))
}

/// The file that could hold sessions, where a change of `path` is one of it: itself, the database whose log
/// this is, or the file that shows the session to which this one belongs.
pub fn changed_by(path: &Path) -> Option<PathBuf> {
    if let Some(shown) = joined_files::shown_by(path) {
        return Some(shown);
    }
    let of_log = path.to_str().and_then(|name| name.strip_suffix(LOG));
    let path = of_log.map_or(path, Path::new);
    let is_one = is_database_name(path) || of_log.is_none() && is_session_name(path);
    is_one.then(|| path.to_owned())
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
