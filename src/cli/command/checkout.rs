//! `tract checkout`: HEAD goes elsewhere, branches stay.

use tract::Error;
use tract::model::{Head, RefName};
use tract::render::{Label, Line};
use tract::repo::{On, Repo, Target};

use crate::cli::position::{self, place};
use crate::cli::{App, Failure, Result, Typed};

/// Switch to a branch, or look at an earlier commit
///
/// A branch's name attaches HEAD to that branch. Any other revision detaches HEAD: you can look at
/// everything from there but commit nothing; -b NAME starts a branch there, to continue on. - goes back
/// to where HEAD was before. The name of a branch that was seen at one remote alone starts a branch of that
/// name here.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract checkout :12           look at then
  tract checkout -             and back
  tract checkout -b other :12  go on from there, keep both
  tract checkout main          to a branch
  tract checkout idea          to origin/idea, as a branch here")]
pub struct Args {
    /// Start a branch of this name, at REV or where HEAD is
    #[arg(short = 'b', value_name = "NAME")]
    branch: Option<String>,
    /// A branch, any other revision, or - for where HEAD was before
    #[arg(value_name = "REV|BRANCH|-", required_unless_present = "branch")]
    rev: Option<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    if app.names_a_branch() {
        return Err(
            Failure::usage("checkout moves HEAD, which --on and TRACT_BRANCH leave alone")
                .with_hint("--on takes any branch as it is; a new one: tract branch NAME REV"),
        );
    }
    let repo = app.repo()?;
    let seen = elsewhere(args, &repo)?;
    if let Some(rev) = args.rev.as_ref().filter(|_| seen.is_none()) {
        position::must_be_whole(&repo, &On::Head, rev)?;
    }
    let target = match (&args.branch, args.rev.as_deref()) {
        (Some(name), rev) => Target::NewBranch(RefName::branch(name)?, rev.map(str::to_owned)),
        (None, Some("-")) => Target::Previous,
        (None, rev) => match (&seen, rev.unwrap_or("HEAD")) {
            (Some(seen), name) => {
                let start = seen.short().to_owned();
                Target::NewBranch(RefName::branch(name)?, Some(start))
            }
            (None, rev) => Target::Named(rev.to_owned()),
        },
    };
    let what = Typed::new("checkout").option("-b", args.branch.as_ref());
    let what = what.revs(&args.rev).line();
    let done = repo.checkout(app.call(&On::Head, &what), &target)?;
    let made = args.branch.is_some() || seen.is_some();
    if let (Some(seen), Some(branch)) = (&seen, done.to.branch())
        && let Some((remote, _)) = seen.short().split_once('/')
    {
        repo.set_remote_of(std::slice::from_ref(branch), remote)?;
    }
    let line = match &done.to {
        Head::Attached { branch, tip } => {
            let on = Line::from(match (done.from == done.to, made) {
                (true, _) => "Already on ",
                (false, true) => "On a new branch ",
                (false, false) => "On ",
            });
            let on = on + Label::Branch.of(branch.short());
            match tip {
                Some(tip) => on + ", at " + place(&repo, tip)?,
                None => on + ", which has no commits yet",
            }
        }
        Head::Detached(commit) => {
            let at = place(&repo, commit)?;
            match done.from == done.to {
                true => Line::from("HEAD is at ") + at + " already, detached",
                false if target == Target::Previous => {
                    Line::from("HEAD is now detached at ") + at + ", where it was before"
                }
                false => Line::from("HEAD is now detached at ") + at,
            }
        }
    };
    app.ui.status(line);
    if let Head::Detached(_) = done.to {
        let branch = repo.last_branch()?;
        app.ui.hint(format!(
            "to return: tract checkout {branch}; to go on from here and keep both: tract checkout -b NAME"
        ));
    }
    position::open_call(done.open.as_ref(), "tract checkout -b NAME", app);
    Ok(())
}

/// Where a branch was seen that is not here by that name, if it was at one remote alone.
fn elsewhere(args: &Args, repo: &Repo) -> Result<Option<RefName>> {
    let (None, Some(name)) = (&args.branch, args.rev.as_deref()) else {
        return Ok(None);
    };
    let unknown = repo.resolve(&On::Head, name);
    let Err(Error::UnknownRevision { .. }) = unknown else {
        return Ok(None);
    };
    let Ok(branch) = RefName::branch(name) else {
        return Ok(None);
    };
    let mut seen = repo.seen_elsewhere(&branch)?;
    match seen.len() {
        0 | 1 => Ok(seen.pop()),
        count => {
            let what = format!("{name} was seen at {count} remotes");
            let first = seen[0].short();
            let hint = format!("tract checkout -b {name} {first}");
            Err(Failure::refused(what).with_hint(hint))
        }
    }
}
