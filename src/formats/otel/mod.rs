//! Traces of requests to models: spans of OpenTelemetry as OTLP has them in JSON, by its conventions for generative AI, by
//! older ones of OpenLLMetry, and by those of OpenInference.
//!
//! Each request repeats what was said before it. Those that go on from one another are one session, whichever traces they
//! are in; a context that begins anew is another one. Deliberately absent: spans of anything else, and the order of a
//! trace's steps.
//!
//! # Source
//!
//! `docs/gen-ai` of <https://github.com/open-telemetry/semantic-conventions>; `packages` of
//! <https://github.com/traceloop/openllmetry>; `spec` of <https://github.com/Arize-ai/openinference>;
//! `pydantic_ai/_otel_messages.py` of <https://github.com/pydantic/pydantic-ai>.

mod ai_sdk;
mod attributes;
mod conversation;
mod flat;
mod heard;
mod history;
mod message;
mod read;
mod span;
#[cfg(test)]
mod tests;
mod write;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::head::SourceHead;
use crate::formats::shared::histories;
use history::History;

pub(in crate::formats) use message::is_message;

/// Whose opaque blocks these are.
const PROVIDER: &str = "otel";

/// The members that hold spans, from the outside.
const RESOURCES: &str = "resourceSpans";
const SCOPES: &str = "scopeSpans";
const SPANS: &str = "spans";

/// The record with the spans of a trace.
fn is_trace(head: &SourceHead<'_>) -> Option<usize> {
    head.first(|record| record.list(RESOURCES).is_some())
}

/// The format.
pub static OTEL: Format = Format {
    aliases: &["otlp"],
    tools: &["OpenTelemetry"],
    seen: "traces of pydantic-ai 2.68, OpenLLMetry 0.62, OpenInference 0.1.66 and the AI SDK 6.0.326 and 7.0.173; older ones by their sources",
    sniff: |head| is_trace(head).or_else(|| histories::sniff::<History>(head)),
    tells_costs: true,
    ..Format::of("otel", Shape::Document, read::import, write::export)
};
