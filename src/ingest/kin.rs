//! Which session files belong to others: those that a session begins with come in before it, those of
//! its sub-agents after it.
//!
//! Deliberately absent: what a file's first line says; its format knows.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::bases;
use super::database::{self, Listings};
use super::file::FileInput;
use super::report::ImportReport;
use super::tool_dirs::{files_in, folder_of, stem, walk_directory};
use crate::error::Result;
use crate::formats::shared::records::beginning;
use crate::formats::shared::rows::StoredSession;
use crate::formats::{Agents, Base, Descent, FORMATS, Format, sniff};
use crate::repo::Repo;

/// How long a first line may be.
const FIRST_BYTES: u64 = 1 << 20;

/// What a file's beginning says of its session.
struct Told {
    /// Of what may begin in another file.
    format: Option<&'static Format>,
    id: String,
    descent: Descent,
}

/// These files so that each comes after those that it begins with and those of the sessions that
/// started it; with them the files beside them that they begin with, where the repository lacks those.
///
/// # Errors
///
/// The store's.
pub fn in_order(repo: &Repo, files: &[PathBuf], listings: &mut Listings) -> Result<Vec<PathBuf>> {
    let mut order = Order {
        repo,
        files: Vec::with_capacity(files.len()),
        by_id: HashMap::new(),
        begun: HashSet::new(),
        order: Vec::with_capacity(files.len()),
    };
    for path in files {
        order.add(path.clone(), told(path, listings));
    }
    for at in 0..files.len() {
        order.take(at)?;
    }
    Ok(order.order)
}

/// Where the sessions are that the session of `file` has started: those of these ids, and in a database those
/// that say so themselves.
pub fn started(file: &Path, ids: &[String], listings: &mut Listings) -> Vec<PathBuf> {
    let Some(((_, own), all)) = database::place(file).zip(listings.beside(file)) else {
        return ids.iter().flat_map(|id| beside(file, id)).collect();
    };
    let is_started =
        |it: &StoredSession| it.spawned_by.as_ref() == Some(&own) || ids.contains(&it.id);
    let found = all.iter().filter(|(_, session)| is_started(session));
    found.map(|(path, _)| path.clone()).collect()
}

/// The files of the sub-agents of what came in from `file`, by where its tool puts them: those of these that `is_new`
/// holds for and that say whose agents' they are. `beside` keeps which files are looked at in each folder.
pub(super) fn placed(
    file: &Path,
    report: &ImportReport,
    beside: &mut HashMap<PathBuf, Vec<PathBuf>>,
    is_new: &dyn Fn(&PathBuf) -> bool,
) -> Vec<PathBuf> {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let (Some(home), Some(own)) = (&report.format.home, absolute.parent()) else {
        return Vec::new();
    };
    let names = report.sessions.iter();
    let names = names.filter_map(|session| Some(session.name.as_session()?.1.to_owned()));
    let ids: BTreeSet<String> = names.chain([stem(&absolute)]).collect();
    // What a file says is no way to anywhere else.
    let is_name =
        |id: &&String| !id.starts_with('.') && !id.contains(['/', '\\']) && !id.is_empty();
    let is_agents_name = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !(home.everywhere.is_session)(&name)
    };
    let (mut found, mut own_folders) = (Vec::new(), Vec::new());
    for place in home.agents_in {
        match *place {
            "." => {
                let all = beside.entry(own.to_owned()).or_insert_with(|| {
                    let mut all = files_in(own);
                    all.retain(is_agents_name);
                    all
                });
                found.extend(all.iter().cloned());
            }
            place if place.contains("{}") => {
                let folders = ids.iter().filter(is_name);
                let folders = folders.map(|id| below(own, &place.replace("{}", id)));
                own_folders.extend(folders);
            }
            place => {
                // One that was copied elsewhere has no others around it.
                let folder = below(own, place);
                let is_of = |agents: &Agents| folder.ends_with(agents.folder);
                if report.format.agents.as_ref().is_none_or(is_of) {
                    found.extend(walk_directory(&folder));
                }
            }
        }
    }
    found.extend(own_folders.iter().flat_map(|it| walk_directory(it)));
    found.retain(|path| *path != absolute && is_new(path));
    found.sort();
    found.dedup();
    let is_agents = |path: &PathBuf| match told(path, &mut Listings::default()) {
        Some(told) => {
            let parent = told.descent.spawned_by;
            parent.is_some_and(|parent| ids.contains(&parent))
        }
        // Of a file in the session's own folder the name says it where its first line is broken.
        None => is_agents_name(path) && own_folders.iter().any(|it| path.starts_with(it)),
    };
    found.retain(is_agents);
    found
}

/// A folder seen from another one, by its plain path: files are known by that.
fn below(folder: &Path, place: &str) -> PathBuf {
    let mut found = folder.to_owned();
    for name in place.split('/') {
        match name {
            ".." => drop(found.pop()),
            name => found.push(name),
        }
    }
    found
}

/// The files beside `file` of the session with this id, where their tool would keep them.
fn beside(file: &Path, id: &str) -> Vec<PathBuf> {
    // Ids are names there; a short or empty one is none.
    if id.len() < 8 {
        return Vec::new();
    }
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let is_meant =
        |path: &Path| told(path, &mut Listings::default()).is_some_and(|told| told.id == id);
    let mut found = Vec::from_iter(of_agent(&absolute, id).filter(|path| is_meant(path)));
    for folder in folders(&absolute) {
        let here = walk_directory(&folder).into_iter();
        found.extend(here.filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // Some tools name a file by the beginning of its id.
            name.contains(&id[..id.floor_char_boundary(8)]) && is_meant(path)
        }));
    }
    found
}

/// Where an agent's file lies, of a session like that of `file`: in a folder by its name, the last of its id.
fn of_agent(file: &Path, id: &str) -> Option<PathBuf> {
    let (_, name) = id.rsplit_once('/')?;
    let folder = file.parent()?.parent()?;
    let mut all = FORMATS.iter().filter_map(|format| format.agents);
    let is_one = all.any(|agents| folder.ends_with(agents.folder));
    is_one.then(|| folder.join(name).join(file.file_name().unwrap_or_default()))
}

/// The session that was written last, of those that are no sub-agent's, by its place; none where all are.
pub fn newest(files: &[PathBuf], listings: &mut Listings) -> Option<usize> {
    let mut found = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let told = told(file, listings);
        if told.is_some_and(|told| told.descent.spawned_by.is_some()) {
            continue;
        }
        let modified = match listings.session(file) {
            Some(session) => Some(database::modified(session)),
            None => std::fs::metadata(file).and_then(|it| it.modified()).ok(),
        };
        found.push((modified, at));
    }
    found.sort_unstable();
    let mut newest_first = found.iter().rev().map(|(_, at)| *at);
    // Other files lie beside sessions.
    let is_session = |at: &usize| {
        let file = &files[*at];
        let sniffed = || sniff::sniff(&FileInput::open(file).ok()?).ok()?;
        database::place(file).is_some() || sniffed().is_some()
    };
    newest_first
        .find(is_session)
        .or(found.last().map(|(_, at)| *at))
}

/// Where the tool that wrote a file keeps its others.
fn folders(file: &Path) -> Vec<PathBuf> {
    let homes = FORMATS.iter().filter_map(|format| format.home.as_ref());
    for home in homes {
        let is_folder = |folder: &&Path| {
            let name = folder.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| home.beside.contains(&name))
        };
        if let Some(all) = file
            .ancestors()
            .skip(1)
            .find(is_folder)
            .and_then(Path::parent)
        {
            return home.beside.iter().map(|name| all.join(name)).collect();
        }
    }
    file.parent().map(Path::to_owned).into_iter().collect()
}

fn told(path: &Path, listings: &mut Listings) -> Option<Told> {
    if let Some(session) = listings.session(path) {
        return Some(Told {
            format: None,
            id: session.id.clone(),
            descent: Descent {
                spawned_by: session.spawned_by.clone(),
                ..Descent::default()
            },
        });
    }
    // A pipe is read once.
    if !path.is_file() {
        return None;
    }
    let first = beginning(&FileInput::open_up_to(path, FIRST_BYTES).ok()?).ok()??;
    let told = FORMATS.into_iter().find_map(|format| {
        let folder = folder_of(path, format);
        let (id, descent) = (format.home.as_ref()?.descent)(&first, &folder)?;
        Some(Told {
            format: Some(format),
            id,
            descent,
        })
    });
    // Many a session says nothing of others, and is called by its id.
    told.or_else(|| {
        let id = stem(path);
        uuid::Uuid::try_parse(&id).ok()?;
        Some(Told {
            format: None,
            id,
            descent: Descent::default(),
        })
    })
}

struct Order<'a> {
    repo: &'a Repo,
    files: Vec<(PathBuf, Option<Told>)>,
    /// Those of a session, by its id.
    by_id: HashMap<String, Vec<usize>>,
    begun: HashSet<usize>,
    order: Vec<PathBuf>,
}

impl Order<'_> {
    fn add(&mut self, path: PathBuf, told: Option<Told>) -> usize {
        let at = self.files.len();
        if let Some(told) = &told {
            self.by_id.entry(told.id.clone()).or_default().push(at);
        }
        self.files.push((path, told));
        at
    }

    /// Takes a file, and before it those that it needs. Sessions may start each other ten thousand deep, or
    /// in a circle.
    fn take(&mut self, at: usize) -> Result<()> {
        let mut under_way = Vec::from_iter(self.begin(at)?);
        while let Some((at, before)) = under_way.last_mut() {
            match before.pop_first() {
                Some(before) => under_way.extend(self.begin(before)?),
                None => {
                    self.order.push(self.files[*at].0.clone());
                    under_way.pop();
                }
            }
        }
        Ok(())
    }

    /// A file that is to be taken now, with those that come before it; none where it was begun already.
    fn begin(&mut self, at: usize) -> Result<Option<(usize, BTreeSet<usize>)>> {
        Ok(if self.begun.insert(at) {
            Some((at, self.before(at)?))
        } else {
            None
        })
    }

    /// The files that come before one.
    fn before(&mut self, at: usize) -> Result<BTreeSet<usize>> {
        let (path, Some(told)) = &self.files[at] else {
            return Ok(BTreeSet::new());
        };
        let base = told.descent.base.as_ref();
        let comes_before = |other: &Told| {
            let is_earlier = other.descent.begun < told.descent.begun;
            if base.is_some_and(|base| base.may_be_of(&other.id)) {
                other.id != told.id || is_earlier
            } else {
                told.descent.spawned_by.as_ref() == Some(&other.id)
            }
        };
        let ids = base.into_iter().flat_map(Base::sessions);
        let ids = ids.chain(&told.descent.spawned_by);
        let named = ids.filter_map(|id| self.by_id.get(id)).flatten().copied();
        let known = |at: &usize| self.files[*at].1.as_ref();
        let mut before: BTreeSet<usize> = named
            .filter(|other| *other != at && known(other).is_some_and(comes_before))
            .collect();
        let is_listed = |id: &str| before.iter().filter_map(known).any(|known| known.id == id);
        if let (Some(base), Some(format)) = (base, told.format)
            && !base.sessions().any(|id| is_listed(id))
            && !bases::is_here(&*self.repo.store, format, base)?
        {
            let found = base.sessions().flat_map(|id| beside(path, id));
            let found: Vec<PathBuf> = found.collect();
            for found in found {
                let told = self::told(&found, &mut Listings::default());
                if self.files.iter().all(|(known, _)| *known != found) {
                    before.insert(self.add(found, told));
                }
            }
        }
        Ok(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database says of each session which one started it, whatever that makes.
    #[test]
    fn sessions_that_start_each_other_in_a_long_circle_come_in_all_the_same() {
        const LENGTH: usize = 50_000;
        let repo = Repo::ephemeral().expect("a repository");
        let mut order = Order {
            repo: &repo,
            files: Vec::new(),
            by_id: HashMap::new(),
            begun: HashSet::new(),
            order: Vec::new(),
        };
        for at in 0..LENGTH {
            let told = Told {
                format: None,
                id: at.to_string(),
                descent: Descent {
                    spawned_by: Some(((at + 1) % LENGTH).to_string()),
                    ..Descent::default()
                },
            };
            order.add(PathBuf::from(at.to_string()), Some(told));
        }
        order.take(0).expect("an order");
        let expected = (1..LENGTH).rev().chain([0]).map(|at| at.to_string());
        let expected: Vec<PathBuf> = expected.map(PathBuf::from).collect();
        assert_eq!(order.order, expected);
        order.take(7).expect("an order");
        assert_eq!(order.order, expected, "each comes once");
    }
}
