//! Times as people read them: `2 min ago` on a terminal, the local date and time in a pipe.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tract::model::Millis;

use super::ui::Ui;

/// `just now`, `2 min ago`, `3 h ago`, `5 days ago`, and the date from two months on.
pub fn ago(time: Millis, now: Millis) -> String {
    let seconds = now.0.saturating_sub(time.0) / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (minutes, hours, days) {
        _ if seconds < 0 => date(time),
        (0, ..) => "just now".to_owned(),
        (1..60, ..) => format!("{minutes} min ago"),
        (_, 1..24, _) => format!("{hours} h ago"),
        (.., 1) => "yesterday".to_owned(),
        (.., 2..60) => format!("{days} days ago"),
        _ => date(time),
    }
}

/// A time as a list shows it: its age on a terminal, exact in a pipe, `-` where there is none.
pub fn listed(time: Option<Millis>, now: Millis, ui: &Ui) -> String {
    match time {
        None => "-".to_owned(),
        Some(time) if ui.is_terminal() => ago(time, now),
        Some(time) => absolute(time),
    }
}

/// `2026-01-23`, local.
pub fn date(time: Millis) -> String {
    local(time, "%Y-%m-%d")
}

/// `2026-01-23 14:21:48`, local.
pub fn absolute(time: Millis) -> String {
    local(time, "%Y-%m-%d %H:%M:%S")
}

/// `2026-01-23 14:21:48 +0100`, local with its zone.
pub fn full(time: Millis) -> String {
    local(time, "%Y-%m-%d %H:%M:%S %z")
}

/// `2026-01-23T14-21-48`, local, as a file name holds it.
pub fn for_file_name(time: Millis) -> String {
    local(time, "%Y-%m-%dT%H-%M-%S")
}

fn local(time: Millis, format: &str) -> String {
    match Timestamp::from_millisecond(time.0) {
        Ok(stamp) => stamp
            .to_zoned(TimeZone::system())
            .strftime(format)
            .to_string(),
        Err(_) => time.to_iso(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_rounded_down() {
        let now = Millis(1_769_178_108_710);
        let age = |seconds: i64| ago(Millis(now.0 - seconds * 1_000), now);
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
}
