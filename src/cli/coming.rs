//! The session files that an import takes, with those that belong to them, in their order.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::path::{Path, PathBuf};

use tract::history::Repo;
use tract::ingest::database::Listings;
use tract::ingest::{ImportReport, kin};
use tract::model::Head;

use super::Result;

/// A file that is to come in.
pub struct Coming {
    pub file: PathBuf,
    /// Whether another one brings it.
    pub is_kin: bool,
    /// Whether it comes before the one that HEAD is to be on.
    pub is_aside: bool,
    /// The branch of the one that HEAD is to be on, where others come before it.
    pub branch: Option<String>,
}

/// The files in the order in which they come in: each after those that it begins with, and before those
/// of its sub-agents.
pub struct Queue {
    coming: VecDeque<Coming>,
    known: BTreeSet<PathBuf>,
    listings: Listings,
}

impl Queue {
    /// The files, with those that they need; HEAD is to be on the first of them if it is on nothing.
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
        })
    }

    /// The next one.
    pub fn next(&mut self) -> Option<Coming> {
        self.coming.pop_front()
    }

    /// Puts the files of the sub-agents next that a session's agent has started.
    pub fn agents_of(&mut self, repo: &Repo, file: &Path, report: &ImportReport) -> Result<()> {
        let sessions = report.sessions.iter();
        let ids: Vec<String> = sessions
            .flat_map(|session| session.end.started.iter().cloned())
            .collect();
        let mut found = kin::started(file, &ids, &mut self.listings);
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
