//! The attributes of a span, by their keys.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::formats::shared::parts;
use crate::wire::json::{Raw, decode, string};

lazy! {
    struct Attribute { key, value }

    struct Value { string = "stringValue", int = "intValue", double = "doubleValue", flag = "boolValue", list = "arrayValue" }
}

/// A span's attributes.
pub(super) struct Attributes<'a>(pub(super) BTreeMap<String, &'a RawValue>);

impl<'a> Attributes<'a> {
    pub(super) fn of(raw: Raw<'a>) -> Self {
        let all: Vec<Attribute<'a>> = decode(raw).unwrap_or_default();
        let pairs = all.into_iter().filter_map(|attribute| {
            let value: Value<'a> = decode(attribute.value)?;
            let values = [
                value.string,
                value.int,
                value.double,
                value.flag,
                value.list,
            ];
            Some((string(attribute.key)?, values.into_iter().flatten().next()?))
        });
        Self(pairs.collect())
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        parts::said(self.0.get(key).copied())
    }

    pub(super) fn first(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.text(key))
    }

    /// A count, of the first of these that is one: it may be written as a text.
    pub(super) fn count(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| {
            let raw = self.0.get(*key).copied();
            decode(raw).or_else(|| string(raw)?.parse().ok())
        })
    }

    /// All whose keys begin so, with what follows.
    pub(super) fn below(&self, prefix: &str) -> impl Iterator<Item = (&str, &'a RawValue)> {
        let from = self.0.range(prefix.to_owned()..);
        let prefix = prefix.to_owned();
        from.map_while(move |(key, raw)| Some((key.strip_prefix(&prefix)?, *raw)))
    }
}
