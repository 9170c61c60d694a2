//! Prune: old, big tool outputs become stubs; the calls and the results' places stay.

use super::Conversation;
use crate::model::{Draft, Hide, HideKind, Message, Operation, Part, PartHide, Role};

/// What is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prune {
    /// The newest so many user turns.
    pub turns: usize,
    /// Before them, the newest so many tokens of tool output.
    pub protect_tokens: u64,
    /// It acts only if it saves so many tokens.
    pub min_tokens: u64,
    /// Outputs of fewer tokens.
    pub larger_than: u64,
}

/// Puts stubs in place of old tool outputs. `stub` words one, given the message's place. None if
/// too little would be saved.
pub fn prune(
    conversation: &Conversation,
    options: Prune,
    mut stub: impl FnMut(usize) -> String,
) -> Option<Draft> {
    let mut parts = Vec::new();
    let mut messages = Vec::new();
    let (mut turns, mut protected, mut saved) = (0, 0, 0);
    for at in (0..conversation.visible_count()).rev() {
        let facts = conversation.facts(at);
        if turns < options.turns {
            turns += usize::from(facts.role == Role::User);
            continue;
        }
        let tokens = facts.tokens.tokens;
        let stubbed = !conversation.entry(at).mask.is_empty();
        if facts.links.results.is_empty() || stubbed || conversation.is_pinned(at) {
            continue;
        }
        if protected < options.protect_tokens {
            protected += tokens;
            continue;
        }
        if tokens <= options.larger_than {
            continue;
        }
        saved += tokens;
        let text = stub(at);
        for (part, call) in &facts.links.results {
            let result = Part::ToolResult {
                call: call.clone(),
                content: vec![Part::text(text.clone())],
                is_error: false,
            };
            let message = Message {
                role: facts.role,
                name: None,
                parts: vec![result],
            };
            let entry = conversation.entry(at).id;
            parts.push(PartHide {
                entry,
                part: *part,
                stub: Some(message.hash()),
            });
            messages.push(message);
        }
    }
    if parts.is_empty() || saved < options.min_tokens {
        return None;
    }
    let hide = Hide {
        kind: HideKind::Prune,
        intervals: Vec::new(),
        keep: Vec::new(),
        parts,
        replacements: Vec::new(),
    };
    Some(Draft::new(Operation::Hide(hide), messages))
}
