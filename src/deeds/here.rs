//! What is of the directory whose HEAD this is, where each directory has a HEAD of its own: the same for every sum.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::deeds::{ApiError, At};
use crate::hash::CommitHash;
use crate::ingest::project_of;

/// A directory: its sessions, those of its worktrees, and what its HEAD leads to.
pub(super) struct Here {
    project: String,
    /// What its HEAD leads to.
    led_to: HashSet<CommitHash>,
    /// Whether directories are of it that were asked for.
    known: RefCell<HashMap<String, bool>>,
}

impl Here {
    /// That directory; none where all count.
    ///
    /// # Errors
    ///
    /// The store's.
    pub(super) fn of(at: &At<'_>, directory: Option<&str>) -> Result<Option<Self>, ApiError> {
        let Some(directory) = directory else {
            return Ok(None);
        };
        let led_to = match at.repo.head(&at.on)?.commit() {
            Some(tip) => at.repo.commits_on_path(&tip)?,
            None => HashSet::new(),
        };
        Ok(Some(Self {
            project: project_of(directory),
            led_to,
            known: RefCell::default(),
        }))
    }

    /// Whether a message or a reply is of it: by its commit, or by where its session ran.
    pub(super) fn has(&self, commit: &CommitHash, directory: Option<&String>) -> bool {
        let is_here = |directory: &String| {
            let mut known = self.known.borrow_mut();
            let is_known = known.get(directory).copied();
            is_known.unwrap_or_else(|| {
                let is_here = project_of(directory) == self.project;
                known.insert(directory.clone(), is_here);
                is_here
            })
        };
        self.led_to.contains(commit) || directory.is_some_and(is_here)
    }
}
