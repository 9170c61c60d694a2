//! Logs of inspect_ai: an evaluation with its samples, each of which is a session.
//!
//! What a sample's context was at its end is told, each reply with what was counted for it; its scores are in its title.
//! An archive (`.eval`) comes in as the object that it is in parts. Deliberately absent: requests of graders, and of agents
//! whose words are not in the sample's own context; those are counted. Nothing is written.
//!
//! # Source
//!
//! `src/inspect_ai/{log,model,event}` of <https://github.com/UKGovernmentBEIS/inspect_ai>, version 2 of the log.

mod message;
mod read;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};

/// Whose opaque blocks these are.
const PROVIDER: &str = "inspect";

/// The format.
pub static INSPECT: Format = Format {
    aliases: &["inspect-ai"],
    tools: &["inspect_ai"],
    seen: "an archive of 0.3.285; older logs by its source",
    sniff: |head| {
        let log = head.object()?;
        let shows = log.list("samples").is_some() && log.inside("eval")?.has("task");
        shows.then_some(0)
    },
    ..Format::only_read("inspect", Shape::Document, read::import)
};
