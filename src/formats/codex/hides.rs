//! What the tool hid: a compaction replaces all that was before, a rollback drops the last turns.

use serde_json::value::RawValue;

use super::record::Compacted;
use super::session::{Reader, UserEntry};
use crate::error::Result;
use crate::formats::{Action, Cover, HideStep, StepEntry};
use crate::model::{HideKind, Message, Role};
use crate::wire::json::{decode, string};
use crate::wire::responses;

impl Reader<'_> {
    pub(super) fn compacted(&mut self, payload: &RawValue) -> Result<()> {
        self.start()?;
        self.boundary()?;
        let Some(compacted) = decode::<Compacted<'_>>(Some(payload)) else {
            self.other("compacted");
            return self.problem("damaged compacted record");
        };
        let mut keep: Vec<StepEntry> = self.path.system.into_iter().collect();
        let full = compacted.replacement_history.is_some();
        let messages = match compacted.replacement_history {
            Some(items) => {
                let mut trouble = Vec::new();
                let notes = &mut self.teller.notes;
                let messages = responses::messages(&items, notes, |reason| trouble.push(reason));
                for reason in trouble {
                    self.problem(reason)?;
                }
                self.path.users.clear();
                messages.into_iter().map(|(message, _)| message).collect()
            }
            None => {
                keep.extend(self.path.users.iter().map(|user| user.entry));
                let summary = string(compacted.message).unwrap_or_default();
                vec![Message::text(Role::User, summary)]
            }
        };
        if self.path.last == self.path.system {
            for message in messages {
                self.input(message)?;
            }
            self.prompt = None;
            return Ok(());
        }
        let kinds: Vec<Option<bool>> = messages
            .iter()
            .map(|message| (message.role == Role::User).then(|| message.is_typed()))
            .collect();
        let step = self.teller.next_step();
        self.hide(HideKind::Compaction, Cover::Everything, keep, messages)?;
        if full {
            let replaced = kinds.into_iter().enumerate();
            let users = replaced.filter_map(|(index, typed)| {
                let entry = step.replacement(index);
                typed.map(|typed| UserEntry { entry, typed })
            });
            self.path.users.extend(users);
        }
        Ok(())
    }

    /// Drops the last `turns` turns; false if there are none.
    pub(super) fn roll_back(&mut self, turns: usize) -> Result<bool> {
        let users = self.path.users.iter().enumerate();
        let typed = users.filter(|(_, user)| user.typed);
        let starts: Vec<usize> = typed.map(|(at, _)| at).collect();
        let start = starts.get(starts.len().saturating_sub(turns)).copied();
        let (Some(start), Some(last)) = (start, self.path.last) else {
            return Ok(false);
        };
        let cover = Cover::Range(self.path.users[start].entry, last);
        self.path.users.truncate(start);
        self.hide(HideKind::Drop, cover, Vec::new(), Vec::new())?;
        Ok(true)
    }

    fn hide(
        &mut self,
        kind: HideKind,
        cover: Cover,
        keep: Vec<StepEntry>,
        messages: Vec<Message>,
    ) -> Result<()> {
        let replacements = messages.into_iter().map(|message| (None, message));
        let hide = HideStep::of(kind, cover)
            .keeping(keep)
            .putting(replacements.collect());
        self.emit(Action::Hide(hide))?;
        Ok(())
    }
}
