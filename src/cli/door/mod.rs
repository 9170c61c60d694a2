//! Doors for programs: what they ask is what [`tract::deeds`] answers.

mod desk;
mod host;
mod lines;
mod order;
mod pool;
mod wording;

pub use desk::{once, serve};
pub use host::{Surroundings, Watch, Worker};
pub use lines::{Line, Lines, one_line};
pub use pool::{Door, Job, Pool, WORKERS, lock};
