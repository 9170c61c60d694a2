//! JSON values, whatever their white space and the order of their keys.
//!
//! Numbers are kept by their text, so that `1.0`, `1` and ids of 64 bits stay apart.

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::model::call::Arguments;
use crate::model::depth::DEPTH_MAX;

/// A JSON value, keys in order of their code points.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum Json {
    /// `null`, `true`, `false`, or a number, as it was written.
    #[serde(serialize_with = "as_it_is")]
    Scalar(String),
    /// A string, without quotes and escapes.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Reads JSON text. None if it isn't JSON, nests deeper than [`DEPTH_MAX`], or says a key twice;
    /// it is compared as text then.
    pub fn parse(text: &str) -> Option<Self> {
        Self::read(text, DEPTH_MAX)
    }

    /// Reads JSON text that is an object or an array.
    pub fn parse_structure(text: &str) -> Option<Self> {
        let structured = text.trim_start().starts_with(['{', '[']);
        structured.then(|| Self::parse(text)).flatten()
    }

    fn read(text: &str, depth: usize) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let text = text.trim();
        Some(match text.as_bytes().first()? {
            b'{' => {
                let Arguments(pairs) = serde_json::from_str(text).ok()?;
                let mut object = BTreeMap::new();
                for (key, value) in pairs {
                    if object
                        .insert(key, Self::read(value.get(), depth)?)
                        .is_some()
                    {
                        return None;
                    }
                }
                Self::Object(object)
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                let items = items.into_iter().map(|item| Self::read(item.get(), depth));
                Self::Array(items.collect::<Option<_>>()?)
            }
            b'"' => Self::String(serde_json::from_str(text).ok()?),
            _ => {
                let scalar: &RawValue = serde_json::from_str(text).ok()?;
                Self::Scalar(scalar.get().to_owned())
            }
        })
    }

    /// The value on several lines, two spaces for each level.
    pub fn pretty(&self) -> String {
        serde_json::to_string_pretty(self).expect("a value is always JSON")
    }
}

impl fmt::Display for Json {
    /// The value on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).expect("a value is always JSON"))
    }
}

/// Writes JSON text as it is.
fn as_it_is<S: Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
    let raw: &RawValue = serde_json::from_str(text).map_err(S::Error::custom)?;
    raw.serialize(to)
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(in crate::diff) fn parse(text: &str) -> Json {
        Json::parse(text).unwrap_or_else(|| panic!("{text} is JSON"))
    }

    #[test]
    fn what_is_no_plain_json_is_none() {
        for text in [
            "",
            "{",
            "{\"a\":1,\"a\":2}",
            "not json",
            "\"\\ud800\"",
            "1 2",
        ] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
        assert_eq!(
            Json::parse(&format!("{}1{}", "[".repeat(100), "]".repeat(100))),
            None
        );
        assert_eq!(Json::parse_structure("12"), None);
        assert_eq!(parse(" [ ] ").pretty(), "[]");
        insta::assert_snapshot!(parse(r#"{"b":[1,{}],"a":"x"}"#).pretty(), @r#"
        {
          "a": "x",
          "b": [
            1,
            {}
          ]
        }
        "#);
    }

    pub(in crate::diff) fn values() -> impl Strategy<Value = Json> {
        let leaf = prop::sample::select(vec!["1", "2", "null", r#""a""#, r#""a\nb""#, r#""a\nc""#]);
        leaf.prop_map(parse).prop_recursive(3, 24, 4, |inner| {
            let key = prop::sample::select(vec!["a", "b", "c c"]).prop_map(str::to_owned);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
                prop::collection::btree_map(key, inner, 0..4).prop_map(Json::Object),
            ]
        })
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        #[test]
        fn a_value_is_what_it_is_written_as(value in values()) {
            prop_assert_eq!(Json::parse(&value.to_string()), Some(value.clone()));
            prop_assert_eq!(Json::parse(&value.pretty()), Some(value));
        }
    }
}
