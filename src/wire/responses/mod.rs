//! OpenAI's Responses API, as Codex keeps it: a message is one item or several.
//!
//! # Source
//!
//! `codex-rs/protocol` of <https://github.com/openai/codex>, and OpenAI's API reference,
//! "Responses", where that takes more than the tool writes.

mod pairs;
mod read;
mod shell;
mod write;

pub use super::media::image_url;
pub use super::openai::PROVIDER;
pub use pairs::OutputPairs;
pub use read::{Meaning, call_of, communication, messages, of_items, read};
pub use shell::in_words;
pub use write::{cut_off, gives_something, items, takes, tool_name};
