//! How the place stands where a repository is kept.

use crate::error::Result;
use crate::model::Millis;
use crate::repo::repository::Repo;

pub use crate::store::{
    Archiver, Connected, Connections, FileHealth, Health, HealthOf, LockWait, OpenTransaction,
    Room, RoomOf, ServerHealth, TableHealth, Transport, Upkeep,
};

impl Repo {
    /// How the file or the server stands, by what it tells; `now` is the caller's clock. Nothing changes. It reads all
    /// pages of a file.
    ///
    /// # Errors
    ///
    /// The store's. What one may not see is missing, and no error.
    pub fn health(&self, now: Millis) -> Result<Health> {
        self.store.health(now)
    }
}
