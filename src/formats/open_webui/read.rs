//! The importer: the messages of a chat as a tree, or as the list that older versions have alone.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::message::{self, Said};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::parts::seconds;
use crate::formats::shared::spans::{Broken, elements, members};
use crate::formats::shared::ways::{Behind, Walker, Ways, found, walk};
use crate::formats::{Action, Cover, HideStep, Moment, Step, StepEntry};
use crate::model::{Message, Part, Role};
use crate::wire::json::quoted;

/// What the service puts in front of a summary.
const SUMMARY: &str = "[CONVERSATION SUMMARY]\n";

/// One chat.
#[derive(Default)]
pub(super) struct Chat {
    /// The ids of the messages that were not read yet, the last first; none of a list.
    keys: Vec<String>,
    records: Vec<(Range<usize>, Said)>,
    current: Option<String>,
    title: Option<String>,
    /// The chat's own system prompt, and where it stands.
    system: Option<(String, Range<usize>)>,
}

/// A text at a place.
fn word(bytes: &[u8], at: &Range<usize>) -> Option<String> {
    let found: Option<String> = serde_json::from_slice(bytes.get(at.clone())?).ok();
    found.filter(|text| !text.is_empty())
}

impl Document for Chat {
    const RECORDS: &'static str = "chat";
    const OPEN: u8 = b'{';

    fn records(&mut self, bytes: &[u8], start: usize) -> (Vec<Range<usize>>, Option<Broken>) {
        let (chat, mut broken) = members(bytes, start);
        let (mut tree, mut list) = (Vec::new(), Vec::new());
        for (key, at) in chat {
            match key.as_str() {
                "title" => self.title = word(bytes, &at),
                "messages" => list = elements(bytes, at.start).0,
                "params" => {
                    let mut params = members(bytes, at.start).0.into_iter();
                    let system = params.find(|(key, _)| key == "system");
                    self.system = system.and_then(|(_, at)| Some((word(bytes, &at)?, at)));
                }
                "history" => {
                    for (key, at) in members(bytes, at.start).0 {
                        match key.as_str() {
                            "currentId" => self.current = word(bytes, &at),
                            "messages" => {
                                let torn;
                                (tree, torn) = members(bytes, at.start);
                                broken = broken.or(torn);
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        if tree.is_empty() {
            return (list, broken);
        }
        let (keys, places): (Vec<_>, _) = tree.into_iter().unzip();
        self.keys = keys.into_iter().rev().collect();
        (places, broken)
    }

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("id", id) => teller.name(id),
            ("title", title) => teller.end.title = title,
            ("created_at", _) => teller.start.descent.begun = seconds(Some(member.raw)),
            _ => return false,
        }
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let mut said = teller.read(at, message::read)?.unwrap_or_default();
        match self.keys.pop() {
            Some(key) => said.id = Some(key),
            // In a list each follows the one before.
            None => {
                said.id = said.id.or_else(|| Some(at.start.to_string()));
                let before = self.records.last();
                said.parent = before.and_then(|(_, before)| before.id.clone());
            }
        }
        self.records.push((at.clone(), said));
        Ok(())
    }

    /// Tells of the way to the message where it stands, then of those that leave it.
    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        teller.end.title = teller.end.title.take().or_else(|| self.title.take());
        let ids = self.records.iter().enumerate();
        let by_id = ids.filter_map(|(at, (_, said))| Some((said.id.as_deref()?, at)));
        let by_id: HashMap<&str, usize> = by_id.collect();
        let mut parents = Vec::with_capacity(self.records.len());
        for (at, said) in &self.records {
            parents.push(found(said.parent.as_deref(), "parent", &by_id, at, teller)?);
        }
        let here = teller.begins..teller.begins;
        let current = self.current.as_deref();
        let stands = found(current, "current message", &by_id, &here, teller)?;
        walk(parents, stands, self, teller)
    }
}

/// What is known on a way.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// The model that answers.
    model: Option<Rc<str>>,
    /// The first and the last of what is sent.
    sent: Option<[StepEntry; 2]>,
}

impl Known {
    fn send(&mut self, entry: StepEntry) {
        let first = self.sent.map_or(entry, |[first, _]| first);
        self.sent = Some([first, entry]);
    }
}

impl Chat {
    /// What sums up all that was sent before, which is not sent any more: behind the chat's own prompt, in one message
    /// (`compact_messages_for_request` and its caller in `backend/open_webui/utils`). When it was made is not known.
    fn summary(&self, summary: &str, known: &mut Known) -> Action {
        let system = self.system.as_ref().map(|(text, _)| format!("{text}\n"));
        let summary = format!("{}{SUMMARY}{summary}", system.unwrap_or_default());
        let message = Message::text(Role::System, summary);
        match known.sent.take() {
            Some([first, last]) => {
                let hide = HideStep::summary(Cover::Range(first, last), message);
                Action::Hide(hide.made(Moment::Since(0)))
            }
            None => Action::Append(message),
        }
    }
}

impl Walker for Chat {
    const RECORD: &'static str = "message";
    type State = Known;

    fn place(&self, at: usize) -> &Range<usize> {
        &self.records[at].0
    }

    fn tell(
        &mut self,
        way: &[usize],
        _: &Ways,
        behind: &mut Behind<Self::State>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<usize> {
        if let (None, Some((system, at))) = (behind.last, &self.system) {
            let message = Message::new(Role::System, vec![Part::text(system.as_str())]);
            let step = Step::append(message, teller.text.span(at));
            behind.state.send(teller.follow(step, &mut behind.last)?);
        }
        let (at, said) = &mut self.records[way[0]];
        let at = at.clone();
        let mut said = std::mem::take(said);
        if said.messages.is_empty() {
            teller.end.other("empty message");
        }
        if let Some(summary) = &said.summary {
            let step = Step::new(
                self.summary(summary, &mut behind.state),
                teller.text.span(&at),
            );
            behind.state.send(teller.follow(step, &mut behind.last)?);
        }
        let last = said
            .messages
            .iter()
            .rposition(|it| it.role == Role::Assistant);
        for (number, message) in std::mem::take(&mut said.messages).into_iter().enumerate() {
            let text = teller.text;
            teller.pair(&message, text, &at)?;
            let model = said
                .model
                .as_deref()
                .filter(|_| message.role == Role::Assistant);
            let model = model.filter(|model| behind.state.model.as_deref() != Some(*model));
            if let Some(model) = model {
                behind.state.model = Some(model.into());
            }
            let step = Step::append(message, text.span(&at))
                .at(said.time)
                .by_model(model.map(quoted))
                .counted(said.usage.filter(|_| last == Some(number)));
            behind.state.send(teller.follow(step, &mut behind.last)?);
        }
        Ok(1)
    }
}
