//! ATIF, the trajectories that Harbor and others make of an agent's run: one object with its steps.
//!
//! A step is what the model said, its calls, and what they gave; that is a message of its own here, with the
//! same step behind it. Sub-agents inside the object are branches. Deliberately absent: other files that a
//! trajectory names, pictures, which lie beside it, and any writing: it is made of what the agent itself keeps.
//!
//! # Source
//!
//! `rfcs/0001-trajectory-format.md` of <https://github.com/harbor-framework/harbor>, version 1.7.

mod read;
mod step;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};

/// Whose opaque blocks these are.
const PROVIDER: &str = "atif";

/// The format.
pub static ATIF: Format = Format {
    tools: &["Harbor"],
    seen: "two files of 1.7, one with its texts blacked out; compactions and sub-agents by its specification",
    sniff: |head| {
        let version = head.object()?.text("schema_version")?;
        version.starts_with("ATIF-").then_some(0)
    },
    ..Format::only_read("atif", Shape::Document, read::import)
};
