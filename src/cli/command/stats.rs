//! `tract stats`: what was done, and how long it took.

use std::path::Path;

use tract::deeds::{At, Method, StatsAnswer, StatsBy, StatsEdit, StatsRow};
use tract::model::Millis;
use tract::render::{Label, Line, grouped, percent, plural, rounded, stretch, table};

use crate::cli::billed::{self, NOBODY};
use crate::cli::{App, Result};

pub use tract::deeds::StatsParams as Args;

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

/// A row for each thing, and one for all.
fn rows(answer: &StatsAnswer, by: StatsBy, app: &mut App) -> Result<()> {
    if answer.total.replies + answer.total.prompts + answer.total.calls == 0 {
        app.ui.status("Nothing was said in that time");
        return Ok(());
    }
    let (head, cells): (&[&str], fn(&StatsRow) -> Vec<Line>) = match by {
        StatsBy::Tool => (
            &["calls", "failed", "", "interrupted", "prompts", "sessions"],
            of_tool,
        ),
        StatsBy::File => (
            &["edits", "lines", "failed", "prompts", "sessions"],
            of_file,
        ),
        _ => (
            &[
                "at work", "prompts", "replies", "calls", "failed", "edits", "input", "output",
            ],
            of_time,
        ),
    };
    let mut lines = Vec::new();
    if app.ui.is_terminal() {
        let head = std::iter::once(&"").chain(head);
        lines.push(head.map(|word| Label::Dim.of(*word)).collect());
    }
    let named = |row: &StatsRow, name: Line| {
        let mut line = vec![name];
        line.extend(cells(row));
        line
    };
    lines.extend(answer.rows.iter().map(|row| named(row, name(row, by))));
    if by != StatsBy::File {
        lines.push(named(&answer.total, Label::Strong.of("total")));
    }
    let ends: Vec<usize> = (1..=head.len()).collect();
    let width = app.ui.width_cols();
    let lines: Vec<Line> = table::lines(lines, &ends).collect();
    let bars = match by.is_time() && app.ui.is_terminal() {
        true => bars(&answer.rows, &lines, app.ui.wrap_cols()),
        false => Vec::new(),
    };
    let first = usize::from(app.ui.is_terminal());
    for (at, mut line) in lines.into_iter().enumerate() {
        let row = at.checked_sub(first).and_then(|at| answer.rows.get(at));
        if let Some(title) = row.and_then(|row| row.title.as_ref()) {
            line += "  ";
            line.fit(Label::Text.quote(title), width);
        }
        if let Some(bar) = at.checked_sub(first).and_then(|at| bars.get(at)) {
            line += Label::Tokens.of(bar.as_str());
        }
        app.ui.print(line)?;
    }
    if !by.is_of_calls() {
        let total = &answer.total;
        let [model, tools, user] = [total.model_ms, total.tools_ms, total.user_ms].map(stretch);
        app.ui.notice(format!(
            "models {model}, tools {tools}, you {user}; pauses are left out"
        ));
    }
    Ok(())
}

/// What a row is called.
fn name(row: &StatsRow, by: StatsBy) -> Line {
    match (by, row.name.as_str()) {
        (StatsBy::Session, name) => Label::Text.quote(&billed::shown_session(name)),
        (_, "") => NOBODY.into(),
        // Its number is there for the order.
        (StatsBy::Weekday, name) => name.split_once(' ').map_or(name, |(_, day)| day).into(),
        (StatsBy::Tool, name) => Label::Tool.quote(name),
        (_, name) => Label::Text.quote(name),
    }
}

fn number(count: usize) -> Line {
    match count {
        0 => Label::Dim.of("-"),
        count => grouped(count as u64).into(),
    }
}

fn of_time(row: &StatsRow) -> Vec<Line> {
    vec![
        stretch(row.active_ms).into(),
        number(row.prompts),
        number(row.replies),
        number(row.calls),
        number(row.failed + row.interrupted),
        number(row.edits),
        Label::Tokens.of(rounded(row.input_tokens)),
        Label::Tokens.of(rounded(row.output_tokens)),
    ]
}

fn of_tool(row: &StatsRow) -> Vec<Line> {
    let share = match row.failed {
        0 => String::new(),
        failed => percent(failed as u64, row.calls as u64),
    };
    vec![
        number(row.calls),
        number(row.failed),
        Label::Dim.of(share),
        number(row.interrupted),
        number(row.prompts),
        number(row.sessions),
    ]
}

fn of_file(row: &StatsRow) -> Vec<Line> {
    vec![
        number(row.edits),
        changed(row.lines_added, row.lines_removed),
        number(row.failed),
        number(row.prompts),
        number(row.sessions),
    ]
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

/// A column for each run.
fn side_by_side(runs: &[StatsRow], app: &mut App) -> Result<()> {
    let rows: [(&str, fn(&StatsRow) -> Line); 11] = [
        ("", |run| Label::Branch.quote(&run.name)),
        ("at work", |run| stretch(run.active_ms).into()),
        ("  model", |run| stretch(run.model_ms).into()),
        ("  tools", |run| stretch(run.tools_ms).into()),
        ("  you", |run| stretch(run.user_ms).into()),
        ("prompts", |run| number(run.prompts)),
        ("replies", |run| number(run.replies)),
        ("calls", |run| number(run.calls)),
        ("failed", |run| number(run.failed + run.interrupted)),
        ("edits", |run| {
            changed(run.lines_added, run.lines_removed)
                + format!(" in {}", plural(run.files as u64, "file"))
        }),
        ("tokens", |run| {
            let (input, output) = (rounded(run.input_tokens), rounded(run.output_tokens));
            Line::from(format!("{input} in, {output} out"))
        }),
    ];
    let lines = rows.iter().map(|(word, cell)| {
        let mut line = vec![Label::Dim.of(*word)];
        line.extend(runs.iter().map(cell));
        line
    });
    let ends: Vec<usize> = (1..=runs.len()).collect();
    app.ui.print_all(table::lines(lines.collect(), &ends))?;
    Ok(())
}

/// The newest edits: when, where, what, and for which prompt.
fn edits(answer: &StatsAnswer, app: &mut App) -> Result<()> {
    if answer.edits.is_empty() {
        app.ui.status("No call edited a file in that time");
        return Ok(());
    }
    let (calendar, width) = (app.calendar(), app.ui.width_cols());
    let cells = answer.edits.iter().map(|edit: &StatsEdit| {
        let label = match edit.outcome {
            "failed" => Label::Error,
            _ => Label::Text,
        };
        vec![
            Label::Hash.of(&edit.commit[..7]),
            Label::Time.of(calendar.listed(edit.time_ms.map(Millis))),
            changed(edit.lines_added, edit.lines_removed),
            label.quote(&edit.path),
            Label::Dim.quote(edit.prompt_preview.as_deref().unwrap_or_default()),
        ]
    });
    app.ui
        .print_all(table::list(cells.collect(), &[2], width))?;
    Ok(())
}
