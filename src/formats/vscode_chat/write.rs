//! Messages as requests of a session's object: a request that still says what the context says is
//! written as it was, the others are made anew. A log of changes becomes the object that it makes.

use serde_json::{Map, Value, json};

use super::message::{Said, said};
use super::{IMAGE, PROVIDER, TEXT, log};
use crate::error::Result;
use crate::formats::shared::chat::write::write_all;
use crate::formats::shared::records::replaced;
use crate::formats::shared::remarks::{FOREIGN, Remarks, SYSTEM};
use crate::formats::shared::writers::{seal, texts};
use crate::formats::{Document, Export, Outgoing};
use crate::model::{Media, MediaSource, Message, Millis, Part, Role};
use crate::wire::Notes;
use crate::wire::json::{Object, array};
use crate::wire::media::image_url;

/// The version of the object that is written.
const VERSION: u64 = 3;

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let document = export.document;
    let mut writing = Writing {
        document,
        time: document.now.unwrap_or(Millis(0)),
        made: 0,
        requests: Vec::new(),
        new: None,
        remarks: Remarks::of(document),
    };
    let mut rest = export.messages;
    while let Some(first) = rest.first() {
        let count = kept(rest);
        if count > 0 {
            writing.end();
            writing.requests.push(first.records[0].clone());
        } else {
            writing.message(first);
        }
        rest = &rest[count.max(1)..];
    }
    writing.end();
    let requests = array(&writing.requests);
    let session = match &document.source {
        Some(source) if is_object(source) => {
            let source = source.trim_start_matches('\u{feff}');
            replaced(source, "requests", &requests)
        }
        source => {
            let made = source.as_deref().and_then(log::object);
            writing.session(made, &requests)
        }
    };
    write_all(export.out, &session.finish())?;
    Ok(writing.remarks.into_words())
}

fn is_object(source: &str) -> bool {
    let first = source.lines().next().unwrap_or_default();
    !log::is_log(first.trim_start_matches('\u{feff}'))
}

/// How many of the first messages are one request, which still says just these.
fn kept(messages: &[Outgoing]) -> usize {
    let [record] = &messages[0].records[..] else {
        return 0;
    };
    let Ok(said) = said(record, &mut Notes::default()) else {
        return 0;
    };
    let (whole, without) = (spoken(&said, true), spoken(&said, false));
    // What stands before all prompts is told with the first request alone.
    [whole, without]
        .into_iter()
        .find(|said| {
            let here = messages.iter().take(said.len());
            let is_same = |(one, said): (&Outgoing, &Message)| {
                one.message == *said && one.records.first() == Some(record)
            };
            !said.is_empty() && said.len() <= messages.len() && here.zip(said).all(is_same)
        })
        .map_or(0, |said| said.len())
}

/// The messages that a request says by itself.
fn spoken(said: &Said, with_global: bool) -> Vec<Message> {
    let global = said.global.iter().filter(|_| with_global);
    let mut found: Vec<Message> = global.chain(&said.prompt).cloned().collect();
    for round in &said.rounds {
        found.extend(round.messages(|call| said.results.get(call)));
    }
    found
}

/// A request that is being made.
#[derive(Default)]
struct Made {
    typed: String,
    prompt: Vec<Value>,
    rounds: Vec<Value>,
    results: Map<String, Value>,
    /// What the screen shows.
    shown: Vec<Value>,
    time: Option<Millis>,
    model: Option<String>,
}

struct Writing<'a> {
    document: &'a Document,
    time: Millis,
    made: u64,
    requests: Vec<String>,
    new: Option<Made>,
    remarks: Remarks,
}

impl Writing<'_> {
    fn new_id(&mut self) -> String {
        self.made += 1;
        self.document.new_id(self.made - 1)
    }

    fn message(&mut self, outgoing: &Outgoing) {
        self.time = outgoing.time.unwrap_or(self.time);
        let parts = &outgoing.message.parts;
        match outgoing.message.role {
            role if role.is_system() => self.remarks.add(SYSTEM),
            Role::Assistant => self.reply(outgoing),
            _ => {
                let (results, said): (Vec<_>, Vec<_>) =
                    parts.iter().partition(|part| part.is_result());
                if !said.is_empty() || results.is_empty() {
                    self.prompt(&said);
                }
                for part in results {
                    self.result(part);
                }
            }
        }
    }

    fn prompt(&mut self, parts: &[&Part]) {
        self.end();
        let typed = texts(parts.iter().copied(), "\n");
        let mut prompt = Vec::new();
        for part in parts {
            prompt.extend(match part {
                Part::Text { text } => Some(json!({"type": TEXT, "text": text})),
                Part::Image(media) => {
                    let url = image_url(media);
                    url.map(|url| json!({"type": IMAGE, "imageUrl": {"url": url}}))
                }
                Part::Opaque { provider, data } if provider == PROVIDER => {
                    serde_json::from_str(data).ok()
                }
                _ => None,
            });
        }
        if prompt.len() < parts.len() {
            let what = "a part of a prompt that the tool cannot hold";
            self.remarks.add(what);
        }
        let made = self.made();
        (made.typed, made.prompt) = (typed, prompt);
    }

    /// The request that is being made; a new one if there is none.
    fn made(&mut self) -> &mut Made {
        let made = self.new.get_or_insert_default();
        made.time.get_or_insert(self.time);
        made
    }

    fn reply(&mut self, outgoing: &Outgoing) {
        let id = self.new_id();
        let mut round = json!({"response": "", "toolCalls": [], "toolInputRetry": 0, "id": id});
        let (mut text, mut calls) = (String::new(), Vec::new());
        for part in &outgoing.message.parts {
            match part {
                Part::Text { text: own } => text += own,
                Part::Thinking { text, .. } => {
                    let own = seal(part, &[PROVIDER], &mut self.remarks);
                    round["thinking"] = match own {
                        Some(id) => json!({"id": id, "text": text}),
                        None => json!({"text": text}),
                    };
                }
                Part::ToolCall {
                    id,
                    name,
                    arguments,
                    ..
                } => calls.push(json!({"id": id, "name": name, "arguments": arguments})),
                _ => self.remarks.add(FOREIGN),
            }
        }
        round["timestamp"] = Value::from(self.time.0);
        let made = self.made();
        if !text.is_empty() {
            made.shown.push(json!({"value": text}));
        }
        round["response"] = Value::from(text);
        round["toolCalls"] = Value::from(calls);
        made.rounds.push(round);
        made.model = outgoing.model().or(made.model.take());
    }

    fn result(&mut self, part: &Part) {
        let Some((call, content, is_error)) = part.as_result() else {
            return;
        };
        if is_error {
            self.remarks.add("the mark of a failed tool call");
        }
        let mut pieces = Vec::new();
        for part in content {
            match part {
                Part::Text { text } => pieces.push(json!({"$mid": 21, "value": text})),
                Part::Image(Media {
                    source: MediaSource::Base64(data),
                    media_type,
                    ..
                })
                | Part::File(Media {
                    source: MediaSource::Base64(data),
                    media_type,
                    ..
                }) => pieces.push(json!({"$mid": 24, "mimeType": media_type, "data": data})),
                _ => {
                    let what = "a part of a result that the tool cannot hold";
                    self.remarks.add(what);
                }
            }
        }
        let given = json!({"$mid": 20, "content": pieces});
        self.made().results.insert(call.to_owned(), given);
    }

    /// Ends the request that is being made.
    fn end(&mut self) {
        let Some(made) = self.new.take() else {
            return;
        };
        let mut metadata = json!({"renderedUserMessage": made.prompt});
        if !made.rounds.is_empty() {
            metadata["toolCallRounds"] = Value::from(made.rounds);
            metadata["toolCallResults"] = Value::from(made.results);
        }
        let mut request = json!({
            "requestId": format!("request_{}", self.new_id()),
            "message": {"text": made.typed, "parts": []},
            "variableData": {"variables": []},
            "response": made.shown,
            "timestamp": made.time.unwrap_or(self.time).0,
            "result": {"metadata": metadata},
        });
        if let Some(model) = made.model {
            request["modelId"] = Value::from(format!("{PROVIDER}/{model}"));
        }
        self.requests.push(request.to_string());
    }

    /// The session's object: what a log makes it, or a new one.
    fn session(&self, made: Option<Map<String, Value>>, requests: &str) -> Object {
        if let Some(made) = made {
            let others = made.iter().filter(|(key, _)| *key != "requests");
            let object = others.fold(Object::new(), |object, (key, value)| {
                object.raw(key, &value.to_string())
            });
            return object.raw("requests", requests);
        }
        let document = self.document;
        let now = document.now.unwrap_or(self.time).0;
        Object::new()
            .number("version", VERSION)
            .string("responderUsername", "GitHub Copilot")
            .string("sessionId", &document.session_id)
            .number("creationDate", now)
            .number("lastMessageDate", now)
            .optional("customTitle", document.title.as_deref())
            .raw("requests", requests)
    }
}
