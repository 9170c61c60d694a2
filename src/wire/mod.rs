//! Messages in each provider's JSON: one reader and one writer for each, and its rules about what
//! a message may hold, said once.
//!
//! A reader makes the parts of a message of a provider's JSON, and keeps what has no neutral form
//! as opaque blocks, byte for byte. A writer makes the JSON of parts: what the provider refuses in
//! their place is left out or replaced by a word. [`crate::compile`] arranges messages into a
//! request with these, [`crate::interop`] puts them into records. Deliberately absent: which
//! messages there are and in what order, the pairing of calls and results, records, files, and
//! the network.

pub mod json;
