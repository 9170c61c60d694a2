//! What a conversation's page says beside the conversation itself, whatever it is written in.

use crate::model::TokenCount;
use crate::render::chat::ChatMessage;
use crate::tree::NodeId;

/// A conversation that is to be a page.
pub struct ConversationPage<'a> {
    /// What it is about. Hostile until escaped.
    pub title: &'a str,
    /// What is to be known of it. Hostile until escaped.
    pub facts: &'a [String],
    /// How many messages stand before the first one.
    pub earlier: usize,
    /// How large the context was, oldest first; none where nobody counted.
    pub sizes: &'a [ContextSize],
    /// The message that a node came with.
    pub message_of: &'a dyn Fn(NodeId) -> Option<ChatMessage>,
    /// What hides each message, by its place.
    pub hidden: &'a [Option<&'static str>],
}

/// The context right after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextSize {
    /// The message that came with it, where the page shows one.
    pub message: Option<ChatMessage>,
    /// What it hid, if that is what it did.
    pub hides: Option<&'static str>,
    /// How large the context is from then on.
    pub tokens: TokenCount,
}
