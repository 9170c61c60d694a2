//! The laws of a repository.

mod moves;
mod totals;
