//! Text in columns: measured, lined up and cut by the cells that it takes on a terminal, CJK and
//! emoji too.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::render::{Line, table};

/// How many columns `text` takes.
pub fn width_cols(text: &str) -> usize {
    text.width()
}

/// `text` cut to `cols` columns; what is cut ends in `…`.
pub fn cut(text: &str, cols: usize) -> String {
    if width_cols(text) <= cols {
        return text.to_owned();
    }
    let room = cols.saturating_sub(1);
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if out.width() > room {
            out.pop();
            break;
        }
    }
    // A joiner or a modifier without its base would attach itself to the ellipsis.
    while out.ends_with('\u{200d}') {
        out.pop();
        let base = out.chars().last().and_then(|c| c.width());
        if base.is_some() {
            out.pop();
        }
    }
    let out = out.trim_end();
    if cols == 0 {
        String::new()
    } else {
        format!("{out}…")
    }
}

/// How many columns the widest of these takes.
pub fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> usize {
    let widths = texts.into_iter().map(|text| width_cols(text.as_ref()));
    widths.max().unwrap_or(0)
}

/// A table with a last column that is not lined up: it is cut to what is left of `width_cols`,
/// where there is a width.
pub fn list(mut rows: Vec<Vec<Line>>, right: &[usize], width_cols: Option<usize>) -> Vec<Line> {
    let ends: Vec<Line> = rows.iter_mut().filter_map(Vec::pop).collect();
    let lines = table(&rows, right).into_iter().zip(ends);
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

    #[test]
    fn a_cut_never_takes_more_columns_than_it_may() {
        for text in [
            "plain text",
            "日本語のテキスト",
            "a👩\u{200d}💻b👍🏽c",
            "e\u{301}e\u{301}e\u{301}",
        ] {
            for cols in 0..12 {
                let short = cut(text, cols);
                assert!(width_cols(&short) <= cols, "{short:?} in {cols}");
            }
        }
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("one two", 5), "one…");
    }

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

    #[test]
    fn columns_line_up() {
        assert_eq!(Line::from("日本").left(6).text(), "日本  ");
        assert_eq!(Line::from("+12").right(5).text(), "  +12");
    }

    #[test]
    #[cfg(feature = "cli")]
    fn wide_characters_and_empty_columns_keep_the_lines_straight() {
        use crate::render::{Label, ansi, plain};
        let cell = |text: &str| Label::Strong.of(text);
        let rows = [
            vec![cell("日本"), cell(""), cell("1"), cell("x")],
            vec![cell("a"), cell(""), cell("1,000"), cell("yy")],
        ];
        let drawn = table(&rows, &[2]);
        assert_eq!(drawn[0].text(), "日本      1  x ");
        assert_eq!(drawn[1].text(), "a     1,000  yy");
        assert_eq!(drawn[0].width_cols(), 15);
        assert_eq!(plain::paint(&drawn[0]), "日本      1  x");
        assert!(ansi::paint(&drawn[0]).starts_with("\u{1b}[1m日本\u{1b}[0m      "));
    }
}
