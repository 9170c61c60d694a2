//! `tract reset`: the branch goes back to then.

use serde_json::json;
use tract::hash::CommitHash;
use tract::render::{Label, Line, plural};
use tract::repo::{Repo, Reset, ResetMode};

use crate::cli::position::{self, place};
use crate::cli::{App, Result, trace, typed};

/// Move the branch back to a commit; what came later leaves it
///
/// Nothing is lost. --soft keeps what came later under ORIG_HEAD; --hard leaves it to the reflog. Both
/// print how to get back. To look at an earlier commit and leave the branch where it is: tract checkout
/// REV.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract reset :12          to where the 12th message was the last
  tract reset HEAD~3       three commits back
  tract reset ORIG_HEAD    and forward again
  tract reset --root       to before the first message, to start over from another prompt
  tract reset --hard v1    to the tag v1, with nothing kept but in the reflog")]
pub struct Args {
    /// Keep what came later under ORIG_HEAD (the default)
    #[arg(long)]
    soft: bool,
    /// Keep it in the reflog alone
    #[arg(long, conflicts_with = "soft")]
    hard: bool,
    /// Move to before the first commit
    #[arg(long, conflicts_with = "rev")]
    root: bool,
    /// Refuse (exit 4) unless the branch is at REV; none: unless it has no commit
    #[arg(long, value_name = "REV|none")]
    expect: Option<String>,
    /// The commit to move to
    #[arg(value_name = "REV", required_unless_present = "root")]
    rev: Option<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let (mode, word) = if args.hard {
        (ResetMode::Hard, "reset --hard")
    } else {
        (ResetMode::Soft, "reset")
    };
    let expect = args.expect.as_deref().map(|rev| repo.expected(&on, rev));
    let expect = expect.transpose()?;
    let what = match &args.rev {
        Some(rev) => {
            position::must_be_whole(&repo, &on, rev)?;
            format!("{word} {}", typed::rev(rev))
        }
        None => format!("{word} --root"),
    };
    let done = repo.reset_from(app.call(&on, &what), args.rev.as_deref(), mode, expect)?;
    trace::add(app, "reset", |_| {
        let name = |commit: Option<CommitHash>| commit.map(|commit| commit.to_string());
        Ok(json!({"from": name(done.from), "to": name(done.to), "how": word}))
    });
    let name = match &done.branch {
        Some(branch) => Label::Branch.of(branch.short()),
        None => Label::Head.of("HEAD"),
    };
    let is_there = done.from == done.to;
    let line = match &done.to {
        Some(to) if is_there => name + " is at " + place(&repo, to)? + " already",
        Some(to) => name + " is now at " + place(&repo, to)?,
        None if is_there => name + " has no commits",
        None => name + " is now before its first commit",
    };
    app.ui.status(line);
    if is_there {
        return Ok(());
    }
    if let Some(from) = &done.from {
        back(&repo, &done, from, mode, app)?;
    }
    position::open_call(done.open.as_ref(), "tract reset", app);
    Ok(())
}

/// How many commits are left behind, and the way back to them.
fn back(
    repo: &Repo,
    done: &Reset,
    from: &CommitHash,
    mode: ResetMode,
    app: &mut App,
) -> Result<()> {
    let was = Line::from("it was at ") + place(repo, from)?;
    match mode {
        ResetMode::Soft => {
            app.ui.hint(was + "; back: tract reset ORIG_HEAD");
        }
        ResetMode::Hard if done.orphaned > 0 => {
            let orphaned = plural(done.orphaned, "commit");
            let verb = if done.orphaned == 1 { "is" } else { "are" };
            app.ui.status(format!("{orphaned} {verb} now on no branch"));
            let back = from.short();
            let back = format!("; back: tract undo, or tract reset {back}");
            app.ui.hint(was + back);
        }
        ResetMode::Hard => app.ui.hint(was + "; back: tract undo"),
    }
    Ok(())
}
