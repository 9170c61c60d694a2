//! Lengths of time as they are typed: `90`, `90s`, `10m`, `2h`.

use std::time::Duration;

/// Reads one. A bare number is of seconds.
///
/// # Errors
///
/// In words, for the parser of arguments.
pub fn read(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => return Err("a length of time is a number with s, m or h, such as 10m".to_owned()),
    };
    let number = digits.parse::<u64>().ok().filter(|number| *number > 0);
    let seconds = number.and_then(|number| number.checked_mul(unit));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "a length of time is a number with s, m or h, such as 10m".to_owned())
}
