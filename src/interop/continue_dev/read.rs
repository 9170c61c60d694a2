//! The importer: the items of a history as steps.

use serde_json::Value;
use serde_json::value::RawValue;

use super::item::{Item, Told, told};
use crate::error::Result;
use crate::interop::places;
use crate::interop::records::Held;
use crate::interop::spans::{elements, members};
use crate::interop::{
    Action, Cover, HideStep, ImportOptions, Input, Moment, SessionEnd, SessionStart, Sink, Step,
    StepEntry, StepId,
};
use crate::model::{HideKind, Message, Role, Settings, Span, Usage};
use crate::wire::Notes;
use crate::wire::json::quoted;

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let mut start = SessionStart::new(options.stem);
    let mut end = SessionEnd::lacking(&["system prompt", "tool definitions"]);
    let mut history = Vec::new();
    for (key, at) in keys {
        if key == "history" {
            let (found, torn) = elements(text.bytes, at.start);
            history = found;
            broken = torn.or(broken);
            continue;
        }
        let value: Value = serde_json::from_slice(&text.bytes[at]).unwrap_or_default();
        let word = value.as_str().filter(|word| !word.is_empty());
        match (key.as_str(), word) {
            ("sessionId", Some(id)) => id.clone_into(&mut start.id),
            ("title", Some(title)) => end.title = Some(title.to_owned()),
            ("workspaceDirectory", Some(place)) => end.cwd = Some(places::path(place)),
            ("sessionId" | "title" | "workspaceDirectory", None) => {}
            _ => end.other(key),
        }
    }
    sink.session(start)?;
    let mut notes = Notes::default();
    let (mut items, mut places) = (Vec::new(), Vec::new());
    for at in &history {
        let read = |raw: &RawValue| Item::of(raw.get(), &mut notes);
        if let Some(item) = text.message(at, &mut end.lone_surrogates, sink, read)? {
            items.push(item);
            places.push(text.span(at));
        }
    }
    let told = told(&items);
    let mut silent = vec![true; items.len()];
    for told in &told {
        let (Told::Message(_, by) | Told::Summary(_, by)) = told;
        silent[by.clone()].fill(false);
    }
    for (item, _) in items.iter().zip(&silent).filter(|(_, silent)| **silent) {
        end.other(format!("{} (not sent)", item.role));
    }
    let mut telling = Telling {
        sink,
        steps: 0,
        sent: Vec::new(),
        model: None,
    };
    for told in told {
        telling.tell(told, &items, &places)?;
    }
    held.end(broken, sink)?;
    sink.progress(text.bytes.len() as u64, history.len() as u64);
    end.opaque_blocks = notes.opaque_blocks;
    sink.end(end)
}

struct Telling<'s> {
    sink: &'s mut dyn Sink,
    steps: usize,
    /// What is sent by now, in order.
    sent: Vec<StepEntry>,
    model: Option<String>,
}

impl Telling<'_> {
    fn tell(&mut self, told: Told, items: &[Item], places: &[Span]) -> Result<()> {
        match told {
            Told::Message(message, by) => {
                let last = items.get(by.end - 1);
                let last = last.filter(|_| message.role == Role::Assistant);
                let (model, usage) = last.map_or((None, None), |it| (it.model.clone(), it.usage));
                let entry = self.step(Action::Append(message), model, usage, &places[by])?;
                self.sent.push(entry);
            }
            Told::Summary(message, by) => {
                let entry = self.step(self.summary(message), None, None, &places[by])?;
                let replacement = (!self.sent.is_empty()).then_some(0);
                self.sent = vec![StepEntry {
                    replacement,
                    ..entry
                }];
            }
        }
        Ok(())
    }

    /// A summary stands in place of what is sent by now; when that was shows only the place.
    fn summary(&self, message: Message) -> Action {
        let (Some(first), Some(last)) = (self.sent.first(), self.sent.last()) else {
            return Action::Append(message);
        };
        Action::Hide(HideStep {
            kind: HideKind::Compaction,
            cover: Cover::Range(*first, *last),
            keep: Vec::new(),
            parts: Vec::new(),
            replacements: vec![(None, message)],
            moment: Moment::Since(0),
        })
    }

    fn step(
        &mut self,
        action: Action,
        model: Option<String>,
        usage: Option<Usage>,
        records: &[Span],
    ) -> Result<StepEntry> {
        let mut settings = Settings::new();
        if let Some(model) = model.filter(|model| self.model.as_ref() != Some(model)) {
            settings.insert("model".to_owned(), quoted(&model));
            self.model = Some(model);
        }
        self.sink.step(Step {
            action,
            time: None,
            settings,
            records: records.to_vec(),
            usage,
            was: None,
        })?;
        self.steps += 1;
        Ok(StepEntry {
            step: StepId(self.steps - 1),
            replacement: None,
        })
    }
}
