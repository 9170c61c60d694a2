//! The importer: the messages of a thread, and what a compaction leaves of those before it.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::rows::{DAMAGE, FOLDERS, ID, ORDER, PARENT, first_folder};
use super::said::{Said, resumed, said};
use super::{MESSAGES, ROW};
use crate::error::Result;
use crate::interop::calls::Calls;
use crate::interop::records::{Held, Text};
use crate::interop::spans::{elements, members};
use crate::interop::{
    Action, Cover, HideStep, ImportOptions, Input, Moment, Problem, SessionEnd, SessionStart, Sink,
    Step, StepEntry, StepId,
};
use crate::model::{HideKind, MediaSource, Message, Millis, Part, Usage};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string, text_at};

/// What a session lacks of what the model was sent.
const LACKING: &[&str] = &["system prompt", "tool definitions"];
/// How much of the newest prompts is sent beside a summary, in bytes of their texts and pictures.
const PROMPT_BYTES_MAX: usize = 80_000;

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let mut about = About {
        start: SessionStart::new(options.stem),
        end: SessionEnd::lacking(LACKING),
        ..About::default()
    };
    let mut messages = Vec::new();
    for (key, at) in keys {
        if key == MESSAGES {
            let (found, torn) = elements(text.bytes, at.start);
            messages = found;
            broken = torn.or(broken);
        } else if let Ok((raw, lone)) = text.decode(&at) {
            about.end.lone_surrogates += lone;
            about.take(&key, &raw);
        }
    }
    sink.session(about.start)?;
    if let Some(damage) = about.damage {
        sink.problem(Problem::new(0, damage))?;
    }
    let mut telling = Telling {
        sink,
        text,
        end: about.end,
        notes: Notes::default(),
        calls: Calls::default(),
        began: about.began,
        counted: about.counted,
        prompt: String::new(),
        prompts: Vec::new(),
        steps: 0,
        visible: 0,
    };
    for (number, at) in messages.iter().enumerate() {
        telling.take(number, at, messages.get(number + 1))?;
    }
    held.end(broken, telling.sink)?;
    let count = messages.len() as u64;
    telling.sink.progress(text.bytes.len() as u64, count);
    telling.end.opaque_blocks = telling.notes.opaque_blocks;
    telling.sink.end(telling.end)
}

/// What a thread says beside its messages.
#[derive(Default)]
struct About {
    start: SessionStart,
    end: SessionEnd,
    /// What is wrong with its row.
    damage: Option<String>,
    began: Option<Millis>,
    counted: Counted,
}

/// What the provider counted for the newest request of each prompt; in older versions, of each message by its place.
#[derive(Default)]
struct Counted {
    by_prompt: HashMap<String, Usage>,
    by_place: Vec<Usage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        let cached = tokens
            .cache_creation_input_tokens
            .saturating_add(tokens.cache_read_input_tokens);
        Self {
            input_tokens: tokens.input_tokens.saturating_add(cached),
            output_tokens: tokens.output_tokens,
        }
    }
}

impl About {
    fn take(&mut self, key: &str, raw: &RawValue) {
        let json = raw.get();
        match key {
            ROW => {
                let of = |column| text_at(json, column);
                self.start.id = of(ID).unwrap_or_else(|| std::mem::take(&mut self.start.id));
                self.start.descent.spawned_by = of(PARENT);
                self.damage = of(DAMAGE);
                let folders = of(FOLDERS);
                self.end.cwd = folders.and_then(|it| first_folder(&it, of(ORDER).as_deref()));
            }
            // Older versions call it a summary.
            "title" | "summary" => {
                let title = string(Some(raw)).filter(|title| !title.is_empty());
                self.end.title = title.or(self.end.title.take());
            }
            "subagent_context" => {
                let parent = text_at(json, "parent_thread_id");
                let here = &mut self.start.descent.spawned_by;
                *here = here.take().or(parent);
            }
            "initial_project_snapshot" => self.snapshot(raw),
            "request_token_usage" => {
                let by_prompt: Option<HashMap<String, Tokens>> = decode(Some(raw));
                let by_prompt = by_prompt.unwrap_or_default().into_iter();
                self.counted.by_prompt = by_prompt.map(|(id, it)| (id, it.into())).collect();
                let by_place: Vec<Tokens> = decode(Some(raw)).unwrap_or_default();
                self.counted.by_place = by_place.into_iter().map(Usage::from).collect();
            }
            _ => {}
        }
    }

    /// What the project was when the thread was begun.
    fn snapshot(&mut self, raw: &RawValue) {
        #[derive(Default, Deserialize)]
        #[serde(default, bound(deserialize = "'de: 'a"))]
        struct Snapshot<'a> {
            timestamp: Raw<'a>,
            worktree_snapshots: Vec<Worktree>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Worktree {
            worktree_path: Option<String>,
        }
        let snapshot: Snapshot<'_> = decode(Some(raw)).unwrap_or_default();
        self.began = string(snapshot.timestamp).and_then(|time| Millis::parse(&time));
        let first = snapshot.worktree_snapshots.into_iter().next();
        let first = first.and_then(|it| it.worktree_path);
        self.end.cwd = self.end.cwd.take().or(first);
    }
}

/// What the user said.
struct Prompt {
    message: Message,
    /// Where it is, as long as it is sent.
    entry: Option<StepEntry>,
}

struct Telling<'t, 's> {
    sink: &'s mut dyn Sink,
    text: Text<'t>,
    end: SessionEnd,
    notes: Notes,
    calls: Calls,
    /// When the thread was begun, as long as no step has told it.
    began: Option<Millis>,
    counted: Counted,
    /// The newest prompt's id.
    prompt: String,
    prompts: Vec<Prompt>,
    steps: usize,
    /// How many entries are sent.
    visible: usize,
}

impl Telling<'_, '_> {
    fn take(
        &mut self,
        number: usize,
        at: &Range<usize>,
        next: Option<&Range<usize>>,
    ) -> Result<()> {
        let text = self.text;
        let found = match &text.bytes[at.clone()] {
            b"\"Resume\"" => Some(Said::Resumed(resumed())),
            _ => {
                let next = || Some(text.decode(next?).ok()?.0);
                let (notes, lone) = (&mut self.notes, &mut self.end.lone_surrogates);
                let read = |raw: &RawValue| said(raw, &next, notes);
                text.message(at, lone, self.sink, read)?
            }
        };
        match found {
            None => Ok(()),
            Some(Said::System) => {
                self.end.other("system message (not sent)");
                Ok(())
            }
            Some(Said::Prompt(id, message)) => {
                self.prompt = id;
                let Some(message) = message else {
                    self.end.other("empty prompt");
                    return Ok(());
                };
                let entry = Some(entry(self.steps, None));
                self.prompts.push(Prompt {
                    message: message.clone(),
                    entry,
                });
                self.append(message, at, None)
            }
            Some(Said::Resumed(message)) => self.append(message, at, None),
            Some(Said::Reply(reply, results, open)) => {
                for _ in 0..open {
                    self.end.other("call without a result (not sent)");
                }
                // A turn's count is that of its newest request, whose reply ends the turn.
                let ends = results.is_none() && !next.is_some_and(|next| goes_on(&text, next));
                let usage = self.counted.by_prompt.get(&self.prompt).filter(|_| ends);
                let usage = usage.or(self.counted.by_place.get(number)).copied();
                let usage = usage.filter(|usage| usage.input_tokens > 0);
                if let Some(reply) = reply {
                    self.append(reply, at, usage)?;
                }
                results.map_or(Ok(()), |results| self.append(results, at, None))
            }
            Some(Said::Summary(summary)) => self.summed_up(summary, at),
        }
    }

    fn append(&mut self, message: Message, at: &Range<usize>, usage: Option<Usage>) -> Result<()> {
        self.calls.pair(&message, self.text, at, self.sink)?;
        self.visible += 1;
        self.step(Action::Append(message), at, usage)
    }

    fn step(&mut self, action: Action, at: &Range<usize>, usage: Option<Usage>) -> Result<()> {
        self.steps += 1;
        self.sink.step(Step {
            time: self.began.take(),
            usage,
            ..Step::new(action, self.text.span(at))
        })
    }

    /// What is sent after a compaction: the newest prompts, as many as there is room for, and the summary; of one that
    /// is a provider's own matter, nothing.
    fn summed_up(&mut self, summary: Option<Message>, at: &Range<usize>) -> Result<()> {
        let (first, cut) = match &summary {
            Some(_) => self.newest(),
            None => (self.prompts.len(), None),
        };
        let (gone, stay) = self.prompts.split_at_mut(first);
        gone.iter_mut().for_each(|prompt| prompt.entry = None);
        if self.visible == 0 {
            // There is nothing to hide.
            let again: Vec<Message> = stay.iter().map(|it| it.message.clone()).collect();
            for message in cut.into_iter().chain(again).chain(summary) {
                self.append(message, at, None)?;
            }
            // The summary is the last step.
            for (back, prompt) in self.prompts[first..].iter_mut().rev().enumerate() {
                prompt.entry = Some(entry(self.steps - 2 - back, None));
            }
            return Ok(());
        }
        let keep: Vec<StepEntry> = stay.iter().filter_map(|prompt| prompt.entry).collect();
        // What is cut or was gone is older than all that is sent still.
        let before = keep.first().copied();
        let mut replacements: Vec<_> = cut.into_iter().map(|message| (before, message)).collect();
        for prompt in stay.iter_mut().filter(|prompt| prompt.entry.is_none()) {
            prompt.entry = Some(entry(self.steps, Some(replacements.len())));
            replacements.push((before, prompt.message.clone()));
        }
        replacements.extend(summary.map(|summary| (None, summary)));
        self.visible = keep.len() + replacements.len();
        let hide = HideStep {
            kind: HideKind::Compaction,
            cover: Cover::Everything,
            keep,
            parts: Vec::new(),
            replacements,
            moment: Moment::Here,
        };
        self.step(Action::Hide(hide), at, None)
    }

    /// The first of the newest prompts for which there is room, and the beginning of the one before it.
    fn newest(&self) -> (usize, Option<Message>) {
        let mut room = PROMPT_BYTES_MAX;
        for (number, prompt) in self.prompts.iter().enumerate().rev() {
            match room.checked_sub(prompt.message.parts.iter().map(length).sum()) {
                Some(left) => room = left,
                None => return (number + 1, cut(&prompt.message, room)),
            }
        }
        (0, None)
    }
}

/// An entry of a step by its number.
fn entry(step: usize, replacement: Option<usize>) -> StepEntry {
    StepEntry {
        step: StepId(step),
        replacement,
    }
}

/// Whether a message goes on with the turn before it.
fn goes_on(text: &Text<'_>, at: &Range<usize>) -> bool {
    let is_reply = || {
        let (keys, _) = members(text.bytes, at.start);
        keys.first().is_some_and(|(key, _)| key == "Agent")
    };
    &text.bytes[at.clone()] == b"\"Resume\"" || is_reply()
}

/// How much room a part of a prompt takes, in bytes.
fn length(part: &Part) -> usize {
    match part {
        Part::Text { text } => text.len(),
        Part::Image(media) => match &media.source {
            MediaSource::Base64(text) => text.len(),
            MediaSource::Url(_) | MediaSource::FileId(_) => 0,
        },
        _ => 0,
    }
}

/// The beginning of a prompt that there is room for; none where that is nothing.
fn cut(message: &Message, mut room: usize) -> Option<Message> {
    let mut parts = Vec::new();
    for part in &message.parts {
        match (part, room.checked_sub(length(part))) {
            (_, Some(left)) => {
                room = left;
                parts.push(part.clone());
            }
            (Part::Text { text }, None) => {
                let text = &text[..text.floor_char_boundary(room)];
                parts.extend((!text.is_empty()).then(|| Part::text(text)));
                break;
            }
            (_, None) => break,
        }
    }
    (!parts.is_empty()).then(|| Message::new(message.role, parts))
}
