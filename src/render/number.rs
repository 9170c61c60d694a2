//! Numbers as people write and read them: `128k`, `1,204`, `3 messages`.

use std::fmt;
use std::str::FromStr;

use crate::model::TokenCount;
pub use crate::model::percent::{percent, percent_of};
pub use crate::model::tokens::grouped;

/// `412` as `+412`, `-96310` as `-96,310`, and `0` as `0`.
pub fn signed(number: i64) -> String {
    match number {
        0 => "0".to_owned(),
        1.. => format!("+{}", grouped(number.unsigned_abs())),
        _ => format!("-{}", grouped(number.unsigned_abs())),
    }
}

/// A count, with `~` where it is an estimate.
pub fn tokens(count: TokenCount) -> String {
    let mark = if count.estimated { "~" } else { "" };
    format!("{mark}{}", grouped(count.tokens))
}

/// `1 message`, `2 messages`; `1 entry`, `2 entries`.
pub fn plural(number: u64, noun: &str) -> String {
    let count = grouped(number);
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("{count} {noun}"),
        (_, Some(stem)) if !stem.ends_with(['a', 'e', 'o']) => format!("{count} {stem}ies"),
        _ if noun.ends_with("ch") || noun.ends_with("ss") => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// `one`, `one and two`, `one, two and three`.
pub fn listed(words: &[String]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        words => words.concat(),
    }
}

/// Reads an amount of tokens as it is typed: `5000`, `128k`, `1.5m`.
///
/// # Errors
///
/// What is wrong with it, as a fragment.
pub fn read_tokens(text: &str) -> Result<u64, String> {
    let plain = text.trim().replace(['_', ','], "").to_ascii_lowercase();
    let (digits, unit) = match plain.strip_suffix(['k', 'm']) {
        Some(digits) if plain.ends_with('k') => (digits, 1_000),
        Some(digits) => (digits, 1_000_000),
        None => (plain.as_str(), 1),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits_only = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let read = || {
        if whole.is_empty() || !digits_only(whole) || !digits_only(fraction) {
            return None;
        }
        let mut amount = whole.parse::<u64>().ok()?.checked_mul(unit)?;
        let mut place = unit;
        for digit in fraction.bytes() {
            if place % 10 != 0 {
                return None;
            }
            place /= 10;
            amount = amount.checked_add(u64::from(digit - b'0') * place)?;
        }
        Some(amount)
    };
    read().ok_or_else(|| format!("'{text}' is not an amount (5000, 128k, 1.5m)"))
}

/// An amount of tokens, or a share of `budget.max`: `128k`, `80%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// So many tokens.
    Tokens(u64),
    /// So many hundredths.
    Percent(u64),
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().strip_suffix('%') {
            None => read_tokens(text).map(Self::Tokens),
            Some(percent) => match percent.parse() {
                Ok(percent @ 1..=100) => Ok(Self::Percent(percent)),
                _ => Err(format!("'{text}' is not a share (1% to 100%)")),
            },
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(tokens) => write!(f, "{tokens}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// `128000` as `128k`, `1500000` as `1.5M`; anything crooked as it is.
pub fn amount(number: u64) -> String {
    match number {
        n if n >= 1_000_000 && n % 1_000_000 == 0 => format!("{}M", n / 1_000_000),
        n if n >= 1_000_000 && n % 100_000 == 0 => {
            format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000)
        }
        n if n >= 1_000 && n % 1_000 == 0 => format!("{}k", n / 1_000),
        n => grouped(n),
    }
}

/// `19,884` as `19.9k`, `553,210` as `553k`, `1,243,900` as `1.24M`; below ten thousand as [`amount`] says it.
pub fn rounded(number: u64) -> String {
    match number {
        0..10_000 => amount(number),
        10_000..99_950 => short(format!("{:.1}", number as f64 / 1e3), 'k'),
        99_950..999_500 => format!("{}k", (number + 500) / 1_000),
        _ => short(format!("{:.2}", number as f64 / 1e6), 'M'),
    }
}

fn short(decimals: String, unit: char) -> String {
    let number = decimals.trim_end_matches('0').trim_end_matches('.');
    format!("{number}{unit}")
}

/// A size in bytes: `812 B`, `1.4 MB`.
pub fn bytes(size_bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    if size_bytes < 1_000 {
        return format!("{size_bytes} B");
    }
    let mut size = size_bytes as f64 / 1_000.0;
    let mut unit = 0;
    while size >= 999.5 && unit + 1 < units.len() {
        size /= 1_000.0;
        unit += 1;
    }
    let decimals = usize::from(size < 10.0);
    format!("{size:.decimals$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [0, 7, 999, 1_000, 96_310, 1_234_567].map(grouped),
            ["0", "7", "999", "1,000", "96,310", "1,234,567"]
        );
        assert_eq!([0, 412, -96_310].map(signed), ["0", "+412", "-96,310"]);
        assert_eq!(plural(1, "message"), "1 message");
        assert_eq!(plural(2, "entry"), "2 entries");
        assert_eq!(plural(2, "branch"), "2 branches");
        assert_eq!(plural(3, "key"), "3 keys");
        assert_eq!(
            [812, 1_400, 999_700, 45_000_000].map(bytes),
            ["812 B", "1.4 kB", "1.0 MB", "45 MB"]
        );
    }

    #[test]
    fn a_rounded_number_is_short() {
        assert_eq!(
            [
                74, 9_999, 19_884, 553_210, 999_499, 999_500, 1_243_900, 2_500_000
            ]
            .map(rounded),
            [
                "74", "9,999", "19.9k", "553k", "999k", "1M", "1.24M", "2.5M"
            ]
        );
    }

    #[test]
    fn amounts_are_read_as_they_are_typed() {
        let read = |text: &str| read_tokens(text).ok();
        assert_eq!(read("128k"), Some(128_000));
        assert_eq!(read("1.5M"), Some(1_500_000));
        assert_eq!(read("5_000"), Some(5_000));
        for bad in [
            "",
            "k",
            "-1",
            "1.5",
            "1.2345k",
            "12kk",
            "1e3",
            "99999999999999999999k",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!("80%".parse(), Ok(Share::Percent(80)));
        assert_eq!("80k".parse(), Ok(Share::Tokens(80_000)));
        for bad in ["0%", "101%", "1.5%", "%", "-1%"] {
            assert!(bad.parse::<Share>().is_err(), "{bad}");
        }
        assert_eq!(
            [128_000, 1_500_000, 2_000_000, 1_234].map(amount),
            ["128k", "1.5M", "2M", "1,234"]
        );
    }
}
