//! What keeps a repository well: collections, erasures, checks.

mod fsck;
mod gc;
mod purge;

pub use fsck::*;
pub use gc::*;
pub use purge::*;
