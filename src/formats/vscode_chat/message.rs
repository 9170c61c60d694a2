//! One request: what the model was sent of it, and said.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{CACHE_BREAKPOINT, IMAGE, PROVIDER, TEXT};
use crate::formats::shared::parts;
use crate::model::{Media, MediaSource, Message, Millis, Part, Role, Usage, depth};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string};
use crate::wire::media::attachment;

/// A request, as far as it is read.
#[derive(Default)]
pub(super) struct Said {
    /// What stands before all prompts.
    pub(super) global: Option<Message>,
    pub(super) prompt: Option<Message>,
    pub(super) asked: Option<Millis>,
    pub(super) model: Option<String>,
    pub(super) rounds: Vec<Round>,
    /// What calls gave back, by their ids: those of the request before may be among them.
    pub(super) results: BTreeMap<String, Vec<Part>>,
    /// The round up to which all was summed up, and the summary.
    pub(super) summary: Option<(String, String)>,
    pub(super) usage: Option<Usage>,
    pub(super) session: Option<String>,
    /// Calls that are shown, and of which nothing else is known.
    pub(super) shown_calls: u64,
}

/// One reply, and what stands behind its results.
#[derive(Default)]
pub(super) struct Round {
    pub(super) id: String,
    pub(super) reply: Vec<Part>,
    pub(super) calls: Vec<String>,
    pub(super) time: Option<Millis>,
    pub(super) hook: Option<String>,
}

impl Round {
    /// What is sent of it, where its calls were given that: the reply, the results, and what a hook said to it.
    pub(super) fn messages<'g>(
        &self,
        given: impl Fn(&str) -> Option<&'g Vec<Part>>,
    ) -> impl Iterator<Item = Message> {
        let results = self.calls.iter().filter_map(|call| {
            let content = given(call)?.clone();
            Some(parts::result(Some(call.clone()), content, false))
        });
        let all = [
            (Role::Assistant, self.reply.clone()),
            (Role::Tool, results.collect()),
            (Role::User, self.hook.iter().map(Part::text).collect()),
        ];
        let said = all.into_iter();
        said.filter_map(|(role, parts)| parts::message(role, parts))
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Request<'a> {
    message: Value,
    response: Raw<'a>,
    model_id: Raw<'a>,
    timestamp: Raw<'a>,
    model_state: Value,
    result: Raw<'a>,
}

lazy! { struct Outcome { metadata } }

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Metadata<'a> {
    rendered_user_message: Raw<'a>,
    rendered_global_context: Raw<'a>,
    tool_call_rounds: Raw<'a>,
    tool_call_results: Raw<'a>,
    summary: Value,
    summaries: Value,
    session_id: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Told<'a> {
    id: Raw<'a>,
    response: Raw<'a>,
    tool_calls: Vec<Call<'a>>,
    thinking: Value,
    timestamp: Raw<'a>,
    hook_context: Raw<'a>,
}

lazy! { struct Call { id, name, arguments } }

/// Reads a request.
pub(super) fn said(text: &str, notes: &mut Notes) -> Result<Said, String> {
    let bad = |error: serde_json::Error| format!("a request: {error}");
    let request: Request<'_> = serde_json::from_str(text).map_err(bad)?;
    let outcome: Outcome<'_> = decode(request.result).unwrap_or_default();
    let metadata: Metadata<'_> = decode(outcome.metadata).unwrap_or_default();
    let rounds: Vec<Told<'_>> = match metadata.tool_call_rounds {
        Some(rounds) => serde_json::from_str(rounds.get()).map_err(bad)?,
        None => Vec::new(),
    };
    let mut prompt = rendered(metadata.rendered_user_message, notes);
    if prompt.is_empty() {
        let typed = request.message["text"]
            .as_str()
            .or(request.message.as_str());
        prompt.extend(typed.filter(|text| !text.is_empty()).map(Part::text));
    }
    let global = rendered(metadata.rendered_global_context, notes);
    let message = |said| parts::message(Role::User, said);
    let model = string(request.model_id);
    let mut found = Said {
        global: message(global),
        prompt: message(prompt),
        asked: millis(request.timestamp),
        // Before the model stands who offers it.
        model: model.map(|model| match model.split_once('/') {
            Some((_, own)) => own.to_owned(),
            None => model,
        }),
        rounds: rounds.iter().map(round).collect(),
        results: results(metadata.tool_call_results, notes),
        summary: summary(&metadata),
        usage: parts::usage(outcome.metadata, &["promptTokens", "outputTokens"]),
        session: string(metadata.session_id),
        shown_calls: 0,
    };
    let completed = request.model_state["completedAt"].as_f64();
    if found.rounds.is_empty() {
        found.shown(request.response);
    }
    if let Some(last) = found.rounds.last_mut() {
        last.time = last.time.or(completed.map(|time| Millis(time as i64)));
    }
    found.check()?;
    Ok(found)
}

fn millis(raw: Raw<'_>) -> Option<Millis> {
    decode::<f64>(raw).map(|millis| Millis(millis as i64))
}

fn summary(metadata: &Metadata<'_>) -> Option<(String, String)> {
    // Each stands in place of all before it.
    let last = metadata.summaries.as_array().and_then(|all| all.last());
    let summary = last.unwrap_or(&metadata.summary);
    let text = |key: &str| summary[key].as_str().map(str::to_owned);
    text("toolCallRoundId").zip(text("text"))
}

fn round(told: &Told<'_>) -> Round {
    let mut reply = Vec::new();
    if told.thinking.is_object() {
        let text_at = |key: &str| told.thinking[key].as_str().map(str::to_owned);
        let signature = text_at("encrypted").or_else(|| text_at("id"));
        let provider = signature.is_some().then_some(PROVIDER);
        let text = texts(&told.thinking["text"]);
        reply.push(Part::thinking(text, signature, provider));
    }
    reply.extend(parts::text(told.response));
    let calls = told.tool_calls.iter();
    reply.extend(calls.clone().map(|call| {
        let arguments = string(call.arguments);
        let arguments = arguments.or_else(|| Some(call.arguments?.get().to_owned()));
        parts::call(string(call.id), string(call.name), arguments)
    }));
    Round {
        id: string(told.id).unwrap_or_default(),
        reply,
        calls: calls.filter_map(|call| string(call.id)).collect(),
        time: millis(told.timestamp),
        hook: parts::said(told.hook_context),
    }
}

/// A text, or several.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// The parts of a prompt as it was sent.
fn rendered(raw: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    if let Some(text) = string(raw) {
        return vec![Part::Text { text }];
    }
    let all = decode::<Vec<&RawValue>>(raw).unwrap_or_default();
    let parts = all.into_iter().filter_map(|raw| {
        let part: Value = serde_json::from_str(raw.get()).ok()?;
        let (text, url) = (part["text"].as_str(), part["imageUrl"]["url"].as_str());
        Some(match (part["type"].as_u64(), text, url) {
            (Some(CACHE_BREAKPOINT), ..) => return None,
            (Some(TEXT), Some(text), _) => Part::text(text),
            (Some(IMAGE), _, Some(url)) => parts::picture(attachment(url.to_owned(), None, None)),
            _ => opaque(raw, "part of a prompt", notes),
        })
    });
    parts.collect()
}

fn opaque(raw: &RawValue, kind: &str, notes: &mut Notes) -> Part {
    parts::opaque(PROVIDER, kind, raw.get().to_owned(), notes)
}

/// What calls gave back.
fn results(raw: Raw<'_>, notes: &mut Notes) -> BTreeMap<String, Vec<Part>> {
    #[derive(Default, Deserialize)]
    #[serde(default, bound(deserialize = "'de: 'a"))]
    struct Given<'a> {
        content: Vec<&'a RawValue>,
    }
    let given = decode::<BTreeMap<String, &RawValue>>(raw).unwrap_or_default();
    let given = given.into_iter().filter_map(|(id, raw)| {
        let given: Given<'_> = decode(Some(raw))?;
        let parts = given.content.into_iter();
        Some((id, parts.filter_map(|raw| result(raw, notes)).collect()))
    });
    given.collect()
}

/// A piece of a result: a text, a rendered tree of texts, or bytes.
fn result(raw: &RawValue, notes: &mut Notes) -> Option<Part> {
    let piece: Value = serde_json::from_str(raw.get()).ok()?;
    let value = &piece["value"];
    if let Some(text) = value.as_str() {
        return Some(Part::text(text));
    }
    if value["node"].is_object() {
        return Some(Part::text(tree(&value["node"])));
    }
    match (piece["mimeType"].as_str(), piece["data"].as_str()) {
        (Some(kind), Some(data)) => {
            let source = MediaSource::Base64(data.to_owned());
            let media = Media::new(Some(kind.to_owned()), source);
            Some(Part::media(media))
        }
        _ => Some(opaque(raw, "part of a result", notes)),
    }
}

/// The texts of a rendered tree, each on a line of its own where it says so.
fn tree(root: &Value) -> String {
    let mut text = String::new();
    let mut todo = vec![root];
    while let Some(node) = todo.pop() {
        if let Some(own) = node["text"].as_str() {
            let breaks = node["lineBreakBefore"] == true;
            if breaks && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text += own;
        }
        todo.extend(node["children"].as_array().into_iter().flatten().rev());
    }
    text
}

impl Said {
    /// A reply by what the screen shows of it: no more is known where a request was stopped.
    fn shown(&mut self, response: Raw<'_>) {
        let mut reply: Vec<Part> = Vec::new();
        let pieces = decode::<Vec<Value>>(response).unwrap_or_default();
        for piece in &pieces {
            let value = &piece["value"];
            match piece["kind"].as_str() {
                Some("toolInvocationSerialized") => self.shown_calls += 1,
                Some("thinking") => {
                    let text = texts(value);
                    if !text.is_empty() {
                        reply.push(parts::thought(text));
                    }
                }
                None | Some("markdownContent" | "inlineReference") => {
                    let own = value.as_str().or(value["value"].as_str());
                    let own = own.or(piece["content"]["value"].as_str());
                    let own = own.map_or_else(|| reference(piece), str::to_owned);
                    // A sentence is cut where a reference stands in it.
                    match reply.last_mut() {
                        Some(Part::Text { text }) => *text += &own,
                        _ if own.is_empty() => {}
                        _ => reply.push(Part::Text { text: own }),
                    }
                }
                _ => {}
            }
        }
        if !reply.is_empty() {
            self.rounds.push(Round {
                reply,
                ..Round::default()
            });
        }
    }

    /// Whether all of it may be told.
    fn check(&self) -> Result<(), String> {
        let prompts = self.global.iter().chain(&self.prompt);
        let prompts = prompts.map(|message| &message.parts);
        let replies = self.rounds.iter().map(|round| &round.reply);
        let mut said = prompts.chain(replies);
        let mut results = self.results.values();
        said.try_for_each(|parts| depth::check_parts(parts))
            .and_then(|()| results.try_for_each(|parts| depth::check_held(parts)))
            .map_err(|error| error.to_string())
    }
}

/// What a reference in a text is called.
fn reference(piece: &Value) -> String {
    let place = &piece["inlineReference"];
    let name = piece["name"].as_str().or(place["name"].as_str());
    let path = [
        &place["path"],
        &place["uri"]["path"],
        &place["location"]["uri"]["path"],
    ];
    let path = path.into_iter().find_map(Value::as_str);
    let last = path.and_then(|path| path.rsplit('/').next());
    name.or(last).unwrap_or_default().to_owned()
}
