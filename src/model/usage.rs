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
    /// The sums of what was counted apart; none where that is nothing at all.
    pub fn sum(input: &[u64], output: &[u64]) -> Option<Self> {
        let sum = |counts: &[u64]| counts.iter().copied().fold(0, u64::saturating_add);
        let usage = Self {
            input_tokens: sum(input),
            output_tokens: sum(output),
        };
        (usage != Self::default()).then_some(usage)
    }
}
