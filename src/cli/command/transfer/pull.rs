//! `tract pull`: goes on where another repository has.

use tract::deeds::{At, MergeOutcome, merge_what_came};
use tract::render::{plural, shell_word};
use tract::sync::Parted;

use crate::cli::drawing::{merge, outcome};
use crate::cli::peer::arrival;
use crate::cli::{App, Failure, Result};

pub use tract::deeds::PullParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let merges = args.merges(&*app.repo()?)?;
    let done = arrival::run(args, app)?;
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
        if parted.name.is_branch() && merges {
            merge(parted, args.no_verify, app)?;
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

/// Merges what was brought into the branch.
fn merge(parted: &Parted, no_verify: bool, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let surgery = outcome::options(app, &repo, false)?;
    let done = merge_what_came(parted, &At::new(&repo, on, app), no_verify, surgery);
    let MergeOutcome { made, name } = done?;
    merge::tell(&made, &name, false, &repo, app)
}
