//! `tract pull`: goes on where another repository has.

use tract::history::sync::{FetchOptions, Follow};
use tract::render::{plural, shell_word};

use crate::cli::peer::fetched;
use crate::cli::{App, Failure, Result, typed::Typed};

/// Fetch, and move your branch and sessions forward
///
/// Does what tract fetch does. Then the branch that HEAD is on moves forward to the other side's branch
/// of that name, and so do sessions. What has commits of its own stays, and is reported. The whole pull
/// is one operation: tract undo takes it back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract pull                                from origin, or the only remote there is
  tract pull laptop && tract resume         go on with a session that began there
  tract checkout -b theirs origin/main      if both have new commits: theirs, beside yours")]
pub struct Args {
    #[command(flatten)]
    from: fetched::From,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let options = FetchOptions {
        follow: Follow::Head,
        ..FetchOptions::default()
    };
    let done = fetched::run(&args.from, Typed::new("pull"), &options, app)?;
    for parted in &done.parted {
        let (name, seen) = (parted.name.short(), parted.seen.short());
        let what = format!(
            "{name} has {} that {seen} does not have, and lacks {}",
            plural(parted.ours, "commit"),
            parted.theirs
        );
        if parted.name.is_branch() {
            let failure = Failure::refused(format!("{what}; it stays where it was"));
            let seen = shell_word(seen);
            return Err(failure.with_hint(format!(
                "tract checkout -b NAME {seen} goes on from theirs; tract pick copies single messages"
            )));
        }
        app.ui.notice(format!("{what}; it stays where it was"));
    }
    Ok(())
}
