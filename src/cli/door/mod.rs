//! Doors for programs: what they ask is what [`tract::api`] answers.

mod desk;
mod host;
mod lines;
mod order;

pub use desk::{once, serve};
pub use host::{Surroundings, Worker};
pub use lines::{Line, Lines};
