//! What providers say of their own work.

/// What a provider counted for one reply, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All input, cached or not.
    pub input_tokens: u64,
    /// The reply.
    pub output_tokens: u64,
}

impl Usage {
    /// So much input, and so long a reply.
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
        }
    }

    /// The sums of what was counted apart; none where that is nothing at all.
    pub fn sum(input: &[u64], output: &[u64]) -> Option<Self> {
        let sum = |counts: &[u64]| counts.iter().copied().fold(0, u64::saturating_add);
        let usage = Self::new(sum(input), sum(output));
        (usage != Self::default()).then_some(usage)
    }
}
