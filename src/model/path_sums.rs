//! What the appends of a path come to, in blocks: the sum of a long stretch follows from a few of them.

use super::{Role, Total};

/// What the appends of a path come to, in blocks of as many commits, from the root on. Whatever was hidden since, they are
/// the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathSums {
    /// How many commits a block has.
    pub size: u64,
    /// The blocks, one behind the other. None of one in which a commit is no append, or a message is estimated.
    pub blocks: Vec<Option<BlockSum>>,
}

/// What the messages come to that the commits of a block append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSum {
    /// The tokens of each role, in the order of [`Role::ALL`].
    pub by_role: [u64; Role::ALL.len()],
    /// The tokens of those of the user's that a client says.
    pub injected: u64,
    /// Where the message with the most tokens stands in the block, from 0; the first of several.
    pub largest_at: u64,
    /// Its tokens.
    pub largest: u64,
}

impl PathSums {
    /// How many commits of the path they cover.
    pub fn covered(&self) -> u64 {
        self.size.saturating_mul(self.blocks.len() as u64)
    }

    /// The same in blocks of twice the size; the last one is left out where it has no neighbour.
    #[must_use]
    pub fn doubled(&self) -> Self {
        let pair = |pair: &[Option<BlockSum>]| Some(pair[0]?.followed_by(pair[1]?, self.size));
        Self {
            size: self.size.saturating_mul(2),
            blocks: self.blocks.chunks_exact(2).map(pair).collect(),
        }
    }
}

impl BlockSum {
    /// What the messages of a block of this size come to.
    pub fn total(&self, size: u64) -> Total {
        Total {
            messages: size,
            tokens: self.by_role.iter().sum(),
            estimates: 0,
        }
    }

    /// What both come to, where the other stands so many commits behind.
    fn followed_by(mut self, other: Self, behind: u64) -> Self {
        for (own, others) in self.by_role.iter_mut().zip(other.by_role) {
            *own += others;
        }
        self.injected += other.injected;
        if other.largest > self.largest {
            self.largest = other.largest;
            self.largest_at = behind + other.largest_at;
        }
        self
    }
}
