//! The importer: the messages of a session, and what its newest compaction leaves of them.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::sent::content;
use super::{COMPACTION, MESSAGES, SESSION, UNREAD};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::parts::{checked, time};
use crate::formats::{Action, Cover, HideStep, Step, StepEntry};
use crate::model::{HideKind, Message, Millis, Part, Role, Usage};
use crate::wire::json::{Object, Raw, decode, quoted, string, text_at, tight, word};
use crate::wire::{Notes, anthropic};

/// What the file lacks where it has no system prompt.
const SYSTEM: &str = "system prompt";

/// A session.
#[derive(Default)]
pub(super) struct Session {
    /// The system prompt, and where it stands.
    system: Option<(String, Range<usize>)>,
    compaction: Option<Compaction>,
    /// The messages that the tool counts.
    counted: Vec<Counted>,
    /// The files beside it that are no JSON.
    unread: Vec<String>,
}

/// What the newest compaction left.
struct Compaction {
    /// Where it stands.
    at: Range<usize>,
    /// Of how many messages.
    count: usize,
    /// The last of these, as the tool names it.
    last: Option<String>,
    time: Option<Millis>,
    messages: Vec<Box<RawValue>>,
}

/// A message that the tool counts.
struct Counted {
    id: Option<String>,
    /// What it holds, as the file has it.
    content: String,
    entry: Option<StepEntry>,
}

/// What a record says.
struct Spoken {
    id: Option<String>,
    content: String,
    /// None: it is for the screen alone.
    message: Option<Message>,
    time: Option<Millis>,
    usage: Option<Usage>,
    model: Option<String>,
}

impl Document for Session {
    const RECORDS: &'static str = MESSAGES;
    const LACKING: &'static [&'static str] = &[SYSTEM, "tool definitions"];

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        let json = member.raw.get();
        match member.key {
            "sessionId" => teller.name(member.word()),
            "origin" => teller.start.descent.spawned_by = text_at(json, "parentThreadId"),
            "system_prompt" => {
                self.system = member.word().map(|text| (text, member.at.clone()));
            }
            SESSION => {
                lazy! { struct Known { cwd, metadata } }
                let known: Known<'_> = decode(Some(member.raw)).unwrap_or_default();
                teller.end.cwd = string(known.cwd);
                teller.end.title = known.metadata.and_then(|it| text_at(it.get(), "title"));
            }
            COMPACTION => self.compaction = Compaction::of(member),
            UNREAD => self.unread = decode(Some(member.raw)).unwrap_or_default(),
            _ => return false,
        }
        true
    }

    fn begin(&mut self, _: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        teller.open()?;
        for name in std::mem::take(&mut self.unread) {
            teller.problem_on(0, format!("{name}: no JSON object"))?;
        }
        let Some((text, at)) = self.system.take() else {
            return Ok(());
        };
        teller.end.absent.retain(|absent| absent != SYSTEM);
        let message = Message::new(Role::System, vec![Part::text(text)]);
        teller.append(message, &at, None, None).map(drop)
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        self.compact(teller)?;
        let Some(said) = teller.read(at, said)? else {
            // It is one of those that the tool counts.
            self.counted.push(Counted {
                id: None,
                content: String::new(),
                entry: None,
            });
            return Ok(());
        };
        let Some(message) = said.message else {
            teller.end.other("message for the screen");
            return Ok(());
        };
        let entry = if message.parts.is_empty() {
            teller.end.other("message without content");
            None
        } else {
            teller.set("model", said.model);
            Some(teller.append(message, at, said.time, said.usage.map(Into::into))?)
        };
        self.counted.push(Counted {
            id: said.id,
            content: said.content,
            entry,
        });
        Ok(())
    }

    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        self.compact(teller)?;
        if self.compaction.take().is_some() {
            teller
                .end
                .other("compaction of more messages than there are");
        }
        Ok(())
    }
}

impl Session {
    /// Hides what the compaction took, where all of that was told. The tool passes over one that was made of other
    /// messages.
    fn compact(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let is_due = |made: &mut Compaction| made.count == self.counted.len();
        let Some(made) = self.compaction.take_if(is_due) else {
            return Ok(());
        };
        let last = self.counted.last().and_then(|last| last.id.as_deref());
        let named = made.last.as_deref().and_then(|key| key.strip_prefix("id:"));
        if named.is_some() && named != last {
            teller.end.other("compaction of other messages");
            return Ok(());
        }
        let (mut keep, mut replacements, mut open) = (Vec::new(), Vec::new(), Vec::new());
        let mut from = 0;
        for raw in &made.messages {
            let read = said(raw, &mut teller.notes);
            let said = match read {
                Ok(said) => said,
                Err(reason) => {
                    teller.problem(&made.at, format!("a compaction: {reason}"))?;
                    continue;
                }
            };
            let is_one =
                |it: &Counted| it.entry.is_some() && it.id == said.id && it.content == said.content;
            let found = self.counted[from..].iter().position(is_one);
            match (found, said.message) {
                (Some(found), _) => {
                    let entry = self.counted[from + found].entry;
                    from += found + 1;
                    replacements.extend(open.drain(..).map(|message| (entry, message)));
                    keep.extend(entry);
                }
                (None, Some(message)) if !message.parts.is_empty() => {
                    let (text, at) = (teller.text, made.at.clone());
                    teller.pair(&message, text, &at)?;
                    open.push(message);
                }
                (None, _) => {}
            }
        }
        replacements.extend(open.into_iter().map(|message| (None, message)));
        let mut entries = self.counted.iter().filter_map(|it| it.entry);
        let Some(first) = entries.next() else {
            return Ok(());
        };
        let cover = Cover::Range(first, entries.next_back().unwrap_or(first));
        let hide = HideStep::of(HideKind::Compaction, cover)
            .keeping(keep)
            .putting(replacements);
        let step = Step::new(Action::Hide(hide), teller.text.span(&made.at));
        teller.step(step.at(made.time)).map(drop)
    }
}

impl Compaction {
    fn of(member: &Member<'_>) -> Option<Self> {
        lazy! {
            struct Known {
                count = "source_message_count", last = "source_last_message_key", updated_at, messages,
            }
        }
        let known: Known<'_> = decode(Some(member.raw))?;
        Some(Self {
            at: member.at.clone(),
            count: decode(known.count)?,
            last: string(known.last),
            time: time(known.updated_at),
            messages: decode(known.messages)?,
        })
    }
}

fn said(raw: &RawValue, notes: &mut Notes) -> Result<Spoken, String> {
    lazy! {
        struct Record { id, role, content, ts, metadata, model_info = "modelInfo", metrics }
        struct Noted { display_only = "displayOnly" }
    }
    let record: Record<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let noted: Noted<'_> = decode(record.metadata).unwrap_or_default();
    let is_shown = decode(noted.display_only) == Some(true);
    let message = match record.content {
        _ if is_shown => None,
        None => Some(anthropic::message(raw, notes)?),
        Some(held) => {
            let role = word(record.role).unwrap_or_default();
            let made = Object::new()
                .string("role", &role)
                .raw("content", &content(held, role == "user"));
            let made = RawValue::from_string(made.finish()).map_err(|error| error.to_string())?;
            Some(anthropic::message(&made, notes)?)
        }
    };
    checked(&message)?;
    let model = record.model_info.and_then(|it| text_at(it.get(), "id"));
    Ok(Spoken {
        id: string(record.id),
        content: record
            .content
            .map_or_else(String::new, |it| tight(it.get())),
        message,
        time: decode(record.ts).map(Millis),
        usage: usage(record.metrics),
        model: model.as_deref().map(quoted),
    })
}

/// What was counted for a reply; what a cache had a part in is part of the input.
fn usage(metrics: Raw<'_>) -> Option<Usage> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metrics {
        input_tokens: u64,
        output_tokens: u64,
        #[serde(default)]
        cache_read_tokens: u64,
        #[serde(default)]
        cache_write_tokens: u64,
    }
    let counted: Metrics = decode(metrics)?;
    let usage = Usage::new(counted.input_tokens, counted.output_tokens);
    Some(usage.cached(counted.cache_read_tokens, counted.cache_write_tokens))
}
