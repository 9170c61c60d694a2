//! What makes a context smaller. Nothing is lost: each is a commit, and `restore` and `undo` bring all back.

mod clear;
mod compact;
mod drop;
mod prune;
mod redact;
mod shrink;
mod truncate;

pub use clear::{ClearAnswer, ClearParams};
pub use compact::{CompactParams, lacks, missing, refused_summary};
pub use drop::DropParams;
pub use prune::PruneParams;
pub use redact::{RedactAnswer, RedactParams};
pub use shrink::ShrinkParams;
pub use truncate::TruncateParams;
