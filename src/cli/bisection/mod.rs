//! What is told of a bisection: each trial, and what it found.
//!
//! Deliberately absent: the search (`history::bisect`), and how a context is tried.

pub mod by_hand;

use tract::context::Mask;
use tract::deeds::BlamedMessage;
use tract::hash::CommitHash;
use tract::model::{EntryId, Message, RefName, preview};
use tract::render::{Label, Line, plural};
use tract::repo::{On, Repo};
use tract::rewrite::bisect::{BisectEnd, CAUSES_MAX, Ground, Suspect, Taken};

use super::drawing::{listing, origin, position};
use super::{App, Failure, Result};

/// Where trials are made that no branch leads to.
pub const BRANCH: &str = "bisect";
/// How many of several that it may be are listed.
const LIKELY_MAX: usize = 8;

/// What is made of what was found.
pub struct Conclusion<'a> {
    /// What was searched.
    pub ground: &'a Ground,
    /// How many trials it took.
    pub trials: usize,
    /// Whether verdicts are chance.
    pub by_chance: bool,
    /// The branch for the context without it; none: by what was found.
    pub branch: Option<&'a RefName>,
    /// The command, for the operations.
    pub what: &'a str,
}

impl Conclusion<'_> {
    /// Tells how it ended, and makes the branch.
    pub fn tell(&self, end: &BisectEnd, repo: &Repo, app: &mut App) -> Result<()> {
        let over_time = self.ground.suspects().commits.is_some();
        match end {
            BisectEnd::Found {
                causes,
                more,
                confidence,
            } => self.found(causes, *more, *confidence, repo, app),
            BisectEnd::BothGood => {
                let what = "it goes well as it is: there is nothing to look for";
                let hint = match self.by_chance {
                    true => "more runs see what is rare: -n 100",
                    false => "if it goes wrong now and then only: -n 20",
                };
                Err(Failure::refused(what).with_hint(hint))
            }
            BisectEnd::BothBad if over_time => {
                let what = "it goes wrong at the good end, too";
                Err(Failure::refused(what).with_hint("--good REV names a commit before that"))
            }
            BisectEnd::BothBad => {
                let what = "it goes wrong whatever is left out: the context is not why";
                let hint = "if it goes wrong by itself now and then: -n 20; request settings count with --request";
                Err(Failure::refused(what).with_hint(hint))
            }
            BisectEnd::NoEnd { full } => {
                let which = if *full {
                    "the whole context"
                } else {
                    "the good end"
                };
                let what = format!("{which} could not be judged, so there is nothing to go by");
                let hint =
                    "the command ends with 0 where it is good, and with 1 to 124 where it is bad";
                Err(Failure::refused(what).with_hint(hint))
            }
            BisectEnd::Contradiction => {
                let what = "the same context went wrong, and then well";
                Err(Failure::refused(what).with_hint("where it goes wrong by chance: -n 20"))
            }
            BisectEnd::Unsure(likely) => {
                for (suspect, weight) in likely.iter().take(LIKELY_MAX) {
                    let percent = format!("{:>3.0} %  ", weight * 100.0);
                    for line in self.lines(suspect, repo, app)? {
                        app.ui.print(Line::from(percent.as_str()) + line)?;
                    }
                }
                let count = plural(likely.len() as u64, "candidate");
                let what =
                    format!("which of {count} it is cannot be told: some could not be judged");
                Err(Failure::refused(what).with_hint("more trials may tell: --max-runs"))
            }
        }
    }

    fn found(
        &self,
        causes: &[Vec<Suspect>],
        more: bool,
        confidence: f64,
        repo: &Repo,
        app: &mut App,
    ) -> Result<()> {
        for (at, cause) in causes.iter().enumerate() {
            let word = match (at, cause.len()) {
                (0, 1) => "It goes wrong by:",
                (0, _) => "It goes wrong by these together:",
                (_, 1) => "And by this alone:",
                _ => "And by these together:",
            };
            app.ui.print(Label::Strong.of(word))?;
            for suspect in cause {
                for line in self.lines(suspect, repo, app)? {
                    app.ui.print(Line::from("  ") + line)?;
                }
            }
        }
        let mut said = format!("found in {}", plural(self.trials as u64, "run"));
        if self.by_chance {
            // Never more than was asked of the verdicts.
            said += &format!(", {:.0} % sure", (confidence * 100.0).floor());
        }
        app.ui.print(Label::Dim.of(said))?;
        if more {
            let why = match causes.len() < CAUSES_MAX {
                true => "some runs had no verdict".to_owned(),
                false => format!("no more than {CAUSES_MAX} causes are looked for"),
            };
            app.ui
                .notice(format!("it may go wrong without that, too: {why}"));
        }
        if self.ground.suspects().commits.is_some() {
            return Ok(());
        }
        let name = match self.branch {
            // By hand it is there already.
            Some(branch) if branch.short() == BRANCH => branch.clone(),
            branch => self.make(branch, causes, repo, app)?,
        };
        let line = Line::from("The context without it is on ") + Label::Branch.of(name.short());
        app.ui.status(line);
        let (bad, name) = (self.ground.tip().short(), name.short());
        app.ui.hint(format!("tract diff {bad} {name}"));
        Ok(())
    }

    /// Makes the branch; one that is there and holds the same will do.
    fn make(
        &self,
        branch: Option<&RefName>,
        causes: &[Vec<Suspect>],
        repo: &Repo,
        app: &App,
    ) -> Result<RefName> {
        let base = name_of(self.ground, causes);
        let name = match branch {
            Some(branch) => branch.clone(),
            None => RefName::branch(&base)?,
        };
        let on = On::Branch(name.clone());
        let call = app.call(&on, self.what);
        let taken: Taken = causes.iter().flatten().cloned().collect();
        let made = repo.bisect_without(call, self.ground, &taken, None)?;
        let name = match tip(repo, &name)? {
            None => name,
            Some(tip) => {
                let [one, other] = [repo.commit_at(&tip)?, repo.commit_at(&made)?];
                if (one.parent, &one.operation) == (other.parent, &other.operation) {
                    return Ok(name);
                }
                free(repo, &base)?
            }
        };
        repo.create_branch(app.call(&On::Head, self.what), &name, &made.to_string())?;
        Ok(name)
    }

    /// A message as the trials had it, and whether that is an edit of it. None where the context has it not.
    fn as_tried(&self, repo: &Repo, entry: &EntryId) -> Result<Option<(Message, bool)>> {
        let mut context = repo.context(&self.ground.tip())?;
        context.entries.retain(|one| one.id == *entry);
        let mut is_edited = false;
        for one in context.entries.iter_mut() {
            // Parts are counted in the whole message.
            one.mask = Mask::default();
            is_edited |= one.edited;
        }
        let message = repo.messages(&context)?.pop();
        Ok(message.map(|message| (message, is_edited)))
    }

    /// A message that was found: its commit, and what it says in the context.
    fn message(&self, repo: &Repo, app: &App, entry: &EntryId) -> Result<Line> {
        let said = self.as_tried(repo, entry)?;
        let edited = said.and_then(|(message, is_edited)| is_edited.then_some(message));
        commit_saying(repo, app, &entry.commit, edited.as_ref())
    }

    /// What a suspect is, in lines.
    fn lines(&self, suspect: &Suspect, repo: &Repo, app: &App) -> Result<Vec<Line>> {
        match suspect {
            Suspect::Unit(_) => {
                let messages = self.ground.messages(suspect);
                let mut lines = Vec::new();
                for (number, entry) in messages {
                    let place = Label::Strong.of(format!(":{number}")) + "  ";
                    lines.push(place + self.message(repo, app, &entry)?);
                    lines.extend(blame(repo, app, &self.ground.tip(), &entry)?);
                }
                Ok(lines)
            }
            Suspect::Piece(..) => {
                let numbers = self.ground.messages(suspect);
                let parts = self.ground.parts(suspect);
                let each = parts.iter().zip(numbers);
                each.map(|((entry, part), (number, _))| {
                    let place = Label::Strong.of(format!(":{number}#{part}")) + "  ";
                    let said = self.as_tried(repo, entry)?.and_then(|(message, _)| {
                        let part = message.parts.get(*part as usize)?.clone();
                        Some(preview(&Message::new(message.role, vec![part])))
                    });
                    let hash = Label::Hash.of(entry.commit.short()) + "  ";
                    Ok(place + hash + said.unwrap_or_default())
                })
                .collect()
            }
            Suspect::Hide(hide) => Ok(vec![
                Line::from("what this hid is missing: ") + commit(repo, app, hide)?,
            ]),
            Suspect::Setting(key) => {
                let context = repo.context(&self.ground.tip())?;
                let value = repo.settings(&context)?.remove(key).unwrap_or_default();
                let mut line = Line::from("the setting ") + Label::Strong.quote(key) + " = ";
                line += Label::Text.quote(&value);
                if let Some(by) = context.settings.get(key) {
                    line = line + ", set by " + Label::Hash.of(by.short());
                }
                Ok(vec![line])
            }
            Suspect::Commit(_) => match self.ground.commit(suspect) {
                Some(hash) => Ok(vec![commit(repo, app, &hash)?]),
                None => Ok(Vec::new()),
            },
        }
    }
}

/// What is taken out in the end: what was found; over time, what came after it.
pub fn taken_out(ground: &Ground, end: &BisectEnd) -> Taken {
    let BisectEnd::Found { causes, .. } = end else {
        return Taken::new();
    };
    let found = causes.iter().flatten();
    match (ground.suspects().commits, found.clone().next()) {
        (Some(count), Some(Suspect::Commit(first))) => {
            (first + 1..count).map(Suspect::Commit).collect()
        }
        _ => found.cloned().collect(),
    }
}

/// What the branch without what was found is called.
pub fn name_of(ground: &Ground, causes: &[Vec<Suspect>]) -> String {
    let first = causes.iter().flatten().next();
    let messages = first.map(|suspect| ground.messages(suspect));
    let commit = messages.and_then(|them| Some(them.first()?.1.commit));
    let commit = commit.or(first.and_then(|it| ground.commit(it)));
    format!("bisect/{}", commit.unwrap_or(ground.tip()).short())
}

/// A branch's name that is free: this one, or with a number.
pub fn free(repo: &Repo, base: &str) -> Result<RefName> {
    let names = std::iter::once(base.to_owned()).chain((2..).map(|n| format!("{base}-{n}")));
    for name in names {
        let branch = RefName::branch(&name)?;
        if tip(repo, &branch)?.is_none() {
            return Ok(branch);
        }
    }
    unreachable!("there is always another number")
}

/// Where a branch is, if it is there.
pub fn tip(repo: &Repo, branch: &RefName) -> Result<Option<CommitHash>> {
    let found = repo.references(branch.as_str())?.into_iter();
    let mut found = found.filter(|(name, _)| name == branch);
    Ok(found.find_map(|(_, value)| value.commit()))
}

/// Where a message came from, behind the line that names it.
fn blame(repo: &Repo, app: &App, tip: &CommitHash, entry: &EntryId) -> Result<Vec<Line>> {
    let rows = repo.blame(tip, Some(entry))?;
    let mut lines = Vec::new();
    for row in &rows {
        // The commit and the session are said already.
        let known = BlamedMessage {
            session: None,
            title: None,
            ..row.into()
        };
        let facts = origin::facts(&known, &app.calendar(), None);
        let said = facts.into_iter().skip(2);
        lines.extend(said.map(|fact| Line::indent(4) + fact));
    }
    Ok(lines)
}

/// A commit: what it does, what it says, and where it came from.
fn commit(repo: &Repo, app: &App, hash: &CommitHash) -> Result<Line> {
    commit_saying(repo, app, hash, None)
}

/// The same of a commit whose message says something else by now.
fn commit_saying(
    repo: &Repo,
    app: &App,
    hash: &CommitHash,
    said: Option<&Message>,
) -> Result<Line> {
    let row = repo.show(hash, app.encoding(repo)?)?.row;
    let mut line = Label::Hash.of(hash.short()) + " " + listing::verb(&row.commit);
    if let Some(role) = row.role {
        let (label, who) = Label::speaker(role, row.injected);
        line = line + " " + label.of(who);
    }
    line = line
        + "  "
        + match said {
            Some(message) => Line::from(preview(message)).cut(60),
            None => listing::said(&row, Some(60)),
        };
    if let Some((session, _)) = repo.session_of(hash)? {
        let name = listing::shown_name(&session, true);
        line = line + Label::Dim.of("  from ") + Label::Session.of(name);
    }
    Ok(line)
}

/// What a trial leaves in, in words.
pub fn left(ground: &Ground, taken: &Taken) -> String {
    if let Some(count) = ground.suspects().commits {
        return format!("commit {} of {count}", count - taken.len());
    }
    let (left, all) = ground.left(taken);
    let mut said = format!("{left} of {all} messages");
    let mut kinds = [0_usize; 3];
    for suspect in taken {
        match suspect {
            Suspect::Piece(..) => kinds[0] += 1,
            Suspect::Hide(_) => kinds[1] += 1,
            Suspect::Setting(_) => kinds[2] += 1,
            _ => {}
        }
    }
    for (count, what) in kinds.into_iter().zip(["part", "hide", "setting"]) {
        if count > 0 {
            said += &format!(", without {}", plural(count as u64, what));
        }
    }
    said
}

/// Refuses a revision that is no commit, and gives the commit.
pub fn resolve(repo: &Repo, on: &On, rev: &str) -> Result<CommitHash> {
    position::must_be_whole(repo, on, rev)?;
    Ok(repo.resolve(on, rev)?)
}
