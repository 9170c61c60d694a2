//! Times as people read them, and as they type them: `2 min ago` on a terminal, the local date and
//! time in a pipe; `3w` (three weeks ago), `2026-01-31`, `2026-01-31T14:00`.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

use crate::model::Millis;

/// What times are read against.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// What "ago" is counted from.
    pub now: Millis,
    /// Where dates are local.
    pub zone: TimeZone,
    /// Whether a list shows ages rather than exact times.
    pub ages: bool,
}

/// Which end of a day a date without a time means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Its first moment.
    Start,
    /// Its last.
    End,
}

impl Calendar {
    /// `just now`, `2 min ago`, `3 h ago`, `5 days ago`, and the date from two months on.
    pub fn ago(&self, time: Millis) -> String {
        let seconds = self.now.0.saturating_sub(time.0) / 1_000;
        let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
        match (minutes, hours, days) {
            _ if seconds < 0 => self.date(time),
            (0, ..) => "just now".to_owned(),
            (1..60, ..) => format!("{minutes} min ago"),
            (_, 1..24, _) => format!("{hours} h ago"),
            (.., 1) => "yesterday".to_owned(),
            (.., 2..60) => format!("{days} days ago"),
            _ => self.date(time),
        }
    }

    /// A time as a list shows it: its age, or exact, and `-` where there is none.
    pub fn listed(&self, time: Option<Millis>) -> String {
        match time {
            None => "-".to_owned(),
            Some(time) if self.ages => self.ago(time),
            Some(time) => self.absolute(time),
        }
    }

    /// `2 min ago`, as [`Calendar::ago`] says it, and the date with the time where that would be a date.
    pub fn aged(&self, time: Millis) -> String {
        let ago = self.ago(time);
        if ago == self.date(time) {
            self.local(time, "%Y-%m-%d %H:%M")
        } else {
            ago
        }
    }

    /// `2026-01-23, 3 days ago`: the day that many times are of, local; how long ago only where that is no date again.
    pub fn day(&self, time: Millis) -> String {
        let date = self.date(time);
        let start = |time: Millis| self.read(&self.date(time), Edge::Start);
        let days = start(self.now).zip(start(time)).map(|(now, then)| {
            // A day may have 23 hours, or 25.
            (now.0 - then.0 + 43_200_000).div_euclid(86_400_000)
        });
        match days {
            Some(0) => format!("{date}, today"),
            Some(1) => format!("{date}, yesterday"),
            Some(days @ 2..60) => format!("{date}, {days} days ago"),
            _ => date,
        }
    }

    /// `14:21`, local.
    pub fn minute(&self, time: Millis) -> String {
        self.local(time, "%H:%M")
    }

    /// `14:21:48`, local.
    pub fn second(&self, time: Millis) -> String {
        self.local(time, "%H:%M:%S")
    }

    /// `2026-01-23`, local.
    pub fn date(&self, time: Millis) -> String {
        self.local(time, "%Y-%m-%d")
    }

    /// `14:00`, local: the hour of the day.
    pub fn hour(&self, time: Millis) -> String {
        self.local(time, "%H:00")
    }

    /// `5 Fri`, local: the day of the week, from 1 for Monday.
    pub fn weekday(&self, time: Millis) -> String {
        self.local(time, "%u %a")
    }

    /// `2026-W04`, local: the week as ISO 8601 counts them.
    pub fn week(&self, time: Millis) -> String {
        self.local(time, "%G-W%V")
    }

    /// `2026-01`, local.
    pub fn month(&self, time: Millis) -> String {
        self.local(time, "%Y-%m")
    }

    /// `2026-01-23 14:21:48`, local.
    pub fn absolute(&self, time: Millis) -> String {
        self.local(time, "%Y-%m-%d %H:%M:%S")
    }

    /// `2026-01-23 14:21:48 +0100`, local with its zone; `-` where there is none.
    pub fn full(&self, time: Option<Millis>) -> String {
        time.map_or("-".to_owned(), |time| {
            self.local(time, "%Y-%m-%d %H:%M:%S %z")
        })
    }

    /// `2026-01-23T14-21-48`, local, as a file name holds it.
    pub fn for_file_name(&self, time: Millis) -> String {
        self.local(time, "%Y-%m-%dT%H-%M-%S")
    }

    fn local(&self, time: Millis, format: &str) -> String {
        let zoned = |stamp: Timestamp| stamp.to_zoned(self.zone.clone());
        match Timestamp::from_millisecond(time.0).map(zoned) {
            Ok(local) => local.strftime(format).to_string(),
            Err(_) => time.to_iso(),
        }
    }

    /// Reads a moment as it was typed: a local date, or an age. `None`: it is neither.
    pub fn read(&self, text: &str, edge: Edge) -> Option<Millis> {
        let text = text.trim();
        if let Some((first, next)) = self.spoken(text) {
            return self.edge_of(first, next, edge);
        }
        let text = text.strip_prefix("since ").unwrap_or(text);
        let one = ["a ", "an ", "one "]
            .iter()
            .find_map(|it| text.strip_prefix(it));
        let text = &*one.map_or(text.to_owned(), |rest| format!("1 {rest}"));
        let millis = |zoned: Zoned| Millis(zoned.timestamp().as_millisecond());
        let local = |civil: DateTime| civil.to_zoned(self.zone.clone()).ok();
        let age: Option<Span> = text.strip_suffix("ago").unwrap_or(text).trim().parse().ok();
        if let Some(age) = age {
            let now = Timestamp::from_millisecond(self.now.0).ok()?;
            let now = now.to_zoned(self.zone.clone());
            // "-3w" and "3w" mean the same: nothing was said in the future.
            return now.checked_sub(age.abs()).ok().map(millis);
        }
        if text.len() == "2026-01-31".len() {
            let date: Date = text.parse().ok()?;
            return self.edge_of(date, date.checked_add(1.day()).ok()?, edge);
        }
        match text.parse::<Timestamp>() {
            Ok(stamp) => Some(Millis(stamp.as_millisecond())),
            Err(_) => local(text.parse().ok()?).map(millis),
        }
    }

    /// An end of the days from one to before another.
    fn edge_of(&self, first: Date, next: Date, edge: Edge) -> Option<Millis> {
        let local = |date: Date| {
            let zoned = DateTime::from(date).to_zoned(self.zone.clone()).ok()?;
            Some(zoned.timestamp().as_millisecond())
        };
        Some(Millis(match edge {
            Edge::Start => local(first)?,
            Edge::End => local(next)? - 1,
        }))
    }

    /// The days that are meant by `today`, `yesterday`, `this week`, `last month`, `monday`: from one to before another.
    fn spoken(&self, text: &str) -> Option<(Date, Date)> {
        let text = text.to_lowercase();
        let now = Timestamp::from_millisecond(self.now.0).ok()?;
        let today = now.to_zoned(self.zone.clone()).date();
        let day = |date: Date| Some((date, date.checked_add(1.day()).ok()?));
        let back = |days: i64| today.checked_sub(days.days()).ok();
        let words: Vec<&str> = text.split_whitespace().collect();
        let (is_last, unit) = match words[..] {
            ["today"] | ["this", "morning" | "afternoon" | "evening"] => return day(today),
            ["yesterday"] | ["last", "night"] => return day(back(1)?),
            ["this", unit] => (false, unit),
            ["last", unit] | ["the", "last", unit] => (true, unit),
            [unit] | ["on", unit] => (false, unit),
            _ => return None,
        };
        let since_monday = i64::from(today.weekday().to_monday_zero_offset());
        if let Some(wanted) = WEEKDAYS.iter().position(|name| *name == unit) {
            let ago = (since_monday - wanted as i64).rem_euclid(7);
            let ago = if is_last && ago == 0 { 7 } else { ago };
            return day(back(ago)?);
        }
        if words.len() == 1 {
            return None;
        }
        let (first, length) = match unit {
            "week" => (back(since_monday)?, Span::new().weeks(1)),
            "month" => (today.first_of_month(), Span::new().months(1)),
            "year" => (today.first_of_year(), Span::new().years(1)),
            _ => return None,
        };
        let first = match is_last {
            true => first.checked_sub(length).ok()?,
            false => first,
        };
        Some((first, first.checked_add(length).ok()?))
    }
}

/// The days of a week.
const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn calendar(now: &str) -> Calendar {
        Calendar {
            now: Millis::parse(now).expect("a time"),
            zone: TimeZone::UTC,
            ages: true,
        }
    }

    #[test]
    fn ages_are_rounded_down() {
        let calendar = calendar("2026-01-23T14:21:48.710Z");
        let age = |seconds: i64| calendar.ago(Millis(calendar.now.0 - seconds * 1_000));
        assert_eq!(
            [0, 59, 60, 3_599, 3_600, 86_400, 172_800].map(age),
            [
                "just now",
                "just now",
                "1 min ago",
                "59 min ago",
                "1 h ago",
                "yesterday",
                "2 days ago"
            ]
        );
    }

    #[test]
    fn times_are_read_as_people_say_them() {
        // A Friday.
        let calendar = calendar("2026-01-23T14:21:48Z");
        let read = |text: &str| {
            let edges = [Edge::Start, Edge::End].map(|edge| {
                let time = calendar.read(text, edge);
                time.map_or("-".to_owned(), |time| calendar.absolute(time))
            });
            edges.join(" to ")
        };
        for (text, wanted) in [
            ("today", "2026-01-23 00:00:00 to 2026-01-23 23:59:59"),
            ("Yesterday", "2026-01-22 00:00:00 to 2026-01-22 23:59:59"),
            ("this week", "2026-01-19 00:00:00 to 2026-01-25 23:59:59"),
            ("last week", "2026-01-12 00:00:00 to 2026-01-18 23:59:59"),
            ("last month", "2025-12-01 00:00:00 to 2025-12-31 23:59:59"),
            ("this year", "2026-01-01 00:00:00 to 2026-12-31 23:59:59"),
            ("friday", "2026-01-23 00:00:00 to 2026-01-23 23:59:59"),
            ("last friday", "2026-01-16 00:00:00 to 2026-01-16 23:59:59"),
            ("on monday", "2026-01-19 00:00:00 to 2026-01-19 23:59:59"),
            ("an hour ago", "2026-01-23 13:21:48 to 2026-01-23 13:21:48"),
            ("2 days ago", "2026-01-21 14:21:48 to 2026-01-21 14:21:48"),
            ("a week ago", "2026-01-16 14:21:48 to 2026-01-16 14:21:48"),
            ("week", "- to -"),
            ("last decade", "- to -"),
            ("soon", "- to -"),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_day_is_told_by_its_date_whatever_the_hour() {
        let calendar = calendar("2026-01-23T00:21:48Z");
        let day = |time: &str| calendar.day(Millis::parse(time).expect("a time"));
        assert_eq!(day("2026-01-23T23:59:59Z"), "2026-01-23, today");
        assert_eq!(day("2026-01-22T00:00:00Z"), "2026-01-22, yesterday");
        assert_eq!(day("2026-01-21T23:59:59Z"), "2026-01-21, 2 days ago");
        assert_eq!(day("2025-11-24T12:00:00Z"), "2025-11-24");
        assert_eq!(day("2026-01-24T12:00:00Z"), "2026-01-24");
        let aged = |time: &str| calendar.aged(Millis::parse(time).expect("a time"));
        assert_eq!(aged("2026-01-23T00:20:00Z"), "1 min ago");
        assert_eq!(aged("2025-01-23T00:20:00Z"), "2025-01-23 00:20");
        assert_eq!(calendar.minute(calendar.now), "00:21");
        assert_eq!(calendar.second(calendar.now), "00:21:48");
    }

    #[test]
    fn moments_are_read_as_they_are_typed() {
        let calendar = calendar("2026-03-14T12:00:00Z");
        let read = |text, edge| calendar.read(text, edge).map(Millis::to_iso);
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
