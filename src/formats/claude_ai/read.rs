//! The importer: the messages of a conversation as a list or a tree.

use std::collections::HashMap;
use std::ops::Range;

use super::message::{self, Said};
use crate::error::Result;
use crate::formats::Step;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::ways::{Behind, Walker, Ways, found, walk};
use crate::model::Millis;
use crate::wire::json::quoted;

/// What the first message of a tree names as the one before it.
const ROOT: &str = "00000000-0000-4000-8000-000000000000";

/// One conversation.
#[derive(Default)]
pub(super) struct Conversation {
    records: Vec<(Range<usize>, Said)>,
    current: Option<String>,
    model: Option<String>,
}

impl Document for Conversation {
    const RECORDS: &'static str = "chat_messages";

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("uuid", Some(id)) => teller.start.id = id,
            ("name", Some(name)) => teller.end.title = Some(name),
            ("created_at", Some(time)) => teller.start.descent.begun = Millis::parse(&time),
            ("current_leaf_message_uuid", leaf) => self.current = leaf,
            ("model", model) => self.model = model,
            _ => return false,
        }
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let said = teller.read(at, message::read)?.unwrap_or_default();
        self.records.push((at.clone(), said));
        Ok(())
    }

    /// Tells of the way to the message where it stands, then of those that leave it.
    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let ids = self.records.iter().enumerate();
        let by_id = ids.filter_map(|(at, (_, said))| Some((said.id.as_deref()?, at)));
        let by_id: HashMap<&str, usize> = by_id.collect();
        let parents = self.parents(&by_id, teller)?;
        let here = teller.begins..teller.begins;
        let current = self.current.as_deref();
        let stands = found(current, "current message", &by_id, &here, teller)?;
        let last = self.records.len().checked_sub(1);
        walk(parents, stands.or(last), self, teller)
    }
}

impl Conversation {
    /// The record before each one: in a tree by its own word, in a list the one that stands there.
    fn parents(
        &self,
        by_id: &HashMap<&str, usize>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<Vec<Option<usize>>> {
        let is_tree = self.records.iter().any(|(_, said)| said.parent.is_some());
        let mut parents = Vec::with_capacity(self.records.len());
        for (number, (at, said)) in self.records.iter().enumerate() {
            let before = number.checked_sub(1);
            let named = said.parent.as_deref();
            let found = named.and_then(|parent| by_id.get(parent)).copied();
            parents.push(match (named, found, before) {
                (Some(_), Some(found), _) => Some(found),
                // The first one names what is no message.
                (Some(ROOT), None, _) | (Some(_), None, None) => None,
                (Some(parent), None, before) => {
                    let what = "is not in the conversation; the message before it is taken";
                    teller.problem(at, format!("parent {parent} {what}"))?;
                    before
                }
                (None, ..) if is_tree && said.is_read => None,
                (None, ..) => before,
            });
        }
        Ok(parents)
    }
}

impl Walker for Conversation {
    const RECORD: &'static str = "message";
    type State = ();

    fn place(&self, at: usize) -> &Range<usize> {
        &self.records[at].0
    }

    fn tell(
        &mut self,
        way: &[usize],
        _: &Ways,
        behind: &mut Behind<()>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<usize> {
        let (at, said) = &mut self.records[way[0]];
        if said.is_read && said.messages.is_empty() {
            teller.end.other("empty message");
        }
        for message in std::mem::take(&mut said.messages) {
            let model = self.model.as_deref().filter(|_| behind.last.is_none());
            let step = Step::append(message, teller.text.span(at))
                .at(said.time)
                .by_model(model.map(quoted));
            teller.follow(step, &mut behind.last)?;
        }
        Ok(1)
    }
}
