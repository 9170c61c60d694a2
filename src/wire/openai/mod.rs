//! OpenAI's chat completions: content parts, messages, usage.
//!
//! # Source
//!
//! OpenAI's API reference, "Create chat completion": which role takes which content parts.

mod read;
mod write;

pub use read::{message, usage, usage_record};
pub use write::{MessageWriter, function, result_content, tool_message};

/// The provider's name in thinking and opaque parts.
pub const PROVIDER: &str = "openai";
