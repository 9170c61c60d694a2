//! Which message makes a context go wrong: verdicts in, the next context to try out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ApiError, At, Method};
use crate::model::RefName;
use crate::repo::On;
use crate::rewrite::bisect::{
    BisectEnd, BisectStep, Bisection, Ground, Judged, SearchHow, Suspect, Taken,
};

/// What was judged so far. The call keeps nothing: each one holds all verdicts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BisectParams {
    /// The commit whose context goes wrong; HEAD's unless given.
    pub bad: Option<String>,
    /// A commit whose context goes well: what it has stays.
    pub good: Option<String>,
    /// Look for the first commit after `good`, or after the first of all, that goes wrong.
    pub time: bool,
    /// Add model, limits and tools, from the settings; each may be why.
    pub request: bool,
    /// The verdicts on the contexts that were given to try, in that order: good, bad or skip.
    pub verdicts: Vec<String>,
    /// How often each end is tried, where it goes wrong by chance. Once unless given.
    pub runs: Option<usize>,
    /// How sure the answer is to be, where it goes wrong by chance. 0.95 unless given.
    pub confidence: Option<f64>,
}

/// What to try, or what was found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BisectAnswer {
    /// The context to try: a commit that no branch leads to. None: it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rev: Option<String>,
    /// How it ended: found, both_good, both_bad, unjudged (an end could not be judged), unsure, contradiction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<&'static str>,
    /// How many trials were judged.
    pub trials: usize,
    /// How many candidates are left.
    pub left: usize,
    /// Sets of what makes it go wrong, each by itself; all members of one are needed. Of an unsure end: each that it may be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Vec<BisectSuspect>>,
    /// Whether there is more to it, or may be.
    pub has_more: bool,
    /// How sure that is, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The context without what was found: a commit that no branch leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
}

/// What makes it go wrong, or may.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BisectSuspect {
    /// What it is: message, part, hide, setting or commit.
    pub kind: &'static str,
    /// The name of the message, or the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The message's number in the context, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// The part's number, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
    /// The setting's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How likely it is, where the end is unsure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likely: Option<f64>,
}

impl BisectSuspect {
    /// What a suspect is: a call and its result are two messages.
    fn all(ground: &Ground, suspect: &Suspect) -> Vec<Self> {
        let messages = ground.messages(suspect).into_iter();
        match suspect {
            Suspect::Unit(_) => messages
                .map(|(number, id)| Self {
                    kind: "message",
                    id: Some(id.to_string()),
                    number: Some(number),
                    ..Self::default()
                })
                .collect(),
            Suspect::Piece(..) => messages
                .zip(ground.parts(suspect))
                .map(|((number, id), (_, part))| Self {
                    kind: "part",
                    id: Some(id.to_string()),
                    number: Some(number),
                    part: Some(part),
                    ..Self::default()
                })
                .collect(),
            Suspect::Hide(_) | Suspect::Commit(_) => vec![Self {
                kind: match suspect {
                    Suspect::Hide(_) => "hide",
                    _ => "commit",
                },
                id: ground.commit(suspect).map(|commit| commit.to_string()),
                ..Self::default()
            }],
            Suspect::Setting(key) => vec![Self {
                kind: "setting",
                key: Some(key.clone()),
                ..Self::default()
            }],
        }
    }
}

/// A verdict as it is typed.
fn verdict(text: &str) -> Result<Judged, ApiError> {
    match text {
        "good" => Ok(Judged::Good),
        "bad" => Ok(Judged::Bad),
        "skip" => Ok(Judged::Skip),
        other => Err(ApiError::params(format!(
            "'{other}' is no verdict: good, bad or skip"
        ))),
    }
}

impl Method for BisectParams {
    const NAME: &'static str = "bisect";
    const ABOUT: &'static str =
        "Gives the next context to try, or which message, part, hide or setting makes it go wrong.";
    const CHANGES: bool = true;
    type Answer = BisectAnswer;

    fn act(self, at: &mut At<'_>) -> Result<BisectAnswer, ApiError> {
        let bad = at.resolve(self.bad.as_deref())?;
        let good = self.good.as_deref().map(|rev| at.resolve(Some(rev)));
        let good = good.transpose()?;
        let confidence = self.confidence.unwrap_or(0.95);
        if !(0.5..1.0).contains(&confidence) {
            let what = "'confidence' is a number from 0.5 to below 1";
            return Err(ApiError::params(what));
        }
        let ground = if self.time {
            at.repo.bisect_path(&bad, good.as_ref())?
        } else {
            at.repo.bisect_ground(&bad, good.as_ref(), self.request)?
        };
        let how = SearchHow {
            runs: self.runs.unwrap_or(1),
            confidence,
            ..SearchHow::default()
        };
        let mut bisection = Bisection::new(ground.suspects().clone(), how);
        for text in &self.verdicts {
            if let BisectStep::Over(_) = bisection.step() {
                return Err(ApiError::refused(
                    "the bisection is over before the last verdict",
                ));
            }
            bisection.tell(verdict(text)?);
        }
        let step = bisection.step();
        // No branch moves: the name is where the commits would be.
        let on = On::Branch(RefName::branch("bisect")?);
        let make = |taken: &Taken| {
            let call = at.call("bisect").on(&on);
            at.repo.bisect_without(call, &ground, taken, None)
        };
        let mut answer = BisectAnswer {
            rev: None,
            end: None,
            trials: bisection.trials(),
            left: bisection.left().0,
            causes: Vec::new(),
            has_more: false,
            confidence: None,
            without: None,
        };
        let end = match step {
            BisectStep::Try(taken) => {
                answer.rev = Some(make(&taken)?.to_string());
                return Ok(answer);
            }
            BisectStep::Over(end) => end,
        };
        let all = |suspect: &Suspect| BisectSuspect::all(&ground, suspect);
        answer.end = Some(match &end {
            BisectEnd::Found {
                causes,
                more,
                confidence,
            } => {
                let causes = causes.iter();
                answer.causes = causes
                    .map(|cause| cause.iter().flat_map(all).collect())
                    .collect();
                answer.has_more = *more;
                answer.confidence = Some(*confidence);
                if !self.time {
                    answer.without = Some(make(&end.taken())?.to_string());
                }
                "found"
            }
            BisectEnd::BothGood => "both_good",
            BisectEnd::BothBad => "both_bad",
            BisectEnd::NoEnd { .. } => "unjudged",
            BisectEnd::Unsure(likely) => {
                let named = likely.iter().map(|(suspect, weight)| {
                    let mut all = all(suspect);
                    for one in &mut all {
                        one.likely = Some(*weight);
                    }
                    all
                });
                answer.causes = named.collect();
                "unsure"
            }
            BisectEnd::Contradiction => "contradiction",
        });
        Ok(answer)
    }
}
