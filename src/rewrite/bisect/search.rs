//! Which of some candidates make a test bad: verdicts in, the next trial out. Pure.
//!
//! A trial keeps some candidates and leaves the others out. Along a line of candidates, each trial keeps a beginning
//! of it, so that there is a place from which on trials are bad: a binary search by what is the likeliest, which holds
//! whatever the test does. What stands at that place is needed; whether it is enough by itself is the next trial, and
//! if not, the next line is what stands before it. What is needed and what is enough is a cause; where the rest is
//! bad without it, another cause is looked for.
//!
//! Where a test is bad by chance, how often it is bad at both ends is measured first, and each place has a probability
//! given all verdicts, over every pair of rates that the ends allow.
//!
//! Deliberately absent: what a candidate is, and who judges.
//!
//! # Source
//!
//! Burnashev and Zigangirov, "An interval estimation problem for controlled observations" (1974), for the noisy search;
//! Junker, "QuickXplain" (2004), for causes of several candidates; Zeller and Hildebrandt, "Simplifying and isolating
//! failure-inducing input" (2002), for the question.

use super::line::{Line, Rate, rates};

/// What a trial was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Judged {
    /// It went well.
    Good,
    /// It went wrong.
    Bad,
    /// Nobody can tell.
    Skip,
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchHow {
    /// How often each end is tried. Once: each verdict is taken as it is.
    pub runs: usize,
    /// How sure the answer is to be where a test is bad by chance.
    pub confidence: f64,
    /// The most trials.
    pub trials_max: usize,
}

impl Default for SearchHow {
    fn default() -> Self {
        Self {
            runs: 1,
            confidence: 0.95,
            trials_max: 1_000,
        }
    }
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum NextTrial {
    /// Try with these candidates, in order, and none of the others.
    Try(Vec<usize>),
    /// There is no more to try.
    Done(SearchOutcome),
}

/// How a search ends.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchOutcome {
    /// Each of these sets makes the test bad by itself, and without any of its members it does not.
    Found {
        /// The sets, each in order.
        causes: Vec<Vec<usize>>,
        /// Whether there is more to it, or may be: it is still bad without all of them, or that could not be judged.
        more: bool,
        /// How sure that is, from 0 to 1.
        confidence: f64,
    },
    /// It is good with all candidates.
    BothGood,
    /// It is bad without any.
    BothBad,
    /// An end could not be judged.
    NoEnd {
        /// The end with all candidates, or else the one without any.
        full: bool,
    },
    /// It is one of these, with how likely it is; more cannot be told, or not with so many trials.
    Unsure(Vec<(usize, f64)>),
    /// The same trial was bad, and then good.
    Contradiction(Vec<usize>),
}

/// The most causes that are looked for.
pub const CAUSES_MAX: usize = 4;
/// How likely it is, before anything is tried, that one candidate is enough, or that there is no other cause.
const SIMPLE: f64 = 0.9;
/// A search under way.
#[derive(Clone, Debug)]
pub struct TrialSearch {
    len: usize,
    how: SearchHow,
    stage: Stage,
    rates: Vec<Rate>,
    /// What is known to be needed of the cause that is looked for.
    needed: Vec<usize>,
    causes: Vec<Vec<usize>>,
    confidence: f64,
    /// How many lines have been settled.
    settled: i32,
    trials: usize,
    /// Whether the place on the line is all that is asked: from which candidate on it is bad.
    is_line: bool,
}

#[derive(Clone, Debug)]
enum Stage {
    /// At the end with all candidates, or at the one without: how many runs, how many were bad, at both.
    Ends {
        full: bool,
        tried: [usize; 2],
        bad: [usize; 2],
    },
    Line(Aim, Line),
    /// The cause by itself, once more.
    Confirm,
    Done(SearchOutcome),
}

/// What a line is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Aim {
    /// Which candidate is needed?
    First,
    /// Is what is needed enough, or which one is needed, too?
    More,
    /// Is this one of the needed really needed?
    Needed(usize),
    /// Is it good without the causes, or is there another?
    Another,
}

impl TrialSearch {
    /// A search among so many candidates.
    pub fn new(len: usize, how: SearchHow) -> Self {
        Self {
            len,
            how,
            stage: Stage::Ends {
                full: true,
                tried: [0; 2],
                bad: [0; 2],
            },
            rates: Vec::new(),
            needed: Vec::new(),
            causes: Vec::new(),
            confidence: 1.0,
            settled: 0,
            trials: 0,
            is_line: false,
        }
    }

    /// A search for the first of so many candidates with which it is bad. Each trial keeps a beginning of them.
    pub fn of_line(len: usize, how: SearchHow) -> Self {
        Self {
            is_line: true,
            ..Self::new(len, how)
        }
    }

    /// Whether the next trial is one that was judged before: does it say the same?
    pub fn repeats(&self) -> bool {
        matches!(self.stage, Stage::Confirm)
    }

    /// Whether each verdict is taken as it is.
    fn is_certain(&self) -> bool {
        self.how.runs <= 1
    }

    /// How many trials were judged.
    pub fn trials(&self) -> usize {
        self.trials
    }

    /// How many candidates it may still be; and how many trials that takes at least.
    pub fn left(&self) -> (usize, usize) {
        let count = match &self.stage {
            Stage::Ends { .. } => self.len,
            Stage::Line(Aim::First | Aim::More, line) => {
                let likely = line.likely();
                likely.iter().filter(|weight| **weight > 1e-3).count()
            }
            Stage::Line(..) | Stage::Confirm => 1,
            Stage::Done(_) => 0,
        };
        (count, count.max(1).ilog2() as usize)
    }

    /// What comes next.
    pub fn next_trial(&self) -> NextTrial {
        match &self.stage {
            Stage::Ends { full: true, .. } => NextTrial::Try((0..self.len).collect()),
            Stage::Ends { full: false, .. } => NextTrial::Try(Vec::new()),
            Stage::Line(_, line) => match line.cut(&self.rates) {
                Some(cut) => NextTrial::Try(line.kept(cut)),
                None => NextTrial::Done(self.unsure(line)),
            },
            Stage::Confirm => NextTrial::Try(self.causes[0].clone()),
            Stage::Done(outcome) => NextTrial::Done(outcome.clone()),
        }
    }

    /// Takes the verdict on what came next.
    pub fn tell(&mut self, judged: Judged) {
        self.trials += 1;
        let is_last = self.trials >= self.how.trials_max;
        match &mut self.stage {
            Stage::Ends { .. } => self.end(judged),
            Stage::Line(aim, line) => {
                let Some(cut) = line.cut(&self.rates) else {
                    return;
                };
                if judged == Judged::Skip {
                    line.skipped.insert(cut);
                } else {
                    line.learn(cut, judged == Judged::Bad, &self.rates);
                }
                let aim = *aim;
                self.settle(aim);
            }
            Stage::Confirm => {
                let kept = self.causes[0].clone();
                self.stage = Stage::Done(match judged {
                    Judged::Good => SearchOutcome::Contradiction(kept),
                    _ => self.found(false),
                });
            }
            Stage::Done(_) => {}
        }
        if let (true, Stage::Line(_, line)) = (is_last, &self.stage) {
            self.stage = Stage::Done(self.unsure(line));
        }
    }

    fn end(&mut self, judged: Judged) {
        let Stage::Ends { full, tried, bad } = &mut self.stage else {
            return;
        };
        let at = usize::from(!*full);
        if judged == Judged::Skip {
            let full = *full;
            self.stage = Stage::Done(SearchOutcome::NoEnd { full });
            return;
        }
        tried[at] += 1;
        bad[at] += usize::from(judged == Judged::Bad);
        if tried[at] < self.how.runs.max(1) {
            return;
        }
        if *full {
            *full = false;
            if bad[0] == 0 {
                self.stage = Stage::Done(SearchOutcome::BothGood);
            }
            return;
        }
        // Where it is as often bad without any of them, none of them is why.
        if bad[1] >= bad[0] {
            self.stage = Stage::Done(SearchOutcome::BothBad);
            return;
        }
        let (tried, bad) = (*tried, *bad);
        self.rates = rates(self.is_certain(), tried, bad);
        let all: Vec<usize> = (0..self.len).collect();
        let line = Line::new(all, Vec::new(), &self.rates, |at, len| {
            f64::from((1..=len).contains(&at))
        });
        self.stage = Stage::Line(Aim::First, line);
        self.settle(Aim::First);
    }

    /// Goes on where a line is as sure as it has to be.
    fn settle(&mut self, aim: Aim) {
        let Stage::Line(_, line) = &self.stage else {
            return;
        };
        let likely = line.likely();
        let best = (0..likely.len()).max_by(|a, b| likely[*a].total_cmp(&likely[*b]));
        let best = best.unwrap_or_default();
        // All lines together are to be as sure as was asked for.
        let doubt = match self.is_certain() {
            true => 1e-9,
            false => (1.0 - self.how.confidence).clamp(1e-6, 0.1) / 2f64.powi(self.settled + 1),
        };
        if likely[best] < 1.0 - doubt {
            return;
        }
        let (items, line) = (line.items.clone(), line.clone());
        self.rates = line.rates_at(best, &self.rates);
        self.confidence *= likely[best];
        self.settled += 1;
        let is_bad = best <= items.len();
        match aim {
            Aim::First if self.is_line => {
                self.causes.push(vec![items[best - 1]]);
                self.stage = Stage::Done(self.found(false));
            }
            Aim::First => {
                self.needed = vec![items[best - 1]];
                self.more(&items[..best - 1]);
            }
            Aim::More if best > 0 => {
                self.needed.push(items[best - 1]);
                self.more(&items[..best - 1]);
            }
            Aim::More => self.minimal(0),
            Aim::Needed(at) => {
                let at = if is_bad {
                    self.needed.remove(at);
                    at
                } else {
                    at + 1
                };
                self.minimal(at);
            }
            Aim::Another if is_bad && self.causes.len() < CAUSES_MAX => {
                self.needed = vec![items[best - 1]];
                self.more(&items[..best - 1]);
            }
            Aim::Another => self.end_with(is_bad),
        }
    }

    /// Whether what is needed is enough, or which of these is needed as well.
    fn more(&mut self, before: &[usize]) {
        let mut with = self.needed.clone();
        with.sort_unstable();
        if before.is_empty() {
            self.minimal(0);
            return;
        }
        let line = Line::new(before.to_vec(), with, &self.rates, |at, len| match at {
            0 => SIMPLE,
            at if at <= len => (1.0 - SIMPLE) / len as f64,
            _ => 0.0,
        });
        self.stage = Stage::Line(Aim::More, line);
        self.settle(Aim::More);
    }

    /// Whether each of the needed, from one on, is needed.
    fn minimal(&mut self, at: usize) {
        if self.needed.len() > 1 && at < self.needed.len() {
            let mut with = self.needed.clone();
            with.remove(at);
            with.sort_unstable();
            let line = Line::new(Vec::new(), with, &self.rates, |at, _| {
                if at == 0 { 1.0 - SIMPLE } else { SIMPLE }
            });
            self.stage = Stage::Line(Aim::Needed(at), line);
            return;
        }
        let mut cause = std::mem::take(&mut self.needed);
        cause.sort_unstable();
        self.causes.push(cause);
        let rest = (0..self.len).filter(|at| !self.causes.iter().flatten().any(|out| out == at));
        let rest: Vec<usize> = rest.collect();
        if rest.is_empty() {
            self.end_with(false);
            return;
        }
        let line = Line::new(rest, Vec::new(), &self.rates, |at, len| match at {
            0 => 0.0,
            at if at <= len => (1.0 - SIMPLE) / len as f64,
            _ => SIMPLE,
        });
        self.stage = Stage::Line(Aim::Another, line);
    }

    /// All causes are known; `more`: but those beyond the most.
    fn end_with(&mut self, more: bool) {
        // Who says something else of the same is not to be believed. That is asked where few trials were needed.
        let is_cheap = self.trials < trials_of_one(self.len);
        if self.is_certain() && is_cheap && !more && self.causes.len() == 1 {
            self.stage = Stage::Confirm;
        } else {
            self.stage = Stage::Done(self.found(more));
        }
    }

    fn found(&self, more: bool) -> SearchOutcome {
        let mut causes = self.causes.clone();
        causes.sort();
        SearchOutcome::Found {
            causes,
            more,
            confidence: self.confidence,
        }
    }

    /// What can be said where a line has no end.
    fn unsure(&self, line: &Line) -> SearchOutcome {
        if self.causes.is_empty() && self.needed.is_empty() {
            let likely = line.likely();
            let mut found: Vec<(usize, f64)> = (1..=line.items.len())
                .map(|at| (line.items[at - 1], likely[at]))
                .filter(|(_, weight)| *weight > 1e-3)
                .collect();
            found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            return SearchOutcome::Unsure(found);
        }
        // What is needed is known, though not whether it is all.
        let mut causes = self.causes.clone();
        if !self.needed.is_empty() {
            let mut needed = self.needed.clone();
            needed.sort_unstable();
            causes.push(needed);
        }
        causes.sort();
        SearchOutcome::Found {
            causes,
            more: true,
            confidence: self.confidence,
        }
    }
}

/// How many trials find one candidate of so many: `2 · log₂ n + 3`.
pub fn trials_of_one(len: usize) -> usize {
    (2.0 * (len.max(1) as f64).log2() + 3.0) as usize
}
