//! Values that people write in more ways than one.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::json::Scalar;
use crate::render::read_tokens;

/// A value that is read from its text everywhere. JSON may give it as a number, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelled<T>(pub T);

impl<T: FromStr> FromStr for Spelled<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        text.parse().map(Self)
    }
}

impl<T: fmt::Display> fmt::Display for Spelled<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

impl<T: fmt::Display> Serialize for Spelled<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de, T> Deserialize<'de> for Spelled<T>
where
    T: FromStr<Err: fmt::Display>,
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Scalar(text) = Scalar::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl<T> JsonSchema for Spelled<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Spelled".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "number"]})
    }
}

/// A number of tokens: `40000`, `40k`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount(pub u64);

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        read_tokens(text).map(Self)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}
