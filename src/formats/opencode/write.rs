//! The exporter: a reply and what its calls gave back as one record, the session around them.

use serde_json::{Value, json};

use super::PROVIDER;
use super::ids::id;
use super::message::said;
use super::renew::Renewing;
use crate::error::Result;
use crate::formats::shared::chat::write::{Answered, with_results, write_all};
use crate::formats::shared::records::{rewritten, without};
use crate::formats::shared::remarks::{FOREIGN, Remarks};
use crate::formats::shared::spans::members;
use crate::formats::shared::writers;
use crate::formats::{Action, Document, Export, Outgoing, Step};
use crate::model::{Media, Millis, Part, Role, Span};
use crate::wire::Notes;
use crate::wire::json::{Object, array, quoted, text_at};
use crate::wire::media::address;

/// Which of the tool's agents new messages are by.
const AGENT: &str = "build";
/// Whose model it is, where nobody has said so.
const ANYBODY: &str = "anthropic";

/// Writes `messages`, as a session of a version of the tool where it is a new one; returns what the format could
/// not hold.
pub(super) fn export(version: &str, export: Export<'_>) -> Result<Vec<String>> {
    let document = export.document;
    let mut remarks = Remarks::of(document);
    let mut writing = Writing {
        document,
        time: document.now.unwrap_or(Millis(0)),
        parts: 0,
        prompt: None,
        provider: document.provider.clone(),
    };
    let mut renewing = document.fresh.then(|| Renewing::of(document));
    let mut records = Vec::new();
    let answered: Vec<Answered<'_>> = with_results(export.messages, &mut remarks);
    let times = times(&answered);
    for ((number, answered), time) in (0..).zip(answered).zip(times) {
        let Answered {
            outgoing, parts, ..
        } = answered;
        writing.time = time.unwrap_or(writing.time);
        let mut known = outgoing.records.iter().chain(&outgoing.replaces);
        let record = match known.find(|record| holds(record, &parts)) {
            Some(record) => record.clone(),
            None => writing.anew(number, outgoing, &parts, &mut remarks),
        };
        let record = match &mut renewing {
            Some(renewing) => renewing.record(&record),
            None => record,
        };
        writing.read(&record);
        records.push(record);
    }
    let messages = array(&records);
    let session = match &document.source {
        Some(source) => rewritten(source.trim_start_matches('\u{feff}'), |key, value| {
            Some(match key {
                "messages" => messages.clone(),
                // All that is written is said, so nothing is taken back.
                "info" => without(value, &["revert"]).finish(),
                _ => value.to_owned(),
            })
        }),
        None => Object::new()
            .raw("info", &writing.session(version))
            .raw("messages", &messages),
    };
    write_all(export.out, &session.finish())?;
    Ok(remarks.into_words())
}

/// When each message was made. A new one, such as a summary, is no later than what the tool wrote and stands behind it: the
/// tool goes by the times. A reply that was counted keeps its time, by which it is known again: a new one behind it is no
/// earlier.
fn times(messages: &[Answered<'_>]) -> Vec<Option<Millis>> {
    let is_new = |one: &Outgoing| one.records.is_empty() && one.replaces.is_empty();
    let mut next: Option<Millis> = None;
    let times = messages.iter().rev().map(|Answered { outgoing, .. }| {
        let may_move = is_new(outgoing) && outgoing.usage.is_none();
        let time = match (outgoing.time, next) {
            (Some(time), Some(next)) if may_move => Some(time.min(next)),
            (time, _) => time,
        };
        next = time.or(next);
        time
    });
    let mut times: Vec<_> = times.collect();
    times.reverse();
    let mut last: Option<Millis> = None;
    for (time, Answered { outgoing, .. }) in times.iter_mut().zip(messages) {
        if is_new(outgoing) && time.is_some() {
            *time = (*time).max(last);
        }
        last = last.max(*time);
    }
    times
}

/// Whether a record says just these parts, as the tool sends them.
fn holds(record: &str, parts: &[&Part]) -> bool {
    let Ok(mut said) = said(record, Span::default(), &mut Notes::default()) else {
        return false;
    };
    for (step, part, _, stub) in std::mem::take(&mut said.cleared) {
        if let Some(Step {
            action: Action::Append(message),
            ..
        }) = said.steps.get_mut(step)
        {
            let part = part as usize;
            message.parts.splice(part..=part, stub.parts);
        }
    }
    let messages = said.steps.iter().filter_map(Step::message);
    // Calls of several steps stand before all of their results.
    let said = messages.flat_map(|message| &message.parts);
    let (results, spoken): (Vec<_>, Vec<_>) = said.partition(|part| part.is_result());
    spoken.into_iter().chain(results).eq(parts.iter().copied())
}

/// A member of a record, as it is written.
fn member(record: &str, key: &str) -> Option<String> {
    let (members, _) = members(record.as_bytes(), 0);
    let found = members.into_iter().find(|(name, _)| name == key);
    found.map(|(_, at)| record[at].to_owned())
}

/// What a provider needs to take something back.
fn beneath(provider: &str, key: &str, value: &str) -> String {
    let own = Object::new().string(key, value).finish();
    Object::new().raw(provider, &own).finish()
}

/// A picture or a file, in what it stands in; none if only a provider has it.
fn file(new: Object, media: &Media) -> Option<Object> {
    let mime = media.media_type.as_deref();
    let new = new
        .string("type", "file")
        .string("mime", mime.unwrap_or("application/octet-stream"))
        .optional("filename", media.name.as_deref());
    Some(new.string("url", &address(media)?))
}

struct Writing<'a> {
    document: &'a Document,
    time: Millis,
    /// How many parts were made.
    parts: u64,
    /// The user's message that replies answer.
    prompt: Option<String>,
    provider: Option<String>,
}

impl Writing<'_> {
    /// Takes from a record what those after it say again.
    fn read(&mut self, record: &str) {
        let record: Value = serde_json::from_str(record).unwrap_or_default();
        let info = &record["info"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if info["role"] == "user" {
            self.prompt = text(&info["id"]);
        }
        let provider = text(&info["providerID"]).or_else(|| text(&info["model"]["providerID"]));
        self.provider = provider.or(self.provider.take());
    }

    /// The session, if there is none yet.
    fn session(&self, version: &str) -> String {
        let document = self.document;
        let now = document.now.unwrap_or(self.time).0;
        let time = Object::new().number("created", now);
        let time = time.number("updated", now);
        let title = document.title.as_deref().unwrap_or("Untitled");
        let slug = document.session_id.to_lowercase().replace('_', "-");
        Object::new()
            .string("id", &document.session_id)
            .string("slug", &slug)
            .string("projectID", "global")
            .string("directory", &document.cwd)
            .string("title", title)
            .string("version", version)
            .raw("time", &time.finish())
            .finish()
    }

    /// A record made anew: with what stood beside the message before it was changed.
    fn anew(
        &mut self,
        number: u64,
        outgoing: &Outgoing,
        parts: &[&Part],
        remarks: &mut Remarks,
    ) -> String {
        let made = self.document.new_id(number);
        let new = id("msg", self.time, number, &made);
        let old = outgoing.replaces.first().or(outgoing.records.first());
        let info = old.and_then(|old| member(old, "info"));
        let message = info.as_deref().and_then(|info| text_at(info, "id"));
        let message = message.unwrap_or(new);
        let info = match info {
            // What it was is no summary and no failure any more.
            Some(info) if outgoing.is_summary => without(&info, &[]).finish(),
            Some(info) => without(&info, &["error", "summary"]).finish(),
            None => self.info(&message, outgoing),
        };
        let mut written = Vec::new();
        // Two calls of one id are answered in turn.
        let mut results: Vec<&Part> = parts.to_vec();
        results.retain(|part| part.is_result());
        for part in parts.iter().filter(|part| !part.is_result()) {
            let made = self.document.new_id(!self.parts);
            let new = Object::new()
                .string("id", &id("prt", self.time, self.parts, &made))
                .string("sessionID", &self.document.session_id)
                .string("messageID", &message);
            match self.part(part, &mut results, new) {
                Some(part) => written.push(part.finish()),
                None => remarks.add(FOREIGN),
            }
            self.parts += 1;
        }
        Object::new()
            .raw("info", &info)
            .raw("parts", &array(&written))
            .finish()
    }

    fn info(&self, id: &str, outgoing: &Outgoing) -> String {
        let millis = self.time.0;
        let provider = self.provider.as_deref().unwrap_or(ANYBODY);
        let model = outgoing.settings.get("model").cloned();
        let model = model.unwrap_or_else(|| quoted("unknown"));
        let info = Object::new()
            .string("id", id)
            .string("sessionID", &self.document.session_id);
        if outgoing.message.role != Role::Assistant {
            let whose = Object::new().string("providerID", provider);
            let model = whose.raw("modelID", &model);
            return info
                .string("role", "user")
                .raw("time", &Object::new().number("created", millis).finish())
                .string("agent", AGENT)
                .raw("model", &model.finish())
                .finish();
        }
        let time = json!({"created": millis, "completed": millis});
        let path = json!({"cwd": self.document.cwd, "root": self.document.cwd});
        let usage = outgoing.usage.unwrap_or_default();
        let tokens = json!({
            "input": usage.uncached_tokens(),
            "output": usage.output_tokens.saturating_sub(usage.reasoning_tokens),
            "reasoning": usage.reasoning_tokens,
            "cache": {"read": usage.cached_tokens, "write": usage.written_tokens},
        });
        info.string("role", "assistant")
            .raw("time", &time.to_string())
            // The tool asks for one, even where nobody has asked for the reply.
            .string("parentID", self.prompt.as_deref().unwrap_or(id))
            .raw("modelID", &model)
            .string("providerID", provider)
            .string("mode", AGENT)
            .string("agent", AGENT)
            .raw("path", &path.to_string())
            .raw("cost", "0")
            .raw("tokens", &tokens.to_string())
            .string("finish", "stop")
            .finish()
    }

    /// A part, in what it stands in; none where the tool has no such part.
    fn part(&self, part: &Part, results: &mut Vec<&Part>, new: Object) -> Option<Object> {
        let millis = self.time.0;
        let time = json!({"start": millis, "end": millis}).to_string();
        Some(match part {
            Part::Text { text } => new.string("type", "text").string("text", text),
            Part::Thinking {
                text,
                signature,
                provider,
            } => {
                let new = new.string("type", "reasoning").string("text", text);
                let new = new.raw("time", &time);
                match (provider.as_deref(), signature) {
                    (Some("anthropic"), Some(signature)) => {
                        new.raw("metadata", &beneath("anthropic", "signature", signature))
                    }
                    (Some("openai"), Some(sealed)) => {
                        let key = "reasoningEncryptedContent";
                        new.raw("metadata", &beneath("openai", key, sealed))
                    }
                    _ => new,
                }
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => {
                let answers =
                    |part: &&Part| matches!(part, Part::ToolResult { call, .. } if call == id);
                let found = results.iter().position(answers);
                let given = found.map(|at| results.remove(at));
                let given = given.and_then(Part::as_result);
                let given = given.map(|(_, content, is_error)| (content, is_error));
                let state = self.state(&writers::input(arguments), name, given, &time);
                new.string("type", "tool")
                    .string("callID", id)
                    .string("tool", name)
                    .raw("state", &state)
            }
            Part::ToolResult { .. } => return None,
            Part::Image(media) | Part::File(media) => file(new, media)?,
            Part::Opaque { provider, data } if provider == PROVIDER => {
                let own = without(data, &["id", "sessionID", "messageID"]).finish();
                let (members, _) = members(own.as_bytes(), 0);
                let members = members.into_iter();
                return Some(members.fold(new, |new, (key, at)| new.raw(&key, &own[at])));
            }
            Part::Opaque { provider, data } if provider == "anthropic" => {
                let sealed = text_at(data, "data")?;
                new.string("type", "reasoning")
                    .string("text", "")
                    .raw("time", &time)
                    .raw("metadata", &beneath("anthropic", "redactedData", &sealed))
            }
            Part::Opaque { .. } => return None,
        })
    }

    fn state(&self, input: &str, name: &str, given: Option<(&[Part], bool)>, time: &str) -> String {
        let Some((content, is_error)) = given else {
            let time = Object::new().number("start", self.time.0);
            let state = Object::new()
                .string("status", "running")
                .raw("input", input);
            return state.raw("time", &time.finish()).finish();
        };
        let text = writers::texts(content, "\n");
        let state = Object::new();
        if is_error {
            let state = state.string("status", "error").raw("input", input);
            return state.string("error", &text).raw("time", time).finish();
        }
        let files = content.iter().filter_map(|part| match part {
            Part::Image(media) | Part::File(media) => Some(file(Object::new(), media)?.finish()),
            _ => None,
        });
        let files: Vec<String> = files.collect();
        let files = (!files.is_empty()).then(|| array(&files));
        state
            .string("status", "completed")
            .raw("input", input)
            .string("output", &text)
            .string("title", name)
            .raw("metadata", "{}")
            .raw("time", time)
            .optional_raw("attachments", files.as_deref())
            .finish()
    }
}
