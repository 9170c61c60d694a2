//! What is a table to people: cells of labelled text in columns. Colour has no width, so the library lays plain
//! text out, which is then labelled again.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use crate::render::Line;

/// The columns between columns.
const GAP: u16 = 2;

/// From how many rows on a table is laid out here: what is asked of a table as long as a history is
/// little, and to hold each cell several times over took three quarters of a whole log's time.
const LONG: usize = 1_000;

/// The rows as lines of one width, each as it is asked for. `right` names the columns that are aligned to the right;
/// a column that is empty in every row is left out.
pub fn lines(rows: Vec<Vec<Line>>, right: &[usize]) -> Box<dyn Iterator<Item = Line>> {
    if rows.len() > LONG {
        Box::new(Columns::default().lines(rows, right))
    } else {
        Box::new(drawn(&rows, right).into_iter())
    }
}

/// The lines of the library's table.
fn drawn(rows: &[Vec<Line>], right: &[usize]) -> Vec<Line> {
    let columns = 0..rows.first().map_or(0, Vec::len);
    let is_shown = |at: &usize| rows.iter().any(|row| !row[*at].is_empty());
    let shown: Vec<usize> = columns.filter(is_shown).collect();
    // It draws no line of a table without columns.
    if shown.is_empty() {
        return vec![Line::new(); rows.len()];
    }
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .add_rows(
            rows.iter()
                .map(|row| shown.iter().map(|at| row[*at].text())),
        );
    let last = shown.len() - 1;
    for (place, (column, at)) in table.column_iter_mut().zip(&shown).enumerate() {
        column.set_padding((0, if place == last { 0 } else { GAP }));
        if right.contains(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let labelled = table.lines().zip(rows).map(|(drawn, row)| {
        let mut line = Line::new();
        let mut rest = drawn.as_str();
        for run in shown.iter().flat_map(|at| row[*at].runs()) {
            // Between cells there are spaces alone.
            if let Some((before, after)) = rest.split_once(run.text()) {
                line = line + before + run.clone();
                rest = after;
            }
        }
        line + rest
    });
    labelled.collect()
}

/// The columns of a table that comes page by page, laid out without the library. They only get wider: what is wider than
/// all before it moves the rest of its page.
#[derive(Debug, Default)]
pub struct Columns {
    widths: Vec<usize>,
}

impl Columns {
    /// The next rows as lines, each as it is asked for; see [`lines`].
    pub fn lines(
        &mut self,
        rows: Vec<Vec<Line>>,
        right: &[usize],
    ) -> impl Iterator<Item = Line> + use<> {
        for row in &rows {
            self.widths.resize(row.len(), 0);
            for (widest, cell) in self.widths.iter_mut().zip(row) {
                *widest = cell.width_cols().max(*widest);
            }
        }
        let (widths, right) = (self.widths.clone(), right.to_vec());
        let last = widths.iter().rposition(|width| *width > 0);
        rows.into_iter().map(move |row| {
            let mut line = Line::new();
            for (at, cell) in row.into_iter().enumerate() {
                line += if right.contains(&at) {
                    cell.right(widths[at])
                } else {
                    cell.left(widths[at])
                };
                if widths[at] > 0 && last != Some(at) {
                    line += Line::indent(GAP.into());
                }
            }
            line
        })
    }
}

impl Columns {
    /// The next rows, with a last column that is not lined up; see [`list`].
    pub fn list(
        &mut self,
        mut rows: Vec<Vec<Line>>,
        right: &[usize],
        width_cols: Option<usize>,
    ) -> Vec<Line> {
        let ends = ends(&mut rows);
        beside(self.lines(rows, right), ends, width_cols)
    }
}

/// The last cells of all rows.
fn ends(rows: &mut [Vec<Line>]) -> Vec<Line> {
    rows.iter_mut().filter_map(Vec::pop).collect()
}

/// Lines with these ends.
fn beside(
    lines: impl Iterator<Item = Line>,
    ends: Vec<Line>,
    width_cols: Option<usize>,
) -> Vec<Line> {
    let whole = lines.zip(ends).map(|(mut line, end)| {
        line += "  ";
        line.fit(end, width_cols);
        line
    });
    whole.collect()
}

/// A table with a last column that is not lined up: it is cut to what is left of `width_cols`,
/// where there is a width.
pub fn list(mut rows: Vec<Vec<Line>>, right: &[usize], width_cols: Option<usize>) -> Vec<Line> {
    let ends = ends(&mut rows);
    beside(lines(rows, right), ends, width_cols)
}

/// Items after `head` with `mark` between them: folded between two items to `width_cols`, where
/// there is a width, and lined up under the first.
pub fn folded(head: Line, items: &[String], mark: &str, width_cols: Option<usize>) -> Vec<Line> {
    let indent = head.width_cols();
    let (mut lines, mut line) = (Vec::new(), head);
    for (at, item) in items.iter().enumerate() {
        let last = at + 1 == items.len();
        let item = Line::from(item) + if last { "" } else { mark };
        let cols = line.width_cols() + 1 + item.width_cols();
        if at > 0 && width_cols.is_some_and(|width| cols > width) {
            lines.push(std::mem::replace(&mut line, Line::indent(indent)));
        } else if at > 0 {
            line += " ";
        }
        line += item;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Label;

    #[test]
    fn a_list_is_folded_between_its_items() {
        let folded = |items: &[&str], width| {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            let lines = folded("  kept  ".into(), &items, ",", width);
            lines.iter().map(Line::text).collect::<Vec<_>>()
        };
        let lines = folded(&["1 one", "2 twos", "3 threes"], Some(20));
        assert_eq!(
            lines,
            ["  kept  1 one,", "        2 twos,", "        3 threes"]
        );
        assert_eq!(
            folded(&["1 one", "2 twos"], None),
            ["  kept  1 one, 2 twos"]
        );
    }

    proptest::proptest! {
        #![proptest_config(crate::conditions::laws(64))]

        /// Whatever stands in the cells, each begins or ends where those above it do.
        #[test]
        fn every_cell_of_a_column_stands_at_one_place(
            rows in proptest::collection::vec(
                proptest::collection::vec("|[a-c日é]{1,5}|[a-b]{1,3} [c-d]{0,3}", 4),
                1..9,
            ),
            right in proptest::collection::vec(0_usize..4, 0..3),
        ) {
            let labels = [Label::Text, Label::Hash, Label::Strong, Label::Text];
            let cell = |(at, text): (usize, &String)| labels[at].of(text.as_str());
            let row = |row: &Vec<String>| row.iter().enumerate().map(cell).collect();
            let cells: Vec<Vec<Line>> = rows.iter().map(row).collect();
            let column = |at: usize| cells.iter().map(|row| row[at].width_cols()).max().unwrap_or(0);
            let widths: Vec<usize> = (0..4).map(column).filter(|width| *width > 0).collect();
            let whole = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
            for (line, row) in lines(cells.clone(), &right).zip(&cells) {
                proptest::prop_assert_eq!(line.width_cols(), whole);
                let mut start = 0;
                for (at, cell) in row.iter().enumerate().filter(|(at, _)| column(*at) > 0) {
                    let room = column(at) - cell.width_cols();
                    let before = start + if right.contains(&at) { room } else { 0 };
                    let from = line.text().chars().collect::<String>();
                    let skipped = from.char_indices().map(|(at, _)| at).find(|at| Line::from(&from[..*at]).width_cols() == before);
                    let rest = &from[skipped.unwrap_or(from.len())..];
                    proptest::prop_assert!(rest.starts_with(&cell.text()), "{rest:?} {cell:?}");
                    start += column(at) + 2;
                }
            }
            // A long table looks like a short one.
            let long: Vec<Line> = Columns::default().lines(cells.clone(), &right).collect();
            proptest::prop_assert_eq!(drawn(&cells, &right), long);
        }
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(Line::from("日本").left(6).text(), "日本  ");
        assert_eq!(Line::from("+12").right(5).text(), "  +12");
    }

    #[test]
    #[cfg(feature = "cli")]
    fn wide_characters_and_empty_columns_keep_the_lines_straight() {
        use crate::render::{ansi, plain};
        let cell = |text: &str| Label::Strong.of(text);
        let rows = [
            vec![cell("日本"), cell(""), cell("1"), cell("x")],
            vec![cell("a"), cell(""), cell("1,000"), cell("yy")],
        ];
        let drawn: Vec<Line> = lines(rows.into(), &[2]).collect();
        assert_eq!(drawn[0].text(), "日本      1  x ");
        assert_eq!(drawn[1].text(), "a     1,000  yy");
        assert_eq!(drawn[0].width_cols(), 15);
        assert_eq!(plain::paint(&drawn[0]), "日本      1  x");
        assert!(ansi::paint(&drawn[0]).starts_with("\u{1b}[1m日本\u{1b}[0m      "));
    }
}
