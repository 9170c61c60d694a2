//! What is read: logs, searches, differences, costs, pages.

mod audit;
mod blame;
mod call_lines;
mod calls_and_results;
mod compacted_history;
mod cost;
mod cost_misses;
mod diff;
mod diff_drawn;
mod find;
mod find_by_meaning;
mod find_ranked;
mod injected;
mod names;
mod pages;
mod parts;
mod prompts;
mod show;
mod stats;
mod view;
mod view_boundaries;
mod view_follow;
pub mod web;
