//! How a ref lies to where it was.

use super::denials::Denial;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::repo::ancestry::leads_to;
use crate::store::View;

/// What became of a ref, here or there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LandedRef {
    /// Its name where it landed.
    pub name: RefName,
    /// Where it was.
    pub old: Option<CommitHash>,
    /// Where it was to be.
    pub new: Option<CommitHash>,
    /// What became of it.
    pub landed: Landed,
}

/// How a ref lies to where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landed {
    /// It is new.
    New,
    /// It went on from where it was.
    Grown,
    /// It was there already.
    Known,
    /// It had gone on further already.
    Further,
    /// It has lost commits, as was wanted.
    Replaced,
    /// It is gone.
    Deleted,
    /// It stayed, for it has commits of its own.
    Parted,
    /// It stayed, for a session went on in both repositories, or its id is another's there: each has the other's
    /// commits, and the ref leads to its own.
    Beside,
    /// It stayed, for it is not where it was last seen.
    Unseen,
    /// It stayed, for the other side lets nobody do that.
    Denied(Denial),
}

impl Landed {
    /// It, in a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Grown => "grown",
            Self::Known => "known",
            Self::Further => "further",
            Self::Replaced => "replaced",
            Self::Deleted => "deleted",
            Self::Parted => "parted",
            Self::Beside => "beside",
            Self::Unseen => "unseen",
            Self::Denied(_) => "denied",
        }
    }

    /// Whether it is not where it was to be.
    pub fn is_refused(self) -> bool {
        matches!(self, Self::Parted | Self::Unseen | Self::Denied(_))
    }

    /// Whether it has moved.
    pub(super) fn moves(self) -> bool {
        matches!(
            self,
            Self::New | Self::Grown | Self::Replaced | Self::Deleted
        )
    }
}

/// How a ref at `old` lies to `new`, both of which are here.
pub(super) fn landed(view: &dyn View, old: Option<CommitHash>, new: &CommitHash) -> Result<Landed> {
    Ok(match old {
        None => Landed::New,
        Some(old) if old == *new => Landed::Known,
        Some(old) if leads_to(view, &old, new)? => Landed::Grown,
        Some(old) if leads_to(view, new, &old)? => Landed::Further,
        Some(_) => Landed::Parted,
    })
}
