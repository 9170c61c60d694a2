//! The event log of kcosr/assistant: JSON Lines of what happened, in its two generations.
//!
//! The newer one has an envelope `{"id", "timestamp", "sessionId", "turnId", "responseId", "type",
//! "payload"}`; the older one has all members side by side, and may say a thing a second time in
//! the form of a finished turn. A file may hold both. Deliberately absent: audio, questionnaires
//! and switches between agents, which are counted and kept.
//!
//! # Source
//!
//! `packages/shared/src/chatEvents.ts` and `docs/design` of <https://github.com/kcosr/assistant>.

mod read;
mod write;

use crate::formats::format::Format;
use crate::formats::shared::stream;

/// The format.
pub static EVENT_LOG: Format = Format {
    aliases: &["kcosr"],
    tools: &["kcosr/assistant"],
    seen: "its source only",
    unproven: true,
    sniff: |head| {
        head.first(|record| {
            let kind = record.text("type");
            let own = kind
                .as_deref()
                .is_some_and(|kind| read::TYPES.contains(&kind));
            own || kind.is_some() && record.has("payload") && record.has("sessionId")
        })
    },
    common_stem: Some("events"),
    ..stream::format::<read::LogReader>("event-log", write::export)
};
