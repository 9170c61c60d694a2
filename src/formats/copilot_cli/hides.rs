//! What the tool sends no more: what it has summed up, cleared, or taken back.

use super::message::summed_up;
use super::prompts::Asked;
use super::read::{Reader, fingerprint};
use super::record::{Data, Event};
use crate::error::Result;
use crate::formats::shared::parts::said;
use crate::formats::{Action, Cover, HideStep, Problem, StepEntry, again};
use crate::model::{HideKind, Message, Role};
use crate::wire::json::{decode, word};

impl Reader<'_> {
    /// A summary hides what was sent when it was begun; what came while it was made follows it.
    pub(super) fn compacted(&mut self, data: &Data<'_>) -> Result<bool> {
        self.close()?;
        let begun = self.path.compacting.take();
        let done = decode::<bool>(data.success) != Some(false);
        let Some(summary) = said(data.summary_content).filter(|_| done) else {
            return Ok(false);
        };
        self.read_asked()?;
        let message = Message::text(Role::User, summed_up(self.path.asked.text(), &summary));
        let end = begun.unwrap_or(usize::MAX).min(self.path.sent.len());
        let kept = self.path.sent.split_off(end);
        self.put(HideKind::Compaction, Some(message), kept)?;
        Ok(true)
    }

    /// Reads what the user asked for since that was read last.
    fn read_asked(&mut self) -> Result<()> {
        while let Some(span) = self.path.asked.unread() {
            let record = again(self.input, span)?;
            let event: Event<'_> = serde_json::from_str(&record).unwrap_or_default();
            let data: Data<'_> = decode(event.data).unwrap_or_default();
            let prompt = said(data.content).or_else(|| said(data.initial_message));
            self.path.asked.read(prompt.as_deref());
        }
        Ok(())
    }

    /// Everything but the instructions goes; a prompt may begin what follows.
    pub(super) fn clear(&mut self, data: &Data<'_>) -> Result<bool> {
        self.close()?;
        self.path.seed = said(data.initial_message);
        let seed = self.path.seed.clone();
        self.path.asked = Asked::default();
        if seed.is_some() {
            self.path.asked.push(self.current.span);
        }
        let open = std::mem::take(&mut self.path.open);
        self.path.cleared.extend(open);
        if self.path.sent.is_empty() && seed.is_none() {
            return Ok(false);
        }
        let seed = seed.map(|seed| Message::text(Role::User, seed));
        self.put(HideKind::Clear, seed, Vec::new())?;
        Ok(true)
    }

    /// Hides what is sent but the instructions and what is kept, before which the message stands.
    fn put(
        &mut self,
        kind: HideKind,
        message: Option<Message>,
        kept: Vec<StepEntry>,
    ) -> Result<()> {
        self.path.compacting = None;
        self.path.places.clear();
        let placed = message.is_some();
        let entry = match message {
            // There is nothing to hide.
            Some(message) if self.path.sent.is_empty() => self.tell(Action::Append(message))?,
            message => {
                let system = self.path.system.iter().map(|(.., entry)| *entry);
                let before = kept.first().copied();
                let hide = HideStep::of(kind, Cover::Everything)
                    .keeping(system.chain(kept.iter().copied()).collect())
                    .putting(message.into_iter().map(|it| (before, it)).collect());
                self.hide(hide)?
            }
        };
        self.path.sent = placed.then_some(entry).into_iter().chain(kept).collect();
        Ok(())
    }

    /// An event and all that came after it are taken back. The tool takes them out of its file, too;
    /// then there is nothing to hide.
    pub(super) fn taken_back(&mut self, data: &Data<'_>) -> Result<bool> {
        self.close()?;
        let id = word(data.up_to_event_id).unwrap_or_default();
        let place = self.path.places.get(&fingerprint(&id)).copied();
        let Some((sent, asked)) = place else {
            return Ok(false);
        };
        self.path.asked.truncate(asked);
        let gone = self.path.sent.split_off(sent.min(self.path.sent.len()));
        let (Some(first), Some(last)) = (gone.first(), gone.last()) else {
            return Ok(false);
        };
        // The instructions stand among the rest, and are said again only if they are others.
        let from = gone.iter().map(|entry| entry.step).min();
        let system = self.path.system.iter().map(|(.., entry)| *entry);
        let keep = system.filter(|entry| Some(entry.step) >= from).collect();
        self.hide(HideStep::of(HideKind::Drop, Cover::Range(*first, *last)).keeping(keep))?;
        Ok(true)
    }

    /// How many messages are not sent is said, and not which: nothing can be hidden for it.
    pub(super) fn truncated(&mut self, data: &Data<'_>) -> Result<bool> {
        let count = decode::<u64>(data.messages_removed_during_truncation).unwrap_or(0);
        if count > 0 {
            let reason = format!("{count} messages were not sent here; which is not in the file");
            self.teller.sink.problem(Problem {
                harmless: true,
                ..Problem::new(self.current.line, reason)
            })?;
        }
        Ok(false)
    }
}
