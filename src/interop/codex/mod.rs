//! Codex CLI rollouts: JSON Lines, each an envelope `{"timestamp", "type", "payload"}`, and the
//! bare items that the tool wrote before it had the envelope.
//!
//! Messages come from `response_item` records alone; `event_msg` records say much of it a second
//! time and give only counts, names, aborts and rollbacks. Deliberately absent: the tool's
//! directory and its index of sessions, and anything that decrypts.
//!
//! # Source
//!
//! `codex-rs/protocol` and `codex-rs/rollout` of <https://github.com/openai/codex>.

mod compose;
mod event;
mod hides;
mod history;
mod item;
mod kept;
mod opening;
mod read;
mod record;
mod session;
mod write;

use std::io::Write;

use super::{Document, Exporter, ImportOptions, Importer, Input, Outgoing, Sink};
use crate::error::Result;

/// Whose reasoning and opaque blocks these are.
const PROVIDER: &str = "openai";

/// This format's importer and exporter.
pub struct Codex;

impl Importer for Codex {
    fn import(
        &self,
        input: &dyn Input,
        options: ImportOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        read::import(input, options, sink)
    }
}

impl Exporter for Codex {
    fn export(
        &self,
        messages: &[Outgoing],
        document: &Document,
        out: &mut dyn Write,
    ) -> Result<Vec<String>> {
        write::export(messages, document, out)
    }
}

#[cfg(test)]
mod tests;
