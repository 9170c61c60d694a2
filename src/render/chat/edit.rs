//! What a call does to files, line by line.

use super::page::{INDENT, Page};
use crate::diff::{HunkLine, Tag};
use crate::model::call::relative;
use crate::render::edit::{Edits, FileEdit};
use crate::render::{Label, Line};
use crate::tree::NodeId;

/// A tab, on a terminal.
const TAB: &str = "    ";

/// How many lines come and go: `  +3 -1`.
pub(super) fn tally(edits: &Edits) -> Line {
    counted(edits.tally())
}

fn counted((added, removed): (usize, usize)) -> Line {
    let mut line = Line::new();
    if added > 0 {
        line += Line::from("  ") + Label::Added.of(format!("+{added}"));
    }
    if removed > 0 {
        let gap = if added > 0 { " " } else { "  " };
        line += Line::from(gap) + Label::Removed.of(format!("-{removed}"));
    }
    line
}

/// A line of an edit: a head, or text with its sign.
enum Row<'a> {
    Head(Line),
    Text(&'a HunkLine),
}

impl Page<'_> {
    /// The edits of a call, folded where they are long.
    pub(super) fn edits(&mut self, id: NodeId, edits: &Edits) {
        let directory = self.chat.directory;
        let names = edits.names_files();
        let files = edits.files.iter();
        let rows: Vec<Row<'_>> = files
            .flat_map(|file| rows(file, names, directory))
            .collect();
        let shown = Self::shown(self.limit(id, self.chat.edit_lines), rows.len());
        for row in &rows[..shown] {
            match row {
                Row::Head(line) => self.line(id, INDENT + 2, line.clone()),
                Row::Text(line) => self.edit_line(id, line),
            }
        }
        self.more(id, INDENT + 2, (rows.len() - shown) as u64);
    }

    fn edit_line(&mut self, id: NodeId, line: &HunkLine) {
        let (sign, plain, changed) = match line.tag {
            Tag::Equal => ("  ", Label::Dim, Label::Dim),
            Tag::Removed => ("- ", Label::Removed, Label::RemovedWord),
            Tag::Added => ("+ ", Label::Added, Label::AddedWord),
        };
        let mut text = Line::new();
        for piece in &line.pieces {
            let label = if piece.changed { changed } else { plain };
            text += match self.chat.width_cols {
                Some(_) => label.quote(&piece.text.replace('\t', TAB)),
                None => label.quote(&piece.text),
            };
        }
        let rows = match self.chat.width_cols {
            Some(width) => text.wrap(width.saturating_sub(self.room() + INDENT + 4).max(8)),
            None => vec![text],
        };
        for row in rows {
            self.line(id, INDENT + 2, plain.of(sign) + row);
        }
    }
}

/// The rows of a file; between stretches that stand apart, where they are.
fn rows<'a>(file: &'a FileEdit, is_named: bool, directory: Option<&str>) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let path = file.path.as_deref().filter(|_| is_named);
    let path = path.map(|path| relative(path, directory));
    let fate = file.fate();
    if path.is_some() || fate.is_some() {
        let head = Label::Strong.of(path.unwrap_or_default());
        let fate = fate.map(|fate| Label::Dim.of(format!("  {fate}")));
        rows.push(Row::Head(
            head + fate.unwrap_or_default() + counted(file.tally()),
        ));
    }
    for (place, hunk) in file.placed() {
        rows.extend(place.map(|place| Row::Head(Label::Dim.of(place))));
        rows.extend(hunk.lines.iter().map(Row::Text));
    }
    rows
}
