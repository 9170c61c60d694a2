//! A JSON object whose values keep their source text, so that one key can be changed alone.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Keys in source order, repeated ones included.
#[derive(Clone, Default)]
pub(super) struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    /// An object's text; none if it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn get(&self, key: &str) -> Option<&RawValue> {
        let found = self.0.iter().rev().find(|(name, _)| name == key)?;
        Some(&found.1)
    }

    pub(super) fn string(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// Puts a value in its key's place, or at the end.
    pub(super) fn set(&mut self, key: &str, value: &impl Serialize) {
        // Strings, numbers, flags and raw JSON always have a text.
        let Ok(raw) = serde_json::value::to_raw_value(value) else {
            return;
        };
        match self.0.iter().position(|(name, _)| name == key) {
            Some(at) => {
                self.0[at].1 = raw;
                let mut place = 0..;
                self.0
                    .retain(|(name, _)| place.next() == Some(at) || name != key);
            }
            None => self.0.push((key.to_owned(), raw)),
        }
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.0.retain(|(name, _)| name != key);
    }

    /// One line of JSON.
    pub(super) fn line(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        // Line ends in JSON are white space between tokens, never part of a string.
        text.replace(['\n', '\r'], " ")
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
