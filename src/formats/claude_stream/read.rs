//! A line of the stream as events.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::session_usage::{Counted, ResultCounts};
use crate::formats::LOOSE;
use crate::formats::anthropic_stream::{Blocks, Streamed};
use crate::formats::shared::parts;
use crate::formats::shared::stream::{EventReader, Telling};
use crate::model::{HideKind, Part, Role, Usage};
use crate::tree::{Ending, Event, Happening, user};
use crate::wire::anthropic;
use crate::wire::json::{decode, is_true, string, word};

/// Knows what streams: whose block a delta belongs to is said only once.
#[derive(Default)]
pub(super) struct ClaudeReader {
    /// The message that streams, for each agent.
    messages: HashMap<Option<String>, String>,
    /// The blocks of that message, for each agent.
    blocks: HashMap<Option<String>, Blocks>,
    /// Whether the next thing that a user says is the summary of a compaction.
    compacted: bool,
    counted: Counted,
    /// The lines that counted something: what is kept of a session may have the stream of a process twice.
    counting: HashSet<String>,
}

lazy! {
    struct Line {
        kind = "type", subtype, uuid, session_id, timestamp, cwd, parent_tool_use_id, message, event,
        error, is_api_error = "isApiErrorMessage", is_error, terminal_reason, request_id, usage,
        model_usage = "modelUsage", since = "model_usage_since_last_result",
    }
}

lazy! { struct Said { id, model, content, usage } }

/// The name of the request that a line's reply answers, as the session's file has it.
pub(super) fn request_of(record: &str) -> Option<String> {
    let line: Line<'_> = serde_json::from_str(record).ok()?;
    if word(line.kind)? != "assistant" || string(line.parent_tool_use_id).is_some() {
        return None;
    }
    let said: Said<'_> = decode(line.message)?;
    let request = string(line.request_id)
        .unwrap_or_else(|| format!("{LOOSE}{}", string(line.timestamp).unwrap_or_default()));
    Some(format!("{} {request}", string(said.id)?))
}

impl EventReader for ClaudeReader {
    fn read(&mut self, record: &RawValue) -> Telling {
        let Ok(line) = serde_json::from_str::<Line<'_>>(record.get()) else {
            return Telling::other("(no object)");
        };
        let kind = string(line.kind).unwrap_or_else(|| "(no type)".to_owned());
        let parent = string(line.parent_tool_use_id);
        let mut told = Telling::default();
        let mut message = None;
        let uuid = string(line.uuid);
        let what = match kind.as_str() {
            "system" => self.system(&line, &mut told),
            "assistant" => {
                let said: Said<'_> = decode(line.message).unwrap_or_default();
                message = string(said.id);
                let model = string(said.model).filter(|model| !model.starts_with('<'));
                told.model = model.filter(|_| parent.is_none());
                let failed = string(line.error).is_some() || is_true(line.is_api_error);
                if parent.is_none()
                    && let Some(usage) = anthropic::usage_record(said.usage)
                        .filter(|it| it.usage != Usage::default())
                {
                    if self.is_first(uuid.as_ref()) {
                        self.counted
                            .reply(message.as_deref(), told.model.as_deref(), usage.usage);
                    }
                    told.stated = self.counted.stated();
                    told.usage = Some(usage);
                }
                said_by_model(&said, failed, &mut told)
            }
            "user" => {
                if parent.is_none() {
                    self.counted.other();
                }
                let said: Said<'_> = decode(line.message).unwrap_or_default();
                self.said_by_user(&said, parent.is_none(), &mut told)
            }
            "stream_event" => {
                let streamed: Streamed<'_> = decode(line.event).unwrap_or_default();
                let what = self.streamed(&streamed, &parent, &mut told);
                message = self.messages.get(&parent).cloned();
                what
            }
            "result" => {
                let reason = string(line.terminal_reason).unwrap_or_default();
                let subtype = string(line.subtype).filter(|subtype| subtype != "success");
                let failed = is_true(line.is_error) && !reason.starts_with("aborted");
                if self.is_first(uuid.as_ref()) {
                    told.usage = self.counted.result(&ResultCounts {
                        usage: line.usage,
                        all: line.model_usage,
                        since: line.since,
                    });
                }
                told.stated = self.counted.stated();
                let fault = subtype
                    .filter(|_| failed)
                    .map(|text| Happening::Fault { text });
                fault.into_iter().chain([Happening::TurnEnd]).collect()
            }
            _ => {
                told.other = Some(kind);
                Vec::new()
            }
        };
        let event = |(at, what)| Event {
            id: uuid.clone().filter(|_| at == 0),
            message: message.clone(),
            parent: parent.clone(),
            ..Event::new(what)
        };
        told.events = what.into_iter().enumerate().map(event).collect();
        told.session = string(line.session_id);
        told.time = parts::time(line.timestamp);
        told
    }
}

impl ClaudeReader {
    /// Whether a line that counts something was not read before.
    fn is_first(&mut self, uuid: Option<&String>) -> bool {
        uuid.is_none_or(|uuid| self.counting.insert(uuid.clone()))
    }

    fn system(&mut self, line: &Line<'_>, told: &mut Telling) -> Vec<Happening> {
        let subtype = string(line.subtype).unwrap_or_default();
        if subtype == "init" {
            told.cwd = string(line.cwd);
            self.counted.begin();
            return vec![Happening::TurnStart];
        }
        self.compacted |= subtype == "compact_boundary";
        told.other = Some(format!("system/{subtype}"));
        Vec::new()
    }

    /// What stands in the user's place: results, a summary, or what was said.
    fn said_by_user(
        &mut self,
        said: &Said<'_>,
        is_main: bool,
        told: &mut Telling,
    ) -> Vec<Happening> {
        let parts = anthropic::parts(said.content, &mut told.notes).unwrap_or_default();
        if is_main && std::mem::take(&mut self.compacted) {
            let (kind, role) = (HideKind::Compaction, Role::User);
            return vec![Happening::Marker {
                kind,
                role,
                parts,
                covers: true,
            }];
        }
        let mut what = Vec::new();
        let mut rest = Vec::new();
        for part in parts {
            match part {
                Part::ToolResult {
                    call,
                    content,
                    is_error,
                } => {
                    let ending = Ending::of(is_error);
                    what.push(Happening::Answer {
                        call,
                        content,
                        ending,
                    });
                }
                part => rest.push(part),
            }
        }
        if !rest.is_empty() {
            what.push(user(rest));
        }
        what
    }

    fn streamed(
        &mut self,
        streamed: &Streamed<'_>,
        parent: &Option<String>,
        told: &mut Telling,
    ) -> Vec<Happening> {
        let blocks = self.blocks.entry(parent.clone()).or_default();
        match string(streamed.kind).unwrap_or_default().as_str() {
            "message_start" => {
                let said: Said<'_> = decode(streamed.message).unwrap_or_default();
                let id = string(said.id).unwrap_or_default();
                self.messages.insert(parent.clone(), id);
                blocks.clear();
                told.model = string(said.model).filter(|_| parent.is_none());
            }
            "message_delta" if parent.is_none() => {
                told.usage = anthropic::usage_record(streamed.usage);
                if let Some(record) = &told.usage {
                    let id = self.messages.get(parent).map(String::as_str);
                    self.counted.more(id, record.usage);
                    told.stated = self.counted.stated();
                }
            }
            "message_delta" => {}
            _ => return blocks.streamed(streamed).into_iter().collect(),
        }
        Vec::new()
    }
}

/// The blocks of a reply; what the client says in its place is a failure.
fn said_by_model(said: &Said<'_>, failed: bool, told: &mut Telling) -> Vec<Happening> {
    let parts = anthropic::parts(said.content, &mut told.notes).unwrap_or_default();
    let what = |part| match part {
        Part::Text { text } if failed => Happening::Fault { text },
        part => Happening::Block(part),
    };
    parts.into_iter().map(what).collect()
}
