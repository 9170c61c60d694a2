//! What formats share: how a file's records are found, read and told, and how messages are written back.
//!
//! A format begins with a skeleton: lines of JSON (`linear`), one document (`document`, `conversations`, `ways`), a list
//! of messages in any file (`histories`), rows of a database (`rows`), a stream of events (`stream`), requests that each
//! repeat what was said (`requests`), lines of text (`transcript`). Deliberately absent: how any one tool spells its
//! records.

#[macro_use]
pub(super) mod lazy;

pub(super) mod chat;
pub(super) mod condensation;
pub(super) mod continuation;
#[cfg(test)]
pub(super) mod contract;
pub(super) mod conversations;
pub(super) mod current;
pub(crate) mod dataset_row;
pub(super) mod descent;
pub(super) mod document;
pub(super) mod fields;
#[cfg(test)]
pub(super) mod fold_check;
pub mod foreign;
pub(super) mod head;
pub(super) mod histories;
pub(super) mod instructions;
pub(super) mod linear;
pub(super) mod lines;
pub(super) mod list;
pub mod origin;
pub(super) mod parts;
pub(super) mod places;
pub(super) mod recorded;
pub(crate) mod records;
pub mod redaction;
pub(super) mod remarks;
pub mod reply_notes;
pub(super) mod requests;
#[cfg(test)]
mod round_trips;
pub mod rows;
pub mod running;
pub(super) mod seals;
pub mod sent;
pub mod single;
pub(super) mod spans;
pub(super) mod sse;
pub(super) mod states;
pub(super) mod stream;
pub(super) mod teller;
pub(super) mod tool_offer;
pub(super) mod transcript;
pub(super) mod verbatim;
pub(super) mod walk;
pub(super) mod ways;
pub(super) mod whole_request;
pub(super) mod writers;
