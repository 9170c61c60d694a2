//! Messages as records.
//!
//! An untouched message is its records, with the parent link mended where that record isn't
//! written. Any other message is written anew, one block a record for a reply, one result a
//! record for results, in the envelope of the records that it replaces where there are any. New
//! results are chained one after the other, so that a walk from the leaf meets all of them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::attachments::{self as client, Sent, framed};
use super::index::QUEUE;
use super::queue::NOTICE;
use super::record::{BlockHead, MessageHead, Record, renders};
use crate::error::Result;
use crate::formats::shared::fields::Fields;
use crate::formats::shared::records::write_line;
use crate::formats::shared::remarks::Remarks;
use crate::formats::{Document, Export, LOOSE, Outgoing};
use crate::hash::fingerprint;
use crate::model::{Millis, Part, Role};
use crate::wire::anthropic::{self, Place, result_blocks, text_block, tool_result};
use crate::wire::attachments::tagged;
use crate::wire::json::{array, decode, is_true, quoted, string, word};
use crate::wire::{Notes, Repair, attachments};

/// The version in records that are written anew where none is known: the one whose records ours
/// look like.
const VERSION: &str = "2.1.7";

/// How its maker's models are called.
const OWN_MODELS: &str = "claude";

pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let (messages, document) = (export.messages, export.document);
    let mut writer = Writer::new(messages, document);
    // What is sent in front of a summary belongs to it.
    let is_front = |one: &Outgoing| one.is_summary && one.message.is_attached();
    let mut first = true;
    for (at, outgoing) in messages.iter().enumerate() {
        writer.asides(document.asides(at));
        writer.number = at + 1;
        match writer.without_open_calls(outgoing, &messages[at + 1..]) {
            Some(closed) => writer.message(&closed, first),
            None => writer.message(outgoing, first),
        }
        if document.fresh {
            writer.unread(outgoing);
        }
        first &= is_front(outgoing);
    }
    writer.asides(document.asides(messages.len()));
    if document.fresh {
        writer.standing();
    }
    let is_titled = writer.is_titled || !document.after.is_empty();
    if let (Some(title), false) = (&document.title, is_titled) {
        let title = json!({
            "type": "custom-title",
            "customTitle": title,
            "sessionId": writer.session_id,
        });
        writer.lines.push(title.to_string());
    }
    for line in &writer.lines {
        write_line(export.out, line)?;
    }
    Ok(writer.remarks.into_words())
}

/// An export under way.
pub(super) struct Writer<'a> {
    pub(super) document: &'a Document,
    pub(super) session_id: String,
    pub(super) version: String,
    branch: String,
    lines: Vec<String>,
    /// The last record of the chain.
    last: Option<String>,
    written: HashSet<String>,
    /// The record of each call.
    calls: HashMap<String, String>,
    /// The new id of each record of the source's that a new one stands for.
    pub(super) renamed: HashMap<String, String>,
    /// The ids of the replies that are copies.
    copied: HashSet<String>,
    /// The records of the message before, if that was written anew.
    anew: Option<HashSet<String>>,
    made: u64,
    /// The message that is being written, from 1.
    number: usize,
    /// Whether the file is a sub-agent's own, and by which id its records name the sub-agent.
    agent: Option<Option<String>>,
    /// Whether a record of the source gives the session's title.
    is_titled: bool,
    pub(super) remarks: Remarks,
}

impl<'a> Writer<'a> {
    fn new(messages: &[Outgoing], document: &'a Document) -> Self {
        let known = || {
            let own = messages
                .iter()
                .flat_map(|m| m.records.iter().chain(&m.replaces));
            document.after.iter().rev().chain(own)
        };
        let first = |key: &str| known().find_map(|text| Fields::parse(text)?.string(key));
        let mut writer = Self {
            document,
            session_id: document.session_id.clone(),
            version: first("version").unwrap_or_else(|| VERSION.to_owned()),
            branch: first("gitBranch").unwrap_or_default(),
            lines: Vec::new(),
            last: None,
            written: HashSet::new(),
            calls: HashMap::new(),
            renamed: HashMap::new(),
            copied: HashSet::new(),
            anew: None,
            made: 0,
            number: 0,
            agent: match known().find_map(|text| whose(text)) {
                Some(Whose::Agent(id)) if !document.fresh => Some(id),
                _ => None,
            },
            is_titled: false,
            remarks: Remarks::default(),
        };
        for fields in Fields::of_all(&document.after) {
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
        Some(raw(text))
    }

    fn new_uuid(&mut self) -> String {
        self.made += 1;
        self.document.new_id(self.made - 1)
    }

    fn new_id(&mut self, prefix: &str) -> String {
        let seed = [&self.document.seed[..], &self.made.to_be_bytes()].concat();
        self.made += 1;
        let hash = fingerprint(&seed);
        let hex: String = hash[..12].iter().map(|b| format!("{b:02x}")).collect();
        format!("{prefix}_{hex}")
    }

    /// Takes note of a record that stands in the file.
    fn note(&mut self, fields: &Fields) {
        let Some(uuid) = fields.string("uuid") else {
            return;
        };
        let calls = blocks(fields).into_iter();
        let calls = calls.filter(|block| block.is("tool_use"));
        let calls = calls.filter_map(|call| Some((string(call.id)?, uuid.clone())));
        self.calls.extend(calls);
        self.written.insert(uuid.clone());
        self.last = Some(uuid);
    }

    pub(super) fn put(&mut self, fields: &Fields) {
        self.note(fields);
        self.line(fields);
    }

    /// Writes a record that stands in no chain.
    pub(super) fn line(&mut self, fields: &Fields) {
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
        if let Some(prompt) = queued(outgoing) {
            let mut fields = self.envelope(outgoing, "attachment", None);
            fields.remove("message");
            let is_notice = prompt.starts_with(NOTICE);
            let mode = if is_notice {
                "task-notification"
            } else {
                "prompt"
            };
            let attachment =
                json!({"type": "queued_command", "prompt": prompt, "commandMode": mode});
            fields.set("attachment", &attachment);
            if renders(&self.version) {
                let texts = outgoing.message.parts.iter().filter_map(Part::as_text);
                let texts: Vec<_> = texts.map(|it| json!({"content": tagged(it)})).collect();
                fields.set("rendered", &texts);
                fields.set("renderedRole", &"system");
            }
            self.put(&fields);
            return;
        }
        if is_beside(&outgoing.records) || is_framed(&outgoing.records) {
            self.beside(&outgoing.records);
            return;
        }
        if outgoing.is_summary && first && self.number == 1 {
            self.boundary(outgoing);
        }
        if self.document.fresh
            && let Some(record) = attached_among(outgoing)
        {
            self.beside(std::slice::from_ref(record));
            return;
        }
        if self.rendered(outgoing) {
            return;
        }
        let plain;
        let outgoing = match attachments::plain(&outgoing.message) {
            Cow::Borrowed(_) => outgoing,
            Cow::Owned(message) => {
                let remark = "changed attachments became the user's text";
                self.remarks.say(remark);
                plain = Outgoing {
                    message,
                    ..outgoing.clone()
                };
                &plain
            }
        };
        if outgoing.is_summary && !first {
            let remark = "summaries in mid-conversation became plain user messages";
            self.remarks.say(remark);
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
            let new = Fields::of_all(&self.lines[start..]);
            self.anew = Some(new.filter_map(|it| it.string("uuid")).collect());
        }
    }

    /// Records of the source that are no messages: each as it was, unless what it hangs on or names
    /// is not in the file.
    fn asides(&mut self, records: &[String]) {
        for text in records {
            let Some(fields) = Fields::parse(text) else {
                continue;
            };
            let kind = fields.string("type").unwrap_or_default();
            let leaf = fields.string("leafUuid");
            if kind == "last-prompt" && leaf.is_some_and(|leaf| !self.written.contains(&leaf)) {
                continue;
            }
            let parent = fields.string("parentUuid");
            if let Some(uuid) = fields.string("uuid") {
                let is_astray = |parent: &String| !self.written.contains(parent);
                if parent.as_ref().is_some_and(is_astray) || !self.written.insert(uuid.clone()) {
                    continue;
                }
                let is_aside = is_true(fields.get("isSidechain"));
                if parent == self.last && (self.agent.is_some() || !is_aside) {
                    self.last = Some(uuid);
                }
            }
            self.is_titled |= ["custom-title", "ai-title", "summary"].contains(&&*kind);
            self.lines.push(text.clone());
        }
    }

    fn verbatim(&mut self, records: &[String]) {
        let anew = self.anew.take();
        for (at, text) in records.iter().enumerate() {
            let mut line = text.clone();
            if let Some(mut fields) = Fields::parse(text) {
                if let Some(own) = self.unmirrored(&fields) {
                    fields = own;
                    line = fields.line();
                }
                let boundary = fields.is("subtype", "compact_boundary");
                let astray = match (fields.string("parentUuid"), &anew) {
                    (Some(parent), Some(uuids)) if at == 0 => !uuids.contains(&parent),
                    (Some(parent), _) => !self.written.contains(&parent),
                    (None, _) => self.last.is_some() && !boundary,
                };
                if astray && fields.get("uuid").is_some() {
                    fields.set("parentUuid", &self.last);
                    line = fields.line();
                }
                self.note(&fields);
            }
            self.lines.push(line);
        }
    }

    /// A sub-agent's record that its parent's file mirrors, as the sub-agent's own.
    fn unmirrored(&self, mirror: &Fields) -> Option<Fields> {
        let (inner, agent) = mirrored(mirror)?;
        let mut own = mirror.clone();
        for key in ["data", "toolUseID", "parentToolUseID"] {
            own.remove(key);
        }
        own.set("isSidechain", &true);
        own.set("agentId", &agent);
        for key in ["type", "message", "uuid", "timestamp", "requestId"] {
            if let Some(value) = inner.get(key) {
                own.set(key, &value);
            }
        }
        own.set("parentUuid", &self.last);
        Some(own)
    }

    /// Records that the client wrote beside the conversation, as records of a new session.
    pub(super) fn beside(&mut self, records: &[String]) {
        for mut fields in Fields::of_all(records) {
            let uuid = self.new_uuid();
            if let Some(old) = fields.string("uuid") {
                self.renamed.insert(old, uuid.clone());
            }
            fields.set("uuid", &uuid);
            fields.set("parentUuid", &self.last);
            fields.set("sessionId", &self.session_id);
            if fields.get("cwd").is_some() {
                fields.set("cwd", &self.document.cwd);
            }
            let is_reply = fields.is("type", "assistant");
            if let Some(mut message) = message_fields(&fields).filter(|_| is_reply) {
                let id = self.new_id("msg");
                message.set("id", &id);
                fields.set("message", &message);
            }
            self.put(&fields);
        }
    }

    /// A record without content: the replaced one's, or a new one.
    pub(super) fn envelope(
        &mut self,
        outgoing: &Outgoing,
        kind: &str,
        replaced: Option<&Fields>,
    ) -> Fields {
        let mut fields = replaced.cloned().unwrap_or_else(|| {
            let time = outgoing.time.or(self.document.now).unwrap_or(Millis(0));
            let agent = self.agent.as_ref();
            let mut new = Fields::new(&json!({
                "parentUuid": null,
                "isSidechain": agent.is_some(),
                "userType": "external",
                "cwd": self.document.cwd,
                "sessionId": self.session_id,
                "version": self.version,
                "gitBranch": self.branch,
                "type": kind,
                "message": null,
                "uuid": null,
                "timestamp": time.to_iso(),
            }));
            if let Some(id) = agent.and_then(Option::as_ref) {
                new.set("agentId", id);
            }
            new
        });
        // A copy of what the message was; it must not outlive the change.
        fields.remove(DETAILS);
        let uuid = fields.string("uuid");
        let uuid = uuid.filter(|uuid| !self.written.contains(uuid));
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
        let metadata = json!({"trigger": "manual", "preTokens": 0});
        fields.set("compactMetadata", &metadata);
        self.put(&fields);
    }

    /// The records that a changed message replaces.
    fn replaced(&self, outgoing: &Outgoing, kind: &str) -> Vec<Fields> {
        if self.document.fresh {
            return Vec::new();
        }
        let own = if outgoing.replaces.is_empty() {
            &outgoing.records
        } else {
            &outgoing.replaces
        };
        let own = Fields::of_all(own);
        own.filter(|fields| fields.is("type", kind)).collect()
    }

    fn reply(&mut self, outgoing: &Outgoing) {
        let replaced = self.replaced(outgoing, "assistant");
        let copied = self.copied(outgoing);
        let first = replaced.first();
        let id = first.and_then(|fields| message_fields(fields)?.string("id"));
        let named = copied.as_ref().filter(|it| it.is_named);
        let id = id.or_else(|| Some(named?.id.clone()));
        let id = id.unwrap_or_else(|| self.new_id("msg"));
        let request = first.and_then(|fields| fields.string("requestId"));
        let request = request.or_else(|| named?.request.clone());
        let request = request.unwrap_or_else(|| self.new_id(&format!("req_{LOOSE}")));
        // It goes on with the model of the last reply, which should be one of its own.
        let is_any = !self.document.fresh || self.document.native;
        let model = outgoing.model();
        let model = model.filter(|model| is_any || model.starts_with(OWN_MODELS));
        let calls = outgoing.message.calls().next().is_some();
        let usage = usage(outgoing, copied.and_then(|it| it.usage).as_deref());
        let new = Fields::new(&json!({
            "model": model.as_deref().unwrap_or("unknown"),
            "id": id,
            "type": "message",
            "role": "assistant",
            "content": null,
            "stop_reason": if calls { "tool_use" } else { "end_turn" },
            "stop_sequence": null,
            "usage": usage,
        }));
        let marks = Marks::of(outgoing, &["assistant"], &REPLY_MARKS);
        let made_in = made_in(outgoing);
        let parts = &outgoing.message.parts;
        let callers = callers(outgoing);
        let cited = cited(outgoing);
        let blocks = parts.iter().filter_map(|part| {
            let block = self.block(part, Place::Assistant)?;
            let (key, value) = match part {
                Part::ToolCall { id, .. } => ("caller", callers.get(id)),
                Part::Text { text } => ("citations", cited.get(text)),
                _ => return Some(block),
            };
            let Some(value) = value else {
                return Some(block);
            };
            let mut block = Fields::parse(block.get()).expect("a block is an object");
            block.set(key, value);
            Some(raw(block.line()))
        });
        let blocks: Vec<_> = blocks.collect();
        if blocks.is_empty() && !parts.is_empty() {
            let what = "a reply that held nothing that could be written";
            self.remarks.add(what);
        }
        for (at, block) in blocks.into_iter().enumerate() {
            let envelope = replaced.get(at).or(replaced.last());
            let mut fields = self.envelope(outgoing, "assistant", envelope);
            let message = envelope.and_then(message_fields);
            let mut message = message.unwrap_or_else(|| new.clone());
            message.set("content", &[block]);
            fields.set("message", &message);
            fields.set("requestId", &request);
            if self.document.fresh {
                marks.mark(&mut fields);
                self.renames_call(&fields, &made_in);
            }
            self.put(&fields);
        }
    }

    /// What a reply for a new session is a copy of. Its names say to whoever counts replies that it was paid for once. A
    /// server that names no requests may give a message's id again; and each name stands in a session once.
    fn copied(&mut self, outgoing: &Outgoing) -> Option<CopiedReply> {
        let copied = CopiedReply::of(outgoing).filter(|_| self.document.fresh)?;
        let is_named = copied.request.is_some() && self.copied.insert(copied.id.clone());
        Some(CopiedReply { is_named, ..copied })
    }

    /// Notes which record of the source's a new record of a call stands for.
    fn renames_call(&mut self, new: &Fields, made_in: &HashMap<String, String>) {
        let made = blocks(new).into_iter().filter(|it| it.is("tool_use"));
        let mut old = made.filter_map(|call| made_in.get(&string(call.id)?).cloned());
        if let (Some(old), Some(new)) = (old.next(), new.string("uuid")) {
            self.renamed.insert(old, new);
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
            if self.document.fresh && !self.calls.contains_key(call) {
                self.repaired(Repair::UnpairedResult);
                continue;
            }
            let Some(block) = self.block(part, Place::User) else {
                continue;
            };
            let answers = |block: &BlockHead<'_>| block.answers(call);
            let own = take(&mut replaced, |blocks| blocks.iter().any(answers));
            // One user record of a result, tied to its call's.
            let mut fields = self.envelope(outgoing, "user", own.as_ref());
            set_content(&mut fields, &[block]);
            if let Some(source) = self.calls.get(call) {
                fields.set("sourceToolAssistantUUID", source);
            }
            if self.document.fresh
                && let Some(known) = details(outgoing, call)
            {
                fields.set(DETAILS, &known);
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
            [Part::Text { text }] => raw(quoted(text)),
            _ => {
                let blocks = parts.into_iter();
                let blocks = blocks.filter_map(|part| self.block(part, Place::User));
                let blocks: Vec<_> = blocks.collect();
                if blocks.is_empty() {
                    return;
                }
                raw(array(blocks.iter().map(|block| block.get())))
            }
        };
        let is_result = |block: &BlockHead<'_>| block.is("tool_result");
        let own = take(replaced, |blocks| !blocks.iter().any(is_result));
        let mut fields = self.envelope(outgoing, "user", own.as_ref());
        set_content(&mut fields, &content);
        if self.document.fresh {
            let marks = Marks::of(outgoing, &["user"], &USER_MARKS);
            if let Some(old) = &marks.uuid {
                let new = fields.string("uuid").unwrap_or_default();
                self.renamed.insert(old.clone(), new);
            }
            marks.mark(&mut fields);
        }
        for key in ["isVisibleInTranscriptOnly", "isCompactSummary"] {
            if outgoing.is_summary && first {
                fields.set(key, &true)
            } else {
                fields.remove(key)
            }
        }
        self.put(&fields);
    }

    /// A reply for a new session without the calls that nothing before the next reply answers. None: it
    /// has no such calls, or the session is the tool's own: what it sends of them is its version's matter.
    fn without_open_calls(&mut self, outgoing: &Outgoing, later: &[Outgoing]) -> Option<Outgoing> {
        if !self.document.fresh || self.document.native || outgoing.message.role != Role::Assistant
        {
            return None;
        }
        let before_reply = |next: &&Outgoing| next.message.role != Role::Assistant;
        let answers = later.iter().take_while(before_reply);
        let answers = answers.flat_map(|next| next.message.results());
        let answered: HashSet<&str> = answers.collect();
        let open = outgoing.message.calls().filter(|id| !answered.contains(id));
        let count = open.count();
        for _ in 0..count {
            self.repaired(Repair::OpenCall);
        }
        (count > 0).then(|| {
            let mut closed = outgoing.clone();
            closed.message.parts.retain(|part| match part {
                Part::ToolCall { id, .. } => answered.contains(id.as_str()),
                _ => true,
            });
            closed
        })
    }
}

/// The names and the count of a reply in its source.
struct CopiedReply {
    /// Whether the copy keeps its names.
    is_named: bool,
    id: String,
    request: Option<String>,
    usage: Option<Box<RawValue>>,
}

impl CopiedReply {
    /// Those of the records behind a reply, or of those that an edit took the place of.
    fn of(outgoing: &Outgoing) -> Option<Self> {
        let records = outgoing.records.iter().chain(&outgoing.replaces);
        let mut found: Option<Self> = None;
        for record in Fields::of_all(records).filter(|it| it.is("type", "assistant")) {
            let Some(message) = message_fields(&record) else {
                continue;
            };
            if found.is_none() {
                found = Some(Self {
                    is_named: false,
                    id: message.string("id")?,
                    request: record.string("requestId"),
                    usage: None,
                });
            }
            // The last record of a reply has the count of all of it.
            if let (Some(found), Some(usage)) = (&mut found, message.get("usage")) {
                found.usage = Some(usage.to_owned());
            }
        }
        found
    }
}

/// What of a count says how a reply was served.
const SERVED: [&str; 3] = ["service_tier", "speed", "inference_geo"];

/// What is said of a reply's count: what its source says, where that is what is known of it.
fn usage(outgoing: &Outgoing, source: Option<&RawValue>) -> Box<RawValue> {
    let usage = outgoing.usage.unwrap_or_default();
    let counted = anthropic::usage_record(source);
    if let (Some(record), Some(source)) = (counted, source)
        && record.usage == usage
    {
        return source.to_owned();
    }
    let mut fields = Fields::new(&json!({
        "input_tokens": usage.uncached_tokens(),
        "cache_creation_input_tokens": usage.written_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    }));
    let hour = usage.written_hour_tokens;
    if hour > 0 {
        let minutes = usage.written_tokens.saturating_sub(hour);
        let written = json!({
            "ephemeral_5m_input_tokens": minutes,
            "ephemeral_1h_input_tokens": hour,
        });
        fields.set("cache_creation", &written);
    }
    if usage.reasoning_tokens > 0 {
        let thinking = json!({"thinking_tokens": usage.reasoning_tokens});
        fields.set("output_tokens_details", &thinking);
    }
    let source = source.and_then(|source| Fields::parse(source.get()));
    for key in SERVED {
        if let Some(value) = source.as_ref().and_then(|source| source.get(key)) {
            fields.set(key, &value);
        }
    }
    raw(fields.line())
}

/// What a tool gave, as the client's own data: by it the client knows which work in the background is its own.
const DETAILS: &str = "toolUseResult";

/// That of a result which says what it said.
fn details(outgoing: &Outgoing, call: &str) -> Option<Box<RawValue>> {
    let mut records = Fields::of_all(&outgoing.records);
    let record = records.find(|it| blocks(it).iter().any(|block| block.answers(call)))?;
    Some(record.get(DETAILS)?.to_owned())
}

/// What the client notes of a reply, and goes by when it sends the reply back.
const REPLY_MARKS: [&str; 2] = ["effort", "perTurnEffort"];

/// What the client notes of a user's message: who made it, where it came from, and in which mode.
const USER_MARKS: [&str; 10] = [
    "isMeta",
    "origin",
    "permissionMode",
    "promptSource",
    "queueSkipAttachments",
    "queueTranscriptOnly",
    "rowSource",
    "sourceToolUseID",
    "turnCompanion",
    "turnOrigin",
];

/// What the client has noted of a message beside it.
#[derive(Default)]
struct Marks {
    found: Vec<(&'static str, Box<RawValue>)>,
    /// The id of the record that has them.
    uuid: Option<String>,
}

impl Marks {
    /// Those of the records behind a message, or of those that an edit took the place of.
    fn of(outgoing: &Outgoing, kinds: &[&str], keys: &[&'static str]) -> Self {
        let records = outgoing.records.iter().chain(&outgoing.replaces);
        let is_such = |record: &Fields| {
            let is_result = |block: &BlockHead<'_>| block.is("tool_result");
            let is_kind = kinds.iter().any(|kind| record.is("type", kind));
            is_kind && !blocks(record).iter().any(is_result)
        };
        let Some(record) = Fields::of_all(records).find(is_such) else {
            return Self::default();
        };
        // What is framed when it is sent stands within its frame by now.
        let is_framed = is_framed(&[record.line()]);
        let keys = keys.iter().filter(|key| !is_framed || **key != "origin");
        let found = keys.filter_map(|key| Some((*key, record.get(key)?.to_owned())));
        let mut found: Vec<_> = found.collect();
        if is_framed {
            found.retain(|(key, _)| *key != "isMeta");
            found.push(("isMeta", raw("true".to_owned())));
        }
        Self {
            found,
            uuid: record.string("uuid"),
        }
    }

    fn mark(&self, fields: &mut Fields) {
        for (key, value) in &self.found {
            fields.set(key, value);
        }
    }
}

/// Whether it is one user's record whose text the client frames when it sends it.
fn is_framed(records: &[String]) -> bool {
    let [record] = records else {
        return false;
    };
    let record = serde_json::from_str::<Record<'_>>(record);
    record.is_ok_and(|record| {
        word(record.kind).is_some_and(|kind| kind == "user") && framed(&record).is_some()
    })
}

/// What came in while the model worked and stands in the queue's records alone.
fn queued(outgoing: &Outgoing) -> Option<String> {
    let records: Vec<Fields> = Fields::of_all(&outgoing.records).collect();
    let is_queues = records.iter().all(|record| record.is("type", QUEUE));
    let mut texts = records.iter().filter_map(|record| record.string("content"));
    texts
        .next()
        .filter(|_| is_queues && outgoing.message.is_attached())
}

/// Whether these are records that the client writes beside the conversation: what it attaches, what
/// its commands say, and its own reply to them.
fn is_beside(records: &[String]) -> bool {
    let is_such = |text: &String| {
        let Some(fields) = Fields::parse(text) else {
            return false;
        };
        match fields.string("type").as_deref() {
            Some("attachment") => true,
            Some("system") => fields.is("subtype", "local_command"),
            Some("assistant") => {
                message_fields(&fields).is_some_and(|message| message.is("model", "<synthetic>"))
            }
            _ => false,
        }
    };
    !records.is_empty() && records.iter().all(is_such)
}

/// The record of what the client attached, where it stands in front of a compaction's summary, among the compaction's.
fn attached_among(outgoing: &Outgoing) -> Option<&String> {
    outgoing.message.attached.as_ref()?;
    outgoing.replaces.iter().find(|text| {
        let Ok(record) = serde_json::from_str::<Record<'_>>(text) else {
            return false;
        };
        let sent = match record.attachment {
            Some(_) => client::sent(&record, &mut Notes::default()),
            None => return false,
        };
        matches!(sent, Sent::Parts { parts, .. } if parts == outgoing.message.parts)
    })
}

/// What a record of progress mirrors of a sub-agent, and which.
fn mirrored(record: &Fields) -> Option<(Fields, String)> {
    let data = record
        .get("data")
        .filter(|_| record.is("type", "progress"))?;
    let data = Fields::parse(data.get())?;
    let inner = Fields::parse(data.get("message")?.get())?;
    Some((inner, data.string("agentId")?))
}

/// Whose a record is.
enum Whose {
    /// The session's.
    Session,
    /// A sub-agent's, by the id that the record has for it.
    Agent(Option<String>),
}

/// Whose a record is, or what it mirrors; none where it tells nothing of that.
fn whose(record: &str) -> Option<Whose> {
    let fields = Fields::parse(record)?;
    if let Some((_, agent)) = mirrored(&fields) {
        return Some(Whose::Agent(Some(agent)));
    }
    Some(match fields.get("isSidechain")?.get() {
        "true" => Whose::Agent(fields.string("agentId")),
        _ => Whose::Session,
    })
}

/// JSON text as it is.
fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).expect("what is written is JSON")
}

/// Takes out the first record whose blocks are such.
fn take(records: &mut Vec<Fields>, are_such: impl Fn(&[BlockHead<'_>]) -> bool) -> Option<Fields> {
    let mut all = records.iter();
    let at = all.position(|fields| are_such(&blocks(fields)))?;
    Some(records.remove(at))
}

fn message_fields(record: &Fields) -> Option<Fields> {
    Fields::parse(record.get("message")?.get())
}

/// Who made each call, as the records of a message say: the client sends it back with the call.
fn callers(outgoing: &Outgoing) -> HashMap<String, Box<RawValue>> {
    let records = outgoing.records.iter().chain(&outgoing.replaces);
    let mut callers = HashMap::new();
    for fields in Fields::of_all(records) {
        let made = blocks(&fields).into_iter();
        let made = made.filter_map(|block| Some((string(block.id)?, block.caller?.to_owned())));
        callers.extend(made);
    }
    callers
}

/// The record in which each call of a message was made.
fn made_in(outgoing: &Outgoing) -> HashMap<String, String> {
    let records = outgoing.records.iter().chain(&outgoing.replaces);
    let mut found = HashMap::new();
    for fields in Fields::of_all(records) {
        let made = blocks(&fields).into_iter().filter(|it| it.is("tool_use"));
        let made = made.filter_map(|call| Some((string(call.id)?, fields.string("uuid")?)));
        found.extend(made);
    }
    found
}

/// What texts refer to, as the records of a message say: the provider wants it back with the text.
fn cited(outgoing: &Outgoing) -> HashMap<String, Box<RawValue>> {
    let records = outgoing.records.iter().chain(&outgoing.replaces);
    let mut cited = HashMap::new();
    for fields in Fields::of_all(records) {
        let head = decode::<MessageHead<'_>>(fields.get("message")).unwrap_or_default();
        let content = head.content.map_or("", RawValue::get);
        let found = anthropic::cited(content).into_iter();
        cited.extend(found.map(|(text, citations)| (text, raw(citations.to_owned()))));
    }
    let others = outgoing.cited.iter().cloned();
    cited.extend(others.map(|(text, citations)| (text, raw(citations))));
    cited
}

/// The blocks of a record's message; none where its content is a string.
fn blocks(record: &Fields) -> Vec<BlockHead<'_>> {
    let head = decode::<MessageHead<'_>>(record.get("message"));
    head.and_then(|head| decode(head.content))
        .unwrap_or_default()
}

fn set_content(record: &mut Fields, content: &impl Serialize) {
    let message = message_fields(record);
    let mut message = message.unwrap_or_else(|| Fields::new(&json!({"role": "user"})));
    message.set("content", content);
    record.set("message", &message);
}
