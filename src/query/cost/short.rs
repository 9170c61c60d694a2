//! Replies whose output was counted for less than they say.
//!
//! A client that keeps what the first chunk of a stream counts has a handful of tokens for a reply of thousands. The input
//! of such a reply is right, and its output is at least what was counted: how much more is not known. What it says by our
//! own count is told as the estimate that it is, and never added to a price.
//!
//! # Source
//!
//! Observed: Claude Code 1.0.98 to 2.1.159. Of 870 replies in 15 sessions 303 were counted so, none for more than 26 tokens.

use super::reply::{BilledReply, ShortOutputs};
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::model::Encoding;
use crate::model::price::{Paid, Prices};
use crate::model::tokens::Counter;
use crate::repo::counts::key_of;
use crate::store::View;

/// What a first chunk was counted for at most: of a reply with more it is not asked what it says.
const FIRST_CHUNK: u64 = 32;
/// What a reply says by our count may be so many times what its provider counted, and as many tokens more.
const TIMES: u64 = 2;
const MORE: u64 = 16;
/// How many messages that are to be counted are held at once.
const AT_ONCE: usize = 256;

/// Notes which of these replies say more than their output was counted for.
pub(super) fn mark(view: &dyn View, replies: &mut [BilledReply], prices: &Prices) -> Result<()> {
    let small = replies.iter().enumerate();
    let small = small.filter(|(_, reply)| reply.counted().output_tokens <= FIRST_CHUNK);
    let small = small.filter_map(|(at, reply)| Some((at, reply.content?)));
    let (places, contents): (Vec<usize>, Vec<ContentHash>) = small.unzip();
    for (at, said) in places.into_iter().zip(said(view, &contents)?) {
        let reply = &mut replies[at];
        let counted = reply.counted().output_tokens;
        reply.short = said
            .filter(|said| *said > counted.saturating_mul(TIMES).saturating_add(MORE))
            .map(|said| ShortOutputs {
                replies: 1,
                tokens: said - counted,
                dollars: missing(reply, said - counted, prices),
            });
    }
    Ok(())
}

/// The list price of so much more output.
fn missing(reply: &BilledReply, tokens: u64, prices: &Prices) -> f64 {
    let mut usage = reply.usage;
    usage.output_tokens += tokens;
    let paid = reply
        .served()
        .and_then(|served| prices.paid(served, &usage, &reply.detail, reply.time));
    let whole = paid.as_ref().map(Paid::total);
    whole
        .zip(reply.dollars)
        .map_or(0.0, |(whole, own)| whole - own)
}

/// The tokens of what these say, by whichever encoding has them counted; none where a picture is estimated, or nothing is
/// left to be counted.
fn said(view: &dyn View, contents: &[ContentHash]) -> Result<Vec<Option<u64>>> {
    let keys: Vec<_> = contents.iter().map(|content| key_of(*content)).collect();
    let mut counts = vec![None; keys.len()];
    for encoding in Encoding::ALL {
        if encoding == encoding.plain() && counts.iter().any(Option::is_none) {
            let kept = view.kept_counts(&keys, encoding)?.into_iter();
            counts = counts.into_iter().zip(kept).map(|(a, b)| a.or(b)).collect();
        }
    }
    let counter = Counter::of(Encoding::default());
    let missing: Vec<usize> = (0..counts.len())
        .filter(|at| counts[*at].is_none())
        .collect();
    for some in missing.chunks(AT_ONCE) {
        let wanted: Vec<ContentHash> = some.iter().map(|at| contents[*at]).collect();
        let messages = match view.contents(&wanted) {
            Ok(messages) => messages,
            Err(Error::Damaged { .. }) => continue,
            Err(error) => return Err(error),
        };
        for (at, message) in some.iter().zip(messages) {
            counts[*at] = message.map(|message| counter.message(&message));
        }
    }
    let exact = counts
        .into_iter()
        .map(|count| count.filter(|it| !it.estimated));
    Ok(exact.map(|count| Some(count?.tokens)).collect())
}
