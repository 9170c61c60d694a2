//! Messages to an Anthropic request: untouched ones as their records were, others anew.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::Result;
use crate::formats::shared::chat::write::{document_text, joined, write_all};
use crate::formats::shared::remarks::Remarks;
use crate::formats::{Export, Outgoing};
use crate::wire::Repairs;
use crate::wire::anthropic::{self, Place, block};
use crate::wire::json::{Object, array};

pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let (messages, document) = (export.messages, export.document);
    let mut remarks = Remarks::of(document);
    let leading = messages
        .iter()
        .take_while(|outgoing| {
            let as_message = outgoing.records.first().is_some_and(|r| r.starts_with('{'));
            outgoing.message.role.is_system() && !as_message
        })
        .count();
    let repairs = &mut remarks.repairs;
    let system = system_value(&messages[..leading], repairs);
    let mut items = Vec::new();
    for (number, outgoing, message) in joined(messages).into_iter().skip(leading) {
        if outgoing.records.is_empty() {
            items.extend(anthropic::written(&message, number, repairs));
        } else {
            items.extend(outgoing.records.iter().map(|record| as_message(record)));
        }
    }
    let system = ("system", system.as_deref());
    let text = document_text(system, ("messages", &array(items)), &document.settings);
    write_all(export.out, &text)?;
    Ok(remarks.into_words())
}

/// The `system` of a request: one record as it was, or all texts as blocks.
fn system_value(system: &[Outgoing], repairs: &mut Repairs) -> Option<String> {
    if let [only] = system
        && let [record] = &only.records[..]
    {
        return Some(record.clone());
    }
    let mut blocks = Vec::new();
    for (outgoing, number) in system.iter().zip(1..) {
        let parts = outgoing.message.parts.iter();
        blocks.extend(parts.filter_map(|part| block(part, Place::System, number, repairs)));
    }
    anthropic::content(&blocks)
}

/// A record as an element of `messages`: of a response body its role and content.
fn as_message(record: &str) -> String {
    #[derive(Deserialize)]
    struct Body<'a> {
        r#type: String,
        role: String,
        #[serde(borrow)]
        content: &'a RawValue,
    }
    match serde_json::from_str::<Body<'_>>(record) {
        Ok(body) if body.r#type == "message" => Object::new()
            .string("role", &body.role)
            .raw("content", body.content.get())
            .finish(),
        _ => record.to_owned(),
    }
}
