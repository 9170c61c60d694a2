//! The importer: the messages of a session as steps, and what its summaries stand for.

use std::ops::Range;

use super::MESSAGES;
use super::message::{End, Said, said};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::{Action, Cover, HideStep, Step};
use crate::model::{Role, StatedUsage};
use crate::wire::json::decode;

/// A session.
#[derive(Default)]
pub(super) struct Session {
    /// The message that the tool goes on from.
    summary: Option<String>,
    has_said: bool,
}

impl Document for Session {
    const RECORDS: &'static str = MESSAGES;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("id", id) => teller.name(id),
            ("title", title) => teller.end.title = title,
            ("parent_session_id", id) => teller.start.descent.spawned_by = id,
            // The counts of tokens beside it are of the newest request.
            ("cost", _) => {
                let mut stated = StatedUsage::default();
                stated.cost(decode(Some(member.raw)).unwrap_or_default());
                teller.end.stated = stated.if_any();
            }
            ("summary_message_id", id) => self.summary = id,
            _ => return false,
        }
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let Some(said) = teller.read(at, said)? else {
            return Ok(());
        };
        let (role, time) = (said.role, said.time);
        let is_summary = self.is_summary(&said);
        if role == Role::Assistant {
            let model = said.model.clone();
            teller.set("model", model);
        }
        let message = if is_summary {
            said.summary()
        } else {
            said.message()
        };
        let Some(message) = message else {
            teller.end.other(format!("{role} (empty)"));
            return Ok(());
        };
        let text = teller.text;
        teller.pair(&message, text, at)?;
        let action = if is_summary && self.has_said {
            Action::Hide(HideStep::summary(Cover::Everything, message))
        } else {
            Action::Append(message)
        };
        self.has_said = true;
        teller
            .step(Step::new(action, text.span(at)).at(time))
            .map(drop)
    }
}

impl Session {
    /// Whether the tool went on from a message: a summary that failed is one of the messages.
    fn is_summary(&self, said: &Said) -> bool {
        let is_newest = self.summary.as_ref() == Some(&said.id);
        is_newest || said.is_summary && said.end == End::Done
    }
}
