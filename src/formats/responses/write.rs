//! Messages to a request of the Responses API: untouched ones as their items were, others anew.

use std::borrow::Cow;

use crate::error::Result;
use crate::formats::Export;
use crate::formats::shared::chat::write::{document_text, write_all};
use crate::formats::shared::remarks::Remarks;
use crate::model::Role;
use crate::wire::json::{Object, array};
use crate::wire::responses::{OutputPairs, items, with_files};

pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let mut remarks = Remarks::of(export.document);
    let said = export.messages.iter().map(|outgoing| &outgoing.message);
    let pairs = OutputPairs::of(said, Vec::new(), |_, _| true);
    let mut instructions = None;
    let mut input = Vec::new();
    let mut prompt = None;
    for (at, outgoing) in export.messages.iter().enumerate() {
        let message = &outgoing.message;
        let text = outgoing
            .records
            .first()
            .filter(|text| text.starts_with('"'));
        match text {
            Some(text) if at == 0 && message.role == Role::System => {
                instructions = Some(text.clone());
            }
            Some(text) => {
                prompt = Some(text.clone());
                let item = Object::new().string("role", message.role.as_str());
                input.push(item.raw("content", text).finish());
            }
            None if !outgoing.records.is_empty() => input.extend(outgoing.records.iter().cloned()),
            None => {
                remarks.add_failures(message);
                let kind = |index| pairs.kind(at, index);
                let message = with_files(Cow::Borrowed(message));
                input.extend(items(&message, kind, at + 1, &mut remarks.repairs));
            }
        }
    }
    let said = prompt.filter(|_| input.len() == 1);
    let said = said.unwrap_or_else(|| array(&input));
    let instructions = ("instructions", instructions.as_deref());
    let text = document_text(instructions, ("input", &said), &export.document.settings);
    write_all(export.out, &text)?;
    Ok(remarks.into_words())
}
