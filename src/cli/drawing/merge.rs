//! What is said of a merge, whoever asked for it: a merge, what goes on with one, a pull.

use tract::model::Operation;
use tract::render::{Label, Line, plural, table};
use tract::repo::{Committed, MergeForm, On, Repo};
use tract::rewrite::{Merge, MergeConflict, Merged};

use crate::cli::drawing::{outcome, position};
use crate::cli::{App, Failure, Result};

/// How many conflicts, and changes that were left out, are listed.
const LINES: usize = 20;

/// Says what became of a merge.
pub fn tell(made: &Merge, name: &str, dry_run: bool, repo: &Repo, app: &mut App) -> Result<()> {
    let on = app.on()?;
    match made {
        Merge::Here => {
            app.ui.status(format!("All of {name} is here already"));
            Ok(())
        }
        Merge::Forward {
            branch,
            to,
            commits,
        } => {
            let commits = plural(*commits as u64, "commit");
            let verb = if dry_run { "would go" } else { "went" };
            let line = Label::Branch.of(branch.short()) + format!(" {verb} on {commits}, to ");
            app.ui.status(line + position::place(repo, to)?);
            Ok(())
        }
        Merge::Made(made) if dry_run => foretell(made, app),
        Merge::Made(made) => {
            done(made, name, &on, app);
            Ok(())
        }
        Merge::Conflicts(found) => Err(conflict(found, name, dry_run, app)?),
    }
}

fn done(made: &Merged, name: &str, on: &On, app: &mut App) {
    let said = plural(made.said as u64, "message");
    let is_append = |it: &&Committed| matches!(it.commit.operation, Operation::Append { .. });
    let came = made.surgery.commits.iter().filter(is_append).count();
    let came = match made.form {
        _ if came == 0 => said,
        MergeForm::Message => format!("{said}, told in one"),
        MergeForm::Messages => said,
        MergeForm::Prompts => format!("{} of {said}", plural(came as u64, "prompt")),
    };
    let mut did = format!("Merged {name}: {came}");
    if made.changes > 0 {
        did += &format!(", {}", plural(made.changes as u64, "change"));
    }
    outcome::tell(app, on, &did, &made.surgery);
    app.ui
        .status(format!("Cache: {}", outcome::kept(&made.surgery)));
    left_out(made, app);
}

fn foretell(made: &Merged, app: &mut App) -> Result<()> {
    outcome::foretell(app, "merge", &made.surgery, &[])?;
    left_out(made, app);
    Ok(())
}

/// What of the other branch is not here.
fn left_out(made: &Merged, app: &mut App) {
    for (commit, why) in made.left_out.iter().take(LINES) {
        app.ui
            .notice(format!("{} is left out: {why}", commit.short()));
    }
    if made.incomplete > 0 {
        let messages = plural(made.incomplete as u64, "message");
        app.ui.notice(format!(
            "{messages} left out: a tool call without its result, or purged"
        ));
    }
}

/// Lists what both branches changed differently, and gives the failure.
fn conflict(found: &[MergeConflict], name: &str, dry_run: bool, app: &mut App) -> Result<Failure> {
    list(found, app)?;
    let what = plural(found.len() as u64, "message");
    let failure = Failure::refused(format!(
        "{what} changed differently here and on {name}; nothing was written"
    ));
    Ok(failure.with_hint(if dry_run {
        "tract merge would ask for tract resolve, or take --ours or --theirs"
    } else {
        "tract resolve :N --ours or --theirs, then tract merge --continue; or tract merge --abort"
    }))
}

/// Messages in conflict, one to a line.
pub fn list(found: &[MergeConflict], app: &mut App) -> Result<()> {
    let cells = |conflict: &MergeConflict| {
        let name = match conflict.number {
            Some(number) => format!("  :{number}"),
            None => format!("  {}", conflict.clash.here.commit.short()),
        };
        vec![
            Line::from(name),
            Line::from(conflict.clash.kind.as_str()),
            Line::from(conflict.preview.as_str()),
        ]
    };
    let rows: Vec<Vec<Line>> = found.iter().take(LINES).map(cells).collect();
    let width = app.ui.width_cols();
    app.ui.print_all(table::list(rows, &[], width))?;
    if found.len() > LINES {
        let more = found.len() - LINES;
        app.ui.print(format!("  and {more} more"))?;
    }
    Ok(())
}
