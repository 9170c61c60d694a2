//! Roo Code and Cline: a task's `api_conversation_history.json`, one array of Anthropic messages
//! with the tools' own keys beside them.
//!
//! The tool hides by tags: a message that names a summary (`condenseParent`) or a truncation's
//! marker (`truncationParent`) is not sent while that exists in the file. Each summary and marker
//! becomes a hide with itself as the replacement. Deliberately absent: what stands in the task's
//! other files, so also the range that Cline leaves out of a request, and the tool's directory.
//!
//! # Source
//!
//! `src/core/condense`, `src/core/context-management` and `src/core/task-persistence` of
//! <https://github.com/RooCodeInc/Roo-Code>; `src/shared/messages` of
//! <https://github.com/cline/cline>.

mod read;
mod steps;
mod tags;
mod write;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::head::Keys;

/// Whose opaque blocks these are, where they are not Anthropic's.
const PROVIDER: &str = "roo";

/// Keys that only these tools put beside a message's role and content.
const OWN_KEYS: [&str; 7] = [
    "ts",
    "isSummary",
    "condenseParent",
    "isTruncationMarker",
    "truncationParent",
    "modelInfo",
    "metrics",
];

/// The format.
pub static ROO: Format = Format {
    aliases: &["cline"],
    tools: &["Roo Code", "Cline"],
    seen: "task folders of 2025",
    // Its messages are Anthropic's: a key beside any of them decides for all, or how the tool words the task.
    sniff: |head| {
        let own = head.lists(|item| item.has("role") && item.has_any(&OWN_KEYS));
        (own || head.lists(|_| true) && head.records.first().is_some_and(is_task)).then_some(0)
    },
    bare_messages: true,
    common_stem: Some("api_conversation_history"),
    ..Format::of("roo", Shape::Document, read::import, write::export)
};

/// Whether a message is a task as these tools put it to the model: within tags, with the state of the editor behind it.
fn is_task(message: &Keys<'_>) -> bool {
    let blocks = message
        .list("content")
        .filter(|_| message.is("role", "user"));
    let texts: Vec<String> = blocks
        .into_iter()
        .flatten()
        .filter_map(|block| block.text("text"))
        .collect();
    let begins = |with: &str| texts.iter().any(|text| text.starts_with(with));
    begins("<task>") && begins("<environment_details>")
}

#[cfg(test)]
mod tests;
