//! Roo Code and Cline: a task's `api_conversation_history.json`, one array of Anthropic messages
//! with the tools' own keys beside them.
//!
//! The tool hides by tags: a message that names a summary (`condenseParent`) or a truncation's
//! marker (`truncationParent`) is not sent while that exists in the file. Each summary and marker
//! becomes a hide with itself as the replacement. Deliberately absent: what stands in the task's
//! other files, so also the range that Cline leaves out of a request, and the tool's directory.
//!
//! # Source
//!
//! `src/core/condense`, `src/core/context-management` and `src/core/task-persistence` of
//! <https://github.com/RooCodeInc/Roo-Code>; `src/shared/messages` of
//! <https://github.com/cline/cline>.

mod read;
mod steps;
mod tags;
mod write;

use std::io::Write;

use super::{Document, Exporter, ImportOptions, Importer, Input, Outgoing, Sink};
use crate::error::Result;

/// The name, without extension, that every task's file has; the task's id is its directory's.
pub const FILE_STEM: &str = "api_conversation_history";

/// Whose opaque blocks these are, where they are not Anthropic's.
const PROVIDER: &str = "roo";

/// This format's importer and exporter.
pub struct Roo;

impl Importer for Roo {
    fn import(
        &self,
        input: &dyn Input,
        options: ImportOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        read::import(input, options, sink)
    }
}

impl Exporter for Roo {
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
