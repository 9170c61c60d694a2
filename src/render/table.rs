//! What is a table to people: laid out as plain text, then labelled again, so that colour has no
//! width.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use crate::render::Line;

/// The columns between columns.
const GAP: u16 = 2;

/// The rows as lines of one width. `right` names the columns that are aligned to the right; a
/// column that is empty in every row is left out.
pub fn table(rows: &[Vec<Line>], right: &[usize]) -> Vec<Line> {
    let columns = rows.first().map_or(0, Vec::len);
    let shown: Vec<usize> = (0..columns)
        .filter(|at| rows.iter().any(|row| !row[*at].is_empty()))
        .collect();
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    for row in rows {
        table.add_row(shown.iter().map(|at| row[*at].text()));
    }
    for (place, at) in shown.iter().enumerate() {
        let Some(column) = table.column_mut(place) else {
            continue;
        };
        let last = place + 1 == shown.len();
        column.set_padding((0, if last { 0 } else { GAP }));
        if right.contains(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let drawn = table.lines().zip(rows).map(|(drawn, row)| {
        let mut line = Line::new();
        let mut rest = drawn.as_str();
        for run in shown.iter().flat_map(|at| row[*at].runs()) {
            // Between cells there are spaces alone.
            if let Some((before, after)) = rest.split_once(run.text()) {
                line += before;
                line += run.clone();
                rest = after;
            }
        }
        line + rest
    });
    drawn.collect()
}
