//! `tract resolve`: whose change of a message holds, in a merge that is under way.

use tract::deeds::{At, Deed};
use tract::render::plural;

use crate::cli::drawing::merge;
use crate::cli::{App, Result};

pub use tract::deeds::ResolveParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on, line) = (app.repo()?, app.on()?, args.line());
    let left = args.carry_out(&At::new(&repo, on.clone(), app), app.call(&on, &line))?;
    if args.revs.is_empty() {
        return merge::list(&left, app);
    }
    let word = if args.theirs { "theirs" } else { "ours" };
    let settled = plural(args.revs.len() as u64, "message");
    app.ui.status(format!("Settled {settled}: {word}"));
    if left.is_empty() {
        app.ui.hint("no conflict is left: tract merge --continue");
    } else {
        let left = plural(left.len() as u64, "message");
        app.ui.status(format!(
            "{left} still in conflict: tract resolve lists them"
        ));
    }
    Ok(())
}
