//! OpenAI chat completions: messages, request and response bodies, fine-tuning rows, and arrays of
//! recorded runs (`[{task_id, traj, …}]`).
//!
//! Deliberately absent: streams of chunks, and the Responses API.

mod read;
mod write;

use std::io::Write;

use super::{Document, Exporter, ImportOptions, Importer, Input, Outgoing, Sink, chat};
use crate::error::Result;

/// This format's importer and exporter.
pub struct OpenAi;

impl Importer for OpenAi {
    fn import(
        &self,
        input: &dyn Input,
        options: ImportOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        chat::read(&read::OpenAiDialect, input, options, sink)
    }
}

impl Exporter for OpenAi {
    fn export(
        &self,
        messages: &[Outgoing],
        document: &Document,
        out: &mut dyn Write,
    ) -> Result<Vec<String>> {
        write::export(messages, document, out)
    }
}
