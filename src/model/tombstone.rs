//! What stands where something was erased for good.

use crate::model::{Message, Role};

/// What stands in place of what was purged.
pub const PURGED: &str = "[purged]";

/// The message that stands in place of a purged one. A result of a tool becomes a user's word, for
/// it no longer says which call it answers.
pub fn tombstone(role: Role) -> Message {
    let role = match role {
        Role::Tool => Role::User,
        role => role,
    };
    Message::text(role, PURGED)
}
