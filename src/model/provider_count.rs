//! What a provider counts of a context, learnt from what it said of replies.
//!
//! A provider counts with its own vocabulary and framing, and counts what is in no file: its system
//! prompt, its tools, thinking that is sent sealed. So its count is taken as `overhead + factor × ours`. Where the
//! overhead has grown beyond the least that any request had, nobody knows what has grown: what is not in the file, or
//! what messages are sent as. So the messages are taken to share that: when some go, their part of it goes, too.
//! Deliberately absent: which replies a context holds ([`crate::repo`]).

use super::Usage;

/// A reply of which the provider said what it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountedReply {
    /// What was sent, in tokens by our count.
    pub ours: u64,
    /// What was sent of the thinking in the same turn beyond that, in the provider's tokens.
    pub thinking: u64,
    /// What the provider counted, in tokens.
    pub counted: u64,
}

impl CountedReply {
    /// What was counted but for the thinking.
    fn rest(&self) -> f64 {
        self.counted as f64 - self.thinking as f64
    }

    /// The same but for the messages, too.
    fn beyond(&self, factor: f64) -> f64 {
        self.rest() - factor * self.ours as f64
    }
}

/// What a provider counts, in terms of our count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProviderCount {
    /// What it counted on top of the newest request, in its tokens.
    pub overhead: i64,
    /// What of that no message can be: the least that it counted on top of any request.
    pub least: i64,
    /// The most of it that no message can be.
    pub most: i64,
    /// What the newest request had by our count.
    pub at: u64,
    /// How many times as much it counts of what is added.
    pub factor: f64,
    /// What is sent now of the current turn's thinking, in its tokens.
    pub thinking: u64,
    /// From how many replies this was learnt. Below [`ENOUGH`] the factor is 1: what the newest reply
    /// was, and from there on our count.
    pub replies: usize,
    /// How far off nine of ten such guesses were, as a share of what was counted; none where it was not
    /// put to the test.
    pub error: Option<f64>,
}

/// So many replies are enough to learn a factor from.
pub const ENOUGH: usize = 3;
/// So many of the newest are looked at.
const WINDOW: usize = 64;
/// No context has more tokens: what is said to be larger is no count.
const LARGEST: u64 = 100_000_000;
/// What is taken for likely before anything is known: measured on agents' sessions, factors lie
/// between 1.0 and 1.5.
const LIKELY: f64 = 1.2;
/// How many tokens' worth of growth that counts for.
const LIKELY_WEIGHT: f64 = 1_000.0;
/// What no vocabulary exceeds; beyond it, what is not in the file has grown.
const FACTORS: (f64, f64) = (0.5, 3.0);

impl Usage {
    /// Whether it can be what somebody counted: zero, and more than any context has, is said by
    /// gateways that do not count.
    pub fn is_count(&self) -> bool {
        (1..=LARGEST).contains(&self.input_tokens) && self.output_tokens <= LARGEST
    }
}

impl ProviderCount {
    /// Learnt from `replies`, oldest first, all by one model, each sent what the one before was sent
    /// and more. `thinking` is what would be sent now. None where nothing is known.
    pub fn learn(replies: &[CountedReply], thinking: u64) -> Option<Self> {
        let is_count = |reply: &&CountedReply| (1..=LARGEST).contains(&reply.counted);
        let replies: Vec<CountedReply> = replies.iter().filter(is_count).copied().collect();
        let (overhead, factor) = line(&replies)?;
        let mut errors: Vec<f64> = (ENOUGH..replies.len())
            .filter_map(|at| {
                let (overhead, factor) = line(&replies[..at])?;
                let (reply, counted) = (replies[at], replies[at].counted as f64);
                let guess = overhead + factor * reply.ours as f64 + reply.thinking as f64;
                Some((guess - counted).abs() / counted)
            })
            .collect();
        errors.sort_unstable_by(f64::total_cmp);
        let nine_of_ten = (errors.len() * 9).div_ceil(10).saturating_sub(1);
        let mut count = Self {
            overhead: overhead.round() as i64,
            least: overhead.round() as i64,
            most: overhead.round() as i64,
            at: replies.last()?.ours,
            factor,
            thinking,
            replies: replies.len(),
            error: errors.get(nine_of_ten).copied(),
        };
        count.bound(&replies);
        Some(count)
    }

    /// Takes in what other requests of the session had on top.
    pub fn bound(&mut self, replies: &[CountedReply]) {
        let is_count = |reply: &&CountedReply| (1..=LARGEST).contains(&reply.counted);
        let replies = replies.iter().filter(is_count);
        let least = replies.map(|reply| reply.beyond(self.factor).round() as i64);
        // No request had less than nothing on top; where the newest seems to, the factor is a little high.
        let least = least.min().unwrap_or(self.least).max(self.overhead.min(0));
        self.least = self.least.min(least);
    }

    /// Takes in what is sent beside the messages, by our count: what it counted beyond that was messages.
    pub fn bound_by_shape(&mut self, ours: u64) {
        let times = if self.is_fitted() {
            self.factor.max(1.0)
        } else {
            LIKELY
        };
        let shape = (times * ours as f64).round() as i64;
        self.most = self.most.min(shape);
        self.least = self.least.min(self.most);
    }

    /// Whether there were enough replies to learn a factor from.
    pub fn is_fitted(&self) -> bool {
        self.replies >= ENOUGH
    }

    /// How many times as much it counts of what the newest request sent.
    pub fn times(&self) -> f64 {
        self.factor + (self.overhead - self.least) as f64 / self.at.max(1) as f64
    }

    /// What the provider would count where we count `ours`, in tokens.
    pub fn of(&self, ours: u64) -> u64 {
        let (factor, overhead) = if ours < self.at {
            (self.times(), self.least)
        } else {
            (self.factor, self.overhead)
        };
        let counted = factor * ours as f64 + overhead as f64 + self.thinking as f64;
        counted.round() as u64
    }

    /// The least and the most that it would count: where all that can be messages has gone with them, and where none has.
    pub fn range(&self, ours: u64) -> (u64, u64) {
        let messages = self.factor * ours as f64 + self.thinking as f64;
        let of = |overhead: i64| (messages + overhead as f64).round() as u64;
        (of(self.least), of(self.most))
    }

    /// The most that we may count for the provider to count no more than `tokens`.
    pub fn ours_within(&self, tokens: u64) -> u64 {
        let room = tokens as f64 - self.thinking as f64;
        let added = (room - self.overhead as f64) / self.factor;
        let ours = if added >= self.at as f64 {
            added
        } else {
            (room - self.least as f64) / self.times()
        };
        let mut ours = ours as u64;
        while ours > 0 && self.of(ours) > tokens {
            ours -= 1;
        }
        ours
    }
}

/// How many times as much the provider counts as we do: the median of what each reply's growth says, weighted by
/// that growth. Where what is not in the file grows by leaps, few pairs of replies see it.
fn factor(replies: &[CountedReply]) -> f64 {
    if replies.len() < ENOUGH {
        return 1.0;
    }
    let mut slopes = vec![(LIKELY, LIKELY_WEIGHT)];
    for pair in replies.windows(2) {
        let grown = pair[1].ours as f64 - pair[0].ours as f64;
        if grown > 0.0 {
            slopes.push(((pair[1].rest() - pair[0].rest()) / grown, grown));
        }
    }
    median(slopes).clamp(FACTORS.0, FACTORS.1)
}

/// What of these replies' requests can be no message: the least that any of them had beyond its messages, in the
/// provider's tokens.
pub fn least_overhead(replies: &[CountedReply]) -> u64 {
    let factor = factor(replies);
    let rests = replies.iter().map(|reply| reply.beyond(factor));
    rests.min_by(f64::total_cmp).map_or(0, |rest| rest as u64)
}

/// The overhead and the factor of the newest replies. The overhead is the newest one's, for it drifts.
fn line(replies: &[CountedReply]) -> Option<(f64, f64)> {
    let replies = &replies[replies.len().saturating_sub(WINDOW)..];
    let newest = replies.last()?;
    let factor = factor(replies);
    let overhead = |reply: &CountedReply| reply.beyond(factor);
    let [.., third, second, _] = replies else {
        return Some((overhead(newest), factor));
    };
    // One that is wildly off what the one before says is believed when the next one says so, too.
    let guess = overhead(second) + factor * newest.ours as f64 + newest.thinking as f64;
    if (guess - newest.counted as f64).abs() <= guess / 2.0 {
        return Some((overhead(newest), factor));
    }
    let mut newest = [third, second, newest].map(overhead);
    newest.sort_unstable_by(f64::total_cmp);
    Some((newest[1], factor))
}

/// The value at half of the weight.
fn median(mut values: Vec<(f64, f64)>) -> f64 {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut left = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let middle = values.iter().find(|(_, weight)| {
        left -= weight;
        left <= 0.0
    });
    middle.map_or(LIKELY, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reply(ours: u64, counted: u64) -> CountedReply {
        CountedReply {
            ours,
            thinking: 0,
            counted,
        }
    }

    #[test]
    fn without_enough_replies_the_newest_stands_and_ours_is_added() {
        assert_eq!(ProviderCount::learn(&[], 0), None);
        let count = ProviderCount::learn(&[reply(100, 20_000), reply(150, 20_100)], 0);
        let count = count.expect("two replies");
        assert!(!count.is_fitted() && count.error.is_none());
        assert_eq!((count.of(150), count.of(250)), (20_100, 20_200));
    }

    #[test]
    fn what_is_no_count_is_left_out() {
        let said = [reply(1, 0), reply(5, u64::MAX), reply(9, LARGEST + 1)];
        assert_eq!(ProviderCount::learn(&said, 0), None);
        let said = [reply(1, 0), reply(5, 105), reply(9, u64::MAX)];
        let count = ProviderCount::learn(&said, 0).expect("one");
        assert_eq!((count.replies, count.of(5)), (1, 105));
    }

    #[test]
    fn one_wild_count_is_not_believed_and_two_are() {
        let mut said: Vec<CountedReply> = (1..9)
            .map(|at| reply(at * 1_000, at * 1_300 + 9_000))
            .collect();
        said.push(reply(8_100, 190_000));
        let count = ProviderCount::learn(&said, 0).expect("learnt");
        assert!(count.of(8_100) < 21_000, "{count:?}");
        said.push(reply(8_200, 190_130));
        let count = ProviderCount::learn(&said, 0).expect("learnt");
        assert_eq!(count.of(8_200), 190_130);
    }

    #[test]
    fn thinking_goes_with_its_turn() {
        let said = |ours, thinking| CountedReply {
            ours,
            thinking,
            counted: 5_000 + ours * 2 + thinking,
        };
        let replies = [
            said(1_000, 0),
            said(4_000, 700),
            said(8_000, 900),
            said(9_000, 0),
        ];
        let count = ProviderCount::learn(&replies, 0).expect("learnt");
        assert_eq!((count.overhead, count.factor), (5_000, 2.0));
        let count = ProviderCount::learn(&replies, 300).expect("learnt");
        assert_eq!(count.of(9_000), 23_300);
    }

    #[test]
    fn what_has_grown_on_top_goes_with_the_messages() {
        let replies: Vec<CountedReply> = (1..=40)
            .map(|at| reply(at * 1_000, 60_000 + at * 1_200 + at * at * 90))
            .collect();
        let mut count = ProviderCount::learn(&replies, 0).expect("learnt");
        let newest = replies[39];
        assert!(count.of(newest.ours).abs_diff(newest.counted) < 2);
        assert!(count.least < 65_000 && count.overhead > 70_000, "{count:?}");
        let (least, most) = count.range(1_000);
        assert!(least < count.of(1_000) && count.of(1_000) < most);
        assert!(count.of(1_000).abs_diff(replies[0].counted) < 6_000);
        // A request from the beginning of the session had less.
        count.bound(&[reply(500, 31_000), reply(600, 0)]);
        assert!(count.least < 31_000);
        assert!(count.of(newest.ours).abs_diff(newest.counted) < 2);
        // A count that is no count bounds nothing, and nothing is less than nothing.
        count.bound(&[reply(50_000, 1)]);
        assert_eq!(count.least, 0);
    }

    #[test]
    fn what_is_more_than_was_sent_beside_the_messages_was_messages() {
        // A session that goes on from one that is not here: all of its requests have 100,000 more.
        let said: Vec<CountedReply> = (1..=9)
            .map(|at| reply(at * 1_000, 110_000 + at * 1_200))
            .collect();
        let mut count = ProviderCount::learn(&said, 0).expect("learnt");
        assert_eq!(count.range(2_000), (112_400, 112_400));
        count.bound_by_shape(8_000);
        assert_eq!(count.of(9_000), 120_800);
        let (least, most) = count.range(0);
        assert!(least == most && least == 9_600, "{count:?}");
        // Where less was on top, that stands.
        let less = count;
        count.bound_by_shape(1_000_000);
        assert_eq!(count, less);
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        /// Where the provider counts by a line, it is found, and a leap of what is not in the file on
        /// the way changes only the overhead.
        #[test]
        fn a_line_is_found(
            growth in prop::collection::vec(200..9_000_u64, 4..60),
            (overhead, leap) in (0..90_000_u64, 0..9_000_u64),
            tenths in 8..25_u64,
            at: prop::sample::Index,
        ) {
            let (mut ours, at) = (0, at.index(growth.len()));
            let replies: Vec<CountedReply> = growth.iter().enumerate().map(|(number, grown)| {
                ours += grown;
                let leap = if number >= at { leap } else { 0 };
                reply(ours, overhead + leap + ours * tenths / 10)
            }).collect();
            let count = ProviderCount::learn(&replies, 0).expect("learnt");
            prop_assert_eq!(count.replies, growth.len());
            let newest = replies[replies.len() - 1];
            prop_assert!(count.of(newest.ours).abs_diff(newest.counted) <= 1);
            // The likely factor and the leap weigh as much as the growth beside them.
            let others: u64 = growth.iter().sum::<u64>() - growth[0];
            if others > 2 * (growth[at] + 1_000) {
                prop_assert!((count.factor - tenths as f64 / 10.0).abs() < 0.02, "{:?}", count);
            }
        }

        #[test]
        fn a_budget_is_kept_and_used(
            replies in prop::collection::vec((0..9_000_u64, 0..900_u64, 0..99_000_u64), 0..20),
            thinking in 0..3_000_u64,
            tokens: u32,
        ) {
            let replies: Vec<CountedReply> = replies.into_iter()
                .map(|(ours, thinking, counted)| CountedReply { ours, thinking, counted })
                .collect();
            if let Some(count) = ProviderCount::learn(&replies, thinking) {
                let (tokens, ours) = (u64::from(tokens), count.ours_within(tokens.into()));
                prop_assert!(ours == 0 || count.of(ours) <= tokens);
                prop_assert!(count.of(ours + 2) > tokens);
                prop_assert!(count.of(ours) <= count.of(ours + 1));
            }
        }
    }
}
