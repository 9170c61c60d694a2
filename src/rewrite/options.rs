//! How a plan is carried out.

use crate::model::Encoding;
use crate::repo::expect::Expect;

/// How to carry a plan out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurgeryOptions {
    /// What tokens are counted in.
    pub encoding: Encoding,
    /// Make no commit; say only what it would change.
    pub dry_run: bool,
    /// How many of the messages that it touches are told one by one, of each kind: the first of them; all,
    /// unless told otherwise.
    pub told: usize,
    /// How many of the others are told as well: the last of them.
    pub told_last: usize,
    /// Refuse if the branch is elsewhere.
    pub expect: Option<Expect>,
}

impl Default for SurgeryOptions {
    fn default() -> Self {
        Self {
            encoding: Encoding::default(),
            dry_run: false,
            told: usize::MAX,
            told_last: 0,
            expect: None,
        }
    }
}
