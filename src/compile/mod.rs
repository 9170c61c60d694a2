//! A context to a provider's request, with the repairs that its rules ask for.
//!
//! Only here is anything repaired: the stored messages stay as they are. Deliberately absent: the
//! choice of messages (that is [`crate::context`]), the network, and any guess at a provider.

mod anthropic;
mod body;
#[cfg(test)]
mod examples;
mod gemini;
mod ids;
mod notice;
mod open;
mod openai;
pub mod prefix;
pub mod provider;
mod raw;
mod repair;
pub mod request;
mod responses;
mod runs;
mod server_tools;
mod settings;
mod text;
mod tool_names;
mod tools;
mod turn;
mod wire_form;

pub use notice::Notice;
pub use open::AnsweredCalls;
pub use prefix::{Beginning, Prefix, shared_prefix};
pub use provider::Provider;
pub use repair::unpaired;
pub use request::{Compiled, Compiling, RequestOptions, compile};
pub use turn::takes_system_messages;
pub use wire_form::Contents;

pub use crate::wire::Repair;
pub use crate::wire::anthropic::is_thought;
