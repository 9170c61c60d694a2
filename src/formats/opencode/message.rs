//! One message of the file: what the model is sent of it.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{BY_THE_USER, CLEARED, PROVIDER, SUMMARY_ASKED};
use crate::formats::Step;
use crate::formats::shared::parts;
use crate::model::{Message, Millis, Part, Role, Settings, Span, Usage};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, is_true, quoted, string, tight};
use crate::wire::media::attachment;

/// How ids of pieces begin at the end of the time that they have room for, and at the beginning of the next.
const LAST_IDS: &str = "prt_f";
const FIRST_IDS: &str = "prt_0";

/// A message, as far as it is read.
#[derive(Default)]
pub(super) struct Said {
    /// Its id.
    pub(super) id: String,
    /// `user` or `assistant`.
    pub(super) role: String,
    /// When it began.
    pub(super) created: Option<Millis>,
    /// What is sent of it: nothing, a message, or a reply and what its calls gave back.
    pub(super) steps: Vec<Step>,
    /// Whether it asks for a summary, and from which message on the tool keeps what was said.
    pub(super) compaction: Option<Option<String>>,
    /// The message that it is the summary for.
    pub(super) summary_of: Option<String>,
    /// Each part's id, and where its part or, of a call, its result stands: the step and the place.
    pub(super) places: Vec<(String, usize, u32)>,
    /// Outputs that were cleared later: the step, the place, when, and what is sent instead.
    pub(super) cleared: Vec<(usize, u32, Option<Millis>, Message)>,
    /// Sessions that its calls started.
    pub(super) started: Vec<String>,
    /// The model that was asked, and what was counted for it, be the reply sent again or not.
    pub(super) counted: Option<(String, Usage)>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Record<'a> {
    info: Info<'a>,
    #[serde(default)]
    parts: Vec<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Info<'a> {
    id: String,
    role: String,
    time: Value,
    #[serde(rename = "parentID")]
    parent: Raw<'a>,
    #[serde(rename = "modelID")]
    model_id: Raw<'a>,
    model: Value,
    summary: Raw<'a>,
    finish: Raw<'a>,
    error: Value,
    tokens: Value,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Piece<'a> {
    id: Raw<'a>,
    r#type: String,
    text: Raw<'a>,
    ignored: bool,
    mime: Raw<'a>,
    url: Raw<'a>,
    filename: Raw<'a>,
    metadata: Value,
    #[serde(rename = "tail_start_id")]
    tail_start: Raw<'a>,
    tool: Raw<'a>,
    #[serde(rename = "callID")]
    call: Raw<'a>,
    state: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct State<'a> {
    status: String,
    input: Raw<'a>,
    output: Raw<'a>,
    error: Raw<'a>,
    time: Value,
    metadata: Value,
    attachments: Raw<'a>,
}

/// Reads a message.
pub(super) fn said(text: &str, span: Span, notes: &mut Notes) -> Result<Said, String> {
    let bad = |error: serde_json::Error| format!("a message: {error}");
    let record: Record<'_> = serde_json::from_str(text).map_err(bad)?;
    let pieces = record.parts.iter().map(|raw| {
        let piece = serde_json::from_str::<Piece<'_>>(raw.get());
        piece.map(|piece| (*raw, piece)).map_err(bad)
    });
    let mut pieces = pieces.collect::<Result<Vec<_>, _>>()?;
    in_time(&mut pieces);
    let info = record.info;
    if info.role.is_empty() {
        return Err("a message without a role".to_owned());
    }
    let mut found = Said {
        id: info.id,
        role: info.role,
        created: millis(&info.time["created"]),
        ..Said::default()
    };
    if found.role == "assistant" {
        found.counted = string(info.model_id).zip(usage(&info.tokens));
    }
    match found.role.as_str() {
        "user" => found.user(pieces, &info.model, span, notes),
        "assistant" if is_sent(&info.error, &pieces) => {
            let done = string(info.finish).is_some() && info.error.is_null();
            let is_summary = done && is_true(info.summary);
            found.summary_of = string(info.parent).filter(|_| is_summary);
            found.reply(pieces, span, notes);
            found.by_model(string(info.model_id).as_deref());
            let is_reply = |step: &&mut Step| {
                step.message()
                    .is_some_and(|message| message.role == Role::Assistant)
            };
            if let Some(last) = found.steps.iter_mut().rev().find(is_reply) {
                last.usage = usage(&info.tokens);
            }
        }
        _ => {}
    }
    parts::checked(found.steps.iter().filter_map(Step::message))?;
    Ok(found)
}

/// Puts pieces whose ids wrapped while the message was written, and that stand by their ids, in order.
fn in_time(pieces: &mut [(&RawValue, Piece<'_>)]) {
    let begins = |piece: &Piece<'_>, with: &str| {
        let id = piece.id.map(RawValue::get);
        id.is_some_and(|id| id.trim_start_matches('"').starts_with(with))
    };
    if pieces.iter().any(|(_, piece)| begins(piece, LAST_IDS)) {
        pieces.sort_by_key(|(_, piece)| begins(piece, FIRST_IDS));
    }
}

/// Whether a reply is sent again: one that failed is not, one that was cut off is if it holds more
/// than reasoning.
fn is_sent(error: &Value, pieces: &[(&RawValue, Piece<'_>)]) -> bool {
    let aborted = error["name"] == "MessageAbortedError";
    let says = |(_, piece): &(&RawValue, Piece<'_>)| {
        !["step-start", "reasoning"].contains(&piece.r#type.as_str())
    };
    error.is_null() || aborted && pieces.iter().any(says)
}

fn millis(value: &Value) -> Option<Millis> {
    value.as_f64().map(|millis| Millis(millis as i64))
}

/// When the reply of a record was whole: the tool gives the time at which it was begun. What it called ran from then on.
pub(super) fn replied_at(record: &str) -> Option<Millis> {
    let record: Value = serde_json::from_str(record).ok()?;
    let parts = record["parts"].as_array()?.iter();
    let called = parts.filter_map(|part| millis(&part["state"]["time"]["start"]));
    called
        .min()
        .or_else(|| millis(&record["info"]["time"]["completed"]))
}

/// What the provider counted. The tool counts what was cached, and the reasoning, apart.
pub(super) fn usage(tokens: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let cache = &tokens["cache"];
    let input = [&tokens["input"], &cache["read"], &cache["write"]].map(count);
    let output = [&tokens["output"], &tokens["reasoning"]].map(count);
    Usage::apart(input, output)
}

impl Said {
    /// Notes the model, which holds from its first step on.
    fn by_model(&mut self, model: Option<&str>) {
        if let Some(first) = self.steps.first_mut() {
            let model = model.map(|model| ("model".to_owned(), quoted(model)));
            first.settings = Settings::from_iter(model);
        }
    }

    fn append(&mut self, role: Role, parts: Vec<Part>, time: Option<Millis>, span: Span) {
        let step = Step::append(Message::new(role, parts), span);
        self.steps.push(step.at(time.or(self.created)));
    }

    /// Adds what is sent of a piece, if anything is, to the parts of a step.
    fn put(&mut self, part: Option<Part>, parts: &mut Vec<Part>, piece: &Piece<'_>, step: usize) {
        let Some(part) = part else { return };
        if let Some(id) = string(piece.id) {
            self.places.push((id, step, parts.len() as u32));
        }
        parts.push(part);
    }

    fn user(
        &mut self,
        pieces: Vec<(&RawValue, Piece<'_>)>,
        model: &Value,
        span: Span,
        notes: &mut Notes,
    ) {
        let mut parts = Vec::new();
        for (raw, piece) in pieces {
            let part = match piece.r#type.as_str() {
                "text" if piece.ignored => None,
                "text" => parts::text(piece.text),
                "compaction" => {
                    self.compaction = Some(string(piece.tail_start));
                    Some(Part::text(SUMMARY_ASKED))
                }
                "subtask" => Some(Part::text(BY_THE_USER)),
                // What it says stands in texts beside it, where it is none that is sent.
                "file" => file(&piece),
                "agent" | "patch" | "retry" | "snapshot" | "step-finish" | "step-start" => None,
                kind => Some(opaque(raw, kind, notes)),
            };
            self.put(part, &mut parts, &piece, 0);
        }
        if !parts.is_empty() {
            self.append(Role::User, parts, None, span);
            self.by_model(model["modelID"].as_str());
        }
    }

    fn reply(&mut self, pieces: Vec<(&RawValue, Piece<'_>)>, span: Span, notes: &mut Notes) {
        let (mut parts, mut results, mut last) = (Vec::new(), Vec::new(), None);
        for (raw, piece) in pieces {
            let step = self.steps.len();
            let part = match piece.r#type.as_str() {
                // Another call of the model in the same message.
                "step-start" if !results.is_empty() => {
                    self.append(Role::Assistant, std::mem::take(&mut parts), None, span);
                    self.append(Role::Tool, std::mem::take(&mut results), last, span);
                    continue;
                }
                "text" => parts::text(piece.text),
                "reasoning" => Some(thinking(&piece)),
                "tool" => {
                    let state: State<'_> = decode(piece.state).unwrap_or_default();
                    let call = string(piece.call);
                    if let Some(child) = state.metadata["sessionId"].as_str() {
                        self.started.push(child.to_owned());
                    }
                    if let Some(content) = given(&state) {
                        let is_error = state.status == "error";
                        let result = |content| parts::result(call.clone(), content, is_error);
                        let printed = printed(&state);
                        let printed =
                            printed.map(|given| parts::result(call.clone(), given, false));
                        last = millis(&state.time["end"]).or(last);
                        if !state.time["compacted"].is_null() {
                            let stub = result(vec![Part::text(CLEARED)]);
                            let stub = Message::new(Role::Tool, vec![stub]);
                            let when = millis(&state.time["compacted"]);
                            let place = results.len() as u32;
                            self.cleared.push((step + 1, place, when, stub));
                        }
                        results.push(printed.unwrap_or_else(|| result(content)));
                    }
                    // That is the export's, and there is none in a row of the tool's database, nor in what it
                    // sends: white space between tokens.
                    let arguments = state.input.map(|input| tight(input.get()));
                    Some(parts::call(call, string(piece.tool), arguments))
                }
                "file" => file(&piece),
                "agent" | "compaction" | "patch" | "retry" | "snapshot" | "step-finish"
                | "step-start" | "subtask" => None,
                kind => Some(opaque(raw, kind, notes)),
            };
            self.put(part, &mut parts, &piece, step);
        }
        if !parts.is_empty() {
            self.append(Role::Assistant, parts, None, span);
        }
        if !results.is_empty() {
            self.append(Role::Tool, results, last, span);
        }
    }
}

/// What a call had printed when it was interrupted: that is sent, and not that it was.
///
/// # Source
///
/// What OpenCode 1.18.33 makes of a part for the model.
fn printed(state: &State<'_>) -> Option<Vec<Part>> {
    let is_interrupted = state.status == "error" && state.metadata["interrupted"] == true;
    let output = state.metadata["output"]
        .as_str()
        .filter(|_| is_interrupted)?;
    let text = Some(output).filter(|text| !text.is_empty());
    Some(text.map(Part::text).into_iter().collect())
}

/// What a call gave back; none while it runs.
fn given(state: &State<'_>) -> Option<Vec<Part>> {
    let text = |raw: Raw<'_>| {
        let text = string(raw).or_else(|| Some(raw?.get().to_owned()));
        text.filter(|text| !text.is_empty()).map(Part::text)
    };
    match state.status.as_str() {
        "completed" => {
            let files = decode::<Vec<Piece<'_>>>(state.attachments).unwrap_or_default();
            let said = text(state.output).into_iter();
            Some(said.chain(files.iter().filter_map(file)).collect())
        }
        "error" => Some(text(state.error).into_iter().collect()),
        _ => None,
    }
}

/// A picture or a file; none of a text or a directory, whose contents the tool has told in words.
fn file(piece: &Piece<'_>) -> Option<Part> {
    let media_type = string(piece.mime);
    if let Some("text/plain" | "application/x-directory") = media_type.as_deref() {
        return None;
    }
    Some(attachment(
        string(piece.url)?,
        media_type,
        string(piece.filename),
    ))
}

/// Reasoning, with what its provider needs to take it back.
fn thinking(piece: &Piece<'_>) -> Part {
    let meta = &piece.metadata;
    let text_at = |value: &Value| value.as_str().map(str::to_owned);
    let text = string(piece.text).unwrap_or_default();
    if let Some(data) = meta["anthropic"]["redactedData"].as_str() {
        return parts::redacted(data);
    }
    let keys = [
        ("anthropic", "signature"),
        ("openai", "reasoningEncryptedContent"),
    ];
    let found = keys.into_iter().find(|(maker, _)| meta[maker].is_object());
    let signature = found.and_then(|(maker, key)| text_at(&meta[maker][key]));
    Part::thinking(text, signature, found.map(|(maker, _)| maker))
}

fn opaque(raw: &RawValue, kind: &str, notes: &mut Notes) -> Part {
    notes.opaque(kind);
    Part::opaque(PROVIDER, raw.get())
}
