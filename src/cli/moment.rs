//! Moments as they are typed: `3w` (three weeks ago), `2026-01-31`, `2026-01-31T14:00`.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};
use tract::model::Millis;

use super::failure::Failure;

/// Which end of a day a date without a time means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Its first moment.
    Start,
    /// Its last.
    End,
}

/// Reads a moment, counted back from `now`; dates are local.
pub fn parse(text: &str, now: Millis, edge: Edge) -> Result<Millis, Failure> {
    read(text, now, edge, TimeZone::system()).ok_or_else(|| {
        Failure::usage(format!("'{text}' is no date and no age"))
            .with_hint("2026-01-31, 2026-01-31T14:00, or an age: 30min, 5h, 2d, 3w, 1mo, 1y")
    })
}

fn read(text: &str, now: Millis, edge: Edge, zone: TimeZone) -> Option<Millis> {
    let text = text.trim();
    let millis = |zoned: Zoned| Millis(zoned.timestamp().as_millisecond());
    let local = |civil: DateTime| civil.to_zoned(zone.clone()).ok();
    let age: Option<Span> = text.strip_suffix("ago").unwrap_or(text).trim().parse().ok();
    if let Some(age) = age {
        let now = Timestamp::from_millisecond(now.0).ok()?.to_zoned(zone);
        // "-3w" and "3w" mean the same: nothing was said in the future.
        return now.checked_sub(age.abs()).ok().map(millis);
    }
    if text.len() == "2026-01-31".len() {
        let date: Date = text.parse().ok()?;
        let next = date.checked_add(1.day()).ok()?;
        return match edge {
            Edge::Start => local(date.into()).map(millis),
            Edge::End => local(next.into()).map(|next| Millis(millis(next).0 - 1)),
        };
    }
    match text.parse::<Timestamp>() {
        Ok(stamp) => Some(Millis(stamp.as_millisecond())),
        Err(_) => local(text.parse().ok()?).map(millis),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_they_are_typed() {
        let now = Millis::parse("2026-03-14T12:00:00Z").expect("a time");
        let read = |text, edge| read(text, now, edge, TimeZone::UTC).map(Millis::to_iso);
        for (text, start) in [
            ("3w", "2026-02-21T12:00:00.000Z"),
            ("2d", "2026-03-12T12:00:00.000Z"),
            ("1mo ago", "2026-02-14T12:00:00.000Z"),
            ("90min", "2026-03-14T10:30:00.000Z"),
            ("1 week 2 days", "2026-03-05T12:00:00.000Z"),
            ("2026-01-31", "2026-01-31T00:00:00.000Z"),
            ("2026-01-31T14:00", "2026-01-31T14:00:00.000Z"),
            ("2026-01-31 14:00:05", "2026-01-31T14:00:05.000Z"),
            ("2026-01-31T14:00:00+02:00", "2026-01-31T12:00:00.000Z"),
        ] {
            assert_eq!(read(text, Edge::Start).as_deref(), Some(start), "{text}");
        }
        let last = read("2026-01-31", Edge::End);
        assert_eq!(last.as_deref(), Some("2026-01-31T23:59:59.999Z"));
        for wrong in [
            "",
            "yesterday-ish",
            "2026-13-01",
            "3",
            "2026-02-30",
            "99999999y",
        ] {
            assert_eq!(read(wrong, Edge::Start), None, "{wrong}");
        }
    }
}
