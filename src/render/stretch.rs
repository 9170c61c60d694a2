//! Lengths of time as people read them.

/// `45s`, `12m`, `3h 05m`, `2d 4h`: a length in milliseconds, in at most two units; `-` where nothing passed.
pub fn stretch(millis: i64) -> String {
    let seconds = millis / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (minutes, hours) {
        _ if millis <= 0 => "-".to_owned(),
        (0, _) => format!("{}s", seconds.max(1)),
        (_, 0) => format!("{minutes}m"),
        (_, ..48) => format!("{hours}h {:02}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::stretch;

    #[test]
    fn a_length_has_two_units_at_most() {
        for (seconds, text) in [
            (0, "-"),
            (59, "59s"),
            (60, "1m"),
            (3_599, "59m"),
            (3_900, "1h 05m"),
            (172_799, "47h 59m"),
            (187_200, "2d 4h"),
        ] {
            assert_eq!(stretch(seconds * 1_000), text);
        }
        assert_eq!(stretch(10), "1s");
    }
}
