//! What is typed, and what a terminal shows.

mod arguments;
mod bad_use;
mod bounds;
mod dry_runs;
mod hostile;
mod log_lines;
mod messages;
mod nesting;
mod pager;
mod safe_lines;
pub mod screen;
mod shells;
mod ways_out;
mod widths;
mod wrong_values;
