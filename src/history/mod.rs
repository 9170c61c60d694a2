//! A repository as people and programs use it: find it, append to it, look at it.
//!
//! One transaction per call. Deliberately absent: formatting, the clock (callers pass "now" in),
//! and SQL.

pub mod append;
pub mod branches;
pub mod budget;
pub mod diff;
pub mod find;
#[cfg(test)]
mod laws;
pub mod log;
#[cfg(test)]
mod looking;
pub mod moves;
mod newest;
pub mod pattern;
pub mod purge;
pub mod repo;
pub mod revision;
pub mod show;
pub mod standing;
pub mod status;
pub mod surgery;
pub(crate) mod taken;
mod tally;
pub mod tokens;
pub mod undo;
pub mod walk;

pub use append::{CommitOptions, Committed, Expect};
pub use branches::{BranchRow, Made, TagRow};
pub use budget::{Budget, BudgetAction, BudgetTarget, Verdict, Within};
pub use find::{FindOptions, FindProgress, Found};
pub use log::{LogOptions, LogRow};
pub use moves::{Checkout, OpenCall, Reset, ResetMode, Target};
pub use pattern::{Line, Pattern};
pub use purge::Purged;
pub use repo::{On, Repo};
pub use revision::Named;
pub use show::{Life, Shown, ShownPart};
pub use standing::{HiddenBy, Neighbour};
pub use status::Status;
pub use surgery::{Needs, Scene, Size, Surgery, SurgeryOptions, Touched};
pub use undo::OperationEntry;
