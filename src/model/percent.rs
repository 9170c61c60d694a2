//! Parts of a whole in percent.

use std::cmp::Ordering;

/// A part of a whole in percent, to the nearest number. What is there is never 0, what is not all is never 100, and what
/// is more than all is more than 100: 99.6 % of a budget are 99, and 100.2 % are 101.
pub fn percent_of(part: u64, whole: u64) -> u64 {
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    let nearest = (part * 100 + whole / 2) / whole;
    let percent = match part.cmp(&whole) {
        _ if part == 0 => 0,
        Ordering::Less => nearest.clamp(1, 99),
        Ordering::Equal => 100,
        Ordering::Greater => nearest.max(101),
    };
    u64::try_from(percent).unwrap_or(u64::MAX)
}

/// The same as people read it: `57%`, `<1%`.
pub fn percent(part: u64, whole: u64) -> String {
    match percent_of(part, whole) {
        1 if u128::from(part) * 100 < u128::from(whole) => "<1%".to_owned(),
        percent => format!("{percent}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_full_is_a_hundred_percent() {
        let shown = |part| (percent_of(part, 1_000), percent(part, 1_000));
        for (part, number, text) in [
            (0, 0, "0%"),
            (1, 1, "<1%"),
            (14, 1, "1%"),
            (575, 58, "58%"),
            (999, 99, "99%"),
            (1_000, 100, "100%"),
            (1_001, 101, "101%"),
            (1_600, 160, "160%"),
        ] {
            assert_eq!(shown(part), (number, text.to_owned()), "{part}");
        }
        assert_eq!(percent(5, 0), "500%");
    }
}
