//! Where a caller expects a branch to be, and doing once more what others came in between.

use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::RefName;

/// How often the same is done at most where others put the same at the same moment.
const ATTEMPTS: u32 = 50;

/// Does it once more where others have put the same at the same moment: then it is there.
pub(crate) fn retried<T>(mut act: impl FnMut() -> Result<T>) -> Result<T> {
    let mut attempt = 1;
    loop {
        match act() {
            Err(Error::Overtaken { .. }) if attempt < ATTEMPTS => attempt += 1,
            done => return done,
        }
    }
}

/// Where the caller expects the branch to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// It has no commit yet.
    Nothing,
    /// At this commit.
    At(CommitHash),
}

impl Expect {
    /// Refuses where the branch is elsewhere.
    pub(crate) fn hold(self, branch: &RefName, tip: Option<CommitHash>) -> Result<()> {
        let expected = match self {
            Self::Nothing => None,
            Self::At(commit) => Some(commit),
        };
        if expected == tip {
            return Ok(());
        }
        let word = |tip: Option<CommitHash>| tip.map_or("none".into(), |t| t.short());
        Err(Error::RefMoved {
            name: branch.short().to_owned(),
            expected: word(expected),
            found: word(tip),
        })
    }
}
