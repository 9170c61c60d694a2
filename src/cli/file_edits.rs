//! Edits of files, for people: one by one under the prompts that they were made for, and summed up by file.

use tract::deeds::file_edits;
use tract::hash::CommitHash;
use tract::query::{EditOutcome, EditedFile, FileEditOptions, FileEditRow, FileFate};
use tract::render::{Calendar, Label, Line, grouped, plural, table};
use tract::repo::Repo;

use super::{App, Result};

/// How much of a text stands in a pipe.
const PREVIEW_COLS: usize = 80;

/// Lists the edits of one file, newest first, each group under its prompt.
pub fn list(
    repo: &Repo,
    tip: &CommitHash,
    options: &FileEditOptions,
    oldest_first: bool,
    app: &mut App,
) -> Result<()> {
    let (mut rows, more) = file_edits(repo, tip, options)?;
    if oldest_first {
        rows.reverse();
    }
    if rows.is_empty() {
        app.ui.status("No such edits");
        return Ok(());
    }
    let (calendar, width) = (app.calendar(), app.ui.width_cols());
    // All rows of one table, so that they are lined up across prompts.
    let cells = rows
        .iter()
        .map(|row| cells(row, &calendar, width))
        .collect();
    let mut lines = table::list(cells, &[1, 4, 5], width).into_iter();
    while let Some(first) = rows.first() {
        let prompt = first.prompt.clone();
        let count = rows.iter().take_while(|row| row.prompt == prompt).count();
        rows.drain(..count);
        let head = match &prompt {
            Some(prompt) => {
                let mut head = Label::Hash.of(prompt.hash.short()) + "  ";
                let said = Label::Strong.quote(&one_line(&prompt.text));
                head.fit(brief(said, width), width);
                head
            }
            None => Label::Dim.of("before any prompt"),
        };
        app.ui.print(head)?;
        app.ui.print_all(lines.by_ref().take(count))?;
    }
    if more {
        app.ui.hint("older ones: -n 0 lists all");
    }
    Ok(())
}

/// Lists the files that were edited.
pub fn sum_up(
    repo: &Repo,
    tip: &CommitHash,
    options: &FileEditOptions,
    app: &mut App,
) -> Result<()> {
    let (rows, _) = file_edits(repo, tip, options)?;
    let files = EditedFile::of(&rows);
    if files.is_empty() {
        app.ui.status("No edits of files");
        return Ok(());
    }
    let (calendar, width) = (app.calendar(), app.ui.width_cols());
    let row = |file: &EditedFile| {
        let (last, time) = file.last;
        let failed = match file.failed {
            0 => Line::new(),
            failed => Label::Warning.of(format!("{} failed", grouped(failed as u64))),
        };
        vec![
            added(file.lines_added),
            removed(file.lines_removed),
            plural(file.edits as u64, "edit").into(),
            failed,
            Label::Hash.of(last.short()),
            Label::Time.of(calendar.listed(time)),
            Label::Text.quote(&file.path),
        ]
    };
    let rows = files.iter().map(row).collect();
    app.ui.print_all(table::list(rows, &[0, 1, 2], width))?;
    app.ui
        .hint("tract log --file PATH lists the edits of one, and why they were made");
    Ok(())
}

/// `  3f2a91c  :12  2 h ago  Edit  +12  −3  The loop ends too early`.
fn cells(row: &FileEditRow, calendar: &Calendar, width: Option<usize>) -> Vec<Line> {
    let number = row.number.map_or(String::new(), |at| format!(":{at}"));
    let fate = match (&row.edit.fate, row.outcome) {
        (_, EditOutcome::Failed) => Label::Error.of("failed"),
        (FileFate::Deleted, _) => Label::Removed.of("deleted"),
        (FileFate::Moved(to), _) => Label::Text.quote(&format!("→ {to}")),
        (_, EditOutcome::Unanswered) => Label::Dim.of("no result"),
        (FileFate::Changed | FileFate::Written, EditOutcome::Done) => Line::new(),
    };
    let reason = row.reason.as_ref();
    let reason = reason.map_or(String::new(), |reason| one_line(&reason.text));
    vec![
        Line::indent(2) + Label::Hash.of(row.hash.short()),
        number.into(),
        Label::Time.of(calendar.listed(row.time)),
        Label::Tool.quote(&row.tool),
        added(row.edit.lines_added),
        removed(row.edit.lines_removed),
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
