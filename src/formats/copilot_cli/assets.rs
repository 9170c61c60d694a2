//! Bytes that the log holds once, and names where they are sent.

use std::collections::HashMap;

use super::record::{Data, Event};
use crate::formats::{Input, again};
use crate::model::Span;
use crate::wire::json::{decode, string};

/// Bytes that stand in events of their own.
pub(super) struct Assets<'r> {
    pub(super) input: &'r dyn Input,
    /// The events, by the bytes' ids.
    pub(super) places: &'r HashMap<String, Span>,
    /// Whether some were not found.
    pub(super) lacks: bool,
}

impl Assets<'_> {
    /// The media type and the base64 text of bytes.
    pub(super) fn find(&mut self, id: &str) -> Option<(Option<String>, String)> {
        let found = self.read(id);
        self.lacks |= found.is_none();
        found
    }

    fn read(&self, id: &str) -> Option<(Option<String>, String)> {
        let text = again(self.input, *self.places.get(id)?).ok()?;
        let event = serde_json::from_str::<Event<'_>>(&text).ok()?;
        let held = decode::<Data<'_>>(event.data)?;
        Some((string(held.mime_type), string(held.data)?))
    }
}
