//! Messages into a session: a record for each, in one line of the tree.

use std::collections::HashMap;
use std::io::Write;

use super::record::Record;
use crate::error::Result;
use crate::formats::shared::records::{replaced, rewritten, write_line};
use crate::formats::shared::remarks::{Remarks, SYSTEM};
use crate::formats::shared::writers;
use crate::formats::{Document, Export, Outgoing, Step};
use crate::model::{Millis, Part, Role, Span};
use crate::wire::Notes;
use crate::wire::gemini::write_message;
use crate::wire::json::{Object, quoted, string, text_at};

/// The version that a record bears where no other of the session has one.
const VERSION: &str = "unknown";

pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let mut writing = Writing::of(export.document);
    for (at, outgoing) in export.messages.iter().enumerate() {
        writing.asides(at, export.out)?;
        if outgoing.message.role.is_system() {
            writing.remarks.add(SYSTEM);
            continue;
        }
        let record = outgoing.records.first();
        let record = match record.filter(|record| holds(record, outgoing)) {
            Some(record) => record.clone(),
            None => writing.anew(outgoing),
        };
        write_line(export.out, &writing.linked(&record))?;
    }
    writing.asides(export.messages.len(), export.out)?;
    Ok(writing.remarks.into_words())
}

/// Whether a record says just this message.
fn holds(record: &str, outgoing: &Outgoing) -> bool {
    let Ok(record) = serde_json::from_str::<Record<'_>>(record) else {
        return false;
    };
    let listed = record.listed(Span::default(), &mut Notes::default());
    let said = listed.map_or_else(|_| Vec::new(), |listed| listed.steps);
    let said: Vec<_> = said.iter().filter_map(Step::message).collect();
    said == [&outgoing.message]
}

struct Writing<'a> {
    document: &'a Document,
    remarks: Remarks,
    /// The record that was written last.
    last: Option<String>,
    time: Millis,
    version: String,
    /// Whose call is of which function.
    functions: HashMap<String, String>,
    /// How many ids were made.
    ids: u64,
}

impl<'a> Writing<'a> {
    fn of(document: &'a Document) -> Self {
        let last = document.after.last().map(String::as_str);
        let known = document.opening.as_deref().or(last);
        let version = known.and_then(|record| text_at(record, "version"));
        Self {
            document,
            remarks: Remarks::default(),
            last: last.and_then(uuid),
            time: document.now.unwrap_or(Millis(0)),
            version: version.unwrap_or_else(|| VERSION.to_owned()),
            functions: HashMap::new(),
            ids: 0,
        }
    }

    fn new_id(&mut self) -> String {
        self.ids += 1;
        self.document.new_id(self.ids - 1)
    }

    /// The records that are no messages before message `at`; what they say of the history is what is
    /// written.
    fn asides(&mut self, at: usize, out: &mut dyn Write) -> Result<()> {
        for text in self.document.asides(at) {
            let Ok(record) = serde_json::from_str::<Record<'_>>(text) else {
                continue;
            };
            let subtype = string(record.subtype);
            let changes = ["rewind", "chat_compression"].map(Some);
            if record.is_own() && !changes.contains(&subtype.as_deref()) {
                write_line(out, &self.linked(text))?;
            }
        }
        Ok(())
    }

    /// The record behind the one that was written last; in a new session it is of that one.
    fn linked(&mut self, record: &str) -> String {
        let is_fresh = self.document.fresh;
        let new = if is_fresh {
            Some(self.new_id())
        } else {
            uuid(record)
        };
        let last = std::mem::replace(&mut self.last, new.clone());
        let last = last.map_or_else(|| "null".to_owned(), |last| quoted(&last));
        let (id, cwd) = (&self.document.session_id, &self.document.cwd);
        let linked = rewritten(record, |key, value| {
            Some(match (key, &new) {
                ("parentUuid", _) => last.clone(),
                ("uuid", Some(uuid)) if is_fresh => quoted(uuid),
                ("sessionId", _) if is_fresh => quoted(id),
                ("cwd", _) if is_fresh => quoted(cwd),
                _ => value.to_owned(),
            })
        });
        linked.finish()
    }

    /// A record made anew: with what stood beside the message before it was changed.
    fn anew(&mut self, outgoing: &Outgoing) -> String {
        self.time = outgoing.time.unwrap_or(self.time);
        let message = &outgoing.message;
        self.functions.extend(writers::called(message));
        let (kind, role) = match message.role {
            Role::Assistant => ("assistant", "model"),
            _ if message.parts.iter().all(Part::is_result) => ("tool_result", "user"),
            _ => ("user", "user"),
        };
        let name = |call: &str| self.functions.get(call).cloned().unwrap_or_default();
        let remarks = &mut self.remarks;
        let left_out = || remarks.add("thinking, a file or a block of another provider");
        let parts = write_message(&message.parts, name, left_out);
        let said = Object::new().string("role", role).raw("parts", &parts);
        let said = said.finish();
        if let Some(old) = outgoing.replaces.first() {
            return replaced(old, "message", &said).finish();
        }
        let model = outgoing.settings.get("model");
        let model = model.filter(|_| kind == "assistant");
        Object::new()
            .string("uuid", &self.new_id())
            .raw("parentUuid", "null")
            .string("sessionId", &self.document.session_id)
            .string("timestamp", &self.time.to_iso())
            .string("type", kind)
            .string("cwd", &self.document.cwd)
            .string("version", &self.version)
            .optional_raw("model", model.map(String::as_str))
            .raw("message", &said)
            .finish()
    }
}

fn uuid(record: &str) -> Option<String> {
    string(serde_json::from_str::<Record<'_>>(record).ok()?.uuid)
}
