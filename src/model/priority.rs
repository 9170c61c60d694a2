//! The priority that an annotation gives to a message.

use crate::error::Error;
use crate::hash::as_text;
use crate::model::word::word;

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
    /// All priorities.
    pub const ALL: [Self; 3] = [Self::Pinned, Self::Normal, Self::Skip];

    /// The word in the stored form: `pinned`, `normal`, `skip`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Normal => "normal",
            Self::Skip => "skip",
        }
    }
}

word!(Priority, |detail| Error::Malformed {
    what: "priority",
    detail
});

as_text!(Priority);
