//! The importers: messages as a program keeps them, and those of a thread of Mastra's.

use std::ops::Range;

use super::message;
use super::{MESSAGES, PARENT, THREAD};
use crate::error::Result;
use crate::formats::otel;
use crate::formats::shared::chat::is_in_parts;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::head::Keys;
use crate::formats::shared::histories::History;
use crate::formats::shared::parts::time;
use crate::model::{Message, Role};
use crate::wire::json::{decode, quoted, string};

/// A list of messages, or what a program has around it.
#[derive(Default)]
pub(super) struct Chat {
    /// The system prompt, and where it stands.
    system: Option<(Message, Range<usize>)>,
}

impl Document for Chat {
    const RECORDS: &'static str = "messages";
    const MAY_BE_LIST: bool = true;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("id" | "chatId" | "threadId", Some(id)) => teller.name(Some(id)),
            ("title", title) => teller.end.title = title,
            ("model", Some(model)) => teller.set("model", Some(quoted(&model))),
            ("system", Some(system)) => {
                let message = Message::text(Role::System, system);
                self.system = Some((message, member.at.clone()));
            }
            ("createdAt", _) => teller.start.descent.begun = time(Some(member.raw)),
            (key, _) => {
                teller.end.other(key);
                return false;
            }
        }
        true
    }

    fn begin(&mut self, _: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        teller.begin_with(self.system.take())
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        tell(at, teller)
    }
}

impl History for Chat {
    /// Each of its parts names its type; those of others do not. The oldest have what was called beside their text.
    fn is_message(object: &Keys<'_>) -> bool {
        let mut parts = object.list("parts").into_iter().flatten();
        let mut in_parts = || is_in_parts(object) && parts.any(|part| part.has("type"));
        is_old(object) || !otel::is_message(object) && in_parts()
    }
}

/// Whether an object is a message of version 4 or before, in which parts are not there yet.
fn is_old(object: &Keys<'_>) -> bool {
    let is_spoken = object.has("role") && object.text("content").is_some();
    let calls = || object.list("toolInvocations").is_some();
    let has_more = || {
        let kept = object.has("id") && object.has("createdAt");
        calls() || object.list("experimental_attachments").is_some() || kept
    };
    is_spoken && !object.has("parts") && has_more()
}

/// A thread of Mastra's.
#[derive(Default)]
pub(super) struct Thread;

impl Document for Thread {
    const RECORDS: &'static str = MESSAGES;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        lazy! {
            struct Row { id, title, created_at = "createdAt", metadata }
            struct About { path = "projectPath" }
        }
        match (member.key, member.word()) {
            (THREAD, _) => {}
            (PARENT, parent) => {
                teller.start.descent.spawned_by = parent;
                return true;
            }
            _ => return false,
        }
        let row: Row<'_> = decode(Some(member.raw)).unwrap_or_default();
        let about: About<'_> = decode(row.metadata).unwrap_or_default();
        teller.name(string(row.id));
        teller.end.title = string(row.title).filter(|title| !title.is_empty());
        teller.end.cwd = string(about.path);
        teller.start.descent.begun = time(row.created_at);
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        tell(at, teller)
    }
}

/// Tells of the messages that a record stands for.
fn tell(at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
    let Some(said) = teller.read(at, message::read)? else {
        return Ok(());
    };
    let is_silent = said.messages.is_empty() && said.left_out.is_empty();
    let left_out = said
        .left_out
        .into_iter()
        .chain(is_silent.then(|| "empty message".to_owned()));
    left_out.for_each(|kind| teller.end.other(kind));
    let mut steps = said.steps.into_iter();
    for (message, time) in said.messages {
        let is_reply = message.role == Role::Assistant;
        let known = if is_reply { steps.next() } else { None };
        let (model, usage) = known.map_or((None, None), |known| (known.model, known.usage));
        if is_reply {
            let model = model.as_deref().or(said.model.as_deref());
            teller.set("model", model.map(quoted));
        }
        let usage = usage.or(said.usage.filter(|_| is_reply)).map(Into::into);
        teller.append(message, at, time, usage)?;
    }
    Ok(())
}
