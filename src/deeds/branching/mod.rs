//! Branches that part and meet again, and tags.

mod branch;
mod branches;
mod merge;
mod moves;
mod rebase;
mod resolve;
mod tag;

pub use branch::{BranchParams, Branched};
pub use branches::{BranchFacts, BranchesAnswer, BranchesParams};
pub use merge::*;
pub(super) use moves::branch_moves;
pub use moves::{BranchMoveParams, MoveParams, MovedAnswer};
pub use rebase::*;
pub use resolve::*;
pub use tag::{TagFacts, TagParams, TagsAnswer, TagsParams};
