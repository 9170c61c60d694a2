//! The laws of a repository.

mod commands;
mod moves;
mod purges;
mod totals;
