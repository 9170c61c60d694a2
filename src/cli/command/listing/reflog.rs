//! `tract reflog`: what was done, newest first, and where refs were.

use tract::deeds::{At, Reflogged};
use tract::model::RefName;
use tract::render::{Label, Line, columns, table};
use tract::repo::{OperationEntry, ReflogEntry, Repo};
use tract::store::OperationRow;

use crate::cli::drawing::position;
use crate::cli::{App, Result};

pub use tract::deeds::ReflogParams as Args;

/// The most columns that a path takes on a terminal.
const PATH: usize = 20;
/// The most columns that somebody takes.
const WHO: usize = 40;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let listed = args.listed(&At::new(&repo, app.on()?, app))?;
    match listed {
        Reflogged::Operations(entries) => operations(&entries, &repo, app),
        Reflogged::Moves(name, rows) => moves(args, &name, &rows, &repo, app),
    }
}

fn operations(entries: &[OperationEntry], repo: &Repo, app: &mut App) -> Result<()> {
    if entries.is_empty() {
        app.ui.status("No command has changed anything here yet");
        return Ok(());
    }
    let (calendar, room) = (app.calendar(), app.ui.width_cols());
    let all: Vec<&OperationRow> = entries.iter().map(|entry| &entry.operation).collect();
    let whose = whose(&all, repo);
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
    let mut rows: Vec<Vec<Line>> = entries.iter().map(cells).collect();
    if app.ui.is_terminal() {
        let heads = ["no.", "time", "who", "command", "moved"];
        let has_who = rows[0].len() == heads.len();
        let heads = heads.into_iter().filter(|head| has_who || *head != "who");
        let heads = heads.map(|head| Label::Dim.of(head)).collect();
        rows.insert(0, heads);
    }
    Ok(app.ui.print_all(table::list(rows, &[0], room))?)
}

fn moves(
    args: &Args,
    full: &RefName,
    rows: &[ReflogEntry],
    repo: &Repo,
    app: &mut App,
) -> Result<()> {
    if rows.is_empty() {
        let name = args.reference.as_deref().unwrap_or_default();
        app.ui.status(format!("{name} has not moved yet"));
    }
    let calendar = app.calendar();
    let all: Vec<&OperationRow> = rows.iter().map(|(_, operation)| operation).collect();
    let whose = whose(&all, repo);
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
