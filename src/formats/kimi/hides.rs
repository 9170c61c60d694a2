//! What the tool sends no more: what it has summed up, cleared, emptied, or taken back.
//!
//! # Source
//!
//! `context/index.ts` and `compaction/micro.ts` of the tool, `contextMemory/contextOps.ts` of the later one.

use super::message::{Content, estimate, is_blank, rendered, text_of};
use super::read::{Damage, Kind, Reader, Slot, Words};
use super::record::{Record, Said};
use super::select::{Kept, both_ends, newest};
use crate::error::Result;
use crate::formats::shared::parts;
use crate::formats::{Action, Cover, HideStep, again};
use crate::model::{HideKind, Message, Part, Role};
use crate::wire::json::{decode, string};

/// The name of the note between the user's first words and the newest.
const ELISION: &str = "compaction_elision";
/// The name of the reminder that goes when its mode is left.
const SWARM: &str = "swarm_mode";
/// The name of the word to go on that stands behind a summary.
const CONTINUATION: &str = "compaction_continuation";
/// That word.
///
/// # Source
///
/// `contextMemory/compactionHandoff.ts` of 2.1.0.
const GO_ON: &str =
    "Context compaction is complete — continue the work that was in progress when it began.";
/// What stood in place of what a call gave long ago.
const EMPTIED: &str = "[Old tool result content cleared]";
/// What is shorter was let stand, in tokens as the tool estimates them.
const EMPTIED_TOKENS_MIN: u64 = 100;

/// What stands behind a hide: what is new with its message.
struct Stays {
    slot: Slot,
    new: Option<Message>,
}

impl Reader<'_> {
    /// A summary, behind the user's own words; as it was at first, before the newest messages.
    pub(super) fn compacted(&mut self, record: &Record<'_>) -> Result<(), Damage> {
        self.close(false)?;
        let said: Option<Said<'_>> = decode(record.summary);
        let text = string(record.context_summary).or_else(|| string(record.summary));
        let parts = match (&text, said) {
            (Some(text), _) => vec![Part::text(text.as_str())],
            (None, Some(said)) => {
                Content::of(said.content, super::KIMI.name, &mut self.teller.notes)?.parts
            }
            (None, None) => return Err("a compaction without its summary".into()),
        };
        let summary = Message::new(Role::User, parts);
        parts::checked([&summary])?;
        let tokens = text.as_deref().map_or(0, estimate);
        let summary = Stays::new(summary, Kind::Summary, tokens);
        let is_first = record.kept_user_message_count.is_none();
        let is_first = decode::<bool>(record.legacy_tail).unwrap_or(is_first);
        let stays = if is_first {
            let count = decode::<usize>(record.compacted_count).or_else(|| decode(record.count));
            let count = count.ok_or("a compaction that says not of how much")?;
            let tail = self.slots.split_off(count.min(self.slots.len()));
            let tail = tail.into_iter().map(Stays::old);
            std::iter::once(summary).chain(tail).collect()
        } else {
            let is_split = record.kept_head_user_message_count.is_some();
            let mut stays = self.words(is_split)?;
            stays.push(summary);
            stays
        };
        self.put(HideKind::Compaction, stays)?;
        self.is_compacted = !is_first;
        Ok(())
    }

    /// How many messages a compaction has left, by the tool's own count: later versions put a word to go on behind the
    /// summary, and count it.
    pub(super) fn left(&mut self, count: Option<usize>) -> Result<bool, Damage> {
        let is_compacted = std::mem::take(&mut self.is_compacted);
        if !is_compacted || count != Some(self.slots.len() + 1) {
            return Ok(false);
        }
        let word = Message::attached(CONTINUATION, vec![Part::text(GO_ON)]);
        let kind = Kind::Injected(CONTINUATION.to_owned());
        self.stand(Stays::new(word, kind, estimate(GO_ON)))?;
        Ok(true)
    }

    /// The user's own words, as far as a compaction keeps them.
    fn words(&mut self, is_split: bool) -> Result<Vec<Stays>> {
        let is_prompt = |slot: &Slot| matches!(slot.kind, Kind::Prompt(_));
        let slots = std::mem::take(&mut self.slots);
        let (prompts, gone): (Vec<_>, Vec<_>) = slots.into_iter().partition(is_prompt);
        // Whether there is anything to hide, these tell.
        self.slots = gone;
        let tokens: Vec<u64> = prompts.iter().map(|slot| slot.tokens + 1).collect();
        let mut text = |at: usize| match &prompts[at].kind {
            Kind::Prompt(Words::Here(text)) => Ok(text.clone()),
            Kind::Prompt(Words::There(span)) => {
                let record = again(self.input, *span)?;
                let record: Record<'_> = serde_json::from_str(&record).unwrap_or_default();
                let said: Said<'_> = decode(record.message).unwrap_or_default();
                Ok(text_of(&said))
            }
            _ => Ok(String::new()),
        };
        let kept = if is_split {
            both_ends(&tokens, &mut text)?
        } else {
            newest(&tokens, &mut text)?
        };
        let mut prompts: Vec<Option<Slot>> = prompts.into_iter().map(Some).collect();
        let mut stays = Vec::new();
        for kept in kept {
            stays.extend(match kept {
                Kept::Whole(at) => prompts[at].take().map(Stays::old),
                Kept::Cut(text) => {
                    let tokens = estimate(&text);
                    let kind = Kind::Prompt(Words::Here(text.clone()));
                    Some(Stays::new(Message::text(Role::User, text), kind, tokens))
                }
                Kept::Elided(tokens) => {
                    let text = elision(tokens);
                    let tokens = estimate(&text);
                    let note = Message::attached(ELISION, vec![Part::text(text)]);
                    Some(Stays::new(note, Kind::Injected(ELISION.to_owned()), tokens))
                }
            });
        }
        self.slots.extend(prompts.into_iter().flatten());
        Ok(stays)
    }

    /// Everything but the instructions goes.
    pub(super) fn cleared(&mut self) -> Result<(), Damage> {
        self.close(false)?;
        if self.slots.iter().all(|slot| slot.entry.is_none()) {
            self.slots.clear();
            return Ok(());
        }
        Ok(self.put(HideKind::Clear, Vec::new())?)
    }

    /// Hides what is sent but the instructions and what stays, and puts there what is new.
    fn put(&mut self, kind: HideKind, stays: Vec<Stays>) -> Result<()> {
        let is_sent = |stays: &Stays| stays.slot.entry.is_some();
        let hides = self.slots.iter().any(|slot| slot.entry.is_some());
        self.slots.clear();
        self.emptied = 0;
        if !hides && !stays.iter().any(is_sent) {
            // There is nothing to hide.
            return stays.into_iter().try_for_each(|stays| self.stand(stays));
        }
        // Before which of what stays each new message stands.
        let (mut next, mut before) = (None, Vec::with_capacity(stays.len()));
        for stays in stays.iter().rev() {
            before.push(next);
            next = stays.slot.entry.or(next);
        }
        before.reverse();
        let system = self.system.iter().map(|(_, entry)| *entry);
        let keep = system
            .chain(stays.iter().filter_map(|stays| stays.slot.entry))
            .collect();
        let step = self.teller.next_step();
        let (mut slots, mut replacements) = (Vec::new(), Vec::new());
        for (Stays { mut slot, new }, before) in stays.into_iter().zip(before) {
            if let Some(message) = new.filter(is_said) {
                slot.entry = Some(step.replacement(replacements.len()));
                replacements.push((before, message));
            }
            slots.push(slot);
        }
        let hide = HideStep::of(kind, Cover::Everything).keeping(keep);
        self.hide(hide.putting(replacements))?;
        self.slots = slots;
        Ok(())
    }

    /// What stands where nothing was before.
    fn stand(&mut self, stays: Stays) -> Result<()> {
        let Stays { mut slot, new } = stays;
        if let Some(message) = new.filter(is_said) {
            let step = self.current.step(Action::Append(message));
            slot.entry = Some(self.teller.step(step)?);
        }
        self.slots.push(slot);
        Ok(())
    }

    /// So many of the user's prompts are taken back, with all that came of them. Until protocol 1.5 what the
    /// tool had put there itself stayed, and too few prompts were no reason to take none.
    pub(super) fn taken_back(&mut self, count: Option<usize>) -> Result<(), Damage> {
        self.close(false)?;
        let count = count.ok_or("a count that is none")?;
        let (mut found, mut from) = (0, self.slots.len());
        for (at, slot) in self.slots.iter().enumerate().rev() {
            if found == count || matches!(slot.kind, Kind::Summary) {
                break;
            }
            match slot.kind {
                Kind::Injected(_) => continue,
                Kind::Prompt(_) => found += 1,
                _ if self.is_later => continue,
                _ => {}
            }
            from = at;
        }
        if self.is_later && found < count {
            return Ok(());
        }
        if let (true, Some(prompt)) = (self.is_later, self.slots.get(from)) {
            let id = prompt.prompt.clone();
            let before = self.slots[..from].iter().rev();
            let is_owned = |slot: &&Slot| {
                matches!(slot.kind, Kind::Injected(_)) && slot.prompt.is_some() && slot.prompt == id
            };
            from -= before.take_while(is_owned).count();
        }
        let gone = self.slots.split_off(from);
        self.emptied = self.emptied.min(from);
        let is_later = self.is_later;
        let stays = |slot: &Slot| !is_later && matches!(slot.kind, Kind::Injected(_));
        let (kept, gone): (Vec<_>, Vec<_>) = gone.into_iter().partition(stays);
        self.drop_all(&gone, &kept)?;
        self.slots.extend(kept);
        Ok(())
    }

    /// Hides these, which stand behind each other but for those that stay.
    fn drop_all(&mut self, gone: &[Slot], kept: &[Slot]) -> Result<()> {
        let mut entries = gone.iter().filter_map(|slot| slot.entry);
        let Some(first) = entries.next() else {
            return Ok(());
        };
        let last = entries.next_back().unwrap_or(first);
        // The instructions stand before all else, or among what is said if they came later.
        let steps = gone.iter().filter_map(|slot| slot.entry);
        let from = steps.map(|entry| entry.step).min();
        let system = self.system.iter().map(|(_, entry)| *entry);
        let system = system.filter(|entry| Some(entry.step) >= from);
        let keep = system.chain(kept.iter().filter_map(|slot| slot.entry));
        let keep = keep.collect();
        self.hide(HideStep::of(HideKind::Drop, Cover::Range(first, last)).keeping(keep))?;
        Ok(())
    }

    /// Takes one message out.
    pub(super) fn take_out(&mut self, at: usize) -> Result<()> {
        let gone = self.slots.remove(at);
        self.drop_all(&[gone], &[])
    }

    /// The reminder of a mode goes with it, where nothing came behind it.
    pub(super) fn swarm_left(&mut self) -> Result<bool, Damage> {
        let is_meant = |kind: &Kind| matches!(kind, Kind::Injected(variant) if variant == SWARM);
        if let Some(is_taken_out) = self.take_out_waiting(is_meant) {
            return Ok(is_taken_out);
        }
        // Whether it is the last is not known where reading began behind it.
        self.reaches_back = true;
        let is_last = self.slots.last().is_some_and(|last| is_meant(&last.kind));
        if is_last {
            self.take_out(self.slots.len() - 1)?;
        }
        Ok(is_last)
    }

    /// What calls have given, but for the newest messages, is not sent any more.
    pub(super) fn emptied(&mut self, cutoff: Option<usize>) -> Result<bool, Damage> {
        self.close(false)?;
        let cutoff = cutoff.ok_or("a place that is none")?.min(self.slots.len());
        let mut parts = Vec::new();
        // What stands before that has been looked at.
        let until = cutoff.max(self.emptied);
        let from = std::mem::replace(&mut self.emptied, until);
        for slot in self.slots.iter_mut().take(cutoff).skip(from) {
            let (Kind::Result { call, is_error }, Some(entry)) = (&slot.kind, slot.entry) else {
                continue;
            };
            if slot.tokens < EMPTIED_TOKENS_MIN {
                continue;
            }
            let content = rendered(vec![Part::text(EMPTIED)], *is_error, None, None);
            let stub = parts::result(Some(call.clone()), content, *is_error);
            slot.tokens = estimate(EMPTIED);
            parts.push((entry, 0, Some(Message::new(Role::Tool, vec![stub]))));
        }
        if parts.is_empty() {
            return Ok(false);
        }
        self.hide(HideStep::prune(parts))?;
        Ok(true)
    }
}

impl Stays {
    fn old(slot: Slot) -> Self {
        Self { slot, new: None }
    }

    fn new(message: Message, kind: Kind, tokens: u64) -> Self {
        Self {
            slot: Slot::new(kind, tokens),
            new: Some(message),
        }
    }
}

/// Whether the tool sends a message.
fn is_said(message: &Message) -> bool {
    message.parts.iter().any(|part| match part {
        Part::Text { text } => !is_blank(text),
        _ => true,
    })
}

/// What the tool says where it leaves some of the user's words out.
fn elision(tokens: u64) -> String {
    format!(
        "Some of this conversation's user messages were omitted here during compaction: the messages \
         above this note are the oldest user input, the messages below are the most recent, and roughly \
         {tokens} tokens in between were dropped. The omitted content is covered by the compaction \
         summary at the end of the conversation."
    )
}
