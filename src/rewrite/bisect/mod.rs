//! Which message, part, hide or setting makes a context go wrong, or which commit of a path.
//!
//! [`search`] finds candidates by trials, [`bisection`] says which candidates there are in which order; both are pure.
//! [`ground`] makes the contexts. Deliberately absent: who judges a context, and how that is run.

pub mod bisection;
pub mod ground;
mod line;
pub mod search;
#[cfg(test)]
mod tests;

pub use bisection::{BisectEnd, BisectStep, Bisection, Suspect, Suspects, Taken};
pub use ground::Ground;
pub use search::{CAUSES_MAX, Judged, SearchHow};
