//! The first lines of a file: who and where, the system prompt, the title.

use serde::Serialize;
use serde_json::value::RawValue;

use super::event::{NewEvent, json};
use super::kept::{Kind, kind};
use super::write::Writer;
use crate::error::Result;
use crate::interop::remarks::Remarks;
use crate::interop::{Document, Outgoing};
use crate::model::{Message, Part};
use crate::wire::json::Raw;

/// What a rewritten `session_meta` takes over from the old one.
#[derive(Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct OldMeta<'a> {
    id: Raw<'a>,
    timestamp: Raw<'a>,
    cwd: Raw<'a>,
    originator: Raw<'a>,
    cli_version: Raw<'a>,
    source: Raw<'a>,
    model_provider: Raw<'a>,
    git: Raw<'a>,
    dynamic_tools: Raw<'a>,
}

#[derive(Serialize)]
struct Base<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct NewMeta<'a> {
    id: &'a RawValue,
    timestamp: &'a RawValue,
    cwd: &'a RawValue,
    originator: &'a RawValue,
    cli_version: &'a RawValue,
    source: &'a RawValue,
    model_provider: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_instructions: Option<Base<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dynamic_tools: Raw<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git: Raw<'a>,
}

#[derive(Serialize)]
struct LegacyMeta<'a> {
    id: &'a str,
    timestamp: String,
    instructions: Option<&'a str>,
}

impl Writer<'_> {
    /// The first lines of a file: who and where, the system prompt, the title.
    pub(super) fn opening(
        &mut self,
        system: Option<&Outgoing>,
        messages: &[Outgoing],
        document: &Document,
        remarks: &mut Remarks,
    ) -> Result<()> {
        let first_time = messages.iter().find_map(|outgoing| outgoing.time);
        self.time = first_time.unwrap_or(self.time);
        let record = system.and_then(|system| system.records.first());
        let meta = record.map(|record| kind(record));
        match (record, meta) {
            (Some(record), Some(Kind::Meta(_) | Kind::BareMeta)) if !document.fresh => {
                self.line(record)?;
            }
            _ => {
                let text = system.map(|system| plain(&system.message, remarks));
                if self.legacy {
                    let meta = LegacyMeta {
                        id: &document.session_id,
                        timestamp: self.time.to_iso(),
                        instructions: text.as_deref(),
                    };
                    return self.line(&json(&meta));
                }
                self.new_meta(text.as_deref(), system, document)?;
            }
        }
        match document.title.as_deref() {
            Some(title) if !self.legacy => {
                let event = NewEvent::ThreadNameUpdated {
                    thread_id: &document.session_id,
                    thread_name: title,
                };
                self.enveloped("event_msg", &json(&event))
            }
            _ => Ok(()),
        }
    }

    fn new_meta(
        &mut self,
        text: Option<&str>,
        system: Option<&Outgoing>,
        document: &Document,
    ) -> Result<()> {
        let records = system.map(|system| system.records.iter().chain(&system.replaces));
        let old = records
            .into_iter()
            .flatten()
            .find_map(|record| match kind(record) {
                Kind::Meta(payload) => serde_json::from_str::<OldMeta<'_>>(payload.get()).ok(),
                _ => None,
            })
            .unwrap_or_default();
        let now = document.now.unwrap_or(self.time);
        let own = |text: &str| serde_json::value::to_raw_value(text).expect("text is JSON");
        let (id, cwd) = (own(&document.session_id), own(&document.cwd));
        let time = own(&(if document.fresh { now } else { self.time }).to_iso());
        let (tract, version, cli, openai) = (own("tract"), own("0.0.0"), own("cli"), own("openai"));
        let same = !document.fresh;
        let tools = document.settings.get("dynamic_tools");
        let tools = tools.and_then(|tools| serde_json::from_str(tools).ok());
        let meta = NewMeta {
            id: old.id.filter(|_| same).unwrap_or(&id),
            timestamp: old.timestamp.filter(|_| same).unwrap_or(&time),
            cwd: old
                .cwd
                .filter(|_| same || document.cwd.is_empty())
                .unwrap_or(&cwd),
            originator: old.originator.unwrap_or(&tract),
            cli_version: old.cli_version.unwrap_or(&version),
            // A new session is a person's, even where the old one was a sub-agent's.
            source: old.source.filter(|_| same).unwrap_or(&cli),
            model_provider: old.model_provider.unwrap_or(&openai),
            base_instructions: text.map(|text| Base { text }),
            dynamic_tools: old.dynamic_tools.or(tools),
            git: old.git,
        };
        self.enveloped("session_meta", &json(&meta))
    }
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
