//! The laws of a repository.

mod collections;
pub(super) mod commands;
mod moves;
mod picks;
mod purges;
mod second_reader;
mod totals;
