//! Whether a session still goes on where it ends, so that a call without a result is one that runs.
//!
//! Whoever records a stream says until when that is so, and puts it off as long as it lives; of any other session
//! the time of its last message tells. So one whose recorder was killed is over soon. Deliberately absent: the time.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Millis;
use crate::repo::repository::Repo;
use crate::repo::{load, path};

/// How long after its last message an imported session is taken for one that goes on: a quarter of an hour.
const QUIET_MS: i64 = 15 * 60 * 1000;

impl Repo {
    /// Whether `tip` is the end of a session that goes on at `now`: one that is being recorded, or an imported one
    /// whose last message came less than a quarter of an hour before.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if it is not here, and the store's.
    pub fn is_under_way(&self, tip: &CommitHash, now: Millis) -> Result<bool> {
        let view = self.store.read()?;
        let Some((session, _)) = path::session_among(&*view, &[*tip])? else {
            return Ok(false);
        };
        if load::tip(&*view, &session)? != Some(*tip) {
            return Ok(false);
        }
        if let Some(until) = view.recorded_until(&session)? {
            return Ok(until > now);
        }
        let last = load::commit(&*view, tip)?.commit.time;
        Ok(last.is_some_and(|last| last <= now && now.0 - last.0 < QUIET_MS))
    }
}
