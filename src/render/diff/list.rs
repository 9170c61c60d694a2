//! A line for each message.

use crate::diff::{Change, Kind};
use crate::model::preview;
use crate::render::diff::page::Page;
use crate::render::diff::{Painter, Shown, message};
use crate::render::number::{grouped, plural, signed};
use crate::render::{Label, Line, columns};

/// How many messages of a list are still shown one by one.
const LISTED: usize = 6;
/// Of a longer list, how many at its beginning, and at its end.
const ENDS: (usize, usize) = (2, 1);

impl Painter<'_> {
    /// A line for each message that differs, and nothing is left out.
    pub(super) fn oneline(&self, page: &mut Page) {
        let changes: Vec<&Change> = self.changes.iter().map(|(change, _)| *change).collect();
        page.lines
            .extend(self.rows(&changes, 0, true, page.width_cols));
    }

    /// Messages that went hidden or came back, the middle of many left out.
    pub(super) fn list(&self, page: &mut Page, changes: &[Shown<'_>]) {
        if let [(only, _)] = changes {
            page.lines
                .extend(self.rows(&[only], 0, true, page.width_cols));
            return;
        }
        let count = changes.len();
        let (span, label) = span(changes);
        let what = plural(count as u64, "message");
        let verb = verb(&changes[0].0.kind);
        let delta: i64 = changes.iter().map(|(change, _)| change.delta).sum();
        let what = format!("  {what} {verb}, {} tokens", signed(delta));
        page.push(0, label.of(span) + what);
        let all = self.show.full || count <= LISTED;
        let (begin, end) = if all { (count, 0) } else { ENDS };
        let ends = changes[..begin].iter().chain(&changes[count - end..]);
        let ends: Vec<&Change> = ends.map(|(change, _)| *change).collect();
        let rows = self.rows(&ends, 4, false, page.width_cols);
        for (at, row) in rows.into_iter().enumerate() {
            if at == begin {
                let more = grouped((count - ends.len()) as u64);
                page.dim(6, &format!("… {more} more (--full)"));
            }
            page.lines.push(row);
        }
    }

    /// Sign, number, hash, what happened, role, tokens, preview. In a list of one kind its head
    /// says what happened, and `verbs` is false.
    fn rows(
        &self,
        changes: &[&Change],
        indent: usize,
        verbs: bool,
        width_cols: Option<usize>,
    ) -> Vec<Line> {
        let number_cols = columns::widest(changes.iter().map(|change| message::number(change)));
        let delta_cols = columns::widest(changes.iter().map(|change| signed(change.delta)));
        let row = |change: &&Change| {
            let message = self.diff.message(change);
            let (sign, label) = message::sign(&change.kind);
            let number = columns::left(&message::number(change), number_cols);
            let mut line = label.of(format!("{}{sign} {number}", " ".repeat(indent))) + "  ";
            line += Label::Hash.of(self.diff.entry(change).id.commit.short()) + "  ";
            if verbs {
                line += format!("{:<8}  ", verb(&change.kind));
            }
            line += Label::role(message.role).of(format!("{:<9}", message.role));
            line += format!("  {}  ", columns::right(&signed(change.delta), delta_cols));
            line.fit(preview(message), width_cols);
            line
        };
        changes.iter().map(row).collect()
    }
}

/// `- :2 … :15`, and its colour.
pub fn span(changes: &[Shown<'_>]) -> (String, Label) {
    let (first, last) = (changes[0].0, changes[changes.len() - 1].0);
    let (sign, label) = message::sign(&first.kind);
    let (first, last) = (message::number(first), message::number(last));
    (format!("{sign} {first} … {last}"), label)
}

/// What happened, in a word.
pub fn verb(kind: &Kind) -> &'static str {
    match kind {
        Kind::Hidden => "hidden",
        Kind::Removed => "removed",
        Kind::Returned => "returned",
        Kind::Added => "added",
        Kind::Modified(_) => "modified",
    }
}
