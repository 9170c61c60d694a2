//! JSON that goes through as it is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// Any JSON, its keys in their order and its numbers as they are written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(pub Box<RawValue>);

/// Request settings by their key, such as `model`, `temperature` and `tools`.
pub type JsonSettings = BTreeMap<String, RawJson>;

impl RawJson {
    /// A JSON text; what is none becomes null.
    pub fn of(text: String) -> Self {
        let raw = RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Self(raw)
    }

    /// A text as a JSON string.
    pub fn string(text: &str) -> Self {
        Self::of(serde_json::Value::from(text).to_string())
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl JsonSchema for RawJson {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RawJson".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!(true)
    }
}

/// A text that may be given as a number, or as true or false, which stand for what JSON writes for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scalar(pub String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(from)?;
        let text = match raw.text().as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw.text()).map_err(D::Error::custom)?,
            Some(b'{' | b'[' | b'n') | None => {
                return Err(D::Error::custom(
                    "a text, a number, true or false is wanted",
                ));
            }
            Some(_) => raw.text().to_owned(),
        };
        Ok(Self(text))
    }
}

impl JsonSchema for Scalar {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Scalar".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "number", "boolean"]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_what_is_written() {
        let read = |json: &str| serde_json::from_str::<Scalar>(json).map(|it| it.0);
        for (json, text) in [
            (r#""80%""#, "80%"),
            ("100000", "100000"),
            ("0.50", "0.50"),
            ("true", "true"),
            (r#""""#, ""),
        ] {
            assert_eq!(read(json).expect(json), text);
        }
        for json in ["null", "[1]", "{}"] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
