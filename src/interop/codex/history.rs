//! What a history holds: which of its messages a person typed.

use crate::model::{Message, Part, Role};

/// All text of a message.
pub(super) fn prompt_text(message: &Message) -> String {
    message.parts.iter().filter_map(Part::as_text).collect()
}

/// Whether a user message looks typed by a person, and not put there by the tool.
pub(super) fn typed(message: &Message) -> bool {
    const INJECTED: [&str; 10] = [
        "<environment_context>",
        "<user_instructions>",
        "# AGENTS.md instructions",
        "<permissions instructions>",
        "<turn_aborted>",
        "<subagent_notification>",
        "<user_action>",
        "<recommended_plugins>",
        "<skill>",
        "<collaboration_mode>",
    ];
    if message.role != Role::User {
        return false;
    }
    let text = prompt_text(message);
    let text = text.trim_start();
    !INJECTED.iter().any(|mark| text.starts_with(mark))
}
