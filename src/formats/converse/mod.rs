//! Messages of Amazon Bedrock's Converse API, whose blocks are objects that one member names: as programs keep them, and
//! as Strands keeps them in a session's folder ([`files`]).
//!
//! Deliberately absent: replies as the API gives them, guards' contents, the states of agents that stand beside their
//! messages, and any writing.
//!
//! # Source
//!
//! `API_runtime_{Message,ContentBlock}` of <https://docs.aws.amazon.com/bedrock/latest/APIReference>;
//! `src/strands/{session,types,agent/conversation_manager}` of <https://github.com/strands-agents/sdk-python>, 1.62.

mod files;
mod message;
mod read;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::{conversations, histories};
use read::{Agent, Chat};

/// Whose opaque blocks these are.
const PROVIDER: &str = "bedrock";

/// The members of an agent's object that hold its file, and that of its session.
const AGENT: &str = "strands_agent";
const SESSION: &str = "strands_session";

/// The file that shows a session of Strands, without its extension.
const STEM: &str = "session";

/// The format.
pub static CONVERSE: Format = Format {
    aliases: &["bedrock"],
    tools: &["Amazon Bedrock Converse"],
    seen: "message lists of Strands 1.62; requests by the API's reference",
    sniff: histories::sniff::<Chat>,
    ..Format::only_read("converse", Shape::Document, histories::import::<Chat>)
};

/// The same as Strands keeps them.
pub static STRANDS: Format = Format {
    tools: &["Strands Agents"],
    seen: "sessions of 1.62; redactions and those in buckets by its source",
    sniff: |head| head.lists(|agent| agent.has(AGENT)).then_some(0),
    common_stem: Some(STEM),
    joined_files: Some(files::FILES),
    home: Some(Home::of(".strands", "sessions", 1, |name| {
        name == files::SHOWN
    })),
    ..Format::only_read("strands", Shape::Document, conversations::import::<Agent>)
};
