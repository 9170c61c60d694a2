//! The priority that an annotation gives to a message.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::hash::as_text;

/// How a plan treats a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Priority {
    /// No plan hides it.
    Pinned,
    /// Nothing special.
    #[default]
    Normal,
    /// Not part of the context.
    Skip,
}

impl Priority {
    /// The word in the stored form: `pinned`, `normal`, `skip`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Normal => "normal",
            Self::Skip => "skip",
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Priority {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        [Self::Pinned, Self::Normal, Self::Skip]
            .into_iter()
            .find(|priority| priority.as_str() == text)
            .ok_or_else(|| Error::Malformed {
                what: "priority",
                detail: text.to_owned(),
            })
    }
}

as_text!(Priority);
