//! The forms that a request can have.

use crate::error::Error;
use crate::model::word::word;

/// The form of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Provider {
    /// OpenAI chat completions.
    #[default]
    OpenAi,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// For people.
    Text,
}

impl Provider {
    /// All forms.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Responses, Self::Anthropic, Self::Text];

    /// `openai`, `responses`, `anthropic` or `text`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Text => "text",
        }
    }
}

word!(Provider, |text: String| Error::input(
    "request format",
    format!("unknown '{text}' (openai, responses, anthropic, text)"),
));
