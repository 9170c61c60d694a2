//! JSON that goes through as it is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
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
