//! Doors for programs: what they ask is what [`tract::deeds`] answers.

mod advice;
mod desk;
mod host;
mod lines;
mod order;
mod pool;

pub use desk::{once, serve};
pub use host::{Surroundings, Watch, Worker};
pub use lines::{Line, Lines, one_line};
pub use pool::{Door, Job, Pool, WORKERS, lock};
