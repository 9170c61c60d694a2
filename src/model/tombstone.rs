//! What stands where something was erased for good.

use crate::hash::ContentHash;
use crate::model::{Message, Role, Sealed};

/// What stands in place of what was purged.
pub const PURGED: &str = "[purged]";

/// Whether what is kept under a name is a tombstone: the bytes of one, which have another name. Who
/// writes a tombstone's very words has written a message.
pub fn is_tombstone(name: &ContentHash, kept: &[u8]) -> bool {
    // No tombstone is longer, so that a body of any other length is not looked into.
    const LONGEST: usize = 64;
    let says_so = |bytes: &[u8]| bytes == PURGED.as_bytes();
    kept.len() <= LONGEST
        && kept.windows(PURGED.len()).any(says_so)
        && Role::ALL.iter().any(|role| {
            let stone = Sealed::new(tombstone(*role));
            stone.canonical().as_bytes() == kept && stone.hash() != *name
        })
}

/// The message that stands in place of a purged one. A result of a tool becomes a user's word, for
/// it no longer says which call it answers.
pub fn tombstone(role: Role) -> Message {
    let role = match role {
        Role::Tool => Role::User,
        role => role,
    };
    Message::text(role, PURGED)
}
