//! Ids as the tool makes them: they sort by time.

use crate::model::Millis;

/// How many ids a millisecond has room for.
const EACH_MILLI: u64 = 0x1000;

/// An id of a kind: 12 digits of time and number, then letters that tell sessions apart, from an id that
/// is made.
pub(super) fn id(kind: &str, time: Millis, number: u64, made: &str) -> String {
    let place = (time.0 as u64)
        .wrapping_mul(EACH_MILLI)
        .wrapping_add(number);
    let rest: String = made.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{kind}_{:012x}{:.14}", place & 0xffff_ffff_ffff, rest)
}
