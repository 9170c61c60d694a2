//! Lines of text on their way out: signed, cut or wrapped to the width, folded where they are many.
//! All untrusted text of a diff is escaped here.

use crate::diff::{HunkLine, Piece, Tag};
use crate::render::{Label, Line, bytes, plural};

/// How much of a line is shown without `--full`, in bytes; and in a pipe, around a change.
const LINE_BYTES: usize = 4_000;
/// How many columns of an unchanged stretch are shown beside a change, where all doesn't fit.
const BESIDE_COLS: usize = 60;
/// A tab, on a terminal.
const TAB: &str = "    ";

/// The lines of a diff as they are made.
pub struct Page {
    /// The finished lines.
    pub lines: Vec<Line>,
    /// The columns that a line may take; none in a pipe, where nothing is cut.
    pub width_cols: Option<usize>,
    /// Whether nothing is folded.
    pub full: bool,
}

impl Page {
    /// An empty page.
    pub fn new(width_cols: Option<usize>, full: bool) -> Self {
        Self {
            lines: Vec::new(),
            width_cols,
            full,
        }
    }

    /// A finished line.
    pub fn push(&mut self, indent: usize, line: impl Into<Line>) {
        self.lines.push(Line::indent(indent) + line);
    }

    /// An empty line after other lines.
    pub fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.push(0, "");
        }
    }

    /// A dim line.
    pub fn dim(&mut self, indent: usize, text: &str) {
        self.push(indent, Label::Dim.of(text));
    }

    /// Leaves `limit` of the lines since `start`, and says how many more there are.
    pub fn fold(&mut self, start: usize, limit: usize, indent: usize) {
        let count = self.lines.len() - start;
        // A line that says "1 more" takes as much room as that line.
        if !self.full && count > limit + 1 {
            self.lines.truncate(start + limit);
            let more = plural((count - limit) as u64, "more line");
            self.dim(indent, &format!("… {more} (--full)"));
        }
    }

    /// A line of untrusted text with its sign.
    pub fn line(&mut self, indent: usize, tag: Tag, pieces: &[Piece]) {
        let (sign, plain, changed) = match tag {
            Tag::Equal => (' ', Label::Unchanged, Label::Strong),
            Tag::Removed => ('-', Label::Removed, Label::RemovedWord),
            Tag::Added => ('+', Label::Added, Label::AddedWord),
        };
        let mut text = Line::new();
        for piece in self.shortened(pieces) {
            let label = if piece.changed { changed } else { plain };
            // Line ends of Windows are no news on a line that did not change.
            let said = match tag {
                Tag::Equal => piece.text.trim_end_matches('\r'),
                Tag::Removed | Tag::Added => &piece.text,
            };
            text += match self.width_cols {
                Some(_) => label.quote(&said.replace('\t', TAB)),
                None => label.quote(said),
            };
        }
        let room = |width: usize| width.saturating_sub(indent + 2).max(8);
        let rows = match self.width_cols.map(room) {
            Some(room) if tag == Tag::Equal && !self.full => vec![text.cut(room)],
            Some(room) => text.wrap(room),
            None => vec![text],
        };
        let sign = plain.of(format!("{}{sign} ", " ".repeat(indent)));
        self.lines
            .extend(rows.into_iter().map(|row| sign.clone() + row));
    }

    /// The lines of an untrusted text, all with one sign.
    pub fn text(&mut self, indent: usize, tag: Tag, text: &str) {
        for line in text.lines() {
            self.line(indent, tag, &HunkLine::plain(tag, line).pieces);
        }
    }

    /// The pieces without what is far from any change, where a line is long.
    fn shortened(&self, pieces: &[Piece]) -> Vec<Piece> {
        let size_bytes: usize = pieces.iter().map(|piece| piece.text.len()).sum();
        let changed = pieces.iter().any(|piece| piece.changed);
        let (whole, beside) = match self.width_cols {
            Some(width) if changed => (2 * width, BESIDE_COLS),
            _ => (LINE_BYTES, LINE_BYTES / 2),
        };
        if self.full || size_bytes <= whole {
            return pieces.to_vec();
        }
        let last = pieces.len() - 1;
        let around = |(at, piece): (usize, &Piece)| {
            let text = &piece.text;
            let (head, tail) = match piece.changed {
                true => (LINE_BYTES / 2, LINE_BYTES / 2),
                false if last == 0 => (LINE_BYTES, 0),
                false => (
                    if at > 0 { beside } else { 0 },
                    if at < last { beside } else { 0 },
                ),
            };
            let text = middle_out(text, head, tail);
            Piece { text, ..*piece }
        };
        pieces.iter().enumerate().map(around).collect()
    }
}

/// `text` with what stands between its first `head` and last `tail` bytes left out, which is said.
fn middle_out(text: &str, head: usize, tail: usize) -> String {
    // Less would not be worth it.
    const WORTH_BYTES: usize = 16;
    if text.len() <= head + tail + WORTH_BYTES {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(head)];
    let tail = &text[text.ceil_char_boundary(text.len() - tail)..];
    let left_out = text.len() - head.len() - tail.len();
    match left_out {
        0..1_000 => format!("{head}…{tail}"),
        _ => format!("{head}…({} left out)…{tail}", bytes(left_out as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::plain;

    fn page(width: usize) -> Page {
        Page::new(Some(width), false)
    }

    fn painted(page: &Page) -> Vec<String> {
        page.lines.iter().map(plain::paint).collect()
    }

    #[test]
    fn changed_lines_are_wrapped_and_unchanged_ones_cut() {
        let mut page = page(20);
        page.text(0, Tag::Added, "one two three four five six");
        page.text(0, Tag::Equal, "one two three four five six");
        page.text(0, Tag::Removed, "日本語のテキストは長い");
        page.text(0, Tag::Added, "");
        assert_eq!(
            painted(&page),
            [
                "+ one two three four",
                "+ five six",
                "  one two three fou…",
                "- 日本語のテキストは",
                "- 長い",
            ]
        );
        for line in &page.lines {
            assert!(line.width_cols() <= 20, "{line:?}");
        }
    }

    #[test]
    fn what_is_far_from_a_change_is_left_out() {
        let piece = |text: &str, changed| Piece {
            text: text.to_owned(),
            changed,
        };
        let far = "x".repeat(5_000);
        let mut page = page(80);
        page.line(
            0,
            Tag::Added,
            &[piece(&far, false), piece("new", true), piece(&far, false)],
        );
        assert_eq!(page.lines.len(), 3);
        assert!(painted(&page).concat().contains("(4.9 kB left out)"));
    }

    #[test]
    fn a_line_of_ten_megabytes_stays_short() {
        let mut page = page(80);
        page.text(0, Tag::Added, &"é".repeat(5_000_000));
        assert!(painted(&page).concat().len() < 3 * LINE_BYTES);
        assert!(
            painted(&page).concat().contains("10.0 MB left out"),
            "{}",
            painted(&page).concat()
        );
    }

    #[test]
    fn folding_says_how_much_there_is() {
        let mut page = page(80);
        page.text(2, Tag::Added, "1\n2\n3\n4\n5\n6");
        page.fold(2, 3, 4);
        assert_eq!(
            painted(&page),
            ["  + 1", "  + 2", "  + 3", "  + 4", "  + 5", "  + 6"]
        );
        page.fold(2, 2, 4);
        assert_eq!(painted(&page)[4], "    … 2 more lines (--full)");
    }
}
