//! `tract reset`: the branch goes back to then.

use serde_json::json;
use tract::deeds::{At, Deed, Still};
use tract::hash::CommitHash;
use tract::render::{Label, Line, plural};
use tract::repo::{Repo, Reset, ResetMode};

use crate::cli::drawing::position::{self, place};
use crate::cli::{App, Result, trace};

pub use tract::deeds::ResetParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let (mode, what) = (args.mode(), args.line());
    let at = At::new(&repo, on.clone(), &Still);
    let done = args.carry_out(&at, app.call(&on, &what))?;
    if args.dry_run {
        return foretell(&repo, &done, app);
    }
    trace::add(app, "reset", |_| {
        let name = |commit: Option<CommitHash>| commit.map(|commit| commit.to_string());
        Ok(json!({"from": name(done.from), "to": name(done.to), "how": what}))
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

/// Where the branch would be, and what would leave it.
fn foretell(repo: &Repo, done: &Reset, app: &mut App) -> Result<()> {
    let name = match &done.branch {
        Some(branch) => Label::Branch.of(branch.short()),
        None => Label::Head.of("HEAD"),
    };
    let line = Line::from("Would move ") + name;
    let line = match &done.from {
        Some(from) => line + " from " + place(repo, from)?,
        None => line,
    };
    app.ui.print(match &done.to {
        _ if done.from == done.to => Line::from("Nothing would move"),
        Some(to) => line + " to " + place(repo, to)?,
        None => line + " to before its first commit",
    })?;
    if done.orphaned > 0 {
        let orphaned = plural(done.orphaned, "commit");
        app.ui.print(format!("{orphaned} would be on no branch"))?;
    }
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
