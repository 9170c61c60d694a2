//! What a resumed session needs beside its messages: the records by which the client renders the system
//! prompt again, and knows the tools that the model has loaded; and what it attached, where the record that
//! told of it is not its own.
//!
//! # Source
//!
//! Observed: Claude Code 2.1.330 resumes with the system prompt of the newest `prompt_snapshot`, and sends no
//! reference to a tool of which no `deferred_tools_record` tells.

use serde_json::json;

use super::record::renders;
use super::write::Writer;
use crate::formats::Outgoing;
use crate::formats::shared::fields::Fields;
use crate::model::Part;
use crate::wire::attached::{tagged, untagged};

const SNAPSHOT: &str = "prompt_snapshot";
const TOOLS: &str = "deferred_tools_record";

/// Whether a record says how things stand.
pub(super) fn is_state(record: &str) -> bool {
    // Most lines are none, and long.
    let front = record.get(..record.len().min(300)).unwrap_or(record);
    (front.contains(SNAPSHOT) || front.contains(TOOLS)) && kind(record).is_some()
}

/// The kind of such a record.
fn kind(record: &str) -> Option<&'static str> {
    let record = Fields::parse(record)?;
    let kind = Fields::parse(record.get("attachment")?.get())?.string("type")?;
    [SNAPSHOT, TOOLS].into_iter().find(|known| *known == kind)
}

impl Writer<'_> {
    /// Writes how things stood, by the session's own records.
    pub(super) fn standing(&mut self) {
        let document = self.document;
        let of = |wanted| move |text: &&String| kind(text) == Some(wanted);
        let tools = document.state.iter().filter(of(TOOLS));
        let snapshot = document.state.iter().rev().find(of(SNAPSHOT));
        let records: Vec<String> = tools.chain(snapshot).cloned().collect();
        self.beside(&records);
    }

    /// Writes what was attached as an attachment with its text beside it, where the client takes that; says
    /// whether it does.
    pub(super) fn rendered(&mut self, outgoing: &Outgoing) -> bool {
        let message = &outgoing.message;
        let texts: Option<Vec<&str>> = message.parts.iter().map(Part::as_text).collect();
        let (Some(kind), Some(texts)) = (&message.attached, texts) else {
            return false;
        };
        if !renders(&self.version) || texts.is_empty() {
            return false;
        }
        let is_users = texts.iter().all(|text| untagged(text).is_some());
        let rendered: Vec<_> = texts
            .into_iter()
            .map(|text| json!({"content": tagged(text)}))
            .collect();
        let mut fields = self.envelope(outgoing, "attachment", None);
        fields.remove("message");
        fields.set("attachment", &json!({"type": kind}));
        fields.set("rendered", &rendered);
        fields.set("renderedRole", &if is_users { "user" } else { "system" });
        self.put(&fields);
        true
    }
}
