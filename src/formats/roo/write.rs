//! The exporter: records as they were with the tags that still hold, others anew.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::tags::{Hidden, Tags};
use crate::error::Result;
use crate::formats::shared::chat::write::{joined, write_all};
use crate::formats::shared::records::rewritten;
use crate::formats::shared::remarks::{Remarks, SYSTEM};
use crate::formats::{Document, Export, Outgoing};
use crate::wire::anthropic::written;
use crate::wire::json::array;

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let mut remarks = Remarks::of(export.document);
    let mut records = Vec::new();
    for (number, outgoing, message) in joined(export.messages) {
        if !outgoing.records.is_empty() {
            records.extend(outgoing.records.iter().cloned());
        } else if message.role.is_system() {
            remarks.add(SYSTEM);
        } else if let Some(built) = written(&message, number, &mut remarks.repairs) {
            records.push(anew(outgoing, &built, export.document));
        }
    }
    take_tags_off(&mut records);
    write_all(export.out, &array(&records))?;
    Ok(remarks.into_words())
}

/// A message as a record: with what stood beside it before it was changed, or with its time.
fn anew(outgoing: &Outgoing, built: &str, document: &Document) -> String {
    #[derive(Deserialize)]
    struct Built<'a> {
        #[serde(borrow)]
        content: &'a RawValue,
    }
    if let ([before], Ok(Built { content })) = (&outgoing.replaces[..], serde_json::from_str(built))
    {
        let with_content = |key: &str, value: &str| {
            let value = if key == "content" {
                content.get()
            } else {
                value
            };
            Some(value.to_owned())
        };
        return rewritten(before, with_content).finish();
    }
    let time = outgoing.time.or(document.now);
    let mut object = rewritten(built, |_, value| Some(value.to_owned()));
    if let Some(time) = time {
        object = object.raw("ts", &time.0.to_string());
    }
    if outgoing.is_summary {
        object = object.raw("isSummary", "true");
    }
    object.finish()
}

/// Takes off the tags by which the tool would hide one of these records: all of them are in the
/// context. Tags that name nothing stay.
fn take_tags_off(records: &mut [String]) {
    loop {
        let tags: Vec<Tags> = records.iter().map(|record| Tags::of(record)).collect();
        let hidden = Hidden::of(&tags);
        let all = 0..tags.len();
        let named = all.clone().filter(|at| hidden.by_tag(*at).next().is_some());
        let (wrong, keys): (Vec<usize>, _) = match named.collect::<Vec<_>>() {
            named if !named.is_empty() => (named, ["condenseParent", "truncationParent"]),
            _ if all.into_iter().any(|at| hidden.by_place(at)) => {
                let summary = tags.iter().rposition(Tags::is_summary);
                (summary.into_iter().collect(), ["isSummary", "condenseId"])
            }
            _ => return,
        };
        for at in wrong {
            let keep = |key: &str, value: &str| (!keys.contains(&key)).then(|| value.to_owned());
            records[at] = rewritten(&records[at], keep).finish();
        }
    }
}
