//! A bisection by hand: somebody looks at the context on the branch `bisect` and says how it went.
//!
//! All there is of it is that branch: the note of its newest commit holds what was said, line by line, which is also
//! what `tract bisect log` prints and `replay` reads. So `tract undo` takes back the last word.

use tract::hash::CommitHash;
use tract::model::RefName;
use tract::render::{Label, Line, plural};
use tract::repo::{BranchMove, Expect, On, Repo};
use tract::rewrite::bisect::{BisectEnd, BisectStep, Bisection, Ground, Judged, SearchHow};

use super::{BRANCH, Conclusion, free, left, name_of, taken_out, tip};
use crate::cli::{App, Failure, Result};

/// What was said so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The commit whose context goes wrong.
    pub bad: CommitHash,
    /// The one whose context goes well, if one was named.
    pub good: Option<CommitHash>,
    /// Whether it is about the commits between them.
    pub over_time: bool,
    /// The verdicts, in order.
    pub verdicts: Vec<Judged>,
    /// Where its branch was when it was read; none where it has not begun.
    pub tip: Option<CommitHash>,
}

impl Session {
    /// The one that is under way.
    pub fn here(repo: &Repo) -> Result<Option<Self>> {
        let branch = RefName::branch(BRANCH)?;
        let Some(tip) = tip(repo, &branch)? else {
            return Ok(None);
        };
        match repo.commit_at(&tip)?.note {
            Some(note) => Ok(Self::read(&note).ok().map(|session| Self {
                tip: Some(tip),
                ..session
            })),
            None => Ok(None),
        }
    }

    /// The one that is under way, which there must be.
    pub fn under_way(repo: &Repo) -> Result<Self> {
        Self::here(repo)?.ok_or_else(|| {
            Failure::refused("no bisection is under way").with_hint("tract bisect start")
        })
    }

    /// Reads what [`Session::text`] has written.
    pub fn read(text: &str) -> Result<Self> {
        let wrong = |line: &str| {
            let hint = "tract bisect log prints what can be replayed";
            Failure::usage(format!("'{line}' is no line of a bisection")).with_hint(hint)
        };
        let mut lines = text.lines().map(str::trim);
        let mut lines = lines
            .by_ref()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let first = lines.next().unwrap_or_default();
        let mut words = first.split(' ').filter(|word| !word.is_empty());
        let bad = match (words.next(), words.next()) {
            (Some("start"), Some(bad)) => bad.parse().map_err(|_| wrong(first))?,
            _ => return Err(wrong(first)),
        };
        let (mut good, mut over_time) = (None, false);
        for word in words {
            match word {
                "--time" => over_time = true,
                word => good = Some(word.parse().map_err(|_| wrong(first))?),
            }
        }
        let verdict = |line: &str| match line {
            "good" => Ok(Judged::Good),
            "bad" => Ok(Judged::Bad),
            "skip" => Ok(Judged::Skip),
            _ => Err(wrong(line)),
        };
        Ok(Self {
            bad,
            good,
            over_time,
            verdicts: lines.map(verdict).collect::<Result<_>>()?,
            tip: None,
        })
    }

    /// It as text.
    pub fn text(&self) -> String {
        let mut text = format!("start {}", self.bad);
        if let Some(good) = &self.good {
            text += &format!(" {good}");
        }
        if self.over_time {
            text += " --time";
        }
        for judged in &self.verdicts {
            text += &format!("\n{}", crate::cli::machine::judge::word(*judged));
        }
        text
    }

    /// What is searched.
    fn ground(&self, repo: &Repo) -> Result<Ground> {
        Ok(if self.over_time {
            repo.bisect_path(&self.bad, self.good.as_ref())?
        } else {
            repo.bisect_ground(&self.bad, self.good.as_ref(), true)?
        })
    }

    /// Where it stands.
    fn at(&self, repo: &Repo) -> Result<(Ground, Bisection)> {
        let ground = self.ground(repo)?;
        let how = SearchHow::default();
        let mut bisection = Bisection::new(ground.suspects().clone(), how).with_ends();
        for judged in &self.verdicts {
            if let BisectStep::Over(_) = bisection.step() {
                let failure = Failure::refused("the bisection is over");
                return Err(failure.with_hint("tract bisect reset; tract bisect log shows it"));
            }
            bisection.tell(*judged);
        }
        Ok((ground, bisection))
    }

    /// A name for the branch of what was found, once it was.
    pub fn found(&self, repo: &Repo) -> Result<Option<RefName>> {
        let (ground, mut bisection) = self.at(repo)?;
        match bisection.step() {
            BisectStep::Over(BisectEnd::Found { causes, .. }) if !self.over_time => {
                Ok(Some(free(repo, &name_of(&ground, &causes))?))
            }
            _ => Ok(None),
        }
    }

    /// Puts the context to try on the branch, or what was found, and tells it. Refuses where somebody else has moved the
    /// branch since.
    pub fn go_on(&self, repo: &Repo, what: &str, app: &mut App) -> Result<()> {
        let (ground, mut bisection) = self.at(repo)?;
        let branch = RefName::branch(BRANCH)?;
        let on = On::Branch(branch.clone());
        let step = bisection.step();
        let taken = match &step {
            BisectStep::Try(taken) => taken.clone(),
            BisectStep::Over(end) => taken_out(&ground, end),
        };
        let call = app.call(&on, what);
        let made = repo.bisect_without(call, &ground, &taken, Some(self.text()))?;
        let expect = self.tip.map_or(Expect::Nothing, Expect::At);
        let moved = BranchMove::to(branch.clone(), Some(made.to_string()), Some(expect));
        repo.move_branches(call, &[moved])?;
        match step {
            BisectStep::Try(taken) => {
                let line = asked(&ground, &bisection, &left(&ground, &taken));
                app.ui.status(line);
                app.ui
                    .hint("try it: tract compile bisect; then tract bisect good, bad or skip");
                Ok(())
            }
            BisectStep::Over(end) => {
                let conclusion = Conclusion {
                    ground: &ground,
                    trials: bisection.trials(),
                    by_chance: false,
                    branch: Some(&branch),
                    what,
                };
                conclusion.tell(&end, repo, app)?;
                app.ui.hint("tract bisect reset ends it");
                Ok(())
            }
        }
    }
}

/// That one is under way, and how far, for a status; on a server, where each question is a round trip, nobody asks.
pub fn line(repo: &Repo) -> Result<Option<Line>> {
    if repo.directory().is_none() {
        return Ok(None);
    }
    let Some(session) = Session::here(repo)? else {
        return Ok(None);
    };
    let (ground, mut bisection) = session.at(repo)?;
    let said = match bisection.step() {
        BisectStep::Try(taken) => asked(&ground, &bisection, &left(&ground, &taken)),
        BisectStep::Over(_) => Line::from("over: tract bisect reset ends it"),
    };
    Ok(Some(Line::from("Bisect   ") + said))
}

fn asked(ground: &Ground, bisection: &Bisection, left: &str) -> Line {
    let (count, trials) = bisection.left();
    let what = if ground.suspects().commits.is_some() {
        "commit"
    } else {
        "candidate"
    };
    let rest = match trials {
        0 => format!(" has {left}, to be sure"),
        _ => format!(
            " has {left}: it is one of {}, which takes {} or a few more",
            plural(count as u64, what),
            plural(trials as u64, "trial")
        ),
    };
    Label::Branch.of(BRANCH) + rest
}
