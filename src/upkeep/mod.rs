//! What keeps a repository well: collections, erasures, checks, backups, and what takes its room.
//!
//! Deliberately absent: doing any of it unasked.

pub(crate) mod asides;
pub(crate) mod backup;
pub mod erase;
pub mod fsck;
pub mod gc;
pub(crate) mod notes;
pub mod purge;
pub(crate) mod restore;
pub(crate) mod retention;
pub mod room;

pub use crate::store::{Checked, SetAside};
pub use asides::{Aside, ErasedAside};
pub use backup::BackupStep;
pub use erase::{Erased, Erasing, Erasure};
pub use fsck::Fsck;
pub use gc::{Collected, GcStep};
pub use purge::{Purged, Unfinished};
pub use restore::PutBack;
pub use retention::{LetGo, Stays};
pub use room::{Du, Heap, NamedRoom, Needed, SessionRoom};
