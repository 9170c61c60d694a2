//! The requests that the client writes into its file: `api-request`, and what it refers to by hash: the system
//! prompt and tools (`api-request-shape`), and messages (`api-request-blob`, or the records of the conversation).
//!
//! Deliberately absent: what the client sends and writes down nowhere: `metadata`, `stream`, the billing block in
//! front of the system prompt, `safeguards`.
//!
//! # Source
//!
//! Observed: sessions of Claude Code 2.1.330 beside the requests that it sent.

use std::collections::{HashMap, HashSet};

use super::record::{Attachment, Record};
use crate::error::Result;
use crate::formats::shared::lines::Lines;
use crate::formats::shared::sent::{
    Compared, Lack, Proof, SaidMiss, SentDifference, SentRequest, SentRequests, Wanted, as_blocks,
    block_of, short,
};
use crate::formats::{Input, Problem};
use crate::hash::{Fingerprint, fingerprint, hex};
use crate::model::{Millis, Span, Usage};
use crate::wire::anthropic::MARK;
use crate::wire::javascript::{JsValue, KeyOrder};
use crate::wire::json::{Object, Raw, array, decode, string, word};

/// What goes as a header.
const BETAS: &str = "betas";

lazy! {
    /// A record of a request, or of what requests refer to.
    struct Request {
        kind = "type",
        id,
        timestamp,
        query_source = "querySource",
        shape_hash = "shapeHash",
        shape,
        hash,
        message,
        params,
        base,
        keep,
        tail,
        cache_control = "cacheControl",
        digest = "requestDigest",
    }

    struct Reply {
        request = "requestRef",
        message,
    }

    /// What a reply says of how it was made.
    struct Diagnosed { diagnostics }

    struct Diagnosis { reason = "cache_miss_reason" }

    /// A tool in a snapshot.
    struct Tool { schema }

    struct Missed {
        kind = "type",
        tokens = "cache_missed_input_tokens",
    }
}

pub(super) fn answered_by(record: &str) -> Option<String> {
    if !record.contains(r#""requestRef""#) {
        return None;
    }
    let reply: Reply<'_> = serde_json::from_str(record).ok()?;
    string(reply.request)
}

/// What the provider said of its cache in a reply's record.
fn said_miss(record: &str) -> Option<SaidMiss> {
    if !record.contains(r#""cache_miss_reason""#) {
        return None;
    }
    let reply: Reply<'_> = serde_json::from_str(record).ok()?;
    let diagnosed: Diagnosed<'_> = serde_json::from_str(reply.message?.get()).ok()?;
    let diagnosis: Diagnosis<'_> = serde_json::from_str(diagnosed.diagnostics?.get()).ok()?;
    let missed: Missed<'_> = serde_json::from_str(diagnosis.reason?.get()).ok()?;
    let tokens = missed
        .tokens
        .and_then(|raw| serde_json::from_str(raw.get()).ok());
    let tokens = tokens.filter(|tokens| *tokens == 0 || Usage::new(*tokens, 0).is_count());
    Some(SaidMiss {
        reason: string(missed.kind)?,
        is_odd: missed.tokens.is_some() && tokens.is_none(),
        tokens,
    })
}

/// How requests differ from others.
pub(super) fn differences(input: &dyn Input, pairs: &[[String; 2]]) -> Result<Vec<Compared>> {
    let mut file = File::default();
    file.read_requests(input)?;
    let wanted = pairs.iter().flatten().filter_map(|id| file.by_id.get(id));
    let hashes: HashSet<String> = wanted
        .flat_map(|at| file.hashes(*at))
        .map(str::to_owned)
        .collect();
    file.read_messages(input, &hashes)?;
    let whole = |id: &String| {
        let at = file.by_id.get(id).copied();
        let at = at.ok_or_else(|| Lack::Request(id.clone()))?;
        let (proof, json) = file.proof(at, file.body(at)?, true);
        Ok(SentRequest {
            proof: Some(proof),
            json,
            ..file.requests[at].head.clone()
        })
    };
    let compare =
        |[before, after]: &[String; 2]| SentDifference::of(&whole(before)?, &whole(after)?);
    Ok(pairs.iter().map(compare).collect())
}

/// Reads all requests of a file.
pub(super) fn read(input: &dyn Input, wanted: Wanted<'_>) -> Result<SentRequests> {
    let mut file = File::default();
    file.read_requests(input)?;
    let (of, hashes) = match wanted {
        Wanted::Heads => (0..0, HashSet::new()),
        Wanted::Whole(id) => {
            let at = file.by_id.get(id).copied();
            let hashes = at.into_iter().flat_map(|at| file.hashes(at));
            let hashes = hashes.map(str::to_owned).collect();
            (at.map_or(0..0, |at| at..at + 1), hashes)
        }
        // What a request has beyond its tail is in the tail of one before it.
        Wanted::Proofs => {
            let tails = file.requests.iter().flat_map(|told| &told.tail);
            (0..file.requests.len(), tails.cloned().collect())
        }
    };
    if !of.is_empty() {
        file.read_messages(input, &hashes)?;
    }
    for at in of {
        let (proof, json) = match file.body(at) {
            Ok(body) => file.proof(at, body, wanted != Wanted::Proofs),
            Err(lack) => (Err(lack), None),
        };
        let head = &mut file.requests[at].head;
        (head.proof, head.json) = (Some(proof), json);
    }
    for told in &mut file.requests {
        told.head.reply = file.replies.get(&told.head.id).copied();
    }
    Ok(SentRequests {
        requests: file.requests.into_iter().map(|told| told.head).collect(),
        standing: standing(&file.snapshot),
        problems: file.problems,
        said_misses: file.said_misses,
    })
}

/// A request as its record tells it.
struct Told {
    head: SentRequest,
    /// The request that it goes on from; the number of that among all.
    base: Option<usize>,
    /// The hashes of the messages that it has beyond those of its base.
    tail: Vec<String>,
    params: String,
    marks: String,
    /// Why its messages are not known.
    lack: Option<Lack>,
}

/// What a file holds of requests.
#[derive(Default)]
struct File {
    requests: Vec<Told>,
    by_id: HashMap<String, usize>,
    /// By their hashes: what was sent of the system prompt and of tools, and messages.
    shapes: HashMap<String, String>,
    messages: HashMap<String, String>,
    /// The blobs that go as a string where they bear no mark.
    strings: HashSet<String>,
    /// Where replies begin, by the ids of the requests that they answer.
    replies: HashMap<String, u64>,
    /// What the provider said of its cache, by where the reply's record begins.
    said_misses: HashMap<u64, SaidMiss>,
    /// The newest record that has the system prompt, and the newest that has tools.
    snapshot: [Option<String>; 2],
    problems: Vec<Problem>,
}

/// A request without messages by the client's own snapshots.
fn standing([prompt, tools]: &[Option<String>; 2]) -> Option<String> {
    let snapshot = |record: &Option<String>| -> Option<Vec<String>> {
        let record: Record<'_> = serde_json::from_str(record.as_ref()?).ok()?;
        let Attachment {
            system_prompt,
            cli_prefix,
            tools,
            ..
        } = decode(record.attachment)?;
        let pieces: Vec<String> = decode(system_prompt).unwrap_or_default();
        let texts = string(cli_prefix).into_iter().chain([pieces.join("\n\n")]);
        let texts = texts.filter(|text| !text.is_empty());
        let system = array(texts.map(|text| Object::typed("text").string("text", &text).finish()));
        let tools: Vec<Tool<'_>> = decode(tools).unwrap_or_default();
        let tools = tools.iter().filter_map(|tool| Some(tool.schema?.get()));
        Some(vec![system, array(tools)])
    };
    let system = snapshot(prompt)?.swap_remove(0);
    let tools = snapshot(tools).map(|mut snapshot| snapshot.swap_remove(1));
    let request = Object::new().raw("system", &system);
    let request = request.optional_raw("tools", tools.as_deref());
    Some(request.raw("messages", "[]").finish())
}

impl File {
    fn read_requests(&mut self, input: &dyn Input) -> Result<()> {
        each_line(input, &mut |number, span, text| {
            // Most lines are of the conversation.
            let is_near = text.contains(r#""api-request"#);
            let request: Option<Request<'_>> =
                is_near.then(|| serde_json::from_str(text).ok()).flatten();
            let request = request.unwrap_or_default();
            match word(request.kind).as_deref() {
                Some("api-request-shape") => {
                    let (hash, held) = (string(request.shape_hash), request.shape);
                    let made = held.and_then(|raw| hash_of(&JsValue::of(raw.get())?));
                    self.keep(number, "system prompt and tools", hash, held, made);
                }
                Some("api-request-blob") => {
                    let (hash, held) = (string(request.hash), request.message);
                    let made = held.and_then(|raw| message_hash(JsValue::of(raw.get())?));
                    self.keep(number, "message", hash, held, made);
                }
                Some("api-request") => self.request(span, &request),
                _ => {
                    if let Some(id) = answered_by(text) {
                        self.replies.entry(id).or_insert(span.offset);
                    }
                    if let Some(said) = said_miss(text) {
                        self.said_misses.insert(span.offset, said);
                    }
                    if text.contains(r#""prompt_snapshot""#) {
                        self.stands(text);
                    }
                }
            }
        })
    }

    /// Keeps a snapshot of the system prompt or of tools, if it is one.
    fn stands(&mut self, text: &str) {
        let record: Record<'_> = serde_json::from_str(text).unwrap_or_default();
        let snapshot: Attachment<'_> = decode(record.attachment).unwrap_or_default();
        if word(snapshot.kind).as_deref() != Some("prompt_snapshot") {
            return;
        }
        let has = [snapshot.system_prompt, snapshot.tools];
        for (known, raw) in self.snapshot.iter_mut().zip(has) {
            if raw.is_some_and(|raw| raw.get() != "[]") {
                *known = Some(text.to_owned());
            }
        }
    }

    /// Keeps what a hash names, if it does.
    fn keep(
        &mut self,
        line: u64,
        what: &str,
        hash: Option<String>,
        held: Raw<'_>,
        made: Option<String>,
    ) {
        let (Some(hash), Some(held)) = (hash, held) else {
            let why = format!("a {what} of a request without its hash or without its content");
            return self.problems.push(Problem::new(line, why));
        };
        if made.as_ref() != Some(&hash) {
            let hash = short(&hash);
            let why = format!("the {what} of a request does not have its recorded hash {hash}");
            self.problems.push(Problem::new(line, why));
            return;
        }
        let kept = if what == "message" {
            &mut self.messages
        } else {
            &mut self.shapes
        };
        kept.insert(hash, held.get().to_owned());
    }

    fn request(&mut self, place: Span, record: &Request<'_>) {
        let node = |raw: Raw<'_>| raw.map(|raw| raw.get().to_owned());
        let list = |raw: Raw<'_>| -> Option<Vec<String>> { serde_json::from_str(raw?.get()).ok() };
        let number = |raw: Raw<'_>| -> Option<u64> { serde_json::from_str(raw?.get()).ok() };
        let params = node(record.params).unwrap_or_default();
        let parsed = JsValue::of(&params);
        let param = |key: &str| parsed.as_ref().and_then(|params| params.get(key));
        let betas = param(BETAS).map(|betas| betas.elements().iter().filter_map(JsValue::as_text));
        let betas = betas.map(|betas| betas.collect::<Vec<_>>().join(","));
        let (tail, keep) = (list(record.tail), number(record.keep).unwrap_or(0));
        let base_id = string(record.base);
        let base = base_id.as_ref().and_then(|id| self.by_id.get(id).copied());
        let of = base.map_or(0, |base| self.requests[base].head.messages);
        let lack = match (&base_id, base, &parsed, &tail) {
            (_, _, None, _) | (_, _, _, None) => Some(Lack::Record),
            (Some(id), None, ..) => Some(Lack::Base(id.clone())),
            _ if keep > of => Some(Lack::Kept { kept: keep, of }),
            (Some(id), Some(base), ..) if self.requests[base].lack.is_some() => {
                Some(Lack::Before(id.clone()))
            }
            _ => None,
        };
        let tail = tail.unwrap_or_default();
        let head = SentRequest {
            id: string(record.id).unwrap_or_default(),
            place,
            time: word(record.timestamp).and_then(|time| Millis::parse(&time)),
            asked_by: string(record.query_source),
            model: param("model").and_then(JsValue::as_text),
            messages: keep.saturating_add(tail.len() as u64),
            shared: keep,
            shape: string(record.shape_hash),
            reply: None,
            digest: string(record.digest),
            headers: betas
                .map(|betas| ("anthropic-beta".to_owned(), betas))
                .into_iter()
                .collect(),
            proof: None,
            json: None,
        };
        let marks = node(record.cache_control).unwrap_or_else(|| "[]".to_owned());
        self.by_id.insert(head.id.clone(), self.requests.len());
        self.requests.push(Told {
            head,
            base,
            tail,
            params,
            marks,
            lack,
        });
    }

    /// The hashes of the messages of a request.
    fn hashes(&self, at: usize) -> Vec<&str> {
        let mut hashes = Vec::new();
        let (mut at, mut left) = (Some(at), usize::MAX);
        while let Some(told) = at.map(|at| &self.requests[at]).filter(|_| left > 0) {
            let keep = usize::try_from(told.head.shared).unwrap_or(usize::MAX);
            let own = told.tail.len().min(left.saturating_sub(keep));
            hashes.extend(told.tail[..own].iter().rev().map(String::as_str));
            (at, left) = (told.base, left.min(keep));
        }
        hashes.reverse();
        hashes
    }

    /// Reads what of the messages of these hashes are records of the conversation.
    fn read_messages(&mut self, input: &dyn Input, wanted: &HashSet<String>) -> Result<()> {
        self.note_strings();
        let mut run = Run::default();
        each_line(input, &mut |_, _, text| {
            let Ok(record) = serde_json::from_str::<Record<'_>>(text) else {
                return;
            };
            let kind = word(record.kind);
            match kind.as_deref() {
                Some("system") if word(record.subtype).as_deref() == Some("compact_boundary") => {
                    run = Run::default();
                }
                Some("user" | "assistant") => {
                    let hash = run.add(record.message);
                    if let Some(hash) = hash.filter(|hash| wanted.contains(hash)) {
                        let message = || run.message();
                        self.messages.entry(hash).or_insert_with(message);
                    }
                }
                _ => {}
            }
        })
    }

    /// A blob is kept in the form in which it was first sent. Where its only text bore a mark then, it is a block
    /// for that reason alone, and without the mark it goes as a string.
    fn note_strings(&mut self) {
        let mut seen: HashSet<&str> = HashSet::new();
        for told in &self.requests {
            let Some(marks) = JsValue::of(&told.marks) else {
                continue;
            };
            let marked: HashSet<u64> = marks.elements().iter().filter_map(marked).collect();
            for (at, hash) in (told.head.shared..).zip(&told.tail) {
                let is_new = self.messages.contains_key(hash) && seen.insert(hash);
                if is_new && marked.contains(&at) && is_one_text(&self.messages[hash]) {
                    self.strings.insert(hash.clone());
                }
            }
        }
    }

    /// A request as it was sent, with what goes as a header.
    fn body(&self, at: usize) -> std::result::Result<JsValue<'_>, Lack> {
        let told = &self.requests[at];
        if let Some(lack) = &told.lack {
            return Err(lack.clone());
        }
        let hashes = self.hashes(at);
        let messages = hashes.iter().map(|hash| {
            let message = self.messages.get(*hash).and_then(|text| JsValue::of(text));
            message.ok_or_else(|| Lack::Message((*hash).to_owned()))
        });
        let messages = JsValue::List(messages.collect::<std::result::Result<_, _>>()?);
        let shape_hash = told.head.shape.as_deref().unwrap_or_default();
        let shape = self
            .shapes
            .get(shape_hash)
            .and_then(|text| JsValue::of(text));
        let shape = shape.ok_or_else(|| Lack::Shape(shape_hash.to_owned()))?;
        let params = JsValue::of(&told.params).ok_or(Lack::Record)?;
        let mut body = JsValue::object([]);
        if let Some(model) = params.get("model") {
            body.set("model", model.clone());
        }
        body.set("messages", messages);
        for (key, value) in shape.members().iter().chain(params.members()) {
            if let JsValue::Object(members) = &mut body
                && !members.iter().any(|(known, _)| known == key)
            {
                members.push((key.clone(), value.clone()));
            }
        }
        let marks = JsValue::of(&told.marks).ok_or(Lack::Record)?;
        self.mark(&mut body, &marks, &hashes).ok_or(Lack::Mark)?;
        Ok(body)
    }

    /// Whether a request is what was sent, and its JSON if that is asked for.
    fn proof(
        &self,
        at: usize,
        mut body: JsValue<'_>,
        is_asked_for: bool,
    ) -> (std::result::Result<Proof, Lack>, Option<String>) {
        let betas = body.take(BETAS);
        let json = is_asked_for.then(|| body.to_text(KeyOrder::Kept));
        if let Some(betas) = betas {
            body.set(BETAS, betas);
        }
        let proof = match &self.requests[at].head.digest {
            Some(said) if *said == digest(body) => Proof::Equal,
            Some(_) => Proof::Other,
            None => Proof::Unsaid,
        };
        (Ok(proof), json)
    }

    /// Puts the marks where they stood, and gives each message the form that goes with that.
    fn mark<'a>(&self, body: &mut JsValue<'a>, marks: &JsValue<'a>, hashes: &[&str]) -> Option<()> {
        let mut bear = HashSet::new();
        for mark in marks.elements() {
            let path = mark.get("path")?.elements();
            if let Some(at) = marked(mark) {
                bear.insert(at);
                let message = body.at_mut(path.get(..2)?)?;
                if path.len() > 2 {
                    as_blocks(message);
                }
            }
            body.at_mut(path)?.set(MARK, mark.get("value")?.clone());
        }
        let Some(JsValue::List(messages)) = body.get_mut("messages") else {
            return None;
        };
        for (at, (message, hash)) in (0..).zip(messages.iter_mut().zip(hashes)) {
            if !bear.contains(&at) && self.strings.contains(*hash) {
                let content = message.get("content")?.elements().first()?;
                let text = content.get("text")?.clone();
                message.set("content", text);
            }
        }
        if bear.is_empty() {
            // What would bear the mark is a block where nothing is kept, too.
            let is_users = |message: &&mut JsValue<'_>| {
                message.get("role").and_then(JsValue::as_text).as_deref() == Some("user")
            };
            messages.iter_mut().rfind(is_users).map(as_blocks);
        }
        Some(())
    }
}

/// Neighbouring records that are one message.
#[derive(Default)]
struct Run {
    /// Whose they are: the role, and a reply's id.
    whose: Option<(String, Option<String>)>,
    /// The content of the only one.
    only: String,
    blocks: Vec<String>,
    /// The hash of what stands there so far.
    hashed: Fingerprint,
}

impl Run {
    /// Adds a record's message; the hash of the message that they make so far.
    fn add(&mut self, message: Raw<'_>) -> Option<String> {
        let message = message.and_then(|raw| JsValue::of(raw.get()));
        let role = message.as_ref().and_then(|it| it.get("role")?.as_text());
        let content = message.as_ref().and_then(|it| it.get("content"));
        let (Some(role), Some(content)) = (role, content) else {
            *self = Self::default();
            return None;
        };
        let reply = message.as_ref().and_then(|it| it.get("id")?.as_text());
        let goes_on = match &self.whose {
            Some((before, of)) => {
                *before == role && (role == "user" || reply.is_some() && *of == reply)
            }
            None => false,
        };
        if !goes_on {
            *self = Self::default();
            self.hashed.update(br#"{"content":["#);
        }
        self.only = if goes_on {
            String::new()
        } else {
            content.to_text(KeyOrder::Kept)
        };
        let blocks = content.is_text().then(|| [block_of(content)]);
        let blocks = blocks.as_ref().map_or(content.elements(), |it| &it[..]);
        for block in blocks {
            let mut text = String::new();
            if !self.blocks.is_empty() {
                text.push(',');
            }
            block.write(&mut text, KeyOrder::Sorted, Some(MARK));
            self.hashed.update(text.as_bytes());
            self.blocks.push(block.to_text(KeyOrder::Kept));
        }
        let mut hashed = self.hashed.clone();
        hashed.update(
            format!(
                r#"],"role":{}}}"#,
                JsValue::text(&role).to_text(KeyOrder::Kept)
            )
            .as_bytes(),
        );
        self.whose = Some((role, reply));
        Some(hex(&hashed.value()))
    }

    /// The message that they make so far.
    fn message(&self) -> String {
        let content = if self.only.is_empty() {
            array(&self.blocks)
        } else {
            self.only.clone()
        };
        let role = self.whose.as_ref().map_or("", |(role, _)| role);
        Object::new()
            .string("role", role)
            .raw("content", &content)
            .finish()
    }
}

/// Which message bears a mark.
fn marked(mark: &JsValue<'_>) -> Option<u64> {
    let path = mark.get("path")?.elements();
    let is_message = path.first()?.as_text()? == "messages";
    is_message.then(|| path.get(1)?.as_natural())?
}

/// Whether a message is one text and no more.
fn is_one_text(message: &str) -> bool {
    let message = JsValue::of(message);
    let content = message.as_ref().and_then(|message| message.get("content"));
    let Some([block]) = content.map(JsValue::elements) else {
        return false;
    };
    let keys = block.members().iter().map(|(key, _)| &**key);
    keys.eq([r#""type""#, r#""text""#])
}

/// The hash of a message: a string counts as one text.
fn message_hash(mut message: JsValue<'_>) -> Option<String> {
    message.get("content")?;
    as_blocks(&mut message);
    hash_of(&message)
}

/// The hash of what bears no mark.
fn hash_of(node: &JsValue<'_>) -> Option<String> {
    let mut text = String::new();
    node.write(&mut text, KeyOrder::Sorted, Some(MARK));
    Some(hex(&fingerprint(text.as_bytes())))
}

/// The hash of a request.
fn digest(mut body: JsValue<'_>) -> String {
    if let Some(JsValue::List(messages)) = body.get_mut("messages") {
        messages.iter_mut().for_each(as_blocks);
    }
    hex(&fingerprint(body.to_text(KeyOrder::Sorted).as_bytes()))
}

/// Calls `each` with each line's number, place and text; what is no UTF-8 in it is replaced.
fn each_line(input: &dyn Input, each: &mut dyn FnMut(u64, Span, &str)) -> Result<()> {
    let mut lines = Lines::new(input)?;
    while let Some(line) = lines.next_line()? {
        each(line.number, line.span, &String::from_utf8_lossy(line.bytes));
    }
    Ok(())
}
