//! `tract restore`: what was hidden or edited, as it was; everything later stays.

use tract::deeds::{At, Deed, Still};
use tract::render::plural;
use tract::rewrite::Surgery;

use crate::cli::drawing::outcome;
use crate::cli::{App, Result};

pub use tract::deeds::RestoreParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let what = args.line();
    let options = outcome::limited(app, &repo, args.dry_run, args.limit)?;
    let at = At::new(&repo, on.clone(), &Still);
    let found = args.carry_out(&at, app.call(&on, &what), &options)?;
    let (done, still_hidden) = (found.surgery, found.still_hidden);
    let did = match &args.before {
        _ if args.at_end => format!("Copied {} to the end", messages(done.shown.len())),
        Some(_) => {
            let place = done.shown.told().first().map_or(0, |first| first.number);
            format!("Moved {} to :{place}", messages(done.shown.len()))
        }
        None => restored(&done),
    };
    if args.dry_run {
        outcome::foretell(app, "restore", &done, &[])?;
    } else {
        outcome::tell(app, &on, &did, &done);
        app.ui.status(format!("Cache: {}", outcome::kept(&done)));
    }
    let others: Vec<String> = still_hidden.iter().map(|it| it.by.short()).collect();
    for still in still_hidden {
        let hidden = messages(still.messages);
        let stay = if still.messages == 1 { "stays" } else { "stay" };
        let (kind, by) = (still.kind.verb(), still.by.short());
        app.ui
            .status(format!("{hidden} {stay} hidden by {kind} {by}"));
    }
    if !others.is_empty() {
        let (others, them) = (
            others.join(" "),
            if others.len() == 1 { "it" } else { "them" },
        );
        let undo = if args.dry_run {
            ""
        } else {
            "; tract undo takes this back"
        };
        app.ui.hint(format!(
            "tract restore {others} undoes {them} as well{undo}"
        ));
    }
    Ok(())
}

fn messages(count: usize) -> String {
    plural(count as u64, "message")
}

/// What came back, and what has changed back.
fn restored(surgery: &Surgery) -> String {
    let back = messages(surgery.shown.len());
    let changed = messages(surgery.changed.len());
    match (surgery.shown.len(), surgery.changed.len()) {
        (0, 0) => "Brought nothing back into the context".to_owned(),
        (_, 0) => format!("Brought back {back}"),
        (0, _) => format!("Changed {changed} back"),
        _ => format!("Brought back {back} and changed {changed} back"),
    }
}
