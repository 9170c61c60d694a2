//! Anthropic's Messages API: content blocks, messages, usage.
//!
//! # Source
//!
//! Anthropic's API reference, "Create a Message", the guides on tool use and extended thinking,
//! and the errors that the API answers with where those are silent (white space, thinking at a
//! reply's end, failed tools without output).

mod blocks;
mod read;
mod write;

pub use blocks::{Block, Place, Server, text_block};
pub use read::{message, parts, system, usage};
pub use write::{block, content, result_blocks, tool_result, tool_use, written};

/// The provider's name in thinking and opaque parts.
pub const PROVIDER: &str = "anthropic";
