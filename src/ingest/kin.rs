//! Which session files belong to others: those that a session begins with come in before it, those of
//! its sub-agents after it.
//!
//! Deliberately absent: what a file's first line says; its format knows.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::bases;
use super::database::{self, Listings};
use super::file::FileInput;
use super::tool_dirs::{folder_of, walk_directory};
use crate::error::Result;
use crate::history::Repo;
use crate::interop::records::first_line;
use crate::interop::rows::StoredSession;
use crate::interop::{Descent, FORMATS, Format};

/// How long a first line may be.
const FIRST_BYTES: u64 = 1 << 20;

/// What a file's first line says of its session.
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
    let told = files.iter().map(|path| told(path, listings));
    let mut order = Order {
        repo,
        files: files.iter().cloned().zip(told).collect(),
        begun: HashSet::new(),
        order: Vec::with_capacity(files.len()),
    };
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

/// The files beside `file` of the session with this id, where their tool would keep them.
fn beside(file: &Path, id: &str) -> Vec<PathBuf> {
    // Ids are names there; a short or empty one is none.
    if id.len() < 8 {
        return Vec::new();
    }
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in folders(&absolute) {
        let here = walk_directory(&folder).into_iter();
        found.extend(here.filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.contains(id)
                && told(path, &mut Listings::default()).is_some_and(|told| told.id == id)
        }));
    }
    found
}

/// The file that was written last, of those that are no sub-agent's, by its place; none where all are.
pub fn newest(files: &[PathBuf], listings: &mut Listings) -> Option<usize> {
    let mut newest = None;
    for (at, file) in files.iter().enumerate() {
        let told = told(file, listings);
        if told.is_some_and(|told| told.descent.spawned_by.is_some()) {
            continue;
        }
        let modified = match listings.session(file) {
            Some(session) => Some(database::modified(session)),
            None => std::fs::metadata(file).and_then(|it| it.modified()).ok(),
        };
        newest = newest.max(Some((modified, at)));
    }
    newest.map(|(_, at)| at)
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
    let first = first_line(&FileInput::open_up_to(path, FIRST_BYTES).ok()?).ok()??;
    let folder = folder_of(path);
    FORMATS.into_iter().find_map(|format| {
        let (id, descent) = (format.home.as_ref()?.descent)(&first, &folder)?;
        Some(Told {
            format: Some(format),
            id,
            descent,
        })
    })
}

struct Order<'a> {
    repo: &'a Repo,
    files: Vec<(PathBuf, Option<Told>)>,
    begun: HashSet<usize>,
    order: Vec<PathBuf>,
}

impl Order<'_> {
    /// Takes a file, and before it those that it needs.
    fn take(&mut self, at: usize) -> Result<()> {
        if !self.begun.insert(at) {
            return Ok(());
        }
        for before in self.before(at)? {
            self.take(before)?;
        }
        self.order.push(self.files[at].0.clone());
        Ok(())
    }

    /// The files that come before one.
    fn before(&mut self, at: usize) -> Result<Vec<usize>> {
        let (path, Some(told)) = &self.files[at] else {
            return Ok(Vec::new());
        };
        let others = self.files.iter().enumerate();
        let others = others.filter_map(|(other, (_, known))| Some((other, known.as_ref()?)));
        let base = told.descent.base.as_ref();
        let comes_before = |other: &Told| {
            let is_earlier = other.descent.begun < told.descent.begun;
            match base.is_some_and(|base| base.session == other.id) {
                true => other.id != told.id || is_earlier,
                false => told.descent.spawned_by.as_ref() == Some(&other.id),
            }
        };
        let mut before: Vec<usize> = others
            .filter(|(other, known)| *other != at && comes_before(known))
            .map(|(other, _)| other)
            .collect();
        let listed = |before: &[usize], id: &str| {
            let mut known = before.iter().filter_map(|at| self.files[*at].1.as_ref());
            known.any(|known| known.id == id)
        };
        if let (Some(base), Some(format)) = (base, told.format)
            && !listed(&before, &base.session)
            && !bases::is_here(&*self.repo.store, format, base)?
        {
            for found in beside(path, &base.session) {
                let told = self::told(&found, &mut Listings::default());
                if self.files.iter().all(|(known, _)| *known != found) {
                    before.push(self.files.len());
                    self.files.push((found, told));
                }
            }
        }
        Ok(before)
    }
}
