//! The format.
use super::*;
use std::io::Write;
/// This format's importer and exporter.
pub struct ClaudeCode;
impl Importer for ClaudeCode {
    fn import(
        &self,
        input: &dyn Input,
        options: ImportOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let _ = (input, options, sink);
        todo!()
    }
}
impl Exporter for ClaudeCode {
    fn export(
        &self,
        messages: &[Outgoing],
        document: &Document,
        out: &mut dyn Write,
    ) -> Result<Vec<String>> {
        let _ = (messages, document, out);
        todo!()
    }
}
