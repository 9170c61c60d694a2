//! A record of the log as events.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::formats::shared::stream::{EventReader, Telling};
use crate::model::{HideKind, Millis, Part, Role};
use crate::tree::{Ending, Event, EventPlace, Happening};
use crate::wire::json::{Raw, decode, string, word};

/// The types that only this log has.
pub(super) const TYPES: [&str; 25] = [
    "turn_start",
    "turn_end",
    "user_message",
    "user_audio",
    "assistant_message",
    "assistant_chunk",
    "assistant_done",
    "text_delta",
    "text_done",
    "thinking_start",
    "thinking_delta",
    "thinking_chunk",
    "thinking_done",
    "tool_call_start",
    "tool_input_start",
    "tool_input_chunk",
    "tool_input_done",
    "tool_output_delta",
    "tool_output_chunk",
    "output_cancelled",
    "agent_message",
    "agent_callback",
    "agent_callback_result",
    "custom_message",
    "summary_message",
];

/// Reads either generation. No record depends on another.
#[derive(Default)]
pub(super) struct LogReader;

lazy! {
    /// What every record has.
    struct Envelope {
        kind = "type", id, timestamp, session_id = "sessionId", turn_id = "turnId",
        response_id = "responseId", revision, sequence, payload,
    }
}

lazy! {
    /// What a record says: its payload, or the record itself.
    struct Body {
        text, delta, chunk, content, message, transcription, phase, interrupted, role,
        tool_call_id = "toolCallId", call_id = "callId", tool_name = "toolName", args,
        args_json = "argsJson", arguments, offset, result, ok, error, code, summary_type = "summaryType",
        message_id = "messageId", agent_exchange_id = "agentExchangeId", response_id = "responseId",
        target_agent_id = "targetAgentId", target_session_id = "targetSessionId",
        from_agent_id = "fromAgentId", wait, parent_tool_call_id = "parentToolCallId",
    }
}

impl Body<'_> {
    /// What it says, by whichever name.
    fn said(&self) -> String {
        let names = [self.text, self.delta, self.chunk, self.content];
        let mut names = names.into_iter().chain([self.message, self.transcription]);
        names.find_map(string).unwrap_or_default()
    }

    fn parts(&self) -> Vec<Part> {
        vec![Part::text(self.said())]
    }

    fn prompt(&self) -> Happening {
        Happening::User {
            parts: self.parts(),
            from: string(self.from_agent_id),
        }
    }

    fn call(&self) -> String {
        let names = [self.tool_call_id, self.call_id];
        names.into_iter().find_map(string).unwrap_or_default()
    }

    fn name(&self) -> String {
        string(self.tool_name).unwrap_or_default()
    }

    /// The arguments as they were written: a string of JSON, or JSON itself.
    fn arguments(&self) -> Option<String> {
        let given = self.args.or(self.arguments).or(self.args_json)?;
        Some(string(Some(given)).unwrap_or_else(|| given.get().to_owned()))
    }

    fn offset(&self) -> Option<u64> {
        decode(self.offset)
    }

    /// A result, and how it ended.
    fn result(&self) -> (Vec<Part>, Ending) {
        let error: Option<Value> = decode(self.error);
        let failed = error.is_some() || is(self.ok, "false");
        let ending = match error.as_ref().map(|error| &error["code"]) {
            Some(code) if code == "tool_interrupted" => Ending::Interrupted,
            _ => Ending::of(failed),
        };
        let told = error.as_ref().and_then(|error| match error {
            Value::String(text) => Some(text.clone()),
            error => error["message"].as_str().map(str::to_owned),
        });
        let given = self
            .result
            .map(|raw| string(Some(raw)).unwrap_or_else(|| raw.get().to_owned()));
        let text = given.or(told).unwrap_or_default();
        let text = Some(text).filter(|text| !text.is_empty());
        (text.map(Part::text).into_iter().collect(), ending)
    }

    /// The agent that speaks or is spoken to.
    fn partner(&self) -> Option<String> {
        let names = [self.target_agent_id, self.target_session_id];
        names.into_iter().find_map(string)
    }

    /// What an answer of another agent names.
    fn exchange(&self) -> Option<String> {
        let names = [self.message_id, self.agent_exchange_id, self.response_id];
        let named = names.into_iter().find_map(string);
        named.or_else(|| Some(self.call()).filter(|call| !call.is_empty()))
    }
}

fn is(raw: Raw<'_>, text: &str) -> bool {
    raw.is_some_and(|raw| raw.get() == text)
}

fn time(raw: Raw<'_>) -> Option<Millis> {
    let written = || Millis::parse(&string(raw)?);
    decode::<i64>(raw).map(Millis).or_else(written)
}

impl EventReader for LogReader {
    fn read(&mut self, record: &RawValue) -> Telling {
        let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(record.get()) else {
            return Telling::other("(no object)");
        };
        let kind = string(envelope.kind).unwrap_or_else(|| "(no type)".to_owned());
        let payload = envelope
            .payload
            .filter(|payload| payload.get().starts_with('{'));
        let body = payload.unwrap_or(record).get();
        let body: Body<'_> = serde_json::from_str(body).unwrap_or_default();
        let mut response = string(envelope.response_id);
        if payload.is_none() && kind.starts_with("agent_callback") {
            // There it names the exchange.
            response = None;
        }
        let revision = decode(envelope.revision);
        let sequence = decode(envelope.sequence);
        let place = revision.zip(sequence);
        let events = happened(&kind, &body);
        let other = events.is_empty().then_some(kind);
        let event = |(at, what)| Event {
            // Of a record that tells two things the second has no id, or it would be known.
            id: string(envelope.id).filter(|_| at == 0),
            place: place
                .filter(|_| at == 0)
                .map(|(revision, sequence)| EventPlace { revision, sequence }),
            turn: string(envelope.turn_id),
            response: response.clone(),
            parent: string(body.parent_tool_call_id),
            ..Event::new(what)
        };
        Telling {
            events: events.into_iter().enumerate().map(event).collect(),
            time: time(envelope.timestamp),
            session: string(envelope.session_id),
            other,
            ..Telling::default()
        }
    }
}

/// What a record of this type tells; nothing if it tells nothing of the conversation.
fn happened(kind: &str, body: &Body<'_>) -> Vec<Happening> {
    let what = said(kind, body).or_else(|| of_call(kind, body));
    let what = what.or_else(|| of_agent(kind, body));
    let may_be_cut = matches!(kind, "assistant_done" | "text_done" | "assistant_message");
    let interrupt = Happening::Interrupt { said: Vec::new() };
    let cut = (may_be_cut && is(body.interrupted, "true")).then_some(interrupt);
    what.into_iter().chain(cut).collect()
}

/// What is said in the conversation itself.
fn said(kind: &str, body: &Body<'_>) -> Option<Happening> {
    let (text, phase) = (|| body.said(), || string(body.phase));
    let note = |role| Happening::Note {
        role,
        parts: body.parts(),
    };
    Some(match kind {
        "turn_start" => Happening::TurnStart,
        "turn_end" => Happening::TurnEnd,
        "user_message" | "user_audio" => body.prompt(),
        "custom_message" => {
            let role = string(body.role).and_then(|role| role.parse().ok());
            note(role.unwrap_or(Role::User))
        }
        "summary_message" if word(body.summary_type).as_deref() == Some("branch_summary") => {
            note(Role::User)
        }
        "summary_message" => Happening::Marker {
            kind: HideKind::Compaction,
            role: Role::User,
            parts: body.parts(),
            covers: true,
        },
        "assistant_chunk" | "text_delta" => Happening::TextDelta {
            text: text(),
            phase: phase(),
        },
        "assistant_done" | "text_done" => Happening::TextDone {
            text: text(),
            phase: phase(),
        },
        "assistant_message" => Happening::Reply { text: text() },
        "thinking_start" => Happening::ThinkingStart,
        "thinking_chunk" | "thinking_delta" => Happening::ThinkingDelta { text: text() },
        "thinking_done" => Happening::ThinkingDone { text: text() },
        "interrupt" | "output_cancelled" => Happening::Interrupt { said: Vec::new() },
        "error" => {
            let text = Some(text()).filter(|text| !text.is_empty());
            let text = text.or_else(|| string(body.code)).unwrap_or_default();
            Happening::Fault { text }
        }
        _ => return None,
    })
}

/// What is done with a tool.
fn of_call(kind: &str, body: &Body<'_>) -> Option<Happening> {
    let (call, name, text, offset) = (body.call(), body.name(), body.said(), body.offset());
    let arguments = body.arguments().filter(|it| !it.is_empty());
    Some(match (kind, arguments) {
        ("tool_call", _) => Happening::Call {
            call,
            name,
            arguments: body.arguments().unwrap_or_else(|| "{}".to_owned()),
        },
        ("tool_call_start" | "tool_input_start" | "tool_input_done", Some(arguments)) => {
            Happening::Call {
                call,
                name,
                arguments,
            }
        }
        ("tool_call_start" | "tool_input_start", None) => Happening::CallStart { call, name },
        ("tool_input_chunk" | "tool_input_delta", _) => Happening::CallInput { call, text, offset },
        ("tool_output_chunk" | "tool_output_delta", _) => Happening::Output { call, text, offset },
        ("tool_result", _) => {
            let (content, ending) = body.result();
            Happening::Answer {
                call,
                content,
                ending,
            }
        }
        _ => return None,
    })
}

/// What agents say to each other.
fn of_agent(kind: &str, body: &Body<'_>) -> Option<Happening> {
    match kind {
        "agent_message" => Some(match (body.partner(), body.exchange()) {
            (Some(to), Some(exchange)) => Happening::Sent {
                exchange,
                to,
                text: body.said(),
                waits: is(body.wait, "true"),
            },
            _ => body.prompt(),
        }),
        "agent_callback" | "agent_callback_result" => {
            let (mut content, ending) = body.result();
            if content.is_empty() {
                content = body.parts();
            }
            Some(Happening::Callback {
                exchange: body.exchange(),
                from: string(body.from_agent_id),
                content,
                is_error: ending != Ending::Success,
            })
        }
        _ => None,
    }
}
