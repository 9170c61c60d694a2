//! The attributes of a span, by their keys.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::formats::shared::parts;
use crate::wire::json::{Raw, decode, string};

lazy! {
    struct Attribute { key, value }

    struct Value { string = "stringValue", int = "intValue", double = "doubleValue", flag = "boolValue", list = "arrayValue" }
}

/// An attribute as writers have it, which one pass over its text reads.
#[derive(Deserialize)]
struct Plain<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow)]
    value: PlainValue<'a>,
}

#[derive(Deserialize)]
struct PlainValue<'a> {
    #[serde(borrow, rename = "stringValue")]
    string: Option<&'a RawValue>,
    #[serde(borrow, rename = "intValue")]
    int: Option<&'a RawValue>,
    #[serde(borrow, rename = "doubleValue")]
    double: Option<&'a RawValue>,
    #[serde(borrow, rename = "boolValue")]
    flag: Option<&'a RawValue>,
    #[serde(borrow, rename = "arrayValue")]
    list: Option<&'a RawValue>,
}

/// A span's attributes.
pub(super) struct Attributes<'a>(BTreeMap<Cow<'a, str>, &'a RawValue>);

impl<'a> Attributes<'a> {
    pub(super) fn of(raw: Raw<'a>) -> Self {
        if let Some(all) = decode::<Vec<Plain<'a>>>(raw) {
            let pairs = all.into_iter().filter_map(|attribute| {
                let of = attribute.value;
                let values = [of.string, of.int, of.double, of.flag, of.list];
                Some((attribute.key, values.into_iter().flatten().next()?))
            });
            return Self(pairs.collect());
        }
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
            let key = Cow::Owned(string(attribute.key)?);
            Some((key, values.into_iter().flatten().next()?))
        });
        Self(pairs.collect())
    }

    pub(super) fn get(&self, key: &str) -> Raw<'a> {
        self.0.get(key).copied()
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        parts::said(self.get(key))
    }

    pub(super) fn first(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.text(key))
    }

    /// A count, of the first of these that is one: it may be written as a text.
    pub(super) fn count(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| {
            let raw = self.get(key);
            decode(raw).or_else(|| string(raw)?.parse().ok())
        })
    }

    /// All whose keys begin so, with what follows.
    pub(super) fn below(&self, prefix: &str) -> impl Iterator<Item = (&str, &'a RawValue)> {
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let from = self.0.range::<str, _>(from);
        let prefix = prefix.to_owned();
        from.map_while(move |(key, raw)| Some((key.strip_prefix(&prefix)?, *raw)))
    }
}
