//! A moment, in milliseconds; callers pass "now" in.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Millis(pub i64);

impl Millis {
    /// Reads an ISO 8601 time with a zone (`2026-01-23T14:21:48.710Z`), cut to milliseconds.
    pub fn parse(text: &str) -> Option<Self> {
        let stamp: Timestamp = text.parse().ok()?;
        Some(Self(stamp.as_millisecond()))
    }

    /// ISO 8601 in UTC with milliseconds: `2026-01-23T14:21:48.710Z`.
    ///
    /// A moment that no calendar holds is written as its number.
    pub fn to_iso(self) -> String {
        match Timestamp::from_millisecond(self.0) {
            Ok(stamp) => format!("{stamp:.3}"),
            Err(_) => self.0.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_survives_its_text() {
        let time = Millis::parse("2026-01-23T14:21:48.710Z").expect("a time");
        assert_eq!(time, Millis(1_769_178_108_710));
        assert_eq!(time.to_iso(), "2026-01-23T14:21:48.710Z");
        assert_eq!(Millis::parse("yesterday"), None);
    }
}
