//! Messages to an OpenAI request.
use std::io::Write;

use crate::error::Result;
use crate::interop::{Document, Outgoing};

pub(super) fn export(
    messages: &[Outgoing],
    document: &Document,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let _ = (messages, document, out);
    Ok(Vec::new())
}
