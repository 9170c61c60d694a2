//! `tract pick`: copies of messages from anywhere, at the end; and what commits of other branches do.

use tract::deeds::{At, Deed, Still};
use tract::model::Operation;
use tract::render::plural;
use tract::rewrite::Pickable;

use crate::cli::drawing::outcome;
use crate::cli::{App, Result};

pub use tract::deeds::PickParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let picked = args.picked(&At::new(&repo, on.clone(), &Still))?;
    let what = args.line();
    let call = app.call(&on, &what);
    let options = outcome::limited(app, &repo, args.dry_run, args.limit)?;
    let picking = repo.cherry_pick(call, &picked, &options)?;
    let done = &picking.surgery;
    let of_messages = |one: &&Pickable| matches!(one, Pickable::Message(_));
    let asked = picked.iter().filter(of_messages).count();
    let operations = picked.len() - asked;
    for commit in &picking.already {
        let commit = commit.short();
        app.ui
            .status(format!("{commit} changes nothing here: it is so already"));
    }
    let count = |count: usize| plural(count as u64, "message");
    if picking.missing > 0 {
        let missing = count(picking.missing);
        app.ui.notice(format!(
            "{missing} that it changes there: not on this branch"
        ));
    }
    if picking.spared > 0 {
        let spared = count(picking.spared);
        app.ui.notice(format!(
            "{spared} that it hides there: pinned here, or part of what stays"
        ));
    }
    if picking.already.len() == picked.len() {
        return Ok(());
    }
    if args.dry_run {
        return outcome::foretell(app, "pick", done, &[]);
    }
    let mut did = Vec::new();
    if asked > 0 {
        let made = done.commits.iter().map(|made| &made.commit.operation);
        let copies = made
            .filter(|it| matches!(it, Operation::Append { .. }))
            .count();
        let more = if copies > asked {
            ", tool partners included"
        } else {
            ""
        };
        did.push(format!("Copied {} to the end{more}", count(copies)));
    }
    if operations > picking.already.len() {
        let done = operations - picking.already.len();
        did.push(format!("Did {} here", plural(done as u64, "change")));
    }
    outcome::tell(app, &on, &did.join(". "), done);
    Ok(())
}
