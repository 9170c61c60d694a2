//! How things stood in the tool where a session is left: a resumed one goes on from there.
//!
//! `world_state` says what the tool has told the model of itself (skills, environment, modes), so that it
//! tells only what is new; without one it tells all again. `turn_context` holds what a turn was made with.

use serde_json::Value;
use serde_json::value::RawValue;

use super::record::{Record, TURN};
use super::write::Writer;
use crate::error::Result;
use crate::formats::shared::records::rewritten;
use crate::wire::json::{quoted, word};

const WORLD: &str = "world_state";
/// What comes before it the model is no longer told.
const COMPACTED: &str = "compacted";

const KINDS: [&str; 3] = [WORLD, TURN, COMPACTED];

/// Whether a record says how things stand.
pub(super) fn is_state(record: &str) -> bool {
    // Most lines are none, and long.
    let front = record.get(..record.len().min(200)).unwrap_or(record);
    let is_such = |kind| front.contains(kind);
    KINDS.into_iter().any(is_such) && kind(record).is_some()
}

/// The kind of such a record and what it says.
fn kind(record: &str) -> Option<(&'static str, &RawValue)> {
    let record = serde_json::from_str::<Record<'_>>(record).ok()?;
    let kind = word(record.r#type)?;
    let kind = KINDS.into_iter().find(|known| *known == &*kind)?;
    Some((kind, record.payload?))
}

impl Writer<'_> {
    /// Writes how things stood, by the session's own records. What the model was told counts only where
    /// all of that is still there, since the tool's own compaction if there is one.
    pub(super) fn standing(&mut self) -> Result<()> {
        let document = self.document;
        if !document.fresh || self.legacy {
            return Ok(());
        }
        let states = document.state.iter();
        let states: Vec<_> = states.filter_map(|text| kind(text)).collect();
        let since = states.iter().rposition(|(kind, _)| *kind == COMPACTED);
        let since = since.map_or(0, |at| at + 1);
        let worlds = states[since..].iter().filter(|(kind, _)| *kind == WORLD);
        let mut worlds: Vec<&RawValue> = worlds.map(|(_, payload)| *payload).collect();
        let is_full = |payload: &&RawValue| {
            serde_json::from_str::<Value>(payload.get()).is_ok_and(|world| world["full"] == true)
        };
        // Each of the others changes the one before it.
        let full = worlds.iter().rposition(is_full);
        let worlds = match full.filter(|_| document.is_whole) {
            Some(full) => worlds.split_off(full),
            None => Vec::new(),
        };
        for world in worlds {
            self.enveloped(WORLD, world.get())?;
        }
        let mut turns = states.iter().rev().filter(|(kind, _)| *kind == TURN);
        if let Some((_, turn)) = turns.next() {
            let here = rewritten(turn.get(), |key, value| match key {
                "cwd" if !document.cwd.is_empty() => Some(quoted(&document.cwd)),
                _ => Some(value.to_owned()),
            });
            self.enveloped(TURN, &here.finish())?;
        }
        Ok(())
    }
}
