//! `tract checkout`: HEAD goes elsewhere, branches stay.

use tract::deeds::{At, CheckedOut, Deed, Still};
use tract::model::Head;
use tract::render::{Label, Line};
use tract::repo::On;

use crate::cli::drawing::position::{self, place};
use crate::cli::{App, Failure, Result};

pub use tract::deeds::CheckoutParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    if app.names_a_branch() {
        return Err(
            Failure::usage("checkout moves HEAD, which --on and TRACT_BRANCH leave alone")
                .with_hint("--on takes any branch as it is; a new one: tract branch NAME REV"),
        );
    }
    let repo = app.repo()?;
    let what = args.line();
    let at = At::new(&repo, On::Head, &Still);
    let out = args.carry_out(&at, app.call(&On::Head, &what))?;
    let CheckedOut {
        done,
        is_new,
        is_back,
    } = out;
    let line = match &done.to {
        Head::Attached { branch, tip } => {
            let on = Line::from(match (done.from == done.to, is_new) {
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
                false if is_back => {
                    Line::from("HEAD is now detached at ") + at + ", where it was before"
                }
                false => Line::from("HEAD is now detached at ") + at,
            }
        }
    };
    app.ui.status(line);
    if let (true, Some(branch)) = (is_new, done.to.branch()) {
        position::shared_name(&repo, branch.short(), app)?;
    }
    if let Head::Detached(_) = done.to {
        let branch = repo.last_branch()?;
        app.ui.hint(format!(
            "to return: tract checkout {branch}; to go on from here and keep both: tract checkout -b NAME"
        ));
    }
    position::open_call(done.open.as_ref(), "tract checkout -b NAME", app);
    Ok(())
}
