//! `tract stats`: what was done, and how long it took.

use std::path::Path;

use tract::deeds::{At, Method, StatsAnswer, StatsBy, StatsEdit, StatsRow};
use tract::model::Millis;
use tract::render::{Label, Line, grouped, percent, plural, rounded, stretch, table};

use crate::cli::drawing::bill::{NOBODY, SessionNames, uncounted};
use crate::cli::drawing::prices::output_of;
use crate::cli::{App, Result};

pub use tract::deeds::StatsParams as Args;

/// The columns between two columns of a table.
const GAP: usize = 2;
/// Where a table has all its columns.
const WIDE: usize = 100;
/// The columns that an edited file takes on a terminal.
const EDITED_COLS: usize = 36;
/// How long a bar is at most.
const BAR_COLS: usize = 30;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let answer = args.clone().call(&mut At::new(&repo, on, app))?;
    if args.edits {
        edits(&answer, app)?;
    } else if args.revs.len() > 1 {
        side_by_side(&answer.rows, app)?;
    } else {
        rows(&answer, args.by(), app)?;
    }
    for said in uncounted(&answer) {
        app.ui.notice(said);
    }
    if answer.left_out > 0 {
        let more = grouped(answer.left_out as u64);
        app.ui.hint(format!("{more} more: -n 0 lists all"));
    }
    if let Some(directory) = &answer.directory {
        let path = app.short_path(Path::new(directory));
        let of = match path.is_empty() {
            true => Line::from("of this directory"),
            false => Line::from("of ") + Label::Text.quote(&path),
        };
        app.ui
            .notice((of + " alone; --all: of all directories").text());
    }
    Ok(())
}

/// A row for each thing, and one for all. A name that may be long stands last.
fn rows(answer: &StatsAnswer, by: StatsBy, app: &mut App) -> Result<()> {
    if answer.total.replies + answer.total.prompts + answer.total.calls == 0 {
        app.ui.status("No messages");
        return Ok(());
    }
    let width = app.ui.width_cols();
    let is_narrow = width.is_some_and(|width| width < WIDE);
    let columns = columns(by, is_narrow);
    let is_last = by.is_of_calls() || by == StatsBy::Project;
    let line = |name: Line, cells: Vec<Line>| match is_last {
        true => cells.into_iter().chain([name]).collect(),
        false => std::iter::once(name).chain(cells).collect::<Vec<_>>(),
    };
    let cells = |row: &StatsRow| columns.iter().map(|(_, cell)| cell(row)).collect();
    let mut lines = Vec::new();
    let head = columns.iter().map(|(word, _)| Label::Dim.of(*word));
    lines.push(line(Line::new(), head.collect()));
    // What the numbers before it leave.
    let all = || answer.rows.iter().chain([&answer.total]);
    let taken = columns.iter().map(|(head, cell)| {
        let cells = all().map(|row| cell(row).width_cols());
        cells.max().unwrap_or(0).max(head.len()) + GAP
    });
    let taken: usize = taken.sum();
    let room = width.map(|width| width.saturating_sub(taken));
    let names = SessionNames::of(answer.rows.iter().map(|row| row.name.as_str()));
    for row in &answer.rows {
        lines.push(line(name(row, by, room, &names), cells(row)));
    }
    if by != StatsBy::File {
        lines.push(line(Label::Strong.of("total"), cells(&answer.total)));
    }
    let first = usize::from(!is_last);
    let right: Vec<usize> = (first..columns.len() + first).collect();
    if is_last {
        return Ok(app.ui.print_all(table::list(lines, &right, width))?);
    }
    let lines: Vec<Line> = table::lines(lines, &right).collect();
    let bars = match by.is_time() && app.ui.is_terminal() {
        true => bars(&answer.rows, &lines, app.ui.wrap_cols()),
        false => Vec::new(),
    };
    for (at, mut line) in lines.into_iter().enumerate() {
        // The heading stands before them.
        let row = at.checked_sub(1).and_then(|at| answer.rows.get(at));
        if let Some(title) = row.and_then(|row| row.title.as_ref()) {
            line += "  ";
            line.fit(Label::Text.quote(title), width);
        }
        if let Some(bar) = at.checked_sub(1).and_then(|at| bars.get(at)) {
            line += Label::Tokens.of(bar.as_str());
        }
        app.ui.print(line)?;
    }
    let total = &answer.total;
    let [model, tools, user] = [total.model_ms, total.tools_ms, total.user_ms].map(stretch);
    app.ui.notice(format!(
        "models {model}, tools {tools}, you {user}; pauses are left out"
    ));
    if total.interrupted > 0 {
        let calls = plural(total.interrupted as u64, "interrupted call");
        let is = if total.interrupted == 1 { "is" } else { "are" };
        app.ui.notice(format!(
            "{calls} {is} not among the failed: tract stats --by tool"
        ));
    }
    Ok(())
}

/// A column: its heading, and what stands in it.
type Column = (&'static str, fn(&StatsRow) -> Line);

/// The columns of numbers.
fn columns(by: StatsBy, is_narrow: bool) -> Vec<Column> {
    let share: Column = ("", |row| {
        Label::Dim.of(match row.failed {
            0 => String::new(),
            failed => percent(failed as u64, row.calls as u64),
        })
    });
    let failed: Column = ("failed", |row| number(row.failed));
    let (prompts, sessions): (Column, Column) = (
        ("prompts", |row| number(row.prompts)),
        ("sessions", |row| number(row.sessions)),
    );
    match by {
        StatsBy::Tool => vec![
            ("calls", |row| number(row.calls)),
            failed,
            share,
            ("interrupted", |row| number(row.interrupted)),
            prompts,
            sessions,
        ],
        StatsBy::File => vec![
            ("edits", |row| number(row.edits)),
            ("lines", |row| changed(row.lines_added, row.lines_removed)),
            failed,
            prompts,
            sessions,
        ],
        _ => {
            let mut columns: Vec<Column> = vec![
                ("at work", |row| stretch(row.active_ms).into()),
                prompts,
                ("replies", |row| number(row.replies)),
                ("calls", |row| number(row.calls)),
                failed,
                ("edits", |row| number(row.edits)),
                ("input", |row| Label::Tokens.of(rounded(row.input_tokens))),
                ("output", |row| Label::Tokens.of(output(row))),
            ];
            if is_narrow {
                columns.remove(2);
            }
            columns
        }
    }
}

/// What a row is called, the end of a path in so much room.
fn name(row: &StatsRow, by: StatsBy, room: Option<usize>, names: &SessionNames) -> Line {
    match (by, row.name.as_str()) {
        (StatsBy::Session, name) => Label::Text.quote(&names.shown(name)),
        (by, "") if by.is_time() => "(no time)".into(),
        (_, "") => NOBODY.into(),
        // Its number is there for the order.
        (StatsBy::Weekday, name) => name.split_once(' ').map_or(name, |(_, day)| day).into(),
        (StatsBy::Tool, name) => Label::Tool.quote(name),
        (StatsBy::File | StatsBy::Project, name) => Label::Text.quote(&end_of(name, room)),
        (_, name) => Label::Text.quote(name),
    }
}

/// The output, at least.
fn output(row: &StatsRow) -> String {
    output_of(row.output_tokens, row.short_outputs as u64)
}

fn number(count: usize) -> Line {
    match count {
        0 => Label::Dim.of("-"),
        count => grouped(count as u64).into(),
    }
}

/// The end of a path, where it has no room.
fn end_of(path: &str, room: Option<usize>) -> String {
    let count = path.chars().count();
    match room {
        Some(room) if count > room => {
            let end: String = path.chars().skip(count + 1 - room.max(1)).collect();
            format!("…{end}")
        }
        _ => path.to_owned(),
    }
}

/// `+12 -3`.
fn changed(added: usize, removed: usize) -> Line {
    let added = Label::Added.of(format!("+{}", grouped(added as u64)));
    added + " " + Label::Removed.of(format!("-{}", grouped(removed as u64)))
}

/// A bar for each row, in the room that lines leave: the longest at work takes all of it.
fn bars(rows: &[StatsRow], lines: &[Line], width: usize) -> Vec<String> {
    let most = rows.iter().map(|row| row.active_ms).max().unwrap_or(0);
    let taken = lines.iter().map(Line::width_cols).max().unwrap_or(0);
    let room = width.saturating_sub(taken + 2).min(BAR_COLS);
    if room < 4 || most <= 0 {
        return Vec::new();
    }
    let bar = |row: &StatsRow| {
        let filled = (row.active_ms as u64 * room as u64).div_ceil(most as u64);
        format!("  {}", "█".repeat(filled as usize))
    };
    rows.iter().map(bar).collect()
}

/// A column for each run, as many beside each other as there is room for.
fn side_by_side(runs: &[StatsRow], app: &mut App) -> Result<()> {
    let width = app.ui.width_cols();
    let fits = |count: &usize| {
        let mut lines = runs.chunks(*count).flat_map(run_columns);
        width.is_none_or(|width| lines.all(|line| line.width_cols() <= width))
    };
    let count = (1..=runs.len()).rev().find(fits).unwrap_or(1);
    for (at, some) in runs.chunks(count.max(1)).enumerate() {
        if at > 0 {
            app.ui.print(Line::new())?;
        }
        app.ui.print_all(run_columns(some))?;
    }
    Ok(())
}

/// The lines of these runs.
fn run_columns(runs: &[StatsRow]) -> Vec<Line> {
    let rows: [Column; 12] = [
        ("", |run| Label::Branch.quote(&run.name)),
        ("at work", |run| stretch(run.active_ms).into()),
        ("  model", |run| stretch(run.model_ms).into()),
        ("  tools", |run| stretch(run.tools_ms).into()),
        ("  you", |run| stretch(run.user_ms).into()),
        ("prompts", |run| number(run.prompts)),
        ("replies", |run| number(run.replies)),
        ("calls", |run| number(run.calls)),
        ("failed", |run| number(run.failed)),
        ("interrupted", |run| number(run.interrupted)),
        ("edits", |run| {
            changed(run.lines_added, run.lines_removed)
                + format!(" in {}", plural(run.files as u64, "file"))
        }),
        ("tokens", |run| {
            let (input, output) = (rounded(run.input_tokens), output(run));
            Line::from(format!("{input} in, {output} out"))
        }),
    ];
    let lines = rows.iter().map(|(word, cell)| {
        let mut line = vec![Label::Dim.of(*word)];
        line.extend(runs.iter().map(cell));
        line
    });
    let ends: Vec<usize> = (1..=runs.len()).collect();
    table::lines(lines.collect(), &ends).collect()
}

/// The newest edits: when, where, what, and for which prompt.
fn edits(answer: &StatsAnswer, app: &mut App) -> Result<()> {
    if answer.edits.is_empty() {
        app.ui.status("No call edited a file");
        return Ok(());
    }
    let (calendar, width) = (app.calendar(), app.ui.width_cols());
    let cells = answer.edits.iter().map(|edit: &StatsEdit| {
        let label = match edit.outcome {
            "failed" => Label::Error,
            _ => Label::Text,
        };
        let mut path = label.quote(&end_of(&edit.path, width.map(|_| EDITED_COLS)));
        if edit.outcome != "done" {
            path += label.of(format!("  {}", edit.outcome));
        }
        vec![
            Label::Hash.of(&edit.commit[..7]),
            Label::Time.of(calendar.listed(edit.time_ms.map(Millis))),
            changed(edit.lines_added, edit.lines_removed),
            path,
            Label::Dim.quote(edit.prompt_preview.as_deref().unwrap_or_default()),
        ]
    });
    app.ui
        .print_all(table::list(cells.collect(), &[2], width))?;
    Ok(())
}
