//! Message histories of pydantic-ai, as its own adapter writes them: requests and responses, each with its parts.
//!
//! One request is one or more messages here: prompts, results and what a user said. Instructions stand beside each
//! request, and only the newest ones are sent: they are a system message, which changes where they do. Deliberately absent:
//! words that the framework puts around an error when it sends it.
//!
//! # Source
//!
//! `pydantic_ai_slim/pydantic_ai/messages.py` of <https://github.com/pydantic/pydantic-ai>, 1.0 to 2.68.

mod message;
mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::histories;
use read::History;

/// Whose opaque blocks these are.
const PROVIDER: &str = "pydantic-ai";

/// By which id a thought goes that nobody is to read.
const HIDDEN: &str = "redacted_thinking";

/// The format.
pub static PYDANTIC_AI: Format = Format {
    tools: &["pydantic-ai"],
    seen: "histories that 2.68 wrote; 1.x by its source",
    sniff: histories::sniff::<History>,
    ..Format::of(
        "pydantic-ai",
        Shape::Document,
        histories::import::<History>,
        write::export,
    )
};
