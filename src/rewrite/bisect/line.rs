//! A line of candidates of which each trial keeps a beginning, and how likely it is at each place that trials are bad from
//! there on.
//!
//! Deliberately absent: which lines there are.

use std::collections::BTreeSet;

/// What is less likely than this part of the likeliest rates is left out.
const RATE_FLOOR: f64 = 1e-5;
/// How often good trials may be bad, and bad ones, where that is by chance.
const RATES_GOOD: [f64; 11] = [0.001, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65];
const RATES_BAD: [f64; 16] = [
    0.03, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999,
];

/// How often a trial is bad that should be good, and one that should be bad, and how likely that is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    good: f64,
    bad: f64,
    weight: f64,
}

/// A line of candidates, of which a trial keeps a beginning.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) items: Vec<usize>,
    /// What each trial keeps beside.
    with: Vec<usize>,
    /// For each pair of rates, how likely it is that trials are bad from so many kept items on: none at 0; never at
    /// one more than there are.
    weights: Vec<Vec<f64>>,
    /// The trials that cannot be judged.
    pub(super) skipped: BTreeSet<usize>,
}

/// The pairs of rates that go with what was seen at the ends: with all candidates, and without any.
pub(super) fn rates(is_certain: bool, tried: [usize; 2], bad: [usize; 2]) -> Vec<Rate> {
    if is_certain {
        return vec![Rate {
            good: 0.0,
            bad: 1.0,
            weight: 1.0,
        }];
    }
    let seen = |rate: f64, end: usize| {
        let (bad, good) = (bad[end] as f64, (tried[end] - bad[end]) as f64);
        bad * rate.ln() + good * (1.0 - rate).ln()
    };
    let mut found = Vec::new();
    for good in RATES_GOOD {
        for bad in RATES_BAD.into_iter().filter(|bad| *bad > good) {
            let weight = seen(bad, 0) + seen(good, 1);
            found.push(Rate { good, bad, weight });
        }
    }
    let most = found.iter().map(|rate| rate.weight);
    let most = most.fold(f64::NEG_INFINITY, f64::max);
    for rate in &mut found {
        rate.weight = (rate.weight - most).exp();
    }
    found.retain(|rate| rate.weight > RATE_FLOOR);
    normal(&mut found);
    found
}

fn normal(rates: &mut [Rate]) {
    let sum: f64 = rates.iter().map(|rate| rate.weight).sum();
    for rate in rates {
        rate.weight /= sum;
    }
}

impl Line {
    pub(super) fn new(
        items: Vec<usize>,
        with: Vec<usize>,
        rates: &[Rate],
        prior: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let len = items.len();
        let prior: Vec<f64> = (0..=len + 1).map(|at| prior(at, len)).collect();
        let sum: f64 = prior.iter().sum();
        let of = |rate: &Rate| prior.iter().map(|p| rate.weight * p / sum).collect();
        Self {
            weights: rates.iter().map(of).collect(),
            skipped: BTreeSet::new(),
            items,
            with,
        }
    }

    /// What a trial keeps.
    pub(super) fn kept(&self, cut: usize) -> Vec<usize> {
        let mut kept = [&self.items[..cut], &self.with].concat();
        kept.sort_unstable();
        kept
    }

    /// How likely each place is.
    pub(super) fn likely(&self) -> Vec<f64> {
        let mut sum = vec![0.0; self.items.len() + 2];
        for weights in &self.weights {
            for (sum, weight) in sum.iter_mut().zip(weights) {
                *sum += weight;
            }
        }
        sum
    }

    /// The trial that tells the most of the place; none: no trial tells anything. At an end a trial tells of the rates,
    /// which go with places.
    pub(super) fn cut(&self, rates: &[Rate]) -> Option<usize> {
        let likely = self.likely();
        // Of each place: how likely it is, and how often a trial is bad then that keeps it, or does not.
        let rate = |at: usize, of: fn(&Rate) -> f64| {
            let each = self.weights.iter().zip(rates);
            let sum: f64 = each.map(|(weights, rate)| weights[at] * of(rate)).sum();
            if likely[at] > 0.0 {
                sum / likely[at]
            } else {
                0.0
            }
        };
        let places: Vec<(f64, f64, f64)> = (0..likely.len())
            .map(|at| {
                (
                    likely[at],
                    rate(at, |rate| rate.bad),
                    rate(at, |rate| rate.good),
                )
            })
            .collect();
        // With nothing kept, all places are beyond the cut.
        let mut is_bad: f64 = places.iter().map(|(p, _, good)| p * good).sum();
        let mut doubt: f64 = places.iter().map(|(p, _, good)| p * entropy(*good)).sum();
        let mut best: Option<(f64, usize)> = None;
        for (cut, (p, bad, good)) in places[..=self.items.len()].iter().enumerate() {
            is_bad += p * (bad - good);
            doubt += p * (entropy(*bad) - entropy(*good));
            let told = entropy(is_bad.clamp(0.0, 1.0)) - doubt;
            let is_more = best.is_none_or(|(most, _)| told > most + 1e-12);
            if told > 1e-9 && is_more && !self.skipped.contains(&cut) {
                best = Some((told, cut));
            }
        }
        best.map(|(_, cut)| cut)
    }

    /// Takes in what a trial was.
    pub(super) fn learn(&mut self, cut: usize, is_bad: bool, rates: &[Rate]) {
        for (weights, rate) in self.weights.iter_mut().zip(rates) {
            for (at, weight) in weights.iter_mut().enumerate() {
                let bad = if at <= cut { rate.bad } else { rate.good };
                *weight *= if is_bad { bad } else { 1.0 - bad };
            }
        }
        let sum: f64 = self.weights.iter().flatten().sum();
        for weight in self.weights.iter_mut().flatten() {
            *weight /= sum;
        }
    }

    /// How likely the rates are if it is this place.
    pub(super) fn rates_at(&self, at: usize, rates: &[Rate]) -> Vec<Rate> {
        let each = rates.iter().zip(&self.weights);
        let mut rates: Vec<Rate> = each
            .map(|(rate, weights)| Rate {
                weight: weights[at],
                ..*rate
            })
            .collect();
        normal(&mut rates);
        rates
    }
}

/// In bits.
fn entropy(p: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    term(p) + term(1.0 - p)
}
