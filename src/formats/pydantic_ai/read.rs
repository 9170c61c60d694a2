//! The importer: requests and responses in their order, with the instructions that hold.

use std::ops::Range;

use super::message;
use crate::error::Result;
use crate::formats::Step;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::head::Keys;
use crate::formats::shared::histories;
use crate::formats::shared::instructions::Instructions;
use crate::model::Role;
use crate::wire::json::quoted;

/// A history.
#[derive(Default)]
pub(super) struct History {
    instructions: Instructions,
}

impl Document for History {
    const RECORDS: &'static str = "messages";
    const MAY_BE_LIST: bool = true;
    const LACKING: &'static [&'static str] = &["tool definitions"];

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("id" | "conversation_id", Some(id)) => teller.name(Some(id)),
            ("title", title) => teller.end.title = title,
            (key, _) => {
                teller.end.other(key);
                return false;
            }
        }
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let Some(mut said) = teller.read(at, message::read)? else {
            return Ok(());
        };
        said.left_out
            .drain(..)
            .for_each(|kind| teller.end.other(kind));
        teller.set("model", said.model.as_deref().map(quoted));
        let mut messages = said.messages.into_iter();
        for message in messages.by_ref().take(said.leading) {
            teller.append(message, at, said.time, None)?;
        }
        // What answers tools alone says nothing of instructions where it has none.
        if said.is_request && !(said.is_results && said.instructions.is_none()) {
            self.instructions
                .take(said.instructions, said.time, at, teller)?;
        }
        for message in messages {
            let is_reply = message.role == Role::Assistant;
            let text = teller.text;
            teller.pair(&message, text, at)?;
            let step = Step::append(message, text.span(at)).at(said.time);
            let usage = if is_reply { said.usage.take() } else { None };
            teller.step(step.recorded(usage))?;
        }
        Ok(())
    }
}

impl histories::History for History {
    fn is_message(object: &Keys<'_>) -> bool {
        let mut parts = object.list("parts").into_iter().flatten();
        let is_kind = ["request", "response"]
            .iter()
            .any(|kind| object.is("kind", kind));
        is_kind && parts.any(|part| part.has("part_kind"))
    }
}
