//! Aligned columns: laid out as plain text, then painted, so that colour has no width.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::columns;
use super::ui::{Label, Ui};

/// A piece of a row: what it is and what it says, safe to print.
pub type Cell = (Label, String);

/// The columns between columns.
const GAP: u16 = 2;

/// The rows as painted lines of one display width, which is the second thing returned. `right`
/// names the columns that are aligned to the right; a column that is empty in every row is left
/// out.
pub fn lines(rows: &[Vec<Cell>], right: &[usize], ui: &Ui) -> (Vec<String>, usize) {
    let columns = rows.first().map_or(0, Vec::len);
    let shown: Vec<usize> = (0..columns)
        .filter(|at| rows.iter().any(|row| !row[*at].1.is_empty()))
        .collect();
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    for row in rows {
        table.add_row(shown.iter().map(|at| row[*at].1.as_str()));
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
    let plain: Vec<String> = table.lines().collect();
    let width = plain.first().map_or(0, |line| columns::width_cols(line));
    let painted = plain.iter().zip(rows).map(|(line, row)| {
        let mut painted = String::with_capacity(line.len());
        let mut rest = line.as_str();
        for (label, text) in shown.iter().map(|at| &row[*at]) {
            // Between cells there are spaces alone.
            let Some(start) = rest.find(text.as_str()).filter(|_| !text.is_empty()) else {
                continue;
            };
            painted += &rest[..start];
            painted += &ui.paint(*label, text);
            rest = &rest[start + text.len()..];
        }
        painted + rest
    });
    (painted.collect(), width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::ui::{ColorChoice, Surroundings};

    #[test]
    fn wide_characters_and_empty_columns_keep_the_lines_straight() {
        let cell = |text: &str| (Label::Strong, text.to_owned());
        let rows = [
            vec![cell("日本"), cell(""), cell("1"), cell("x")],
            vec![cell("a"), cell(""), cell("1,000"), cell("yy")],
        ];
        let plain = Ui::new(ColorChoice::Never, &Surroundings::default(), false);
        let (drawn, width) = lines(&rows, &[2], &plain);
        assert_eq!(drawn, ["日本      1  x ", "a     1,000  yy"]);
        assert_eq!(width, 15);
        let painted = Ui::new(ColorChoice::Always, &Surroundings::default(), false);
        assert!(lines(&rows, &[2], &painted).0[0].starts_with("\u{1b}[1m日本\u{1b}[0m      "));
    }
}
