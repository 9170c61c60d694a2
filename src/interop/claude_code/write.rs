//! Messages as records.
//!
//! An untouched message is its records, with the parent link mended where that record isn't
//! written. Any other message is written anew, one block a record for a reply, one result a
//! record for results, in the envelope of the records that it replaces where there are any. New
//! results are chained one after the other, so that a walk from the leaf meets all of them.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use serde_json::json;
use serde_json::value::RawValue;

use super::fields::Fields;
use super::record::{BlockHead, MessageHead};
use crate::error::{Error, Result};
use crate::hash::fingerprint;
use crate::interop::remarks::Remarks;
use crate::interop::{Document, Outgoing};
use crate::model::{Millis, Part, Role};
use crate::wire::anthropic::{self, Place, result_blocks, text_block, tool_result};
use crate::wire::json::quoted;
use crate::wire::{INTERRUPTED, Repair};

/// The version in records that are written anew where none is known: the one whose records ours
/// look like.
const VERSION: &str = "2.1.7";

pub(super) fn export(
    messages: &[Outgoing],
    document: &Document,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let mut writer = Writer::new(messages, document);
    for (at, outgoing) in messages.iter().enumerate() {
        writer.number = at + 1;
        writer.message(outgoing, at == 0);
        if document.fresh && outgoing.message.role == Role::Assistant {
            writer.close_calls(outgoing, &messages[at + 1..]);
        }
    }
    if let Some(title) = document
        .title
        .as_ref()
        .filter(|_| document.after.is_empty())
    {
        let mut fields = Fields::default();
        fields.set("type", &"custom-title");
        fields.set("customTitle", title);
        fields.set("sessionId", &writer.session_id);
        writer.lines.push(fields.line());
    }
    for line in &writer.lines {
        writeln!(out, "{line}").map_err(Error::io("export"))?;
    }
    Ok(writer.remarks.into_words())
}

/// An export under way.
pub(super) struct Writer<'a> {
    document: &'a Document,
    session_id: String,
    version: String,
    branch: String,
    lines: Vec<String>,
    /// The last record of the chain.
    last: Option<String>,
    written: HashSet<String>,
    /// The record of each call.
    calls: HashMap<String, String>,
    /// The records of the message before, if that was written anew.
    anew: Option<HashSet<String>>,
    made: u64,
    /// The message that is being written, from 1.
    number: usize,
    remarks: Remarks,
}

/// What a record that is written anew holds.
enum Content {
    Text(String),
    Blocks(Vec<Box<RawValue>>),
}

impl<'a> Writer<'a> {
    fn new(messages: &[Outgoing], document: &'a Document) -> Self {
        let known = || {
            let own = messages
                .iter()
                .flat_map(|m| m.records.iter().chain(&m.replaces));
            document.after.iter().rev().chain(own)
        };
        let first = |key: &str| {
            known()
                .filter_map(|text| Fields::parse(text)?.string(key))
                .next()
        };
        let after = document.after.iter().filter_map(|text| Fields::parse(text));
        let mut writer = Self {
            document,
            session_id: document.session_id.clone(),
            version: first("version").unwrap_or_else(|| VERSION.to_owned()),
            branch: first("gitBranch").unwrap_or_default(),
            lines: Vec::new(),
            last: None,
            written: HashSet::new(),
            calls: HashMap::new(),
            anew: None,
            made: 0,
            number: 0,
            remarks: Remarks::default(),
        };
        for fields in after {
            if let Some(id) = fields.string("sessionId") {
                writer.session_id = id;
            }
            writer.note(&fields);
        }
        writer
    }

    fn repaired(&mut self, repair: Repair) {
        self.remarks.repairs.add(repair, self.number);
    }

    /// A part as a content block; none where the provider would not take it.
    fn block(&mut self, part: &Part, place: Place) -> Option<Box<RawValue>> {
        let repairs = &mut self.remarks.repairs;
        let text = match part {
            // The tool keeps blank texts in its file, and leaves them out when it sends them.
            Part::Text { text } => text_block(text),
            Part::ToolResult {
                call,
                content,
                is_error,
            } => {
                let blocks = result_blocks(content, *is_error, self.number, repairs);
                // The tool's own results always say something.
                let content = anthropic::content(&blocks).unwrap_or_else(|| quoted(""));
                tool_result(call, Some(&content), *is_error)
            }
            part => anthropic::block(part, place, self.number, repairs)?.json(),
        };
        raw(text)
    }

    /// The next made number: 32 bytes that look random.
    fn random(&mut self) -> [u8; 32] {
        let mut bytes = self.document.seed.to_vec();
        bytes.extend(self.made.to_be_bytes());
        self.made += 1;
        fingerprint(&bytes)
    }

    fn new_uuid(&mut self) -> String {
        self.made += 1;
        self.document.new_id(self.made - 1)
    }

    fn new_id(&mut self, prefix: &str) -> String {
        let random = self.random();
        let hex: String = random[..12].iter().map(|b| format!("{b:02x}")).collect();
        format!("{prefix}_{hex}")
    }

    /// Takes note of a record that stands in the file.
    fn note(&mut self, fields: &Fields) {
        let Some(uuid) = fields.string("uuid") else {
            return;
        };
        for block in blocks(fields) {
            if block.kind.as_str() == Some("tool_use")
                && let Some(id) = block.id.as_str()
            {
                self.calls.insert(id.to_owned(), uuid.clone());
            }
        }
        self.written.insert(uuid.clone());
        self.last = Some(uuid);
    }

    fn put(&mut self, fields: &Fields) {
        self.note(fields);
        self.lines.push(fields.line());
    }

    fn message(&mut self, outgoing: &Outgoing, first: bool) {
        let untouched = !self.document.fresh && !outgoing.records.is_empty();
        // A boundary hides what stands before it; only the first message may have one.
        if untouched && (first || !outgoing.is_summary) {
            self.verbatim(&outgoing.records);
            return;
        }
        let start = self.lines.len();
        if outgoing.is_summary {
            if first {
                self.boundary(outgoing);
            } else {
                self.remarks
                    .say("summaries in mid-conversation became plain user messages");
            }
        }
        match outgoing.message.role {
            Role::Assistant => self.reply(outgoing),
            role => {
                if role.is_system() {
                    self.remarks.say("system messages became user messages");
                }
                self.input(outgoing, first);
            }
        }
        if self.lines.len() > start {
            let uuids = self.lines[start..]
                .iter()
                .filter_map(|line| Fields::parse(line)?.string("uuid"));
            self.anew = Some(uuids.collect());
        }
    }

    fn verbatim(&mut self, records: &[String]) {
        let anew = self.anew.take();
        for (at, text) in records.iter().enumerate() {
            let Some(mut fields) = Fields::parse(text) else {
                self.lines.push(text.replace(['\n', '\r'], " "));
                continue;
            };
            let mut mended = false;
            if fields.get("uuid").is_some() {
                let boundary = fields.string("subtype").as_deref() == Some("compact_boundary");
                mended = match fields.string("parentUuid") {
                    Some(parent) if at == 0 && anew.is_some() => {
                        !anew.as_ref().is_some_and(|uuids| uuids.contains(&parent))
                    }
                    Some(parent) => !self.written.contains(&parent),
                    None => self.last.is_some() && !boundary,
                };
                if mended {
                    fields.set("parentUuid", &self.last);
                }
            }
            self.note(&fields);
            self.lines.push(match mended {
                true => fields.line(),
                false => text.replace(['\n', '\r'], " "),
            });
        }
    }

    /// A record without content: the replaced one's, or a new one.
    fn envelope(&mut self, outgoing: &Outgoing, kind: &str, replaced: Option<&Fields>) -> Fields {
        let mut fields = match replaced {
            Some(fields) => fields.clone(),
            None => {
                let mut fields = Fields::default();
                let time = outgoing.time.or(self.document.now).unwrap_or(Millis(0));
                fields.set("parentUuid", &());
                fields.set("isSidechain", &false);
                fields.set("userType", &"external");
                fields.set("cwd", &self.document.cwd);
                fields.set("sessionId", &self.session_id);
                fields.set("version", &self.version);
                fields.set("gitBranch", &self.branch);
                fields.set("type", &kind);
                fields.set("message", &());
                fields.set("uuid", &());
                fields.set("timestamp", &time.to_iso());
                fields
            }
        };
        // A copy of what the message was; it must not outlive the change.
        fields.remove("toolUseResult");
        let uuid = fields
            .string("uuid")
            .filter(|uuid| !self.written.contains(uuid));
        let uuid = uuid.unwrap_or_else(|| self.new_uuid());
        fields.set("uuid", &uuid);
        let parent = fields.string("parentUuid");
        if self.anew.is_some() || !parent.is_some_and(|parent| self.written.contains(&parent)) {
            fields.set("parentUuid", &self.last);
        }
        fields
    }

    fn boundary(&mut self, outgoing: &Outgoing) {
        let mut fields = self.envelope(outgoing, "system", None);
        fields.remove("message");
        fields.set("logicalParentUuid", &self.last);
        fields.set("parentUuid", &());
        fields.set("subtype", &"compact_boundary");
        fields.set("content", &"Conversation compacted");
        fields.set("isMeta", &false);
        fields.set("level", &"info");
        fields.set(
            "compactMetadata",
            &json!({"trigger": "manual", "preTokens": 0}),
        );
        self.put(&fields);
    }

    /// The records that a changed message replaces.
    fn replaced(&self, outgoing: &Outgoing, kind: &str) -> Vec<Fields> {
        if self.document.fresh {
            return Vec::new();
        }
        let own = match outgoing.replaces.is_empty() {
            true => &outgoing.records,
            false => &outgoing.replaces,
        };
        own.iter()
            .filter_map(|text| Fields::parse(text))
            .filter(|fields| fields.string("type").as_deref() == Some(kind))
            .collect()
    }

    fn reply(&mut self, outgoing: &Outgoing) {
        let replaced = self.replaced(outgoing, "assistant");
        let model = outgoing
            .settings
            .get("model")
            .and_then(|text| serde_json::from_str::<String>(text).ok())
            .unwrap_or_else(|| "unknown".to_owned());
        let old = replaced.first().and_then(message_fields);
        let id = old.as_ref().and_then(|message| message.string("id"));
        let id = id.unwrap_or_else(|| self.new_id("msg"));
        let request = replaced
            .first()
            .and_then(|fields| fields.string("requestId"));
        let request = request.unwrap_or_else(|| self.new_id("req"));
        let calls = outgoing.message.calls().next().is_some();
        let usage = outgoing.usage.unwrap_or_default();
        let usage = json!({
            "input_tokens": usage.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": usage.output_tokens,
        });
        let mut at = 0;
        for part in &outgoing.message.parts {
            let Some(block) = self.block(part, Place::Assistant) else {
                continue;
            };
            let envelope = replaced.get(at).or(replaced.last());
            at += 1;
            let mut fields = self.envelope(outgoing, "assistant", envelope);
            let mut message = match envelope.and_then(message_fields) {
                Some(message) => message,
                None => {
                    let mut message = Fields::default();
                    message.set("model", &model);
                    message.set("id", &id);
                    message.set("type", &"message");
                    message.set("role", &"assistant");
                    message.set("content", &());
                    let reason = if calls { "tool_use" } else { "end_turn" };
                    message.set("stop_reason", &reason);
                    message.set("stop_sequence", &());
                    message.set("usage", &usage);
                    message
                }
            };
            message.set("content", &[block]);
            fields.set("message", &message);
            fields.set("requestId", &request);
            self.put(&fields);
        }
        if at == 0 && !outgoing.message.parts.is_empty() {
            self.remarks
                .add("a reply that held nothing that could be written");
        }
    }

    fn input(&mut self, outgoing: &Outgoing, first: bool) {
        let mut replaced = self.replaced(outgoing, "user");
        let mut plain: Vec<&Part> = Vec::new();
        for part in &outgoing.message.parts {
            let Part::ToolResult { call, .. } = part else {
                plain.push(part);
                continue;
            };
            self.plain(outgoing, std::mem::take(&mut plain), &mut replaced, first);
            let source = self.calls.get(call).cloned();
            if source.is_none() && self.document.fresh {
                self.repaired(Repair::UnpairedResult);
                continue;
            }
            let Some(block) = self.block(part, Place::User) else {
                continue;
            };
            let own = replaced.iter().position(|fields| {
                blocks(fields)
                    .iter()
                    .any(|block| block.tool_use_id.as_str() == Some(call))
            });
            let own = own.map(|at| replaced.remove(at));
            let mut fields = self.envelope(outgoing, "user", own.as_ref());
            set_content(&mut fields, &Content::Blocks(vec![block]));
            if let Some(source) = source {
                fields.set("sourceToolAssistantUUID", &source);
            }
            self.put(&fields);
        }
        self.plain(outgoing, plain, &mut replaced, first);
    }

    /// One user record of everything but results.
    fn plain(
        &mut self,
        outgoing: &Outgoing,
        parts: Vec<&Part>,
        replaced: &mut Vec<Fields>,
        first: bool,
    ) {
        let content = match parts[..] {
            [] => return,
            [Part::Text { text }] => Content::Text(text.clone()),
            _ => Content::Blocks(
                parts
                    .into_iter()
                    .filter_map(|part| self.block(part, Place::User))
                    .collect(),
            ),
        };
        if matches!(&content, Content::Blocks(blocks) if blocks.is_empty()) {
            return;
        }
        let own = replaced.iter().position(|fields| {
            blocks(fields)
                .iter()
                .all(|block| block.kind.as_str() != Some("tool_result"))
        });
        let own = own.map(|at| replaced.remove(at));
        let mut fields = self.envelope(outgoing, "user", own.as_ref());
        set_content(&mut fields, &content);
        if outgoing.is_summary && first {
            fields.set("isVisibleInTranscriptOnly", &true);
            fields.set("isCompactSummary", &true);
        } else {
            fields.remove("isVisibleInTranscriptOnly");
            fields.remove("isCompactSummary");
        }
        self.put(&fields);
    }

    /// Gives an error result to every call that nothing before the next reply answers.
    fn close_calls(&mut self, outgoing: &Outgoing, later: &[Outgoing]) {
        let answered: HashSet<&str> = later
            .iter()
            .take_while(|next| next.message.role != Role::Assistant)
            .flat_map(|next| &next.message.parts)
            .filter_map(|part| match part {
                Part::ToolResult { call, .. } => Some(call.as_str()),
                _ => None,
            })
            .collect();
        for call in outgoing.message.calls() {
            if answered.contains(call) {
                continue;
            }
            self.repaired(Repair::MissingResult);
            let result = tool_result(call, Some(&quoted(INTERRUPTED)), true);
            let Some(block) = raw(result) else {
                continue;
            };
            let mut fields = self.envelope(outgoing, "user", None);
            set_content(&mut fields, &Content::Blocks(vec![block]));
            if let Some(source) = self.calls.get(call).cloned() {
                fields.set("sourceToolAssistantUUID", &source);
            }
            self.put(&fields);
        }
    }
}

/// JSON text as it is; none if it is no JSON.
fn raw(text: String) -> Option<Box<RawValue>> {
    RawValue::from_string(text).ok()
}

fn message_fields(record: &Fields) -> Option<Fields> {
    Fields::parse(record.get("message")?.get())
}

/// The blocks of a record's message; none where its content is a string.
fn blocks(record: &Fields) -> Vec<BlockHead<'_>> {
    let head = record
        .get("message")
        .and_then(|raw| serde_json::from_str::<MessageHead<'_>>(raw.get()).ok());
    head.and_then(|head| serde_json::from_str(head.content?.get()).ok())
        .unwrap_or_default()
}

fn set_content(record: &mut Fields, content: &Content) {
    let mut message = message_fields(record).unwrap_or_else(|| {
        let mut message = Fields::default();
        message.set("role", &"user");
        message
    });
    match content {
        Content::Text(text) => message.set("content", text),
        Content::Blocks(blocks) => message.set("content", blocks),
    }
    record.set("message", &message);
}
