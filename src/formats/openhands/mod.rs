//! OpenHands: a conversation is a folder (`events`) with a file for each event, one source of lines here.
//!
//! Calls that one reply made are one message. A condensation names the events that the model is sent no more, and the
//! summary that stands in their place: that is a hide. Of the state beside the events (`base_state.json`) the model and what
//! was counted are a last line of the source. Deliberately absent: what else stands there, and any writing.
//!
//! # Source
//!
//! `openhands-sdk/openhands/sdk/{event,conversation,llm}` of <https://github.com/OpenHands/software-agent-sdk>.

mod event;
mod read;
mod state;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Home, RecordFiles, Shape};
use crate::formats::shared::head::Keys;

/// Whose opaque blocks these are.
const PROVIDER: &str = "openhands";

/// The folder of a conversation's events.
const EVENTS: &str = "events";

/// The format.
pub static OPENHANDS: Format = Format {
    tools: &["OpenHands"],
    seen: "1.16.0; condensations and pictures by the source of its SDK of 2026",
    sniff: |head| head.first(is_event),
    common_stem: Some(EVENTS),
    home: Some(Home::of(".openhands", "conversations", 2, |name| {
        name == EVENTS
    })),
    record_files: Some(RecordFiles {
        is_one,
        before: |_, _| String::new(),
        after: "",
        by_name: true,
        beside: Some(("base_state.json", state::line)),
    }),
    ..Format::only_read("openhands", Shape::Lines, read::import)
};

/// Whether a file of this name holds an event: `event-00012-ID.json`.
fn is_one(name: &str) -> bool {
    let rest = name.strip_prefix("event-");
    let rest = rest.and_then(|rest| rest.strip_suffix(".json")?.split_once('-'));
    rest.is_some_and(|(number, id)| {
        number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit()) && !id.is_empty()
    })
}

fn is_event(record: &Keys<'_>) -> bool {
    let kind = record.text("kind").unwrap_or_default();
    let is_known =
        kind.ends_with("Event") || kind.ends_with("Observation") || kind == "Condensation";
    is_known && record.has("id") && record.has("timestamp") && record.has("source")
}
