//! The laws of a repository.

mod commands;
mod moves;
mod purges;
mod second_reader;
mod totals;
