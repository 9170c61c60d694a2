//! A JSON object whose values keep their source text, so that one key can be changed alone.

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::model::call::Arguments;

/// Keys in source order, repeated ones included.
#[derive(Clone, Default)]
pub(in crate::formats) struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    /// An object's text; none if it is none.
    pub(in crate::formats) fn parse(text: &str) -> Option<Self> {
        // Arguments are an object like any other.
        let Arguments(fields) = serde_json::from_str(text).ok()?;
        let fields = fields.into_iter();
        let fields = fields.map(|(key, value)| (key, value.to_owned()));
        Some(Self(fields.collect()))
    }

    /// A new object.
    pub(in crate::formats) fn new(object: &Value) -> Self {
        Self::parse(&object.to_string()).expect("it is made as an object")
    }

    /// The objects among these texts.
    pub(in crate::formats) fn of_all<'t>(
        texts: impl IntoIterator<Item = &'t String>,
    ) -> impl Iterator<Item = Self> {
        texts.into_iter().filter_map(|text| Self::parse(text))
    }

    pub(in crate::formats) fn get(&self, key: &str) -> Option<&RawValue> {
        let found = self.0.iter().rev().find(|(name, _)| name == key)?;
        Some(&found.1)
    }

    pub(in crate::formats) fn string(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// Whether the text by a key is this one.
    pub(in crate::formats) fn is(&self, key: &str, text: &str) -> bool {
        self.string(key).as_deref() == Some(text)
    }

    /// All of it, in source order.
    pub(in crate::formats) fn members(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// Puts a value in its key's place, or at the end.
    pub(in crate::formats) fn set(&mut self, key: &str, value: &impl Serialize) {
        let raw = to_raw_value(value).expect("strings, flags and raw JSON have a text");
        let place = self.0.iter().position(|(name, _)| name == key);
        self.remove(key);
        let place = place.unwrap_or(self.0.len());
        self.0.insert(place, (key.to_owned(), raw));
    }

    pub(in crate::formats) fn remove(&mut self, key: &str) {
        self.0.retain(|(name, _)| name != key);
    }

    /// One line of JSON.
    pub(in crate::formats) fn line(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        // Line ends in JSON are white space between tokens, never part of a string.
        text.replace(['\n', '\r'], " ")
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
