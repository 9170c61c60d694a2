//! `tract pull`: goes on where another repository has.

use tract::model::RefName;
use tract::render::{plural, shell_word};
use tract::rewrite::MergeOptions;
use tract::sync::{FetchOptions, Follow};

use crate::cli::peer::fetched;
use crate::cli::{App, Failure, Result, merging, outcome, typed::Typed};

/// Fetch, and move your branch and sessions forward
///
/// Does what tract fetch does. Then the branch that HEAD is on moves forward to the other side's branch
/// of that name, and so do sessions. What has commits of its own stays, and is reported. With --merge, or where
/// tract config pull.merge is true, such a branch is merged with theirs, as tract merge does it. The pull is one operation,
/// and a merge another: tract undo takes each back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract pull                                from origin, or the only remote there is
  tract pull laptop && tract resume         go on with a session that began there
  tract pull laptop idea                    your branch goes on where idea did there
  tract pull --merge                        where both have new commits: theirs come at the end
  tract checkout -b theirs origin/main      if both have new commits: theirs, beside yours")]
pub struct Args {
    #[command(flatten)]
    from: fetched::From,
    /// The branch there, instead of the one with the name of yours
    branch: Option<String>,
    /// Merge where both have new commits
    #[arg(long, overrides_with = "no_merge")]
    merge: bool,
    /// Do not, whatever pull.merge says
    #[arg(long)]
    no_merge: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let branch = args.branch.as_deref().map(RefName::branch).transpose()?;
    let options = FetchOptions {
        follow: Follow::Head,
        names: branch.as_slice(),
        branch: branch.as_ref(),
        ..FetchOptions::default()
    };
    let done = fetched::run(&args.from, Typed::new("pull"), &options, app)?;
    let mut is_merged = false;
    // Sessions come behind branches: with these their commits may have come.
    let mut parted: Vec<_> = done.parted.iter().collect();
    parted.sort_by_key(|parted| !parted.name.is_branch());
    for parted in parted {
        let (name, seen) = (parted.name.short(), parted.seen.short());
        let what = format!(
            "{name} has {} that {seen} does not have, and lacks {}",
            plural(parted.ours, "commit"),
            parted.theirs
        );
        if parted.name.is_branch() && merges(args, app)? {
            merge(seen, app)?;
            is_merged = true;
            continue;
        }
        if is_merged {
            continue;
        }
        if parted.name.is_branch() {
            let failure = Failure::refused(format!("{what}; it stays where it was"));
            let seen = shell_word(seen);
            return Err(failure.with_hint(format!(
                "tract merge {seen} brings theirs in; tract checkout -b NAME {seen} goes on from theirs"
            )));
        }
        app.ui.notice(format!("{what}; it stays where it was"));
    }
    Ok(())
}

fn merges(args: &Args, app: &mut App) -> Result<bool> {
    if args.merge || args.no_merge {
        return Ok(args.merge);
    }
    Ok(app.repo()?.config()?.pull_merges()?)
}

/// Merges what was brought into the branch.
fn merge(seen: &str, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let what = Typed::new("merge").word(seen).line();
    let options = MergeOptions {
        surgery: outcome::options(app, &repo, false)?,
        ..MergeOptions::default()
    };
    let theirs = repo.resolve(&on, seen)?;
    let made = repo.merge(app.call(&on, &what), &theirs, seen, &options, None)?;
    merging::tell(&made, seen, false, &repo, app)
}
