//! tract
pub mod error;
pub mod hash;
pub mod model;
pub use error::{Error, Result};
