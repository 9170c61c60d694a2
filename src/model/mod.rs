//! What a conversation is made of: messages, commits, names, priorities, token counts, times.
//!
//! Plain data with its canonical form. Deliberately absent: storage, and any meaning of one commit
//! beside another (that is [`crate::context`]).

pub mod call;
pub mod commit;
pub mod message;
pub mod priority;
pub mod refs;
pub mod time;
pub mod tokens;
#[cfg(test)]
mod vectors;

pub use commit::{
    Commit, Draft, EntryId, Hide, HideKind, Interval, Operation, PartHide, Replacement, Settings,
};
pub use message::{Media, MediaSource, Message, Part, Role};
pub use priority::Priority;
pub use refs::{Head, RefName, RefValue};
pub use time::Millis;
pub use tokens::{Encoding, TokenCount};
