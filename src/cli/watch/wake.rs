//! What wakes a watch: the system's word that something in a tool's folder has changed.
//!
//! A word may be lost, come late or say nothing of use, so that who waits looks at everything now and then.
//! Deliberately absent: what a change means; a file is looked at, whatever was said of it.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tract::ingest::tool_dirs::{ToolFolder, changed_by};

/// What is written at once is taken in at once: how long after the first word more of them are waited for.
const BATCH: Duration = Duration::from_millis(100);

/// What has changed.
#[derive(Debug, PartialEq, Eq)]
pub enum Woken {
    /// Nothing that anybody said.
    Quiet,
    /// These files.
    Files(BTreeSet<PathBuf>),
    /// Anything.
    All,
}

/// The folders that are listened to.
pub struct Wake {
    watcher: Option<RecommendedWatcher>,
    words: Receiver<notify::Result<Event>>,
    folders: HashSet<PathBuf>,
}

impl Wake {
    pub fn begin() -> Self {
        let (tell, words) = channel();
        // Where the system cannot tell, everything is looked at every second.
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(tell, config).ok();
        Self {
            watcher,
            words,
            folders: HashSet::new(),
        }
    }

    /// Listens to the folders that are there; gives whether there is a new one among them.
    pub fn listen(&mut self, folders: &[ToolFolder]) -> bool {
        let before = self.folders.len();
        // One that is made anew is another one.
        self.folders.retain(|folder| folder.is_dir());
        let is_gone = self.folders.len() < before;
        let mut is_new = false;
        for ToolFolder {
            path: folder,
            is_deep,
        } in folders
        {
            if self.folders.contains(folder) || !folder.is_dir() {
                continue;
            }
            is_new = true;
            let mode = match is_deep {
                true => RecursiveMode::Recursive,
                false => RecursiveMode::NonRecursive,
            };
            let watch = |watcher: &mut RecommendedWatcher| watcher.watch(folder, mode).is_ok();
            if self.watcher.as_mut().is_some_and(watch) {
                self.folders.insert(folder.clone());
            } else {
                self.watcher = None;
            }
        }
        is_new || is_gone
    }

    /// Whether the system says when something changes.
    pub fn hears(&self) -> bool {
        self.watcher.is_some()
    }

    /// Waits so long for a word, and a moment more for those that come with it.
    pub fn wait(&self, time: Duration) -> Woken {
        let mut woken = Woken::Quiet;
        let until = Instant::now() + time;
        let mut last = until;
        loop {
            let left = last.saturating_duration_since(Instant::now());
            match self.words.recv_timeout(left) {
                Ok(word) => {
                    let was_quiet = woken == Woken::Quiet;
                    woken = woken.with(word);
                    if was_quiet && woken != Woken::Quiet {
                        last = Instant::now() + BATCH;
                    }
                }
                Err(RecvTimeoutError::Timeout) => return woken,
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(until.saturating_duration_since(Instant::now()));
                    return woken;
                }
            }
        }
    }
}

impl Woken {
    /// With what a word says.
    fn with(self, word: notify::Result<Event>) -> Self {
        let Ok(event) = word else {
            return Self::All;
        };
        if event.need_rescan() {
            return Self::All;
        }
        let is_of_use = match event.kind {
            // Our own reading is told, too.
            EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)) => false,
            EventKind::Remove(_) => false,
            EventKind::Any | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Other => true,
        };
        if !is_of_use {
            return self;
        }
        let mut files = match self {
            Self::All => return Self::All,
            Self::Quiet => BTreeSet::new(),
            Self::Files(files) => files,
        };
        for path in event.paths {
            match changed_by(&path) {
                // A folder may have come with all that is in it.
                _ if path.is_dir() => return Self::All,
                changed => files.extend(changed),
            }
        }
        if files.is_empty() {
            Self::Quiet
        } else {
            Self::Files(files)
        }
    }
}
