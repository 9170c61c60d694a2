//! Blocks of five hours, as plans of a subscription count use.

use std::collections::HashMap;

use crate::hash::CommitHash;
use crate::model::Millis;
use crate::query::BilledReply;
use crate::render::Calendar;

const HOUR_MS: i64 = 3_600_000;
const BLOCK_MS: i64 = 5 * HOUR_MS;

/// The block that each of these replies is in, by its beginning: the full hour of the first reply that is in none before.
pub(super) fn blocks_of(
    replies: &[BilledReply],
    calendar: &Calendar,
) -> HashMap<CommitHash, String> {
    let timed = replies.iter();
    let timed = timed.filter_map(|reply| Some((reply.time?, reply.commit)));
    let mut timed: Vec<(Millis, CommitHash)> = timed.collect();
    timed.sort_unstable();
    let mut begins: Option<i64> = None;
    let mut blocks = HashMap::new();
    for (time, commit) in timed {
        let at = match begins {
            Some(at) if time.0 - at < BLOCK_MS => at,
            _ => time.0 - time.0.rem_euclid(HOUR_MS),
        };
        begins = Some(at);
        let minutes = |time: i64| {
            let text = calendar.second(Millis(time));
            text[..text.len().min(5)].to_owned()
        };
        let day = calendar.date(Millis(at));
        blocks.insert(
            commit,
            format!("{day} {}-{}", minutes(at), minutes(at + BLOCK_MS)),
        );
    }
    blocks
}
