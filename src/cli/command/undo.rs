//! `tract undo`: reverses the last command, whatever it was, or all back to a point.

use tract::render::calendar::Edge;
use tract::render::{Label, plural, table};
use tract::repo::{UndoPoint, UndoTo, UndoneTo};

use crate::cli::{App, Failure, Result, moment, position};

/// Reverse the last command, whatever it was
///
/// All refs that the command moved go back at once. A second undo reverses the command before it. The
/// last command is the last one that was typed in this repository. In the repository of a home it is the last one
/// that was typed in this directory, and on a server it is your last one. What a watch, a hook or an agent took in was
/// not typed. OP is a number from tract reflog: only that command is reversed, and only if nothing that it moved has
/// moved since. On a server, what others did is refused unless --force is given. --to and --since reverse all
/// commands back to a point, or none, in one step that one redo takes back. They pass over imports and recordings,
/// unless --captured is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract undo       the last command
  tract undo       and the one before
  tract redo       that one again
  tract undo 12    operation 12 of tract reflog
  tract undo 12 --force            the same, though somebody else did it
  tract undo --to 12               all that came after operation 12
  tract undo --since 10min         all commands of the last ten minutes, but imports
  tract undo --since 10min --captured    imports and recordings, too
  tract undo --to 12 --dry-run     say which those are, and change nothing")]
pub struct Args {
    /// The operation to reverse, instead of the newest one
    #[arg(value_name = "OP", value_parser = number)]
    operation: Option<u64>,
    /// Reverse OP although somebody else did it
    #[arg(long, requires = "operation")]
    force: bool,
    /// Reverse every operation after this one, which stays
    #[arg(long, value_name = "OP", value_parser = number, conflicts_with = "operation")]
    to: Option<u64>,
    /// Reverse every operation since then: an age such as 10min or 2h, or a date
    #[arg(long, value_name = "T", conflicts_with_all = ["operation", "to"])]
    since: Option<String>,
    /// With --to or --since, also reverse imports, recordings, and what a watch, a hook or an agent took in
    #[arg(long)]
    captured: bool,
    /// List what --to or --since would reverse, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// `12` or `#12`.
fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    digits
        .parse()
        .map_err(|_| "tract reflog numbers the operations".to_owned())
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let hint = "undo reverses the last operation, whoever ran it; by number: tract undo N";
    position::refuse_on("undo", hint, app)?;
    let repo = app.repo()?;
    let since = moment::read(&app.calendar(), args.since.as_deref(), Edge::Start)?;
    if let Some(point) = args
        .to
        .map(UndoPoint::After)
        .or(since.map(UndoPoint::Before))
    {
        let undo = UndoTo {
            point,
            captured: args.captured,
            dry_run: args.dry_run,
        };
        let undone = repo.undo_to(undo, app.now()).map_err(|error| {
            let with_captures = UndoTo {
                captured: true,
                dry_run: true,
                ..undo
            };
            match repo.undo_to(with_captures, app.now()) {
                Ok(_) if !args.captured => Failure::from(error).with_hint(CAPTURED),
                _ => error.into(),
            }
        })?;
        return to_a_point(&undone, args.dry_run, app);
    }
    if args.captured {
        let failure = Failure::usage("--captured goes with --to or --since");
        return Err(failure.with_hint("tract undo takes the last command back, an import, too"));
    }
    if args.dry_run {
        let failure = Failure::usage("--dry-run lists what --to or --since would reverse");
        return Err(failure.with_hint("tract reflog -n 1 shows the last command"));
    }
    let done = match args.operation {
        Some(id) if args.force => repo.undo_of_anybody(id, app.now())?,
        named => repo.undo(named, app.now())?,
    };
    position::undone("Undid", &done, &repo, app)?;
    position::head(&repo, app)?;
    app.ui.hint("back: tract redo");
    Ok(())
}

/// What is passed over.
const CAPTURED: &str =
    "imports and recordings stay; --captured reverses them, too; tract reflog lists past commands";

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
    let repo = app.repo()?;
    position::head(&repo, app)?;
    stays.into_iter().for_each(|stays| app.ui.hint(stays));
    app.ui.hint("back: tract redo");
    Ok(())
}
