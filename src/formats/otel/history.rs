//! Messages by the conventions that stand alone, as programs keep the list that an attribute holds.

use std::ops::Range;

use super::message;
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::head::Keys;
use crate::formats::shared::histories;

/// A list of messages.
#[derive(Default)]
pub(super) struct History;

impl Document for History {
    const RECORDS: &'static str = "messages";
    const MAY_BE_LIST: bool = true;

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("id" | "conversation_id", Some(id)) => teller.name(Some(id)),
            (key, _) => {
                teller.end.other(key);
                return false;
            }
        }
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        for message in teller.read(at, message::read)?.unwrap_or_default() {
            teller.append(message, at, None, None)?;
        }
        Ok(())
    }
}

impl histories::History for History {
    fn is_message(object: &Keys<'_>) -> bool {
        message::is_message(object)
    }
}
