//! Edits of files, for people: one by one under the prompts that they were made for, and summed up by file.

use tract::deeds::{EditedFileFacts, FileEditFacts, LogAnswer};
use tract::formats::shared::sent::short;
use tract::model::Millis;
use tract::render::{Calendar, Label, Line, grouped, plural, table};

use crate::cli::{App, Exit, Failure, Result};

/// How much of a text stands in a pipe.
const PREVIEW_COLS: usize = 80;

/// Lists the edits of one file, each group under its prompt.
pub fn list(answer: &LogAnswer, app: &mut App) -> Result<()> {
    let mut rows = &answer.edits[..];
    if rows.is_empty() {
        app.ui.status("No such edits");
        return Err(Failure::Quiet(Exit::NotAllowed));
    }
    let (calendar, width) = (app.calendar(), app.ui.width_cols());
    // All rows of one table, so that they are lined up across prompts.
    let cells = rows
        .iter()
        .map(|row| cells(row, &calendar, width))
        .collect();
    let mut lines = table::list(cells, &[1, 4, 5], width).into_iter();
    while let Some(first) = rows.first() {
        let prompt = &first.prompt;
        let count = rows.iter().take_while(|row| row.prompt == *prompt).count();
        rows = &rows[count..];
        let head = match prompt {
            Some(prompt) => {
                let mut head = Label::Hash.of(short(&prompt.id)) + "  ";
                let said = Label::Strong.quote(&one_line(&prompt.text));
                head.fit(brief(said, width), width);
                head
            }
            None => Label::Dim.of("before any prompt"),
        };
        app.ui.print(head)?;
        app.ui.print_all(lines.by_ref().take(count))?;
    }
    if answer.more {
        app.ui.hint("older ones: -n 0 lists all");
    }
    Ok(())
}

/// Lists the files that were edited.
pub fn sum_up(answer: &LogAnswer, app: &mut App) -> Result<()> {
    if answer.files.is_empty() {
        app.ui.status("No edits of files");
        return Err(Failure::Quiet(Exit::NotAllowed));
    }
    let (calendar, width) = (app.calendar(), app.ui.width_cols());
    let row = |file: &EditedFileFacts| {
        let failed = match file.failed {
            0 => Line::new(),
            failed => Label::Warning.of(format!("{} failed", grouped(failed as u64))),
        };
        vec![
            added(file.lines_added),
            removed(file.lines_removed),
            plural(file.edits as u64, "edit").into(),
            failed,
            Label::Hash.of(short(&file.last)),
            Label::Time.of(calendar.listed(file.last_ms.map(Millis))),
            Label::Text.quote(&file.path),
        ]
    };
    let rows = answer.files.iter().map(row).collect();
    app.ui.print_all(table::list(rows, &[0, 1, 2], width))?;
    app.ui
        .hint("tract log --file PATH lists the edits of one, and why they were made");
    Ok(())
}

/// `  3f2a91c  :12  2 h ago  Edit  +12  −3  The loop ends too early`.
fn cells(row: &FileEditFacts, calendar: &Calendar, width: Option<usize>) -> Vec<Line> {
    let number = row.number.map_or(String::new(), |at| format!(":{at}"));
    let fate = match (row.outcome, row.kind, &row.moved_to) {
        ("failed", ..) => Label::Error.of("failed"),
        (_, "deleted", _) => Label::Removed.of("deleted"),
        (_, _, Some(to)) => Label::Text.quote(&format!("→ {to}")),
        ("unanswered", ..) => Label::Dim.of("no result"),
        _ => Line::new(),
    };
    let reason = row.reason.as_ref();
    let reason = reason.map_or(String::new(), |reason| one_line(&reason.text));
    vec![
        Line::indent(2) + Label::Hash.of(short(&row.id)),
        number.into(),
        Label::Time.of(calendar.listed(row.time_ms.map(Millis))),
        Label::Tool.quote(&row.tool),
        added(row.lines_added),
        removed(row.lines_removed),
        fate,
        brief(Label::Text.quote(&reason), width),
    ]
}

fn added(lines: usize) -> Line {
    Label::Added.of(format!("+{}", grouped(lines as u64)))
}

fn removed(lines: usize) -> Line {
    Label::Removed.of(format!("−{}", grouped(lines as u64)))
}

/// In a pipe as long as a preview.
fn brief(said: Line, width: Option<usize>) -> Line {
    match width {
        Some(_) => said,
        None => said.cut(PREVIEW_COLS),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
