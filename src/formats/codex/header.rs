//! The first lines of a file: who and where, the system prompt, the title.

use std::collections::BTreeMap;

use serde_json::json;

use super::kept::{Kind, kind};
use super::write::Writer;
use crate::error::Result;
use crate::formats::Outgoing;
use crate::formats::shared::remarks::Remarks;
use crate::model::{Message, Part};
use crate::wire::json::{Object, Raw, quoted};

/// The commit of git that a session began at, as its first record says.
pub(super) fn checked_out(record: &str) -> Option<String> {
    let record: serde_json::Value = serde_json::from_str(record).ok()?;
    let commit = record.get("payload")?.get("git")?.get("commit_hash")?;
    commit.as_str().map(str::to_owned)
}

impl Writer<'_> {
    /// The first lines of a file: who and where, the system prompt, the title.
    pub(super) fn opening(
        &mut self,
        system: Option<&Outgoing>,
        messages: &[Outgoing],
        remarks: &mut Remarks,
    ) -> Result<()> {
        let document = self.document;
        let first_time = messages.iter().find_map(|outgoing| outgoing.time);
        self.time = first_time.unwrap_or(self.time);
        let is_meta = |record: &&String| matches!(kind(record), Kind::Meta(_) | Kind::BareMeta);
        let record = system.and_then(|system| system.records.first());
        let mut text = || system.map(|system| plain(&system.message, remarks));
        match record.filter(is_meta).filter(|_| !document.fresh) {
            Some(record) => self.line(record)?,
            None if self.legacy => {
                let (id, time) = (&document.session_id, self.time.to_iso());
                let meta = json!({"id": id, "timestamp": time, "instructions": text()});
                self.line(&meta.to_string())?;
            }
            None if self.asides.as_ref().is_some_and(|asides| asides.has_meta)
                && system.is_none() => {}
            None => self.new_meta(text().as_deref(), system)?,
        }
        let is_titled = self.asides.as_ref().is_some_and(|asides| asides.has_title);
        let Some(title) = document.title.as_ref().filter(|_| !is_titled) else {
            return Ok(());
        };
        self.event(&json!({
            "type": "thread_name_updated",
            "thread_id": document.session_id,
            "thread_name": title,
        }))
    }

    /// A new `session_meta`; what a rewritten one can, it takes over from the old one.
    fn new_meta(&mut self, text: Option<&str>, system: Option<&Outgoing>) -> Result<()> {
        let document = self.document;
        let records = system.map(|system| system.records.iter().chain(&system.replaces));
        let old: BTreeMap<String, Raw<'_>> = records
            .into_iter()
            .flatten()
            .chain(&document.opening)
            .find_map(|record| match kind(record) {
                Kind::Meta(payload) => serde_json::from_str(payload.get()).ok(),
                _ => None,
            })
            .unwrap_or_default();
        let old = |key| old.get(key).copied().flatten();
        let same = !document.fresh;
        let provider = document.provider.as_deref().unwrap_or("openai");
        let time = document.now.filter(|_| !same).unwrap_or(self.time).to_iso();
        let mut meta = Object::new();
        // What the key's value is, unless the old one stays.
        for (key, stays, new) in [
            ("id", same, &*document.session_id),
            ("timestamp", same, &*time),
            ("cwd", same || document.cwd.is_empty(), &*document.cwd),
            ("originator", true, "tract"),
            ("cli_version", true, "0.0.0"),
            // A new session is a person's, even where the old one was a sub-agent's.
            ("source", same, "cli"),
            ("model_provider", true, provider),
        ] {
            meta = match old(key).filter(|_| stays) {
                Some(old) => meta.raw(key, old.get()),
                None => meta.string(key, new),
            };
        }
        if let Some(text) = text {
            let base = format!(r#"{{"text":{}}}"#, quoted(text));
            meta = meta.raw("base_instructions", &base);
        }
        let tools = document.settings.get("dynamic_tools");
        let tools = tools.and_then(|tools| serde_json::from_str(tools).ok());
        if let Some(tools) = old("dynamic_tools").or(tools) {
            meta = meta.raw("dynamic_tools", tools.get());
        }
        if let Some(git) = old("git") {
            meta = meta.raw("git", git.get());
        }
        self.enveloped("session_meta", &meta.finish())
    }
}

/// The provider that the tool's configuration names, before its first table.
pub(super) fn provider(config: &str) -> Option<String> {
    let top = config.lines().map(str::trim);
    let mut top = top.take_while(|line| !line.starts_with('['));
    top.find_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.split('#').next()?.trim();
        let quoted = |mark: char| value.strip_prefix(mark)?.strip_suffix(mark);
        let name = quoted('"').or_else(|| quoted('\''))?;
        (key.trim() == "model_provider").then(|| name.to_owned())
    })
}

/// A system message as the one text that the format holds.
fn plain(message: &Message, remarks: &mut Remarks) -> String {
    let mut texts = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text { text } => texts.push(text.as_str()),
            _ => remarks.add("a part of the system prompt that is no text"),
        }
    }
    texts.join("\n\n")
}
