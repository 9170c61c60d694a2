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
    /// Gemini's `generateContent`.
    Gemini,
    /// For people.
    Text,
}

impl Provider {
    /// All forms.
    pub const ALL: [Self; 5] = [
        Self::OpenAi,
        Self::Responses,
        Self::Anthropic,
        Self::Gemini,
        Self::Text,
    ];

    /// `openai`, `responses`, `anthropic`, `gemini` or `text`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Text => "text",
        }
    }
}

word!(Provider, |text: String| Error::input(
    "request format",
    format!("unknown '{text}' (openai, responses, anthropic, gemini, text)"),
));
