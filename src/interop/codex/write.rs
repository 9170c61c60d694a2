//! The exporter: kept records as they were, new ones around them.

use std::io::Write;

use serde::Serialize;
use serde_json::value::RawValue;

use super::compose::{Pairs, Remarks, image_url, items, json};
use super::item::{self, Meaning};
use super::read::{history, typed};
use super::record::{Compacted, Raw, Record, decode, word};
use crate::error::{Error, Result};
use crate::interop::{Document, Outgoing, Usage};
use crate::model::{Message, Millis, Part, Role, Settings};

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(
    messages: &[Outgoing],
    document: &Document,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let mut remarks = Remarks::default();
    let pairs = Pairs::of(messages, calls(&document.after));
    let mut writer = Writer {
        out,
        legacy: !document.fresh && is_legacy(messages, document),
        time: document.now.unwrap_or(Millis(0)),
        cwd: &document.cwd,
        total: Usage::default(),
    };
    let first = match messages.first() {
        Some(first) if document.after.is_empty() && first.message.role == Role::System => {
            writer.opening(Some(first), messages, document, &mut remarks)?;
            1
        }
        _ if document.after.is_empty() => {
            writer.opening(None, messages, document, &mut remarks)?;
            0
        }
        _ => 0,
    };
    let mut closing: Vec<String> = Vec::new();
    for (at, outgoing) in messages.iter().enumerate().skip(first) {
        if outgoing.message.role != Role::Tool {
            for item in closing.drain(..) {
                writer.item(&item)?;
            }
        }
        writer.time = outgoing.time.unwrap_or(writer.time);
        let prompt = typed(&outgoing.message);
        if prompt {
            writer.turn_context(&outgoing.settings)?;
        }
        let kept = kept(outgoing);
        match &kept {
            Some(records) => {
                for record in *records {
                    writer.kept(record)?;
                }
            }
            None => {
                let replaced = replaced(outgoing);
                let new = || items(at, &outgoing.message, &pairs, &mut remarks);
                for item in replaced.unwrap_or_else(new) {
                    writer.item(&item)?;
                }
            }
        }
        if document.fresh || kept.is_none() {
            closing.extend(pairs.closing(at, &outgoing.message));
        }
        writer.event(&outgoing.message, prompt)?;
        if let (Some(usage), true) = (outgoing.usage, document.after.is_empty()) {
            writer.count(usage)?;
        }
    }
    for item in closing {
        writer.item(&item)?;
    }
    writer.out.flush().map_err(Error::io("export"))?;
    Ok(remarks.finish())
}

/// A record's kind.
enum Kind<'a> {
    /// An enveloped response item.
    Item(&'a RawValue),
    /// A legacy item, without envelope.
    Bare,
    /// A `session_meta`'s payload.
    Meta(&'a RawValue),
    /// A legacy file's first line.
    BareMeta,
    /// Another agent's message.
    Communication,
    /// Anything else; it says more than one message.
    Other,
}

fn kind(text: &str) -> Kind<'_> {
    let Ok(record) = serde_json::from_str::<Record<'_>>(text) else {
        return Kind::Other;
    };
    match (word(record.r#type).as_deref(), record.payload) {
        (Some("response_item"), Some(payload)) => Kind::Item(payload),
        (Some("session_meta"), Some(payload)) => Kind::Meta(payload),
        (Some("inter_agent_communication"), Some(_)) => Kind::Communication,
        (Some(_), None) if record.timestamp.is_none() => Kind::Bare,
        (None, None) if record.record_type.is_none() => Kind::BareMeta,
        _ => Kind::Other,
    }
}

/// A message's records, if they say just this message.
fn kept(outgoing: &Outgoing) -> Option<&[String]> {
    let said = |record: &String| {
        matches!(
            kind(record),
            Kind::Item(_) | Kind::Bare | Kind::Communication
        )
    };
    let records = &outgoing.records;
    (!records.is_empty() && records.iter().all(said)).then_some(records)
}

/// The items that a compaction's record holds for a message that it put in place of others.
fn replaced(outgoing: &Outgoing) -> Option<Vec<String>> {
    outgoing.records.iter().find_map(|text| {
        let record = serde_json::from_str::<Record<'_>>(text).ok()?;
        if word(record.r#type)? != "compacted" {
            return None;
        }
        let items = decode::<Compacted<'_>>(record.payload)?.replacement_history?;
        let messages = history(&items, &mut Vec::new());
        let mut messages = messages.into_iter();
        let (_, items) = messages.find(|(message, _)| *message == outgoing.message)?;
        Some(items.iter().map(|item| item.get().to_owned()).collect())
    })
}

/// Whether the file is of the layout without envelopes.
fn is_legacy(messages: &[Outgoing], document: &Document) -> bool {
    let mut records = document
        .after
        .iter()
        .chain(messages.iter().flat_map(|outgoing| &outgoing.records))
        .peekable();
    let bare = |record: &String| {
        matches!(kind(record), Kind::Bare | Kind::BareMeta)
            || serde_json::from_str::<Record<'_>>(record)
                .is_ok_and(|record| record.record_type.is_some())
    };
    records.peek().is_some() && records.all(bare)
}

/// The calls in records that are written already, with their kinds.
fn calls(records: &[String]) -> Vec<(String, Option<String>)> {
    let mut calls = Vec::new();
    for record in records {
        let raw = match kind(record) {
            Kind::Item(payload) => payload,
            Kind::Bare => match serde_json::from_str(record) {
                Ok(raw) => raw,
                Err(_) => continue,
            },
            _ => continue,
        };
        if let Meaning::Reply { parts, .. } = item::read(raw, &mut Vec::new()) {
            calls.extend(parts.into_iter().filter_map(|part| match part {
                Part::ToolCall { id, kind, .. } => Some((id, kind)),
                _ => None,
            }));
        }
    }
    calls
}

/// What a rewritten `session_meta` takes over from the old one.
#[derive(Default, serde::Deserialize)]
struct OldMeta<'a> {
    #[serde(borrow, default)]
    id: Raw<'a>,
    #[serde(borrow, default)]
    timestamp: Raw<'a>,
    #[serde(borrow, default)]
    cwd: Raw<'a>,
    #[serde(borrow, default)]
    originator: Raw<'a>,
    #[serde(borrow, default)]
    cli_version: Raw<'a>,
    #[serde(borrow, default)]
    source: Raw<'a>,
    #[serde(borrow, default)]
    model_provider: Raw<'a>,
    #[serde(borrow, default)]
    git: Raw<'a>,
    #[serde(borrow, default)]
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

#[derive(Serialize)]
struct Sandbox {
    r#type: &'static str,
}

#[derive(Serialize)]
struct NewTurn<'a> {
    cwd: &'a str,
    approval_policy: &'static str,
    sandbox_policy: Sandbox,
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<String>,
    summary: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum NewEvent<'a> {
    UserMessage {
        message: String,
        images: Vec<String>,
        local_images: [&'a str; 0],
        text_elements: [&'a str; 0],
    },
    AgentMessage {
        message: String,
    },
    TokenCount {
        info: NewInfo,
    },
    ThreadNameUpdated {
        thread_id: &'a str,
        thread_name: &'a str,
    },
}

#[derive(Serialize)]
struct NewInfo {
    total_token_usage: NewUsage,
    last_token_usage: NewUsage,
}

#[derive(Clone, Copy, Serialize)]
struct NewUsage {
    input_tokens: u64,
    cached_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
    total_tokens: u64,
}

impl From<Usage> for NewUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            cached_input_tokens: 0,
            output_tokens: usage.output_tokens,
            reasoning_output_tokens: 0,
            total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
        }
    }
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    legacy: bool,
    /// Of the records that are being written.
    time: Millis,
    cwd: &'a str,
    /// The sum of what was counted.
    total: Usage,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) -> Result<()> {
        writeln!(self.out, "{text}").map_err(Error::io("export"))
    }

    /// A record of its own; the legacy layout has none but items.
    fn enveloped(&mut self, kind: &str, payload: &str) -> Result<()> {
        let time = self.time.to_iso();
        self.line(&format!(
            r#"{{"timestamp":"{time}","type":"{kind}","payload":{payload}}}"#
        ))
    }

    fn item(&mut self, payload: &str) -> Result<()> {
        if self.legacy {
            self.line(payload)
        } else {
            self.enveloped("response_item", payload)
        }
    }

    /// A record as it was; an item without envelope gets one among those that have it.
    fn kept(&mut self, record: &str) -> Result<()> {
        match kind(record) {
            Kind::Bare if !self.legacy => self.enveloped("response_item", record),
            _ => self.line(record),
        }
    }

    /// The first lines of a file: who and where, the system prompt, the title.
    fn opening(
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

    /// The settings of a turn, where the model is known and may be one of the tool's.
    fn turn_context(&mut self, settings: &Settings) -> Result<()> {
        let text = |key| serde_json::from_str::<String>(settings.get(key)?).ok();
        let Some(model) = text("model").filter(|model| !model.starts_with("claude")) else {
            return Ok(());
        };
        if self.legacy {
            return Ok(());
        }
        let turn = NewTurn {
            cwd: self.cwd,
            approval_policy: "on-request",
            sandbox_policy: Sandbox {
                r#type: "read-only",
            },
            model: &model,
            effort: text("reasoning_effort"),
            summary: "auto",
        };
        self.enveloped("turn_context", &json(&turn))
    }

    /// What the provider counted; it also parts a reply from the next.
    fn count(&mut self, last: Usage) -> Result<()> {
        if self.legacy {
            return Ok(());
        }
        let total = &mut self.total;
        total.input_tokens = total.input_tokens.saturating_add(last.input_tokens);
        total.output_tokens = total.output_tokens.saturating_add(last.output_tokens);
        let info = NewInfo {
            total_token_usage: (*total).into(),
            last_token_usage: last.into(),
        };
        self.enveloped("event_msg", &json(&NewEvent::TokenCount { info }))
    }

    /// What the tool's screen and its list of sessions show of a message.
    fn event(&mut self, message: &Message, prompt: bool) -> Result<()> {
        if self.legacy {
            return Ok(());
        }
        let texts = message.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        if prompt {
            let images = message.parts.iter().filter_map(|part| match part {
                Part::Image(media) => image_url(media),
                _ => None,
            });
            let event = NewEvent::UserMessage {
                message: texts.collect(),
                images: images.collect(),
                local_images: [],
                text_elements: [],
            };
            return self.enveloped("event_msg", &json(&event));
        }
        if message.role == Role::Assistant {
            for text in texts {
                let message = text.to_owned();
                self.enveloped("event_msg", &json(&NewEvent::AgentMessage { message }))?;
            }
        }
        Ok(())
    }
}

/// A system message as the one text that the format holds.
fn plain(message: &Message, remarks: &mut Remarks) -> String {
    let mut texts = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text { text } => texts.push(text.as_str()),
            _ => remarks.add("a part of the system prompt that is no text was left out"),
        }
    }
    texts.join("\n\n")
}
