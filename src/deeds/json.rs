//! JSON that goes through as it is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::error::ApiError;

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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Scalar(pub String);

impl FromStr for Scalar {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

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

/// JSON that a program gives as it is. A command line names a file that holds it, or gives an object or a list itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Provided {
    /// An object or a list.
    Json(RawJson),
    /// The file's name. Only the command line reads files.
    File(String),
}

impl Provided {
    /// Its text.
    ///
    /// # Errors
    ///
    /// Where it is the name of a file.
    pub fn text(&self) -> Result<&str, ApiError> {
        match self {
            Self::Json(json) => Ok(json.text()),
            Self::File(name) => Err(ApiError::params(format!("'{name}' is no JSON object"))),
        }
    }
}

impl FromStr for Provided {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(serde_json::from_str(text).unwrap_or_else(|_| Self::File(text.to_owned())))
    }
}

impl Serialize for Provided {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(json) => json.serialize(to),
            Self::File(name) => name.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Provided {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(from)?;
        match json.text().starts_with(['{', '[']) {
            true => Ok(Self::Json(json)),
            false => Err(D::Error::custom("an object or a list is wanted")),
        }
    }
}

impl JsonSchema for Provided {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Provided".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!(true)
    }
}

/// What JSON may have in place of a text: a message in a provider's form.
pub struct TextOrMessage;

impl JsonSchema for TextOrMessage {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TextOrMessage".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "object", "null"]})
    }
}

/// A request setting; `KEY=VALUE` on a command line, where VALUE is JSON or a plain text.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestSetting {
    /// Its name.
    pub key: String,
    /// What it is set to.
    pub value: RawJson,
}

impl FromStr for RequestSetting {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
        let (key, value) = pair.ok_or("KEY=VALUE is wanted")?;
        let is_json = serde_json::from_str::<&RawValue>(value).is_ok();
        Ok(Self {
            key: key.to_owned(),
            value: match is_json {
                true => RawJson::of(value.trim().to_owned()),
                false => RawJson::string(value),
            },
        })
    }
}

/// Settings as an object; written out, as they are typed.
pub mod settings_by_key {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{JsonSettings, RequestSetting};

    /// As they are typed.
    ///
    /// # Errors
    ///
    /// The writer's.
    pub fn serialize<S: Serializer>(all: &[RequestSetting], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(
            all.iter()
                .map(|it| format!("{}={}", it.key, it.value.text())),
        )
    }

    /// From an object.
    ///
    /// # Errors
    ///
    /// Where it is none.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<RequestSetting>, D::Error> {
        let all = JsonSettings::deserialize(from)?.into_iter();
        Ok(all
            .map(|(key, value)| RequestSetting { key, value })
            .collect())
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
