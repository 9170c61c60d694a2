//! Ids as the tool makes them: they sort by time, until that wraps (36 bits of milliseconds: 2026-08-14, 2028-10-17).

use crate::model::Millis;

/// How many ids a millisecond has room for.
const EACH_MILLI: u64 = 0x1000;

/// An id of a kind: 12 digits of time and number, then letters that tell sessions apart, from an id that
/// is made.
pub(super) fn id(kind: &str, time: Millis, number: u64, made: &str) -> String {
    made_of(kind, place(time, number), made)
}

/// A session's id, from the time and random bytes: the newest sorts first.
pub(super) fn session(time: Millis, random: &[u8; 32]) -> String {
    let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    made_of("ses", !place(time, 0), &random)
}

fn place(time: Millis, number: u64) -> u64 {
    (time.0 as u64)
        .wrapping_mul(EACH_MILLI)
        .wrapping_add(number)
}

fn made_of(kind: &str, place: u64, made: &str) -> String {
    let rest: String = made.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{kind}_{:012x}{:.14}", place & 0xffff_ffff_ffff, rest)
}
