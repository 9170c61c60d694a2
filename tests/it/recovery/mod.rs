//! The way back.

mod left_sessions;
pub mod moves;
mod pick;
mod restore;
