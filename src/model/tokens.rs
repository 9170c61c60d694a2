//! Token counts, and the one code path that makes them.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::model::{Message, Part};

/// A vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Encoding {
    /// GPT-4o and later.
    #[default]
    O200kBase,
    /// GPT-4 and GPT-3.5.
    Cl100kBase,
}

/// A number of tokens; an estimate where pictures or files took part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenCount {
    /// How many.
    pub tokens: u64,
    /// Whether part of it is an estimate, shown with a `~`.
    pub estimated: bool,
}

/// What every message costs beside its role, texts and name.
pub const MESSAGE_OVERHEAD: u64 = 3;
/// What every context that isn't empty costs once.
pub const CONTEXT_OVERHEAD: u64 = 3;
/// The estimate for a picture or a file, whatever its size: no provider's own rule can be applied
/// without decoding it, and the order of magnitude is what a budget needs.
pub const MEDIA_ESTIMATE: u64 = 1_500;

impl Encoding {
    /// All encodings.
    pub const ALL: [Self; 2] = [Self::O200kBase, Self::Cl100kBase];

    /// `o200k_base` or `cl100k_base`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Encoding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|encoding| encoding.as_str() == text)
            .ok_or_else(|| Error::input("token encoding", format!("unknown '{text}'")))
    }
}

impl std::ops::Add for TokenCount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens + other.tokens,
            estimated: self.estimated || other.estimated,
        }
    }
}

impl std::iter::Sum for TokenCount {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), std::ops::Add::add)
    }
}

/// Counts tokens in one encoding. Making one loads the vocabulary (30 to 110 ms, once a process).
pub struct Counter {
    bpe: &'static tiktoken::CoreBpe,
    encoding: Encoding,
}

impl Counter {
    /// Loads the vocabulary of `encoding`, unless this process has it already.
    pub fn load(encoding: Encoding) -> Self {
        let bpe =
            tiktoken::get_encoding(encoding.as_str()).expect("both vocabularies are compiled in");
        Self { bpe, encoding }
    }

    /// What this counts in.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The tokens of a plain text; special tokens in it are plain text.
    pub fn text(&self, text: &str) -> u64 {
        self.bpe.count(text) as u64
    }

    /// The tokens of a message in a context: 3, its role, its texts, and its name plus 1.
    pub fn message(&self, message: &Message) -> TokenCount {
        let name = message.name.as_ref().map_or(0, |name| self.text(name) + 1);
        let frame = MESSAGE_OVERHEAD + self.text(message.role.as_str()) + name;
        let frame = TokenCount {
            tokens: frame,
            estimated: false,
        };
        frame + message.parts.iter().map(|part| self.part(part)).sum()
    }

    /// The tokens of one part; ids, signatures and opaque blocks count 0.
    pub fn part(&self, part: &Part) -> TokenCount {
        let exact = |tokens| TokenCount {
            tokens,
            estimated: false,
        };
        match part {
            Part::Text { text } | Part::Thinking { text, .. } => exact(self.text(text)),
            Part::ToolCall {
                name, arguments, ..
            } => exact(self.text(name) + self.text(arguments)),
            Part::ToolResult { content, .. } => content.iter().map(|part| self.part(part)).sum(),
            Part::Image(_) | Part::File(_) => TokenCount {
                tokens: MEDIA_ESTIMATE,
                estimated: true,
            },
            Part::Opaque { .. } => exact(0),
        }
    }
}

/// The tokens of a context whose messages have these counts.
pub fn context_total(messages: impl IntoIterator<Item = TokenCount>) -> TokenCount {
    let mut messages = messages.into_iter().peekable();
    if messages.peek().is_none() {
        return TokenCount::default();
    }
    let once = TokenCount {
        tokens: CONTEXT_OVERHEAD,
        estimated: false,
    };
    once + messages.sum()
}
