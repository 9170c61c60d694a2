//! Texts by hunks, and JSON by paths.

use crate::diff::{Hunk, Json, JsonChange, JsonChanged, LineDiff, Tag, ValueDiff};
use crate::render::diff::page::Page;
use crate::render::{Label, Line};

/// The columns that a value may take to stand on the line of its path, in a pipe.
const ONE_LINE_COLS: usize = 100;
/// How many lines of one value are shown.
const VALUE_LINES: usize = 16;

/// A text's or a JSON value's differences; `root` names the value in paths.
pub fn value(page: &mut Page, indent: usize, root: &str, diff: &ValueDiff) {
    match diff {
        ValueDiff::Lines(diff) => hunks(page, indent, diff),
        ValueDiff::Json(None) => page.dim(
            indent + 2,
            &format!("{root}: the same JSON in another spelling"),
        ),
        ValueDiff::Json(Some(diff)) => {
            for change in diff.changes() {
                json(page, indent, root, &change);
            }
        }
    }
}

/// The hunks of a text; one that is the whole text needs no line numbers.
pub fn hunks(page: &mut Page, indent: usize, diff: &LineDiff) {
    let at_start = |hunk: &Hunk| (hunk.before, hunk.after) == (0, 0);
    let whole = matches!(&diff.hunks[..], [only] if at_start(only));
    for hunk in &diff.hunks {
        if !whole {
            let (before, after) = hunk.extent();
            let line = format!(
                "@@ -{},{before} +{},{after} @@",
                hunk.before + 1,
                hunk.after + 1
            );
            page.dim(indent, &line);
        }
        for line in &hunk.lines {
            page.line(indent, line.tag, &line.pieces);
        }
    }
}

/// One difference of a JSON value.
fn json(page: &mut Page, indent: usize, root: &str, change: &JsonChange<'_>) {
    let path = match change.path.as_str() {
        "" => root.to_owned(),
        path if path.starts_with('[') => format!("{root}{path}"),
        path => format!("{root}.{path}"),
    };
    match change.what {
        JsonChanged::Added(value) => whole(page, indent, Tag::Added, &path, value),
        JsonChanged::Removed(value) => whole(page, indent, Tag::Removed, &path, value),
        JsonChanged::Text(diff) => {
            page.push(indent + 2, format!("{path}:"));
            hunks(page, indent + 2, diff);
        }
        JsonChanged::Replaced(before, after) => {
            let (old, new) = (before.to_string(), after.to_string());
            let room = room(page, indent);
            let short = old.len().max(new.len()) <= room;
            let line = || {
                let head = Line::from(format!("{path}: "));
                head + Label::Removed.of(old) + " → " + Label::Added.of(new)
            };
            match short.then(line).filter(|line| line.width_cols() <= room) {
                Some(line) => page.push(indent + 2, line),
                None => {
                    page.push(indent + 2, format!("{path}:"));
                    pretty(page, indent + 2, Tag::Removed, before);
                    pretty(page, indent + 2, Tag::Added, after);
                }
            }
        }
    }
}

/// A value that is on one side alone: on the line of its path if it fits there.
fn whole(page: &mut Page, indent: usize, tag: Tag, path: &str, value: &Json) {
    let line = format!("{path}: {value}");
    if line.len() <= room(page, indent) {
        page.text(indent, tag, &line);
    } else {
        page.text(indent, tag, &format!("{path}:"));
        pretty(page, indent + 2, tag, value);
    }
}

/// A value on several lines, folded; a text as it is read.
fn pretty(page: &mut Page, indent: usize, tag: Tag, value: &Json) {
    let start = page.lines.len();
    match value {
        Json::String(text) if text.contains('\n') => page.text(indent, tag, text),
        value => page.text(indent, tag, &value.pretty()),
    }
    page.fold(start, VALUE_LINES, indent + 2);
}

fn room(page: &Page, indent: usize) -> usize {
    let width = page.width_cols.unwrap_or(ONE_LINE_COLS);
    width.saturating_sub(indent + 2)
}
