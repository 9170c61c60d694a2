//! The program from outside: one file per user story.

mod arguments;
mod bad_use;
mod committing;
mod concurrency;
mod demo;
mod diff;
mod finding;
mod importing;
mod importing_roo;
mod layers;
mod looking;
mod readme;
mod real_sessions;
mod roo_laws;
mod sandbox;
