//! What commits mean together: the fold and the plans. Pure: no store, no clock.

#[allow(clippy::module_inception)]
mod context;
pub mod fold;
#[cfg(test)]
pub(crate) mod laws;
pub mod plan;
mod step;

pub use context::{Context, Entry, Mask, MaskedPart};
pub use fold::{Order, OrderEntry};
