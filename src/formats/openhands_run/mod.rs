//! Runs of OpenHands: a line each of a file (`output.jsonl`), with the events in its `history`.
//!
//! A condensation names the events that the model is sent no more, and the summary that stands in their place: that is a
//! hide. Deliberately absent: what a run came to, and any writing.
//!
//! # Source
//!
//! `openhands/events` and `evaluation` of <https://github.com/OpenHands/OpenHands>.

mod event;
mod read;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::head::Keys;

/// The format.
pub static OPENHANDS_RUN: Format = Format {
    tools: &["OpenHands (runs)"],
    seen: "two runs of 2024",
    sniff: |head| head.first(is_run),
    ..Format::only_read("openhands-run", Shape::Lines, read::import)
};

/// Whether a line is a run: its events are actions and observations.
fn is_run(record: &Keys<'_>) -> bool {
    let events = record.list("history").into_iter().flatten();
    record.has_any(&["git_patch", "instruction", "metrics", "test_result"])
        && events
            .take(8)
            .any(|event| event.has_any(&["action", "observation"]))
}
