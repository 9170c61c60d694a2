//! The arithmetic of shares: amounts laid out over messages, exactly.
//!
//! What a request adds to all messages between two places is written down at these two, and summed up once at the
//! end: a request costs the same however many messages are sent in it. Deliberately absent: what was sent, and where
//! amounts are from.

use std::ops::Range;

use crate::model::Usage;
use crate::model::price::{Price, UNITS};

/// How many bits of an amount stand behind the point.
const FRACTION: u32 = 24;

/// The amounts of a share.
const CACHED: usize = 0;
const WRITTEN: usize = 1;
const UNCACHED: usize = 2;
const OUTPUT: usize = 3;
const PRICE: usize = 4;
/// Those that are spread by tokens; behind them, how many requests, and how many of these have no price.
const SPREAD: usize = 5;
const REQUESTS: usize = 5;
const UNPRICED: usize = 6;

type Amounts = [i128; 7];

/// A share of what requests were billed for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BillShare(Amounts);

impl BillShare {
    /// How many requests it is of.
    pub fn requests(&self) -> u64 {
        self.0[REQUESTS] as u64
    }

    /// How many of them have a model without a price.
    pub fn unpriced(&self) -> u64 {
        self.0[UNPRICED] as u64
    }

    /// Its tokens, rounded.
    pub fn usage(&self) -> Usage {
        let input = self.0[CACHED] + self.0[WRITTEN] + self.0[UNCACHED];
        let [cached, written, output] = [CACHED, WRITTEN, OUTPUT].map(|at| rounded(self.0[at]));
        Usage::new(rounded(input), output).cached(cached, written)
    }

    /// What it cost as far as that is known, in US dollars.
    pub fn dollars(&self) -> f64 {
        self.0[PRICE] as f64 / f64::from(1 << FRACTION) / UNITS
    }

    /// Both together.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }

    /// What a whole request was billed for.
    pub fn of(usage: &Usage, price: Option<Price>) -> Self {
        let mut share = Self::requested(price);
        let [cached, written, uncached] = parts(usage);
        let all = [cached, written, uncached, usage.output_tokens];
        for (which, tokens) in all.into_iter().enumerate() {
            share.0[which] = whole(tokens.into());
        }
        share.0[PRICE] = whole(price.unwrap_or_default().total());
        share
    }

    /// Whether the amounts are the same to the last fraction, of however many requests both are.
    #[cfg(test)]
    pub(crate) fn is_as_much_as(&self, other: &Self) -> bool {
        self.0[..SPREAD] == other.0[..SPREAD]
    }

    /// Nothing of a request.
    fn requested(price: Option<Price>) -> Self {
        let mut share = Self::default();
        share.0[REQUESTS] = 1;
        share.0[UNPRICED] = i128::from(price.is_none());
        share
    }

    /// In parts by weight, which are together the whole; each is of as many requests as the whole.
    pub fn split(&self, weights: &[u64]) -> Vec<Self> {
        let all: u128 = weights.iter().copied().map(u128::from).sum();
        let (mut before, mut given) = (0, Self::default());
        let part = |weight: &u64| {
            before += u128::from(*weight);
            let mut part = *self;
            for which in 0..SPREAD {
                // Whole numbers first: an amount times a weight may be too large.
                let (each, rest) = (self.0[which] / all as i128, self.0[which] % all as i128);
                let upto = each * before as i128 + rest * before as i128 / all as i128;
                part.0[which] = upto - given.0[which];
                given.0[which] = upto;
            }
            part
        };
        weights.iter().map(part).collect()
    }
}

fn rounded(amount: i128) -> u64 {
    u64::try_from((amount + (1 << (FRACTION - 1))) >> FRACTION).unwrap_or(0)
}

fn whole(amount: u128) -> i128 {
    (amount << FRACTION) as i128
}

/// What of the input was read from a cache, written to one, and neither, where numbers that are absurd come to no more
/// than the whole.
fn parts(usage: &Usage) -> [u64; 3] {
    let cached = usage.cached_tokens.min(usage.input_tokens);
    let written = usage.written_tokens.min(usage.input_tokens - cached);
    [cached, written, usage.input_tokens - cached - written]
}

/// Messages one after the other, and what is laid out over them.
pub(crate) struct Spread {
    /// The tokens before each message, and behind the last one.
    before: Vec<u64>,
    /// How much more each token from a message on bears than one before it.
    steps: Vec<Amounts>,
    /// What a message bears beside that.
    beside: Vec<Amounts>,
}

impl Spread {
    /// Over messages of so many tokens.
    pub(crate) fn new(tokens: impl Iterator<Item = u64>) -> Self {
        let mut before = vec![0];
        for tokens in tokens {
            before.push(before[before.len() - 1] + tokens);
        }
        Self {
            steps: vec![Amounts::default(); before.len()],
            beside: vec![Amounts::default(); before.len()],
            before,
        }
    }

    /// The tokens of the first `messages`.
    pub(crate) fn tokens(&self, messages: usize) -> u64 {
        self.before[messages]
    }

    /// Lays out what a request was billed for that sent the messages before `reply`, and was answered by those in
    /// it. What is no message had `overhead` of the input's tokens, at the front; its share is given back.
    pub(crate) fn add(
        &mut self,
        reply: Range<usize>,
        usage: &Usage,
        price: Option<Price>,
        overhead: u64,
    ) -> BillShare {
        let ours = self.before[reply.start];
        let input = usage.input_tokens;
        let is_known = ours > 0 && usage.is_count();
        let overhead = if is_known { overhead.min(input) } else { input };
        for (which, step) in BillShare::requested(price).0.into_iter().enumerate() {
            self.steps[0][which] += step;
            self.steps[reply.end][which] -= step;
        }
        let mut rest = BillShare::requested(price);
        let price = price.unwrap_or_default();
        let length = u128::from(input - overhead).max(1);
        let place = |at: u64| ((u128::from(at - overhead) * u128::from(ours)) << FRACTION) / length;
        let prices = [price.cached, price.written, price.uncached];
        let mut at = 0;
        for (which, (tokens, price)) in parts(usage).into_iter().zip(prices).enumerate() {
            let end = at + tokens;
            let first = overhead.clamp(at, end);
            let front = price * u128::from(first - at);
            let front = front.checked_div(tokens.into()).unwrap_or(price);
            rest.0[which] += whole((first - at).into());
            rest.0[PRICE] += whole(front);
            if first < end {
                let stretch = place(first)..place(end);
                self.lay(&stretch, which, whole((end - first).into()));
                self.lay(&stretch, PRICE, whole(price - front));
            }
            at = end;
        }
        let last = reply.end - 1;
        let output = [
            (OUTPUT, whole(usage.output_tokens.into())),
            (PRICE, whole(price.output)),
        ];
        for (which, amount) in output {
            if usage.is_count() {
                let stretch = [ours, self.before[reply.end]].map(|at| u128::from(at) << FRACTION);
                self.lay(&(stretch[0]..stretch[1]), which, amount);
            } else {
                self.beside[last][which] += amount;
            }
        }
        rest
    }

    /// Lays on one message what a request was billed for that was made for it alone, at this price in the units of
    /// [`Price`].
    pub(crate) fn beside(&mut self, message: usize, usage: &Usage, price: u128) {
        let [cached, written, uncached] = parts(usage);
        let tokens = [cached, written, uncached, usage.output_tokens];
        let amounts = tokens.map(u128::from).into_iter().chain([price]);
        for (sum, amount) in self.beside[message].iter_mut().zip(amounts) {
            *sum += whole(amount);
        }
    }

    /// Lays an amount out over a stretch, evenly; what cannot be divided bears the last message in it.
    fn lay(&mut self, stretch: &Range<u128>, which: usize, amount: i128) {
        let messages = self.before.len() - 1;
        let start = |at: &u64| u128::from(*at) << FRACTION;
        let first = self.before.partition_point(|at| start(at) <= stretch.start) - 1;
        let last = self.before.partition_point(|at| start(at) < stretch.end);
        let (first, last) = (first.min(messages - 1), last.saturating_sub(1));
        let width = (stretch.end - stretch.start) as i128;
        if last <= first || width == 0 {
            self.beside[first][which] += amount;
            return;
        }
        let each = (amount << FRACTION) / width;
        let front = start(&self.before[first + 1]) - stretch.start;
        let front = (each * front as i128) >> FRACTION;
        let between = each * i128::from(self.before[last] - self.before[first + 1]);
        self.beside[first][which] += front;
        self.steps[first + 1][which] += each;
        self.steps[last][which] -= each;
        self.beside[last][which] += amount - front - between;
    }

    /// What each message bears.
    pub(crate) fn shares(&self) -> impl Iterator<Item = BillShare> + '_ {
        let mut each = Amounts::default();
        let messages = self.before.len() - 1;
        (0..messages).map(move |at| {
            let tokens = i128::from(self.before[at + 1] - self.before[at]);
            let mut share = self.beside[at];
            for (which, step) in self.steps[at].iter().enumerate() {
                each[which] += step;
                share[which] += if which < SPREAD {
                    each[which] * tokens
                } else {
                    each[which]
                };
            }
            BillShare(share)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_was_cached() {
        let mut spread = Spread::new([10, 20, 30, 10].into_iter());
        let usage = Usage::new(240, 7).cached(120, 60);
        let price = Price {
            cached: 120,
            written: 600,
            uncached: 300,
            output: 70,
        };
        // 120 tokens are the system prompt's, two are one of ours.
        let rest = spread.add(3..4, &usage, Some(price), 120);
        assert_eq!(rest.usage(), Usage::new(120, 0).cached(120, 0));
        let shares: Vec<BillShare> = spread.shares().collect();
        let told = shares
            .iter()
            .map(|share| (share.usage(), share.0[PRICE] >> FRACTION));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                (Usage::new(20, 0).cached(0, 20), 200),
                (Usage::new(40, 0).cached(0, 40), 400),
                (Usage::new(60, 0), 300),
                (Usage::new(0, 7), 70),
            ]
        );
        assert!(shares.iter().all(|share| share.requests() == 1));
    }

    #[test]
    fn what_a_border_cuts_belongs_to_both_and_absurd_numbers_to_nobody() {
        let mut spread = Spread::new([10, 10].into_iter());
        spread.add(1..2, &Usage::new(10, 0).cached(4, 3), None, 0);
        let first = spread.shares().next().expect("one");
        assert_eq!(first.usage(), Usage::new(10, 0).cached(4, 3));
        assert_eq!((first.requests(), first.unpriced()), (1, 1));
        let rest = spread.add(1..2, &Usage::new(u64::MAX, u64::MAX), None, 0);
        assert_eq!(rest.usage().input_tokens, u64::MAX);
        let absurd = Usage::new(5, 1).cached(9, 9);
        assert_eq!(parts(&absurd), [5, 0, 0]);
    }

    #[test]
    fn parts_are_together_the_whole() {
        let usage = Usage::new(1_000, 7).cached(500, 77);
        let price = Price {
            cached: 1,
            written: 2,
            uncached: 3,
            output: 5,
        };
        let whole = BillShare::of(&usage, Some(price));
        let mut sum = BillShare::default();
        let parts = whole.split(&[3, 1, 7]);
        parts.iter().for_each(|part| sum.add(part));
        assert!(sum.is_as_much_as(&whole));
        assert_eq!(parts[1].usage().input_tokens, 91);
    }
}
