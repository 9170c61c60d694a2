//! Values that people write in more ways than one.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::ApiError;
use super::json::Scalar;
use crate::model::Millis;
use crate::render::calendar::Edge;
use crate::render::{Calendar, read_tokens};

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

/// A number of JSON as it is written: `0.70`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal(String);

impl FromStr for Decimal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match serde_json::from_str::<serde_json::Number>(text) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(_) => Err(format!("'{text}' is not a number")),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

/// A moment: a date, an age such as `2h`, or milliseconds since 1970. It keeps its text, for only a calendar knows what
/// that means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenTime(pub String);

impl WrittenTime {
    /// Fewer digits are no milliseconds: the smallest number of so many is a day of March 1973. Seconds since 1970 have
    /// ten until the year 2286.
    const LEAST_DIGITS: usize = 12;

    /// What it means; a date alone means this end of its day.
    ///
    /// # Errors
    ///
    /// Where it is no moment.
    pub fn read(&self, calendar: &Calendar, edge: Edge) -> Result<Millis, ApiError> {
        let text = &self.0;
        let is_number =
            text.len() >= Self::LEAST_DIGITS && text.bytes().all(|c| c.is_ascii_digit());
        let found = match text.parse() {
            Ok(millis) if is_number => Some(Millis(millis)),
            _ => calendar.read(text, edge),
        };
        found.ok_or_else(|| {
            ApiError::params(format!("'{text}' is neither a date nor an age"))
                .with_hint("2026-01-31, 2026-01-31T14:00, yesterday, last week, or an age: 30min, 5h, 2d, 3w, 1mo, 1y")
        })
    }
}

impl FromStr for WrittenTime {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for WrittenTime {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    #[test]
    fn a_moment_is_an_age_a_date_or_milliseconds() {
        let calendar = Calendar {
            now: Millis(1_773_489_600_000),
            zone: TimeZone::UTC,
            ages: false,
        };
        let read = |json: &str| {
            let moment: Spelled<WrittenTime> = serde_json::from_str(json).expect(json);
            moment.0.read(&calendar, Edge::Start).ok()
        };
        let hours = |hours: i64| Some(Millis(calendar.now.0 - hours * 3_600_000));
        assert_eq!(read(r#""2h""#), hours(2));
        assert_eq!(read(r#""2026-03-14""#), hours(12));
        assert_eq!(read("1773482400000"), hours(2));
        assert_eq!(read(r#""1773482400000""#), hours(2));
        // Ten minutes, and seconds since 1970, are no milliseconds.
        for wrong in ["10", "1773482400", r#""soon""#] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
