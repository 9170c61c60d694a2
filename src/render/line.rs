//! A line of labelled text: measured, cut and put together as data, painted last.
//!
//! All text is made safe where it becomes part of a line, so that no painter need think of it.
//! Deliberately absent: how a label looks, and line feeds.

use std::borrow::Cow;
use std::ops::{Add, AddAssign};

use unicode_width::UnicodeWidthChar;

use crate::render::{Label, columns, escape};

/// The columns between two places that tabs lead to.
const TAB: usize = 4;

/// One line of labelled text, safe to show.
///
/// ```
/// use tract::render::{Label, Line, plain};
///
/// let mut line = Label::Hash.of("a1b2c3d") + "  ";
/// line.fit("Please use the streaming parser.", Some(24));
/// assert_eq!(plain::paint(&line), "a1b2c3d  Please use the…");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    runs: Vec<Run>,
}

/// A piece of a line: what it says, and what that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What it is.
    pub label: Label,
    text: String,
}

impl Run {
    /// What it says, safe to show.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Label {
    /// `text` with this label, made safe.
    pub fn of(self, text: impl Into<String>) -> Line {
        let text = text.into();
        let safe = match escape::line(&text) {
            Cow::Owned(safe) => safe,
            Cow::Borrowed(_) => text,
        };
        Line::new().with(self, safe)
    }

    /// The same for a line of someone's text, in which tabs stay.
    pub fn quote(self, text: &str) -> Line {
        Line::new().with(self, escape::row(text).into_owned())
    }
}

impl Line {
    /// A line that says nothing.
    pub const fn new() -> Self {
        Self { runs: Vec::new() }
    }

    /// So many spaces.
    pub fn indent(cols: usize) -> Self {
        Self::new().with(Label::Text, " ".repeat(cols))
    }

    /// The lines in one, with `between` between them.
    pub fn join(lines: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let mut joined = Self::new();
        for (at, line) in lines.into_iter().enumerate() {
            if at > 0 {
                joined += between;
            }
            joined += line;
        }
        joined
    }

    fn with(mut self, label: Label, text: String) -> Self {
        self.push(Run { label, text });
        self
    }

    fn push(&mut self, run: Run) {
        match self.runs.last_mut() {
            _ if run.text.is_empty() => {}
            Some(last) if last.label == Label::Text && run.label == Label::Text => {
                last.text += &run.text;
            }
            _ => self.runs.push(run),
        }
    }

    /// Its pieces, none of them empty.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// What it says.
    pub fn text(&self) -> String {
        self.runs.iter().map(Run::text).collect()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many columns it takes.
    pub fn width_cols(&self) -> usize {
        let widths = self.runs.iter().map(|run| columns::width_cols(&run.text));
        widths.sum()
    }

    /// The line cut to `cols` columns; what is cut ends in `…`.
    pub fn cut(self, cols: usize) -> Self {
        let (mut left, mut rest) = (cols, self.width_cols());
        let mut cut = Self::new();
        for Run { label, mut text } in self.runs {
            let width = columns::width_cols(&text);
            if rest > left && width >= left {
                // More follows: the mark of a cut is due even where this piece alone would fit.
                text = columns::cut(&format!("{text}…"), left);
            }
            rest -= width;
            left = left.saturating_sub(width);
            cut.push(Run { label, text });
        }
        cut
    }

    /// The line in rows of at most `cols` columns, broken after a space where there is one.
    pub fn wrap(&self, cols: usize) -> Vec<Self> {
        let labelled = |run: &Run| {
            let label = run.label;
            run.text
                .chars()
                .map(move |c| (c, label))
                .collect::<Vec<_>>()
        };
        let chars: Vec<(char, Label)> = self.runs.iter().flat_map(labelled).collect();
        let width = |c: char| c.width().unwrap_or(0);
        let mut rows = Vec::new();
        let (mut start, mut used, mut space) = (0, 0, None);
        for (at, (c, _)) in chars.iter().enumerate() {
            let joined = at > 0 && chars[at - 1].0 == '\u{200d}';
            // A space may stand beyond the edge: it is not shown.
            if used + width(*c) > cols && at > start && width(*c) > 0 && *c != ' ' && !joined {
                let end = space.filter(|end| *end > start).unwrap_or(at);
                let row = &chars[start..end];
                let spaces = row.iter().rev().take_while(|(c, _)| *c == ' ');
                rows.push(Self::of_chars(&row[..row.len() - spaces.count()]));
                start = end;
                used = chars[start..at].iter().map(|(c, _)| width(*c)).sum();
            }
            used += width(*c);
            if *c == ' ' {
                space = Some(at + 1);
            }
        }
        rows.push(Self::of_chars(&chars[start..]));
        rows
    }

    /// The line in rows of `cols` columns, those after the first indented by `hang`. It is broken at
    /// the spaces alone whose place in [`Line::text`] `may_break` likes: what has none stays in one
    /// piece, even where that is wider.
    pub fn hang(&self, cols: usize, hang: usize, may_break: impl Fn(usize) -> bool) -> Vec<Self> {
        let mut pieces = vec![Self::new()];
        let mut at = 0;
        for Run { label, text } in &self.runs {
            let mut start = 0;
            for (space, _) in text.match_indices(' ') {
                if may_break(at + space) {
                    let piece = text[start..space].to_owned();
                    pieces.last_mut().expect("one").push(Run {
                        label: *label,
                        text: piece,
                    });
                    pieces.push(Self::new());
                    start = space + 1;
                }
            }
            let rest = text[start..].to_owned();
            pieces.last_mut().expect("one").push(Run {
                label: *label,
                text: rest,
            });
            at += text.len();
        }
        let mut rows: Vec<Self> = Vec::new();
        for piece in pieces {
            match rows.last_mut() {
                Some(row) if row.width_cols() + 1 + piece.width_cols() <= cols => {
                    *row += " ";
                    *row += piece;
                }
                Some(_) => rows.push(Self::indent(hang) + piece),
                None => rows.push(piece),
            }
        }
        rows
    }

    fn of_chars(chars: &[(char, Label)]) -> Self {
        let runs = chars.chunk_by(|a, b| a.1 == b.1).map(|chunk| Run {
            label: chunk[0].1,
            text: chunk.iter().map(|(c, _)| c).collect(),
        });
        Self {
            runs: runs.collect(),
        }
    }

    /// The line with spaces in place of tabs, up to the next of the columns that tabs lead to: where
    /// a line is laid out, a tab has no width of its own.
    pub fn spread_tabs(self) -> Self {
        let mut used = 0;
        let mut spread = Self::new();
        for Run { label, text } in self.runs {
            let mut told = String::with_capacity(text.len());
            for (at, piece) in text.split('\t').enumerate() {
                if at > 0 {
                    let gap = TAB - used % TAB;
                    told.extend(std::iter::repeat_n(' ', gap));
                    used += gap;
                }
                told += piece;
                used += columns::width_cols(piece);
            }
            spread.push(Run { label, text: told });
        }
        spread
    }

    /// The line cut to `width_cols`, where there is a width.
    pub fn within(self, width_cols: Option<usize>) -> Self {
        match width_cols {
            Some(width) => self.cut(width),
            None => self,
        }
    }

    /// Adds `piece`, cut to what is left of `width_cols`, where there is a width.
    pub fn fit(&mut self, piece: impl Into<Self>, width_cols: Option<usize>) {
        let used = self.width_cols();
        let left = width_cols.map(|width| width.saturating_sub(used));
        *self += piece.into().within(left);
    }

    /// Spaces after it, up to `cols` columns.
    pub fn left(self, cols: usize) -> Self {
        let gap = cols.saturating_sub(self.width_cols());
        self + Self::indent(gap)
    }

    /// Spaces before it, up to `cols` columns.
    pub fn right(self, cols: usize) -> Self {
        let gap = cols.saturating_sub(self.width_cols());
        Self::indent(gap) + self
    }
}

impl<T: Into<String>> From<T> for Line {
    fn from(text: T) -> Self {
        Label::Text.of(text)
    }
}

impl From<Run> for Line {
    fn from(run: Run) -> Self {
        Self::new().with(run.label, run.text)
    }
}

impl<T: Into<Line>> AddAssign<T> for Line {
    fn add_assign(&mut self, more: T) {
        more.into().runs.into_iter().for_each(|run| self.push(run));
    }
}

impl<T: Into<Line>> Add<T> for Line {
    type Output = Self;

    fn add(mut self, more: T) -> Self {
        self += more;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::plain;

    fn line() -> Line {
        Label::Hash.of("a1b2c3d") + "  " + Label::User.of("日本語 👩\u{200d}💻") + " e\u{301}nd"
    }

    #[test]
    fn a_line_is_as_wide_as_it_is_seen() {
        for (text, cols) in [
            ("", 0),
            ("plain", 5),
            ("日本語", 6),
            ("👩\u{200d}💻", 2),
            ("e\u{301}", 1),
            ("tab\t", 4),
        ] {
            assert_eq!(Line::from(text).width_cols(), cols, "{text:?}");
        }
        assert_eq!(line().width_cols(), 7 + 2 + 9 + 4);
    }

    #[test]
    fn a_cut_line_fits_and_says_that_it_was_cut() {
        let whole = line();
        for cols in 0..30 {
            let cut = line().cut(cols);
            assert!(cut.width_cols() <= cols, "{cut:?} in {cols}");
            if cols >= whole.width_cols() {
                assert_eq!(cut, whole);
            } else {
                let text = cut.text();
                let kept = text.strip_suffix('…');
                assert_eq!(kept.is_some(), cols > 0, "{cut:?} in {cols}");
                assert!(whole.text().starts_with(kept.unwrap_or_default()));
                assert!(!text.contains("\u{200d}…"), "{cut:?} in {cols}");
            }
        }
        let cut = line().cut(4);
        assert_eq!(cut.runs()[0].label, Label::Hash);
        assert_eq!(cut.text(), "a1b…");
    }

    #[test]
    fn what_is_added_is_cut_and_what_was_there_is_not() {
        let mut fitted = Line::from("head  ");
        fitted.fit(Label::Dim.of("a long end"), Some(10));
        assert_eq!(fitted.text(), "head  a l…");
        let mut full = Line::from("head  ");
        full.fit("more", Some(4));
        assert_eq!(full.text(), "head  ");
        assert_eq!(plain::paint(&full), "head");
        full.fit("more", None);
        assert_eq!(full.text(), "head  more");
    }

    #[test]
    fn untrusted_text_is_safe_in_every_line() {
        let hostile = "\u{1b}[31m\tx\ny\u{202e}";
        let shown = "␛[31m␉x␊y\\u{202e}";
        assert_eq!(Line::from(hostile).text(), shown);
        assert_eq!(Label::Match.of(hostile).text(), shown);
        assert_eq!((Line::new() + hostile).text(), shown);
        assert_eq!(Label::Text.quote(hostile).text(), "␛[31m\tx␊y\\u{202e}");
    }

    #[test]
    #[cfg(feature = "cli")]
    fn every_painter_says_the_same_and_no_cut_splits_an_escape() {
        use crate::render::ansi;
        for cols in 0..30 {
            let cut = line().cut(cols);
            let (mut bare, mut rest) = (String::new(), ansi::paint(&cut));
            while let Some((text, escape)) = rest.split_once('\u{1b}') {
                bare += text;
                let (code, after) = escape.split_once('m').expect("a whole escape");
                assert!(code.starts_with('['), "{code}");
                rest = after.to_owned();
            }
            assert_eq!(bare + &rest, plain::paint(&cut));
        }
        assert_eq!(
            ansi::paint(&(Label::Hash.of("a1") + Label::Tokens.of(" b ") + "c ")),
            "\u{1b}[33ma1\u{1b}[0m b c"
        );
    }

    #[test]
    fn a_tab_leads_to_the_next_of_its_columns() {
        let line = Label::Text.quote("\ta\tbcd\t") + Label::Dim.quote("界\te");
        assert_eq!(line.spread_tabs().text(), "    a   bcd 界  e");
    }
}
