//! What is a table to people: laid out as plain text, then labelled again, so that colour has no
//! width.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use crate::render::Line;

/// The columns between columns.
const GAP: u16 = 2;

/// The rows as lines of one width. `right` names the columns that are aligned to the right; a
/// column that is empty in every row is left out.
pub fn lines(rows: &[Vec<Line>], right: &[usize]) -> Vec<Line> {
    let columns = rows.first().map_or(0, Vec::len);
    let shown: Vec<usize> = (0..columns)
        .filter(|at| rows.iter().any(|row| !row[*at].is_empty()))
        .collect();
    // The library draws no line of a table without columns.
    if shown.is_empty() {
        return vec![Line::new(); rows.len()];
    }
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

/// From how many rows on a table is laid out here: what is asked of a table as long as a history is
/// little, and to hold each cell several times over took three quarters of a whole log's time.
const LONG: usize = 1_000;

/// The same, line by line; what is drawn is given up.
pub fn each(rows: Vec<Vec<Line>>, right: &[usize]) -> Box<dyn Iterator<Item = Line>> {
    if rows.len() > LONG {
        Box::new(aligned(rows, right))
    } else {
        Box::new(lines(&rows, right).into_iter())
    }
}

/// The same without the library.
fn aligned(rows: Vec<Vec<Line>>, right: &[usize]) -> impl Iterator<Item = Line> + use<> {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |at: usize| rows.iter().map(|row| row[at].width_cols()).max();
    let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0)).collect();
    let right: Vec<bool> = (0..columns).map(|at| right.contains(&at)).collect();
    let last = widths.iter().rposition(|width| *width > 0);
    rows.into_iter().map(move |row| {
        let mut line = Line::new();
        for (at, cell) in row.into_iter().enumerate() {
            let Some(room) = widths[at]
                .checked_sub(cell.width_cols())
                .filter(|_| widths[at] > 0)
            else {
                continue;
            };
            let gap = if last == Some(at) {
                0
            } else {
                usize::from(GAP)
            };
            let (before, after) = if right[at] {
                (room, gap)
            } else {
                (0, room + gap)
            };
            line += Line::indent(before);
            line += cell;
            line += Line::indent(after);
        }
        line
    })
}

/// A table with a last column that is not lined up: it is cut to what is left of `width_cols`,
/// where there is a width.
pub fn list(mut rows: Vec<Vec<Line>>, right: &[usize], width_cols: Option<usize>) -> Vec<Line> {
    let ends: Vec<Line> = rows.iter_mut().filter_map(Vec::pop).collect();
    let lines = lines(&rows, right).into_iter().zip(ends);
    let whole = lines.map(|(mut line, end)| {
        line += "  ";
        line.fit(end, width_cols);
        line
    });
    whole.collect()
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

    const LABELS: [Label; 4] = [Label::Text, Label::Hash, Label::Strong, Label::Text];

    proptest::proptest! {
        #![proptest_config(crate::conditions::laws(64))]

        /// Laid out here or by the library: the same lines.
        #[test]
        fn a_long_table_looks_like_a_short_one(
            rows in proptest::collection::vec(
                proptest::collection::vec("|[a-c日é]{1,5}|[a-b]{1,3} [c-d]{0,3}", 4),
                0..9,
            ),
            right in proptest::collection::vec(0_usize..4, 0..3),
            empty in 0_usize..5,
        ) {
            let cell = |(at, text): (usize, &String)| if at == empty { Line::new() } else { LABELS[at].of(text.as_str()) };
            let row = |row: &Vec<String>| row.iter().enumerate().map(cell).collect();
            let rows: Vec<Vec<Line>> = rows.iter().map(row).collect();
            let drawn = lines(&rows, &right);
            let long: Vec<Line> = aligned(rows, &right).collect();
            let texts = |lines: &[Line]| lines.iter().map(Line::text).collect::<Vec<_>>();
            proptest::prop_assert_eq!(texts(&long), texts(&drawn));
            proptest::prop_assert_eq!(long, drawn);
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
        let drawn = lines(&rows, &[2]);
        assert_eq!(drawn[0].text(), "日本      1  x ");
        assert_eq!(drawn[1].text(), "a     1,000  yy");
        assert_eq!(drawn[0].width_cols(), 15);
        assert_eq!(plain::paint(&drawn[0]), "日本      1  x");
        assert!(ansi::paint(&drawn[0]).starts_with("\u{1b}[1m日本\u{1b}[0m      "));
    }
}
