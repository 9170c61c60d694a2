//! Branches that part and meet again.

mod merge;
mod rebase;
mod resolve;

pub use merge::*;
pub use rebase::*;
pub use resolve::*;
