//! A session with all its files: those that it begins with come in before it, those of its sub-agents behind it.
//!
//! Whoever takes a session in goes through this, so that every way in brings the same. Deliberately absent: which
//! files those are ([`kin`]), and what is said of them.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

use super::database::Listings;
use super::import::{ImportRequest, Progress, Reading, import};
use super::report::{ImportReport, Outcome};
use super::trouble::Trouble;
use super::{growth, kin};
use crate::error::{Error, Result};
use crate::model::{Head, Millis, RefValue};
use crate::repo::{On, Repo};

/// A file that is to come in.
#[derive(Clone, Debug)]
pub struct Coming {
    /// The file.
    pub file: PathBuf,
    /// Whether another file brings it.
    pub is_kin: bool,
    /// Whether it comes before the one that HEAD is to be on.
    pub is_aside: bool,
    /// The branch of the one that HEAD is to be on, where others come before it.
    pub branch: Option<String>,
}

/// Files in the order in which they come in: each after those that it begins with, and before those of its
/// sub-agents.
#[derive(Default)]
pub struct Queue {
    coming: VecDeque<Coming>,
    known: BTreeSet<PathBuf>,
    listings: Listings,
    /// The files beside sessions that may be sub-agents', by their folder.
    beside: HashMap<PathBuf, Vec<PathBuf>>,
}

impl Queue {
    /// The files, with those that they need; HEAD is to be on the first of them if it is on nothing.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn of(repo: &Repo, files: &[PathBuf], head: &Head, mut listings: Listings) -> Result<Self> {
        let order = kin::in_order(repo, files, &mut listings)?;
        let first = order.iter().position(|file| files.first() == Some(file));
        let first = first.filter(|_| head.commit().is_none()).unwrap_or(0);
        let branch = match head {
            Head::Attached { branch, .. } if first > 0 => Some(branch.short().to_owned()),
            _ => None,
        };
        let named: HashSet<&PathBuf> = files.iter().collect();
        let coming = order.iter().enumerate().map(|(at, file)| Coming {
            file: file.clone(),
            is_kin: !named.contains(file),
            is_aside: at < first,
            branch: branch.clone().filter(|_| at == first),
        });
        Ok(Self {
            coming: coming.collect(),
            known: order.iter().cloned().collect(),
            listings,
            beside: HashMap::new(),
        })
    }

    /// The next file.
    pub fn take_next(&mut self) -> Option<Coming> {
        self.coming.pop_front()
    }

    /// Puts the files of the sub-agents next that a session's agent has started.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn agents_of(&mut self, repo: &Repo, file: &Path, report: &ImportReport) -> Result<()> {
        let sessions = report.sessions.iter();
        let ids: Vec<String> = sessions
            .flat_map(|session| session.end.started.iter().cloned())
            .collect();
        let mut found = kin::started(file, &ids, &mut self.listings);
        let known = &self.known;
        let is_new = |file: &PathBuf| !known.contains(file);
        found.extend(kin::placed(file, report, &mut self.beside, &is_new));
        found.retain(|file| self.known.insert(file.clone()));
        for file in kin::in_order(repo, &found, &mut self.listings)?
            .into_iter()
            .rev()
        {
            self.coming.push_front(Coming {
                file,
                is_kin: true,
                is_aside: false,
                branch: None,
            });
        }
        Ok(())
    }
}

/// What came in with a file.
#[derive(Clone, Debug)]
pub struct FamilyReport {
    /// The file itself.
    pub own: ImportReport,
    /// The files that it begins with, and those of its sub-agents, in the order in which they came in.
    pub kin: Vec<(PathBuf, ImportReport)>,
}

/// Imports a file with those that it begins with and those of its sub-agents. What belongs to it and cannot be read
/// is left out; where only what is new is read, so is what has not changed. Where nobody waits for it any more, what has
/// come in of it is taken back.
///
/// # Errors
///
/// As [`import`] of the file itself; of any other the store's.
pub fn import_family(
    repo: &Repo,
    file: &Path,
    request: &ImportRequest<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<FamilyReport> {
    let files = [file.to_owned()];
    let head = repo.head(&On::Head)?;
    let mut queue = Queue::of(repo, &files, &head, Listings::default())?;
    let (mut own, mut kin) = (None, Vec::new());
    while let Some(coming) = queue.take_next() {
        let is_new = request.reading == Reading::New;
        let mut has_changed = || growth::has_changed(repo, &coming.file, &mut queue.listings);
        if coming.is_kin && is_new && has_changed()? == Some(false) {
            continue;
        }
        // What names the file names each of the family as it comes in.
        let verb = request.what.strip_suffix(&*file.display().to_string());
        let what = match verb.filter(|_| coming.is_kin) {
            Some("import ") => format!("{}: {}", request.what, coming.file.display()),
            Some(verb) => format!("{verb}{}", coming.file.display()),
            None => request.what.to_owned(),
        };
        let request = ImportRequest {
            what: &what,
            format: request.format.filter(|_| !coming.is_kin),
            branch: match coming.is_kin {
                true => None,
                false => request.branch.or(coming.branch.as_deref()),
            },
            moves_head: request.moves_head && !coming.is_aside,
            is_aside: request.is_aside || coming.is_aside,
            ..*request
        };
        let report = match import(repo, &coming.file, &request, progress) {
            Ok(report) => report,
            Err(error) if coming.is_kin && !ends_all(&error) => continue,
            Err(error) => {
                if matches!(error, Error::Cancelled) {
                    let done = kin.iter().map(|(_, report)| report).chain(&own);
                    take_back(repo, done, request.now)?;
                }
                return Err(error);
            }
        };
        queue.agents_of(repo, &coming.file, &report)?;
        match coming.is_kin {
            true => kin.push((coming.file, report)),
            false => own = Some(report),
        }
    }
    let own = own.expect("the queue holds the file itself");
    Ok(FamilyReport { own, kin })
}

/// Takes back what came in of a family that nobody waits for any more, but for what somebody has gone on from.
fn take_back<'r>(
    repo: &Repo,
    done: impl Iterator<Item = &'r ImportReport>,
    now: Millis,
) -> Result<()> {
    let mut operations = BTreeSet::new();
    for session in done.flat_map(|report| &report.sessions) {
        let newest = repo.reflog(&session.name, 1)?.pop();
        // Who was here before has moved nothing.
        let own = newest.filter(|(row, _)| {
            let tip = row.new.as_ref().and_then(RefValue::commit);
            session.outcome != Outcome::Unchanged && tip == session.tip
        });
        operations.extend(own.map(|(row, _)| row.operation));
    }
    for id in operations.into_iter().rev() {
        match repo.undo_of_anybody(id, now) {
            Ok(_) | Err(Error::OperationSuperseded { .. } | Error::NotUndoable { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether no other file would come in either.
fn ends_all(error: &Error) -> bool {
    let trouble = Trouble::of(error);
    matches!(trouble, Trouble::Damaged | Trouble::ServerLost) || matches!(error, Error::Cancelled)
}
