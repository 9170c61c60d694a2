//! Messages in each provider's JSON: one reader and one writer for each, and its rules about what
//! a message may hold, said once.
//!
//! A reader makes the parts of a message of a provider's JSON, and keeps what has no neutral form
//! as opaque blocks, byte for byte. A writer makes the JSON of parts: what the provider refuses in
//! their place is left out or named by a word in brackets, and counted as a [`Repair`].
//! [`crate::compile`] arranges messages into a request with these, [`crate::formats`] puts them
//! into records. Deliberately absent: which messages there are and in what order, the pairing of
//! calls and results, records, files, and the network.

pub mod anthropic;
pub mod attachments;
pub mod bridge_notes;
pub mod gemini;
pub mod html;
pub mod javascript;
pub mod json;
pub mod media;
pub mod name;
pub mod openai;
mod repair;
pub mod responses;
pub mod usage;
#[cfg(test)]
mod usage_laws;

use std::collections::BTreeMap;

use crate::model::Part;
use crate::model::server_tools::hosted;
pub use repair::{Repair, Repairs};

/// The arguments of a call that gives none.
pub const NO_ARGUMENTS: &str = "{}";

/// The text of a result that no tool gave.
pub const INTERRUPTED: &str = "[no result: interrupted]";

/// What a reader collects beside the messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Blocks kept opaque, by type.
    pub opaque_blocks: BTreeMap<String, u64>,
}

impl Notes {
    /// Counts an opaque block.
    pub fn opaque(&mut self, kind: &str) {
        *self.opaque_blocks.entry(kind.to_owned()).or_default() += 1;
    }

    /// Keeps a block as it came, and counts it unless readers are told what it says (see [`hosted`]).
    pub fn keep(&mut self, kind: &str, provider: &str, data: &str) -> Part {
        if hosted(data).is_none() {
            self.opaque(kind);
        }
        Part::opaque(provider, data)
    }

    /// Adds what was collected elsewhere.
    pub fn merge(&mut self, other: Self) {
        for (kind, count) in other.opaque_blocks {
            *self.opaque_blocks.entry(kind).or_default() += count;
        }
    }
}
