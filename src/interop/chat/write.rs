//! What the writers of documents share: remarks, and the document around its messages.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use crate::error::{Error, Result};
use crate::interop::Document;
use crate::model::Settings;
use crate::wire::json::{Object, array};

/// What a format could not hold, counted.
#[derive(Default)]
pub(crate) struct Remarks {
    left_out: BTreeMap<&'static str, u64>,
    other: BTreeSet<&'static str>,
}

impl Remarks {
    /// The remarks that the document itself calls for.
    pub(crate) fn of(document: &Document) -> Self {
        let mut remarks = Self::default();
        if !document.after.is_empty() {
            remarks.say("a JSON document cannot be continued; it was written whole");
        }
        remarks
    }

    /// Something was left out.
    pub(crate) fn add(&mut self, what: &'static str) {
        *self.left_out.entry(what).or_default() += 1;
    }

    /// Something was changed.
    pub(crate) fn say(&mut self, what: &'static str) {
        self.other.insert(what);
    }

    /// All of them, in words.
    pub(crate) fn into_words(self) -> Vec<String> {
        let left_out = self.left_out.into_iter();
        let left_out = left_out.map(|(what, count)| format!("left out: {what} ({count})"));
        let other = self.other.into_iter().map(str::to_owned);
        left_out.chain(other).collect()
    }
}

/// A request of these messages and settings.
pub(crate) fn document_text(
    system: Option<&str>,
    messages: &[String],
    settings: &Settings,
) -> String {
    let mut object = Object::new();
    if let Some(model) = settings.get("model") {
        object = object.raw("model", model);
    }
    if let Some(system) = system {
        object = object.raw("system", system);
    }
    object = object.raw("messages", &array(messages));
    for (key, value) in settings {
        if !["model", "messages", "system"].contains(&key.as_str()) {
            object = object.raw(key, value);
        }
    }
    object.finish()
}

/// Writes a text and a line's end.
pub(crate) fn write_all(out: &mut dyn Write, text: &str) -> Result<()> {
    writeln!(out, "{text}").map_err(Error::io("export"))
}
