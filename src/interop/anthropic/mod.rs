//! Anthropic Messages: messages, request and response bodies, and rows of `{system, messages}`.
//!
//! Deliberately absent: streams of events.

mod read;
mod write;

use std::io::Write;

use super::{Document, Exporter, ImportOptions, Importer, Input, Outgoing, Sink, chat};
use crate::error::Result;

pub(super) use write::build;

/// This format's importer and exporter.
pub struct Anthropic;

impl Importer for Anthropic {
    fn import(
        &self,
        input: &dyn Input,
        options: ImportOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        chat::read(&read::AnthropicDialect, input, options, sink)
    }
}

impl Exporter for Anthropic {
    fn export(
        &self,
        messages: &[Outgoing],
        document: &Document,
        out: &mut dyn Write,
    ) -> Result<Vec<String>> {
        write::export(messages, document, out)
    }
}
