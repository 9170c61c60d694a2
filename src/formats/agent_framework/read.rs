//! The importer: a list of messages, lines of them, or those in a session's state.

use std::ops::Range;

use super::message;
use crate::error::Result;
use crate::formats::Source;
use crate::formats::shared::document::{Document, Member, ObjectTeller, Opened};
use crate::formats::shared::head::Keys;
use crate::formats::shared::histories;
use crate::formats::shared::records::Held;
use crate::formats::shared::spans::members;
use crate::formats::shared::teller::Teller;

/// The member of a session that holds what each provider of context keeps.
const STATE: &str = "state";

/// Whether an object is a session with its state.
pub(super) fn is_session(object: &Keys<'_>) -> bool {
    object.is("type", "session") && object.has("session_id") && object.inside(STATE).is_some()
}

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let held = Held::read(source.input)?;
    let text = held.text();
    let whole = Keys::of(text.bytes, held.start);
    if !is_session(&whole) {
        return histories::import::<History>(source);
    }
    let mut teller = Teller::of(source.stem, History::LACKING, source.sink);
    teller.name(whole.text("session_id").filter(|id| !id.is_empty()));
    let mut teller = ObjectTeller::of(text, teller);
    let (keys, broken) = members(text.bytes, held.start);
    let state = keys.into_iter().find(|(key, _)| key == STATE);
    let start = state.map_or(held.start, |(_, at)| at.start);
    let mut records = 0;
    for (key, at) in members(text.bytes, start).0 {
        let kept = Keys::of(text.bytes, at.start);
        let mut messages = kept.list(History::RECORDS).into_iter().flatten();
        if !messages.any(|item| <History as histories::History>::is_message(&item)) {
            teller.end.other(key);
            continue;
        }
        records += Opened::<History>::inside(at.start, &mut teller).tell(&mut teller)?;
    }
    teller.close(&held, broken, records)
}

/// A list of messages.
#[derive(Default)]
pub(super) struct History;

impl Document for History {
    const RECORDS: &'static str = "messages";
    const MAY_BE_LIST: bool = true;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("session_id" | "id", Some(id)) => teller.name(Some(id)),
            (key, _) => {
                teller.end.other(key);
                return false;
            }
        }
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let said = teller.read(at, message::read)?;
        said.map_or(Ok(()), |said| teller.tell(said, at).map(drop))
    }
}

impl histories::History for History {
    fn is_message(object: &Keys<'_>) -> bool {
        let mut contents = object.list("contents").into_iter().flatten();
        object.is("type", "message") && object.has("role") && contents.any(|it| it.has("type"))
    }
}
