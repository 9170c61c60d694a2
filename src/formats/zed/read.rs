//! The importer: the messages of a thread, and what a compaction leaves of those before it.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::{Said, resumed, said};
use super::rows::{DAMAGE, FOLDERS, ID, ORDER, PARENT, first_folder};
use super::{MESSAGES, ROW};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::parts;
use crate::formats::shared::records::Text;
use crate::formats::shared::spans::members;
use crate::formats::{Action, Cover, HideStep, Step, StepEntry, StepId};
use crate::model::{HideKind, MediaSource, Message, Millis, Part, Usage};
use crate::wire::anthropic;
use crate::wire::json::{Raw, decode, string, text_at};

/// How much of the newest prompts is sent beside a summary, in bytes of their texts and pictures.
const PROMPT_BYTES_MAX: usize = 80_000;

/// A thread.
#[derive(Default)]
pub(super) struct Thread {
    /// What is wrong with its row.
    damage: Option<String>,
    /// When it was begun, as long as no step has told it.
    began: Option<Millis>,
    counted: Counted,
    /// How many of its messages were read.
    number: usize,
    /// The newest prompt's id.
    prompt: String,
    prompts: Vec<Prompt>,
    /// How many entries are sent.
    visible: usize,
}

/// What the provider counted for the newest request of each prompt; in older versions, of each message by its place.
#[derive(Default)]
struct Counted {
    by_prompt: HashMap<String, Usage>,
    by_place: Vec<Usage>,
}

impl Document for Thread {
    const RECORDS: &'static str = MESSAGES;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        let raw = member.raw;
        let json = raw.get();
        match member.key {
            ROW => {
                let of = |column| text_at(json, column);
                teller.name(of(ID));
                teller.start.descent.spawned_by = of(PARENT);
                self.damage = of(DAMAGE);
                let folders = of(FOLDERS);
                teller.end.cwd = folders.and_then(|it| first_folder(&it, of(ORDER).as_deref()));
            }
            // Older versions call it a summary.
            "title" | "summary" => {
                teller.end.title = member.word().or(teller.end.title.take());
            }
            "subagent_context" => {
                let parent = text_at(json, "parent_thread_id");
                let here = &mut teller.start.descent.spawned_by;
                *here = here.take().or(parent);
            }
            "initial_project_snapshot" => self.snapshot(raw, teller),
            "request_token_usage" => {
                let usage = |raw: &RawValue| anthropic::usage(Some(raw)).unwrap_or_default();
                let by_prompt: HashMap<String, &RawValue> = decode(Some(raw)).unwrap_or_default();
                let by_prompt = by_prompt.into_iter();
                self.counted.by_prompt = by_prompt.map(|(id, it)| (id, usage(it))).collect();
                let by_place: Vec<&RawValue> = decode(Some(raw)).unwrap_or_default();
                self.counted.by_place = by_place.into_iter().map(usage).collect();
            }
            _ => {}
        }
        true
    }

    fn begin(&mut self, _: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        teller.open()?;
        match self.damage.take() {
            Some(damage) => teller.problem_on(0, damage),
            None => Ok(()),
        }
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let (text, next) = (teller.text, teller.next.clone());
        let next = next.as_ref();
        let number = self.number;
        self.number += 1;
        let found = match &teller.text.bytes[at.clone()] {
            b"\"Resume\"" => Some(Said::Resumed(resumed())),
            _ => {
                let next = || Some(text.decode(next?).ok()?.0);
                teller.read(at, |raw, notes| said(raw, &next, notes))?
            }
        };
        match found {
            None => Ok(()),
            Some(Said::System) => {
                teller.end.other("system message (not sent)");
                Ok(())
            }
            Some(Said::Prompt(id, message)) => {
                self.prompt = id;
                let Some(message) = message else {
                    teller.end.other("empty prompt");
                    return Ok(());
                };
                let entry = Some(teller.next_step().entry());
                self.prompts.push(Prompt {
                    message: message.clone(),
                    entry,
                });
                self.append(message, at, None, teller)
            }
            Some(Said::Resumed(message)) => self.append(message, at, None, teller),
            Some(Said::Reply(reply, results, open)) => {
                for _ in 0..open {
                    teller.end.other("call without a result (not sent)");
                }
                // A turn's count is that of its newest request, whose reply ends the turn.
                let ends = results.is_none() && !next.is_some_and(|next| goes_on(&text, next));
                let usage = self.counted.by_prompt.get(&self.prompt).filter(|_| ends);
                let usage = usage.or(self.counted.by_place.get(number)).copied();
                let usage = usage.filter(|usage| usage.input_tokens > 0);
                if let Some(reply) = reply {
                    self.append(reply, at, usage, teller)?;
                }
                results.map_or(Ok(()), |results| self.append(results, at, None, teller))
            }
            Some(Said::Summary(summary)) => self.summed_up(summary, at, teller),
        }
    }
}

impl Thread {
    /// What the project was when the thread was begun.
    fn snapshot(&mut self, raw: &RawValue, teller: &mut ObjectTeller<'_, '_>) {
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
        teller.end.cwd = teller.end.cwd.take().or(first);
    }

    fn append(
        &mut self,
        message: Message,
        at: &Range<usize>,
        usage: Option<Usage>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        self.visible += 1;
        teller
            .append(message, at, self.began.take(), usage.map(Into::into))
            .map(drop)
    }

    /// What is sent after a compaction: the newest prompts, as many as there is room for, and the summary; of one that
    /// is a provider's own matter, nothing.
    fn summed_up(
        &mut self,
        summary: Option<Message>,
        at: &Range<usize>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
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
                self.append(message, at, None, teller)?;
            }
            // The summary is the last step.
            for (back, prompt) in self.prompts[first..].iter_mut().rev().enumerate() {
                prompt.entry = Some(StepId(teller.next_step().0 - 2 - back).entry());
            }
            return Ok(());
        }
        let keep: Vec<StepEntry> = stay.iter().filter_map(|prompt| prompt.entry).collect();
        // What is cut or was gone is older than all that is sent still.
        let before = keep.first().copied();
        let mut replacements: Vec<_> = cut.into_iter().map(|message| (before, message)).collect();
        for prompt in stay.iter_mut().filter(|prompt| prompt.entry.is_none()) {
            prompt.entry = Some(teller.next_step().replacement(replacements.len()));
            replacements.push((before, prompt.message.clone()));
        }
        replacements.extend(summary.map(|summary| (None, summary)));
        self.visible = keep.len() + replacements.len();
        let hide = HideStep::of(HideKind::Compaction, Cover::Everything)
            .keeping(keep)
            .putting(replacements);
        let step = Step::new(Action::Hide(hide), teller.text.span(at));
        teller.step(step.at(self.began.take())).map(drop)
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

/// What the user said.
struct Prompt {
    message: Message,
    /// Where it is, as long as it is sent.
    entry: Option<StepEntry>,
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
    parts::message(message.role, parts)
}
