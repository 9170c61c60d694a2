//! What a conversation is made of: messages, commits, names, priorities, token counts, times; and
//! the rules about messages alone: which calls and results belong together, what tells a message
//! from others in one line, what of it is searched, how deep it
//! may be nested, how it is quoted, what stands where it was erased, what in it is secret.
//!
//! Plain data with its canonical form. Deliberately absent: storage, and any meaning of one commit
//! beside another (that is [`crate::context`]).

pub mod background;
pub mod base64;
pub mod budget;
mod cached;
pub mod call;
pub mod commit;
pub mod depth;
pub mod embedding;
pub mod expansion;
pub mod message;
pub mod model_name;
mod nearest;
pub mod pairs;
mod path_sums;
pub mod pattern;
pub mod percent;
pub(crate) mod pool;
mod preview;
pub mod price;
pub mod priority;
pub mod provider_count;
pub mod query;
pub mod quote;
pub mod refs;
mod reissue;
pub mod retention;
mod sealed;
pub mod searched;
pub mod secret;
pub mod server_tools;
mod span;
mod summed;
pub mod terms;
pub mod time;
pub mod tokens;
mod told;
mod tombstone;
mod total;
mod usage;
mod usage_detail;
mod user_text;
pub mod uses;
pub(crate) mod word;
pub mod word_weights;

pub use commit::{
    Author, Commit, Draft, EntryId, Hide, HideKind, Interval, Operation, PartHide, Replacement,
    Settings,
};
pub use message::{Media, MediaSource, Message, Part, Role, Speaker};
pub use nearest::nearest;
pub use path_sums::{BlockSum, PathSums};
pub use preview::{PREVIEW_BYTES, plain_preview, preview};
pub use priority::Priority;
pub use provider_count::{CountedReply, ProviderCount};
pub use refs::{Head, RefName, RefValue};
pub use sealed::{Sealable, Sealed};
pub use span::Span;
pub use summed::{LargestEntry, Standouts, Summed, Written};
pub use time::Millis;
pub use tokens::{Encoding, TokenCount};
pub(crate) use told::FAILURE_MARKS;
pub use told::{bare, told};
pub use tombstone::{PURGED, is_tombstone, tombstone};
pub use total::Total;
pub use usage::Usage;
pub use usage_detail::{Iteration, StatedUsage, UsageDetail, UsageRecord};
pub use user_text::{
    DONE_ELSEWHERE, NO_REPLY, as_title, own_words, reads_as_queued, reads_as_typed, typed_command,
};
pub use uses::{ToolUse, ToolUses};
