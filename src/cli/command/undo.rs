//! `tract undo`: reverses the last command, whatever it was, or all back to a point.

use tract::deeds::Undone;
use tract::render::{Label, plural, table};
use tract::repo::UndoneTo;

use crate::cli::{App, Result, position};

pub use tract::deeds::UndoParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let hint = "undo reverses the last operation, whoever ran it; by number: tract undo N";
    position::refuse_on("undo", hint, app)?;
    let repo = app.repo()?;
    match args.carry_out(&repo, &app.calendar())? {
        Undone::ToAPoint(undone) => to_a_point(&undone, args.dry_run, app),
        Undone::One(done) => {
            position::undone("Undid", &done, &repo, app)?;
            position::elsewhere(&[&done], app);
            position::head(&repo, app)?;
            app.ui.hint("back: tract redo");
            Ok(())
        }
    }
}

/// What was reversed, newest first, one to a line.
fn to_a_point(undone: &UndoneTo, dry_run: bool, app: &mut App) -> Result<()> {
    let (calendar, room) = (app.calendar(), app.ui.width_cols());
    let operations = &undone.operations;
    let count = plural(operations.len() as u64, "command");
    let stays = match undone.captures {
        0 => None,
        1 => Some("1 import or recording stays: --captured reverses it, too".to_owned()),
        more => Some(format!(
            "{more} imports and recordings stay: --captured reverses them, too"
        )),
    };
    let cells = operations.iter().map(|one| {
        vec![
            Label::Hash.of(format!("  #{}", one.operation.id)),
            Label::Time.of(calendar.listed(Some(one.operation.time))),
            Label::Strong.of(one.operation.what.clone()),
            Label::Dim.of(position::moves(one).collect::<Vec<_>>().join(", ")),
        ]
    });
    let lines = table::list(cells.collect(), &[0], room);
    if dry_run {
        app.ui.print(format!("Would undo {count}"))?;
        app.ui.print_all(lines)?;
        stays.into_iter().for_each(|stays| app.ui.hint(stays));
        return Ok(());
    }
    app.ui.status(format!("Undid {count}"));
    for line in lines {
        app.ui.status(line);
    }
    position::elsewhere(&operations.iter().collect::<Vec<_>>(), app);
    let repo = app.repo()?;
    position::head(&repo, app)?;
    stays.into_iter().for_each(|stays| app.ui.hint(stays));
    app.ui.hint("back: tract redo");
    Ok(())
}
