//! The forms that a request can have.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

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

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Provider {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|provider| provider.as_str() == text)
            .ok_or_else(|| {
                Error::input(
                    "request format",
                    format!("unknown '{text}' (openai, responses, anthropic, text)"),
                )
            })
    }
}
