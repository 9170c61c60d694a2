//! What providers say of their own work.

/// What a provider counted for one reply, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All input, cached or not.
    pub input_tokens: u64,
    /// The reply.
    pub output_tokens: u64,
}
