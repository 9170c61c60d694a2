//! Claude Code session JSONL.
//!
//! A session is a tree of records; its messages are put together along the path to the current
//! leaf. The importer reads the file twice: once for the tree (`index`), once for the messages
//! (`read`). Deliberately absent: other files of the session (a sub-agent's own file is a source
//! of its own), and what the client adds to a request but doesn't write down.

mod block;
mod fields;
mod index;
mod path;
mod read;
mod record;
mod write;

#[cfg(test)]
mod tests;

use std::io::Write;

use super::{Document, Exporter, ImportOptions, Importer, Input, Outgoing, Sink};
use crate::error::Result;

/// This format's importer and exporter.
pub struct ClaudeCode;

impl Importer for ClaudeCode {
    fn import(
        &self,
        input: &dyn Input,
        options: ImportOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        read::import(input, options, sink)
    }
}

impl Exporter for ClaudeCode {
    fn export(
        &self,
        messages: &[Outgoing],
        document: &Document,
        out: &mut dyn Write,
    ) -> Result<Vec<String>> {
        write::export(messages, document, out)
    }
}
