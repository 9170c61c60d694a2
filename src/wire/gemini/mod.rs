//! Parts in the form of Gemini's API, both ways.
//!
//! A signature of the model's stands with the call or the text that it came with; here it is a thought without words in front of
//! that part. Deliberately absent: the order of contents, which is [`crate::compile`]'s.
//!
//! # Source
//!
//! Google's API reference (`Content`, `Part`, `FunctionCall`), its guides on thought signatures, function calling and the media
//! that models take, and the types of google-genai 2.34.

mod read;
mod sent;
#[cfg(test)]
mod tests;
mod write;

use serde::{Deserialize, Serialize};

use crate::model::Part;

pub use read::{answer, message_parts, parts};
pub use sent::{Given, UNSEALED, given_parts, said_part, sent_args};
pub use write::{
    args, call_part, text_part, thought_part, write_answer, write_message, write_part,
};

/// The provider's name in thinking and opaque parts.
pub const PROVIDER: &str = "gemini";

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct InlineData {
    mime_type: String,
    data: String,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileData {
    mime_type: String,
    file_uri: String,
}

/// The signature that a part is, of the call or the text behind it; none of any other part.
pub fn seal_of(part: &Part) -> Option<&str> {
    match part {
        Part::Thinking {
            text,
            signature: Some(signature),
            provider,
        } if provider.as_deref() == Some(PROVIDER) && text.is_empty() && !signature.is_empty() => {
            Some(signature)
        }
        _ => None,
    }
}
