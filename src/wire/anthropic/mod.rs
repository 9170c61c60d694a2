//! Anthropic's Messages API: content blocks, messages, usage.
//!
//! # Source
//!
//! Anthropic's API reference, "Create a Message", the guides on tool use and extended thinking,
//! and the errors that the API answers with where those are silent (white space, thinking at a
//! reply's end, failed tools without output).

mod blocks;
mod citations;
mod read;
mod write;

pub use blocks::{Block, Place, Server, is_thought, may_be_given, text_block};
pub use citations::{cited, may_cite};
pub use read::{message, parts, system, usage, usage_record};
pub use write::{block, content, result_blocks, tool_result, tool_use, written};

/// The provider's name in thinking and opaque parts.
pub const PROVIDER: &str = "anthropic";

/// The key of a breakpoint: up to there the provider is to keep what it was sent. A client moves it with each request.
pub const MARK: &str = "cache_control";
