//! A request as it was sent, where a source holds it whole beside the messages that were read of it.
//!
//! Deliberately absent: whether a context still says the same; whoever compiles it asks.

use crate::model::{Message, Settings};

/// A request as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRequest {
    /// The provider whose request it is.
    pub provider: &'static str,
    /// What it says.
    pub messages: Vec<Message>,
    /// How each of them is written in it.
    pub records: Vec<Vec<String>>,
    /// Its settings.
    pub settings: Settings,
}
