//! Branches that part and come together.

mod heads;
mod merge;
mod rebase;
mod rename;
