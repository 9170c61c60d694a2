//! What an export tells its user: how what was written differs, and what the format cannot hold.

use std::collections::BTreeMap;

use crate::formats::Document;
use crate::model::{Message, Part};
use crate::wire::Repairs;

/// What is left out by formats whose tools write their own.
pub(in crate::formats) const SYSTEM: &str = "a system message; the tool writes its own";
/// What is left out by most formats.
pub(in crate::formats) const FOREIGN: &str = "a block of another provider";

/// Remarks as they come up.
#[derive(Default)]
pub(in crate::formats) struct Remarks {
    /// What the provider's rules asked for.
    pub(in crate::formats) repairs: Repairs,
    left_out: BTreeMap<&'static str, u64>,
    changed: BTreeMap<&'static str, u64>,
    is_whole: bool,
}

impl Remarks {
    /// The remarks that a document, which is no file of lines, calls for itself.
    pub(in crate::formats) fn of(document: &Document) -> Self {
        Self {
            is_whole: !document.after.is_empty(),
            ..Self::default()
        }
    }

    /// Something was left out.
    pub(in crate::formats) fn add(&mut self, what: &'static str) {
        *self.left_out.entry(what).or_default() += 1;
    }

    /// That calls failed was left out of a message.
    pub(in crate::formats) fn add_failures(&mut self, message: &Message) {
        let results = message.parts.iter().filter_map(Part::as_result);
        for _ in results.filter(|(.., is_error)| *is_error) {
            self.add("the mark of a failed tool call");
        }
    }

    /// Something was changed.
    pub(in crate::formats) fn say(&mut self, what: &'static str) {
        *self.changed.entry(what).or_default() += 1;
    }

    /// All of them, in words.
    pub(in crate::formats) fn into_words(self) -> Vec<String> {
        let repairs = self.repairs.iter();
        let repairs = repairs.map(|(repair, count, first)| repair.say(count, first));
        let left_out = self.left_out.into_iter();
        let left_out = left_out.map(|(what, count)| format!("left out: {what} ({count})"));
        let changed = self.changed.into_iter();
        let changed = changed.map(|(what, count)| match count {
            1 => what.to_owned(),
            count => format!("{what} ({count})"),
        });
        let whole = "a JSON document cannot be continued; it was written whole";
        let whole = self.is_whole.then(|| whole.to_owned());
        repairs
            .chain(left_out)
            .chain(changed)
            .chain(whole)
            .collect()
    }
}
