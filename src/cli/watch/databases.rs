//! The databases that a watch has looked into, and when it is to look again.
//!
//! To see which of its sessions have changed costs what a database has rows, and its tool may write many times a
//! second: so a look is followed by a rest. Deliberately absent: what is done with those sessions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tract::ingest::database::DatabaseState as State;

/// How many times as long as a look took nobody looks again.
const REST: u32 = 10;
/// What was written so short a time ago may be written again without a sign: a system's times are coarse.
const RECENT: Duration = Duration::from_millis(50);

/// What is known of them.
#[derive(Default)]
pub struct Databases(HashMap<PathBuf, Looked>);

struct Looked {
    /// How it was; none: it may have changed since without a sign.
    state: Option<State>,
    /// When somebody may look again.
    next: Instant,
}

/// Whether to look into a database.
#[derive(Debug, PartialEq, Eq)]
pub enum Due {
    Now,
    /// It has changed, but it was looked at a moment ago.
    Later,
    /// It is as it was.
    Never,
}

impl Databases {
    /// Whether to look into one that is in a state now.
    pub fn due(&self, path: &Path, state: State) -> Due {
        match self.0.get(path) {
            Some(looked) if looked.state == Some(state) => Due::Never,
            Some(looked) if looked.next > Instant::now() => Due::Later,
            _ => Due::Now,
        }
    }

    /// Remembers a look that began at a time, at a state; gives whether it may have changed since without a
    /// sign.
    pub fn looked(&mut self, path: &Path, state: State, begun: Instant) -> bool {
        let newest = state.newest_ns();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
        let is_recent = now.saturating_sub(newest) < RECENT.as_nanos() as i64;
        self.0.insert(
            path.to_owned(),
            Looked {
                state: (!is_recent).then_some(state),
                next: Instant::now() + begun.elapsed() * REST,
            },
        );
        is_recent
    }

    /// Has one looked into again, however it is.
    pub fn forget(&mut self, path: &Path) {
        self.0.remove(path);
    }

    /// Forgets all but these.
    pub fn retain(&mut self, is_there: impl Fn(&Path) -> bool) {
        self.0.retain(|path, _| is_there(path));
    }
}
