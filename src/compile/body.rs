//! What a writer of requests hands back.

/// What a provider's writer gives.
pub(super) struct Body {
    pub payload: String,
    pub stable_bytes: usize,
    pub nothing_to_send: bool,
}
