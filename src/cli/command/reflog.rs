//! `tract reflog`: what was done, newest first, and where refs were.

use tract::render::{Label, Line, columns, table};
use tract::repo::{OperationEntry, Repo};
use tract::store::OperationRow;

use crate::cli::{App, Result, position};

/// List past commands, and where each ref was
///
/// Without a ref, it lists every command that moved something, newest first, with its number (for tract
/// undo OP) and what it moved. With a ref, it lists where that ref was, as REF@{N} names it. Where others
/// were at work too, it says who did what.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract reflog             every command
  tract reflog main        where main was
  tract show main@{2}      what it was two moves ago")]
pub struct Args {
    /// A branch, tag or session, HEAD, ORIG_HEAD or PREV_HEAD
    #[arg(value_name = "REF")]
    reference: Option<String>,
    /// How many to list; 0: all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

/// The most columns that a path takes on a terminal.
const PATH: usize = 20;
/// The most columns that somebody takes.
const WHO: usize = 40;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    match &args.reference {
        None => operations(args.limit, app),
        Some(name) => moves(name, args.limit, app),
    }
}

fn operations(limit: usize, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let entries = repo.operations(limit)?;
    if entries.is_empty() {
        app.ui.status("No command has changed anything here yet");
        return Ok(());
    }
    let (calendar, room) = (app.calendar(), app.ui.width_cols());
    let all: Vec<&OperationRow> = entries.iter().map(|entry| &entry.operation).collect();
    let whose = whose(&all, &repo);
    let cells = |entry: &OperationEntry| {
        let (label, undone) = if entry.undone {
            (Label::Dim, " (undone)")
        } else {
            (Label::Strong, "")
        };
        let what = match room {
            Some(_) => short(&entry.operation.what),
            None => entry.operation.what.clone(),
        };
        // A long command line leaves room for what it moved.
        let room = room.map_or(usize::MAX, |room| room * 2 / 5);
        let what = label.of(what).cut(room.saturating_sub(undone.len())) + label.of(undone);
        let mut cells = vec![
            Label::Hash.of(format!("#{}", entry.operation.id)),
            Label::Time.of(calendar.listed(Some(entry.operation.time))),
        ];
        cells.extend(whose(&entry.operation));
        cells.extend([
            what,
            Label::Dim.of(position::moves(entry).collect::<Vec<_>>().join(", ")),
        ]);
        cells
    };
    let rows = entries.iter().map(cells).collect();
    Ok(app.ui.print_all(table::list(rows, &[0], room))?)
}

fn moves(name: &str, limit: usize, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let full = repo.reference_named(name)?;
    let rows = repo.reflog(&full, limit)?;
    if rows.is_empty() {
        app.ui.status(format!("{name} has not moved yet"));
    }
    let calendar = app.calendar();
    let all: Vec<&OperationRow> = rows.iter().map(|(_, operation)| operation).collect();
    let whose = whose(&all, &repo);
    let cells = rows.iter().enumerate().map(|(back, (row, operation))| {
        let mut cells = vec![
            Label::Branch.of(format!("{}@{{{back}}}", full.short())),
            Label::Hash.of(position::value(row.new.as_ref())),
            Label::Time.of(calendar.listed(Some(operation.time))),
        ];
        cells.extend(whose(operation));
        cells.push(Label::Strong.of(format!("#{} {}", operation.id, operation.what)));
        cells
    });
    let cells: Vec<Vec<Line>> = cells.collect();
    let room = app.ui.width_cols();
    Ok(app.ui.print_all(table::list(cells, &[], room))?)
}

/// A column of who did operations, if any of these is somebody else's than who asks; else it says nothing.
fn whose(all: &[&OperationRow], repo: &Repo) -> impl Fn(&OperationRow) -> Option<Line> + use<> {
    let is_told = all
        .iter()
        .any(|operation| position::by(operation, repo).is_some());
    move |operation| {
        let by = operation.by.as_ref().map(ToString::to_string);
        is_told.then(|| Line::from(by.unwrap_or_default()).cut(WHO))
    }
}

/// A command with long paths by their ends alone, which tell them apart.
fn short(what: &str) -> String {
    let one = |word: &str| match word.rsplit_once('/') {
        Some((_, name)) if columns::width_cols(word) > PATH => {
            format!("…/{}", columns::cut_inside(name, PATH - 2))
        }
        _ => word.to_owned(),
    };
    let words: Vec<String> = what.split(' ').map(one).collect();
    words.join(" ")
}
