//! A bisection of a context: first over its messages, then over what stays, its hides, its settings, and down to the
//! parts of the message that was found. Pure: verdicts in, what is to be taken out next.
//!
//! Deliberately absent: what a suspect is in a repository.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::search::{Judged, NextTrial, SearchHow, SearchOutcome, TrialSearch};
use crate::hash::CommitHash;

/// What may be why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suspect {
    /// A unit of messages, by its number.
    Unit(usize),
    /// A part that a unit can do without: the unit's number, and its own.
    Piece(usize, usize),
    /// A hide that is in force.
    Hide(CommitHash),
    /// A request setting.
    Setting(String),
    /// A commit of the path, by its number.
    Commit(usize),
}

/// What is taken out of a context to try it.
pub type Taken = BTreeSet<Suspect>;

/// All that may be why.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    /// The units that may go.
    pub free: Vec<usize>,
    /// Those that stay unless it goes wrong without all others: the system's, the last prompt.
    pub fixed: Vec<usize>,
    /// How many pieces each unit has that has several.
    pub pieces: BTreeMap<usize, usize>,
    /// The hides in force.
    pub hides: Vec<CommitHash>,
    /// The request settings.
    pub settings: Vec<String>,
    /// In place of all that: how many commits there are.
    pub commits: Option<usize>,
}

/// What comes next in a bisection.
#[derive(Clone, Debug, PartialEq)]
pub enum BisectStep {
    /// Try without these.
    Try(Taken),
    /// It is over.
    Over(BisectEnd),
}

/// How a bisection ends.
#[derive(Clone, Debug, PartialEq)]
pub enum BisectEnd {
    /// Each of these makes it go wrong.
    Found {
        /// Sets of suspects: all members of one are needed.
        causes: Vec<Vec<Suspect>>,
        /// Whether there is more to it, or may be.
        more: bool,
        /// How sure that is, from 0 to 1.
        confidence: f64,
    },
    /// It goes well as it is.
    BothGood,
    /// It goes wrong whatever is taken out.
    BothBad,
    /// The context as it is, or else without anything that may go, could not be judged.
    NoEnd {
        /// As it is.
        full: bool,
    },
    /// It is one of these, each with how likely it is.
    Unsure(Vec<(Suspect, f64)>),
    /// The same context went wrong, and then well.
    Contradiction,
}

impl BisectEnd {
    /// All that was found.
    pub fn taken(&self) -> Taken {
        match self {
            Self::Found { causes, .. } => causes.iter().flatten().cloned().collect(),
            _ => Taken::new(),
        }
    }
}

/// Among what it is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    Commits,
    Messages,
    Fixed,
    Hides,
    Settings,
    Pieces,
    /// Whether it goes well without the pieces alone.
    Whole,
}

/// A bisection under way.
#[derive(Clone, Debug)]
pub struct Bisection {
    suspects: Suspects,
    how: SearchHow,
    round: Round,
    candidates: Vec<Suspect>,
    /// What is out in all trials of the round.
    base: Taken,
    search: TrialSearch,
    known: HashMap<Taken, Judged>,
    trials: usize,
    /// What is found, where a finer answer is looked for.
    found: Option<BisectEnd>,
    finer: Option<BisectEnd>,
}

impl Bisection {
    /// A bisection among these suspects.
    pub fn new(suspects: Suspects, how: SearchHow) -> Self {
        let mut bisection = Self {
            suspects,
            how,
            round: Round::Messages,
            candidates: Vec::new(),
            base: Taken::new(),
            search: TrialSearch::new(0, how),
            known: HashMap::new(),
            trials: 0,
            found: None,
            finer: None,
        };
        if bisection.suspects.commits.is_some() {
            bisection.enter(Round::Commits);
        } else if bisection.suspects.free.is_empty() {
            bisection.next_round(Round::Messages);
        } else {
            bisection.enter(Round::Messages);
        }
        bisection
    }

    /// The same where it is known already that it goes wrong as it is, and well without all that may go.
    #[must_use]
    pub fn with_ends(mut self) -> Self {
        self.known.insert(Taken::new(), Judged::Bad);
        let all = self.candidates.iter().cloned().collect();
        self.known.insert(all, Judged::Good);
        self
    }

    /// How many trials were judged.
    pub fn trials(&self) -> usize {
        self.trials
    }

    /// How many suspects are left in this round, and how many trials that takes at least.
    pub fn left(&self) -> (usize, usize) {
        self.search.left()
    }

    /// What comes next.
    pub fn step(&mut self) -> BisectStep {
        loop {
            if self.round == Round::Whole {
                let taken = self.whole();
                let Some(judged) = self.known.get(&taken) else {
                    return BisectStep::Try(taken);
                };
                let is_finer = *judged == Judged::Good;
                let ending = if is_finer { &self.finer } else { &self.found };
                return BisectStep::Over(ending.clone().unwrap_or(BisectEnd::Contradiction));
            }
            match self.search.next_trial() {
                NextTrial::Try(kept) => {
                    let taken = self.taken(&kept);
                    // Where a verdict may be chance, the same is tried again.
                    let is_certain = self.how.runs <= 1 && !self.search.repeats();
                    match self.known.get(&taken).filter(|_| is_certain) {
                        Some(judged) => self.search.tell(*judged),
                        None => return BisectStep::Try(taken),
                    }
                }
                NextTrial::Done(outcome) => {
                    if let Some(ending) = self.turn(outcome) {
                        return BisectStep::Over(ending);
                    }
                }
            }
        }
    }

    /// Takes the verdict on what [`Bisection::step`] gave to try.
    pub fn tell(&mut self, judged: Judged) {
        if let BisectStep::Try(taken) = self.step() {
            self.trials += 1;
            self.known.insert(taken, judged);
            if self.round != Round::Whole {
                self.search.tell(judged);
            }
        }
    }

    /// What is out where these candidates are kept.
    fn taken(&self, kept: &[usize]) -> Taken {
        let out = (0..self.candidates.len()).filter(|at| kept.binary_search(at).is_err());
        let out = out.map(|at| self.candidates[at].clone());
        let mut taken: Taken = self.base.iter().cloned().chain(out).collect();
        for (unit, count) in &self.suspects.pieces {
            let pieces: Vec<Suspect> = (0..*count).map(|at| Suspect::Piece(*unit, at)).collect();
            if pieces.iter().all(|piece| taken.contains(piece)) {
                taken.retain(|suspect| !pieces.contains(suspect));
                taken.insert(Suspect::Unit(*unit));
            }
        }
        taken
    }

    fn enter(&mut self, round: Round) {
        let units = |units: &[usize]| units.iter().map(|at| Suspect::Unit(*at)).collect();
        let suspects = &self.suspects;
        let (candidates, base): (Vec<Suspect>, Taken) = match round {
            Round::Commits => {
                let count = suspects.commits.unwrap_or_default();
                ((0..count).map(Suspect::Commit).collect(), Taken::new())
            }
            Round::Messages => (units(&suspects.free), Taken::new()),
            Round::Fixed => {
                let base: Vec<Suspect> = units(&suspects.free);
                (units(&suspects.fixed), base.into_iter().collect())
            }
            Round::Hides => {
                let hides = suspects.hides.iter().copied();
                (hides.map(Suspect::Hide).collect(), Taken::new())
            }
            Round::Settings => {
                let settings = suspects.settings.iter().cloned();
                (settings.map(Suspect::Setting).collect(), Taken::new())
            }
            Round::Pieces | Round::Whole => return,
        };
        self.begin(round, candidates, base);
    }

    fn begin(&mut self, round: Round, candidates: Vec<Suspect>, base: Taken) {
        self.search = TrialSearch::new(candidates.len(), self.how);
        if round == Round::Commits {
            self.search = TrialSearch::of_line(candidates.len(), self.how);
        }
        (self.round, self.candidates, self.base) = (round, candidates, base);
    }

    /// Enters the next round that has candidates; false: there is none.
    fn next_round(&mut self, after: Round) -> bool {
        let rounds = [
            (Round::Messages, true),
            (Round::Fixed, !self.suspects.fixed.is_empty()),
            (Round::Hides, !self.suspects.hides.is_empty()),
            (Round::Settings, !self.suspects.settings.is_empty()),
        ];
        let behind = rounds.iter().skip_while(|(round, _)| *round != after);
        let next = behind.skip(1).find(|(_, has_any)| *has_any);
        let next = next.map(|(round, _)| *round);
        if let Some(next) = next {
            self.enter(next);
        }
        next.is_some()
    }

    /// What becomes of the round's outcome: the bisection's end, or another round.
    fn turn(&mut self, outcome: SearchOutcome) -> Option<BisectEnd> {
        let named = |at: &usize| self.candidates[*at].clone();
        let is_alike = matches!(
            outcome,
            SearchOutcome::BothBad | SearchOutcome::NoEnd { full: false }
        );
        let ending = match outcome {
            SearchOutcome::Found {
                causes,
                more,
                confidence,
            } => BisectEnd::Found {
                causes: causes
                    .iter()
                    .map(|cause| cause.iter().map(named).collect())
                    .collect(),
                more,
                confidence,
            },
            SearchOutcome::BothGood => BisectEnd::BothGood,
            SearchOutcome::BothBad => BisectEnd::BothBad,
            SearchOutcome::NoEnd { full } => BisectEnd::NoEnd { full },
            SearchOutcome::Unsure(likely) => {
                BisectEnd::Unsure(likely.iter().map(|(at, p)| (named(at), *p)).collect())
            }
            SearchOutcome::Contradiction(_) => BisectEnd::Contradiction,
        };
        match self.round {
            Round::Messages | Round::Fixed | Round::Hides if is_alike => {
                let has_next = self.next_round(self.round);
                (!has_next).then_some(ending)
            }
            Round::Messages | Round::Fixed => match self.pieces_of(&ending) {
                Some((candidates, base)) => {
                    self.found = Some(ending);
                    self.begin(Round::Pieces, candidates, base);
                    None
                }
                None => Some(ending),
            },
            Round::Pieces => {
                let found = self.found.clone();
                let (
                    BisectEnd::Found {
                        causes,
                        confidence: own,
                        ..
                    },
                    Some(BisectEnd::Found {
                        confidence, more, ..
                    }),
                ) = (&ending, &found)
                else {
                    return found;
                };
                let pieces: usize = causes.iter().map(Vec::len).sum();
                if pieces == self.candidates.len() {
                    return found;
                }
                let finer = BisectEnd::Found {
                    causes: causes.clone(),
                    more: *more,
                    confidence: own * confidence,
                };
                // Where one trial tells nothing, there is none.
                if self.how.runs > 1 {
                    return Some(finer);
                }
                self.finer = Some(finer);
                self.round = Round::Whole;
                None
            }
            _ => Some(ending),
        }
    }

    /// The pieces of what was found, where it has more than units, and what else is out then.
    fn pieces_of(&self, ending: &BisectEnd) -> Option<(Vec<Suspect>, Taken)> {
        let BisectEnd::Found { causes, .. } = ending else {
            return None;
        };
        let [cause] = causes.as_slice() else {
            return None;
        };
        let mut candidates = Vec::new();
        for suspect in cause {
            match suspect {
                Suspect::Unit(unit) => match self.suspects.pieces.get(unit) {
                    Some(count) => {
                        candidates.extend((0..*count).map(|at| Suspect::Piece(*unit, at)));
                    }
                    None => candidates.push(suspect.clone()),
                },
                _ => return None,
            }
        }
        let free = self.suspects.free.iter().map(|at| Suspect::Unit(*at));
        let base = free.filter(|suspect| !cause.contains(suspect)).collect();
        let base = match self.round {
            Round::Fixed => {
                let fixed = self.suspects.fixed.iter().map(|at| Suspect::Unit(*at));
                let base: Taken = base;
                let others = fixed.filter(|suspect| !cause.contains(suspect));
                base.into_iter().chain(others).collect()
            }
            _ => base,
        };
        (candidates.len() > cause.len()).then_some((candidates, base))
    }

    /// What is out to see whether it goes well without the pieces that were found.
    fn whole(&self) -> Taken {
        match &self.finer {
            Some(BisectEnd::Found { causes, .. }) => causes.iter().flatten().cloned().collect(),
            _ => Taken::new(),
        }
    }
}
