//! The program from outside: one file per user story.

mod annotating;
mod arguments;
mod bad_use;
mod budgets;
mod committing;
mod compacting;
mod concurrency;
mod demo;
mod diff;
mod dropping;
mod finding;
mod importing;
mod importing_roo;
mod layers;
mod looking;
mod moving;
mod pruning;
mod readme;
mod real_sessions;
mod restoring;
mod roo_laws;
mod sandbox;
mod showing;
mod surgery_laws;
mod terminal;
mod truncating;
