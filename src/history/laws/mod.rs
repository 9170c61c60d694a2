//! The laws of a repository.

mod commands;
mod moves;
mod totals;
