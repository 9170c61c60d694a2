//! Version control for the context of conversations with language models.

pub mod compile;
pub mod context;
pub mod diff;
pub mod error;
pub mod hash;
pub mod history;
pub mod ingest;
pub mod interop;
pub mod model;
pub mod render;
pub mod store;
pub mod tree;
pub mod wire;

pub use error::{Error, Result};

#[cfg(test)]
#[path = "../tests/conditions.rs"]
mod conditions;
