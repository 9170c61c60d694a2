//! The context: what compiling a commit gives, before any body is read.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use imbl::Vector;

use crate::hash::{CommitHash, ContentHash, HashBytes, fingerprint};
use crate::model::{EntryId, HideKind, Message, PartHide, Priority};

/// The visible entries at a commit, in order.
///
/// A persistent vector: a clone shares what it does not change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The visible entries.
    pub entries: Vector<Entry>,
    /// For each request setting, the commit that set it last.
    pub settings: BTreeMap<String, CommitHash>,
    /// How many entries the whole order has, hidden ones included.
    pub total_entries: u64,
    /// How many hides of each kind are active, in the order of [`HideKind::ALL`].
    pub hides: [u32; 5],
}

/// One visible entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub id: EntryId,
    /// Its content: that of the latest active edit, or its own.
    pub content: ContentHash,
    /// Its hidden parts.
    pub mask: Mask,
    /// Its priority; never [`Priority::Skip`] in a context.
    pub priority: Priority,
    /// The kind of hide that placed it; none for an appended message.
    pub placed: Option<HideKind>,
    /// Whether an edit gave it its content.
    pub edited: bool,
}

/// Which parts of a content are hidden, and what stands in their place. Mostly empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask(Option<Arc<Vec<MaskedPart>>>);

/// One hidden part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MaskedPart {
    /// The part's index, from 0.
    pub part: u32,
    /// The message whose parts stand in its place; none: nothing does.
    pub stub: Option<ContentHash>,
}

impl From<&PartHide> for MaskedPart {
    fn from(hidden: &PartHide) -> Self {
        Self {
            part: hidden.part,
            stub: hidden.stub,
        }
    }
}

impl Entry {
    /// An entry as it is made.
    pub(crate) fn new(id: EntryId, content: ContentHash, placed: Option<HideKind>) -> Self {
        Self {
            id,
            content,
            mask: Mask::default(),
            priority: Priority::Normal,
            placed,
            edited: false,
        }
    }

    /// Whether it is what a commit appended, and nothing has changed it since.
    pub fn is_as_appended(&self) -> bool {
        !self.edited && self.mask.is_empty() && self.placed.is_none()
    }
}

impl Context {
    /// How many entries of the order are not visible.
    pub fn hidden_entries(&self) -> u64 {
        self.total_entries - self.entries.len() as u64
    }

    /// The place of a kind in `hides`.
    pub(crate) fn slot_of(kind: HideKind) -> usize {
        HideKind::ALL
            .iter()
            .position(|other| *other == kind)
            .expect("ALL has every kind")
    }

    /// The places of all visible entries, from 0.
    pub fn positions(&self) -> HashMap<EntryId, usize> {
        let entries = self.entries.iter().enumerate();
        entries.map(|(at, entry)| (entry.id, at)).collect()
    }

    /// The place of an entry among the visible ones, from 0. Linear.
    pub fn position(&self, id: &EntryId) -> Option<usize> {
        self.entries.iter().position(|entry| entry.id == *id)
    }
}

impl Mask {
    /// A mask of these parts; where a part is named twice the later one holds.
    pub fn new(parts: impl IntoIterator<Item = MaskedPart>) -> Self {
        let by_part: BTreeMap<u32, MaskedPart> =
            parts.into_iter().map(|part| (part.part, part)).collect();
        let parts: Vec<MaskedPart> = by_part.into_values().collect();
        Self((!parts.is_empty()).then(|| Arc::new(parts)))
    }

    /// The hidden parts, by index.
    pub fn parts(&self) -> &[MaskedPart] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Whether nothing is hidden.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// A name for this mask, under which counts of the masked content are kept; none if nothing
    /// is hidden.
    pub fn key(&self) -> Option<HashBytes> {
        if self.is_empty() {
            return None;
        }
        let parts = self.parts().iter().map(|part| match part.stub {
            Some(stub) => format!("{}:{stub};", part.part),
            None => format!("{};", part.part),
        });
        let text: String = parts.collect();
        Some(fingerprint(text.as_bytes()))
    }

    /// The message as the context holds it. `stub` gives the messages behind the stubs; a stub
    /// that it doesn't know leaves nothing in the part's place.
    pub fn apply(
        &self,
        message: Message,
        stub: impl Fn(&ContentHash) -> Option<Message>,
    ) -> Message {
        if self.is_empty() {
            return message;
        }
        let mut parts = Vec::with_capacity(message.parts.len());
        for (index, part) in message.parts.into_iter().enumerate() {
            let mut masked = self.parts().iter();
            match masked.find(|masked| masked.part as usize == index) {
                None => parts.push(part),
                Some(masked) => {
                    let stub = masked.stub.as_ref().and_then(&stub);
                    parts.extend(stub.into_iter().flat_map(|message| message.parts));
                }
            }
        }
        Message { parts, ..message }
    }
}
