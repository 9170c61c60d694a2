//! Smaller contexts.

mod annotate;
mod budget;
mod cold_cache;
mod compact;
pub mod drop;
mod laws;
mod prune;
mod shrink;
mod truncate;
