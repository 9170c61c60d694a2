//! The importers: a list of messages, and those of an agent of Strands.

use std::ops::Range;

use serde_json::value::RawValue;

use super::message;
use super::{AGENT, SESSION};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller, Said};
use crate::formats::shared::head::Keys;
use crate::formats::shared::histories::History;
use crate::formats::shared::parts::{self, said, time};
use crate::formats::{Action, Cover, HideStep, Step, StepEntry};
use crate::model::{HideKind, Message};
use crate::wire::Notes;
use crate::wire::json::{Raw, array, decode, quoted, string};

/// A list of messages, or a request.
#[derive(Default)]
pub(super) struct Chat {
    /// The instructions, and where they stand.
    system: Option<(Message, Range<usize>)>,
}

impl Document for Chat {
    const RECORDS: &'static str = "messages";
    const MAY_BE_LIST: bool = true;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("id" | "session_id" | "sessionId", Some(id)) => teller.name(Some(id)),
            ("title", title) => teller.end.title = title,
            ("modelId", Some(model)) => teller.set("model", Some(quoted(&model))),
            ("system", _) => {
                let system = message::system(Some(member.raw), &mut teller.notes);
                let is_read = system.is_some();
                self.system = system.map(|message| (message, member.at.clone()));
                return is_read;
            }
            ("toolConfig", _) => match tools(member.raw) {
                Some(tools) => {
                    teller.end.absent.retain(|what| what != "tool definitions");
                    teller.set("tools", Some(tools));
                }
                None => return false,
            },
            ("inferenceConfig", _) => limits(member.raw, teller),
            (key, _) => {
                teller.end.other(key);
                return false;
            }
        }
        true
    }

    fn begin(&mut self, _: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        teller.begin_with(self.system.take())
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let said = teller.read(at, message::read)?;
        said.map_or(Ok(()), |said| teller.tell(said, at).map(drop))
    }
}

impl History for Chat {
    fn is_message(object: &Keys<'_>) -> bool {
        message::is_message(object)
    }
}

/// The tools of a request, each as a provider is offered it.
fn tools(raw: &RawValue) -> Option<String> {
    lazy! {
        struct Config { tools }
        struct Tool { spec = "toolSpec" }
        struct Spec { name, description, schema = "inputSchema" }
        struct Schema { json }
    }
    let config: Config<'_> = decode(Some(raw))?;
    let tools: Vec<Tool<'_>> = decode(config.tools)?;
    let tools = tools.into_iter().filter_map(|tool| {
        let spec: Spec<'_> = decode(tool.spec)?;
        let schema: Schema<'_> = decode(spec.schema).unwrap_or_default();
        let schema = schema.json.map_or("{}", RawValue::get);
        let description = string(spec.description);
        Some(parts::tool(
            &string(spec.name)?,
            description.as_deref(),
            schema,
        ))
    });
    let tools: Vec<String> = tools.collect();
    (!tools.is_empty()).then(|| array(tools))
}

/// What a request asks of the reply.
fn limits(raw: &RawValue, teller: &mut ObjectTeller<'_, '_>) {
    lazy! { struct Config { max_tokens = "maxTokens", temperature, top_p = "topP", stop = "stopSequences" } }
    let config: Config<'_> = decode(Some(raw)).unwrap_or_default();
    let settings: [(&str, Raw<'_>); 4] = [
        ("max_tokens", config.max_tokens),
        ("temperature", config.temperature),
        ("top_p", config.top_p),
        ("stop_sequences", config.stop),
    ];
    for (key, raw) in settings {
        teller.set(key, raw.map(|raw| raw.get().to_owned()));
    }
}

/// An agent of a session of Strands.
#[derive(Default)]
pub(super) struct Agent {
    session: Option<String>,
    agent: Option<String>,
    /// How many of the first messages are not sent any more, and what stands in their place.
    removed: usize,
    summary: Option<Message>,
    /// Where the agent's state stands.
    state: Option<Range<usize>>,
    /// The entries that each message makes.
    entries: Vec<Vec<StepEntry>>,
}

impl Document for Agent {
    const RECORDS: &'static str = "messages";

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        lazy! {
            struct File { session_id, agent_id, created_at, manager = "conversation_manager_state" }
            struct Manager { removed = "removed_message_count", summary = "summary_message" }
        }
        let file: File<'_> = decode(Some(member.raw)).unwrap_or_default();
        match member.key {
            SESSION => self.session = said(file.session_id),
            AGENT => {
                self.agent = said(file.agent_id);
                teller.start.descent.begun = time(file.created_at);
                let manager: Manager<'_> = decode(file.manager).unwrap_or_default();
                self.removed = decode(manager.removed).unwrap_or_default();
                let summary = manager
                    .summary
                    .map(|raw| message::read(raw, &mut teller.notes));
                let summary = summary.and_then(|said| said.ok()?.messages.into_iter().next());
                self.summary = summary;
                self.state = Some(member.at.clone());
            }
            _ => return false,
        }
        true
    }

    fn begin(&mut self, _: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let names: Vec<String> = [self.session.take(), self.agent.take()]
            .into_iter()
            .flatten()
            .collect();
        teller.name((!names.is_empty()).then(|| names.join(":")));
        teller.open()
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let found = teller.read(at, record)?;
        let entries = match found {
            Some(said) => teller.tell(said, at)?,
            None => Vec::new(),
        };
        self.entries.push(entries);
        Ok(())
    }

    /// What the agent has let go of stands in its state, and is told last.
    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let split = self.removed.min(self.entries.len());
        let (gone, rest) = self.entries.split_at(split);
        let gone: Vec<StepEntry> = gone.iter().flatten().copied().collect();
        let next = rest.iter().flatten().next().copied();
        let ends = gone.first().zip(gone.last()).zip(self.state.take());
        let Some(((first, last), at)) = ends else {
            return Ok(());
        };
        let cover = Cover::Range(*first, *last);
        let hide = match self.summary.take() {
            Some(summary) => {
                HideStep::of(HideKind::Compaction, cover).putting(vec![(next, summary)])
            }
            None => HideStep::of(HideKind::Truncation, cover),
        };
        let step = Step::new(Action::Hide(hide), teller.text.span(&at));
        teller.step(step).map(drop)
    }
}

/// A message's file: what was put in its place counts, where something was.
fn record(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    lazy! { struct Kept { message, redacted = "redact_message", created_at } }
    let kept: Kept<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    let message = kept.redacted.or(kept.message);
    let message = message.ok_or_else(|| "a file without a message".to_owned())?;
    Ok(Said {
        time: time(kept.created_at),
        ..message::read(message, notes)?
    })
}
