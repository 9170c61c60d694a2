//! `tract undo`: reverses the last command that moved a branch, a tag or HEAD, or all back to a point.

use tract::deeds::{UndoOutcome, Undone};
use tract::render::{Label, Line, plural, table};
use tract::repo::{OperationEntry, UndoneTo};

use crate::cli::drawing::position;
use crate::cli::{App, Result};

pub use tract::deeds::UndoParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let hint = "undo reverses the last operation, whoever ran it; by number: tract undo N";
    position::refuse_on("undo", hint, app)?;
    let repo = app.repo()?;
    let UndoOutcome { undone, is_final } = args.carry_out(&repo, &app.calendar())?;
    match undone {
        Undone::ToAPoint(undone) => to_a_point(&undone, args.dry_run, app)?,
        Undone::One(done) if args.dry_run => position::would("Would undo", &done, &repo, app)?,
        Undone::One(done) => {
            position::undone("Undid", &done, &repo, app)?;
            position::elsewhere(&[&done], app);
            position::head(&repo, app)?;
        }
    }
    match (is_final, args.dry_run) {
        (true, true) => app.ui.warn("tract redo would not bring this back: a purge came between"),
        (true, false) => app.ui.hint(
            "redo does not bring back what was purged; tract reflog says where the branch was, and tract reset REV moves it there",
        ),
        (false, true) => {}
        (false, false) => app.ui.hint("back: tract redo"),
    }
    Ok(())
}

/// What was reversed, newest first, and what was done again, one to a line.
fn to_a_point(undone: &UndoneTo, dry_run: bool, app: &mut App) -> Result<()> {
    let (again, reversed): (Vec<_>, Vec<_>) = undone.operations.iter().partition(|one| !one.undone);
    let stays = match undone.captures {
        0 => None,
        1 => Some("1 import or recording stays: --captured reverses it, too".to_owned()),
        more => Some(format!(
            "{more} imports and recordings stay: --captured reverses them, too"
        )),
    };
    let verbs = if dry_run {
        ["Would undo", "Would do again"]
    } else {
        ["Undid", "Did again"]
    };
    for (verb, operations) in verbs.into_iter().zip([&reversed, &again]) {
        let lines = listed(verb, operations, app);
        if dry_run {
            app.ui.print_all(lines)?;
        } else {
            lines.into_iter().for_each(|line| app.ui.status(line));
        }
    }
    if dry_run {
        stays.into_iter().for_each(|stays| app.ui.hint(stays));
        return Ok(());
    }
    position::elsewhere(&reversed, app);
    let repo = app.repo()?;
    position::head(&repo, app)?;
    stays.into_iter().for_each(|stays| app.ui.hint(stays));
    Ok(())
}

/// How many commands, and which.
fn listed(verb: &str, operations: &[&OperationEntry], app: &App) -> Vec<Line> {
    if operations.is_empty() {
        return Vec::new();
    }
    let (calendar, room) = (app.calendar(), app.ui.width_cols());
    let cells = operations.iter().map(|one| {
        vec![
            Label::Hash.of(format!("  #{}", one.operation.id)),
            Label::Time.of(calendar.listed(Some(one.operation.time))),
            Label::Strong.of(one.operation.what.clone()),
            Label::Dim.of(position::moves(one).collect::<Vec<_>>().join(", ")),
        ]
    });
    let count = plural(operations.len() as u64, "command");
    let head = Line::from(format!("{verb} {count}"));
    let lines = table::list(cells.collect(), &[0], room);
    std::iter::once(head).chain(lines).collect()
}
