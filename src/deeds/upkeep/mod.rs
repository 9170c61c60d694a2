//! What keeps a repository well: collections, erasures, checks, copies.

mod backup;
mod du;
mod fsck;
mod gc;
mod purge;

pub use backup::*;
pub use du::*;
pub use fsck::*;
pub use gc::*;
pub use purge::*;
