//! A line for each message.

use crate::diff::{Change, ContextDiff, Kind};
use crate::model::preview;
use crate::render::diff::page::Page;
use crate::render::diff::{Painter, Shown, message};
use crate::render::number::{grouped, plural, signed};
use crate::render::{Label, columns};

/// How many messages of a list are still shown one by one.
const LISTED: usize = 6;
/// Of a longer list, how many at its beginning, and at its end.
const ENDS: (usize, usize) = (2, 1);

impl Painter<'_> {
    /// A line for each message that differs, and nothing is left out.
    pub(super) fn oneline(&self, page: &mut Page) {
        let changes: Vec<&Change> = self.changes.iter().map(|(change, _)| *change).collect();
        let row = Row::fitting(self.diff, &changes, 0, true);
        for change in changes {
            row.push(page, change);
        }
    }

    /// Messages that went hidden or came back, the middle of many left out.
    pub(super) fn list(&self, page: &mut Page, changes: &[Shown<'_>]) {
        if let [(only, _)] = changes {
            let row = Row::fitting(self.diff, &[only], 0, true);
            row.push(page, only);
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
        let row = Row::fitting(self.diff, &ends, 4, false);
        for (at, change) in ends.iter().enumerate() {
            if at == begin {
                let more = grouped((count - ends.len()) as u64);
                page.dim(6, &format!("… {more} more (--full)"));
            }
            row.push(page, change);
        }
    }
}

/// How messages are written on one line each: sign, number, hash, what happened, role, tokens,
/// preview.
struct Row<'a> {
    diff: &'a ContextDiff,
    indent: usize,
    /// Whether what happened is said; in a list of one kind its head says it.
    verbs: bool,
    number_cols: usize,
    delta_cols: usize,
}

impl<'a> Row<'a> {
    /// With columns that are wide enough for these changes.
    fn fitting(diff: &'a ContextDiff, changes: &[&Change], indent: usize, verbs: bool) -> Self {
        Self {
            diff,
            indent,
            verbs,
            number_cols: columns::widest(changes.iter().map(|change| message::number(change))),
            delta_cols: columns::widest(changes.iter().map(|change| signed(change.delta))),
        }
    }

    fn push(&self, page: &mut Page, change: &Change) {
        let message = self.diff.message(change);
        let (sign, label) = message::sign(&change.kind);
        let number = columns::left(&message::number(change), self.number_cols);
        let mut line = label.of(format!("{}{sign} {number}", " ".repeat(self.indent)));
        line += "  ";
        line += Label::Hash.of(self.diff.entry(change).id.commit.short());
        line += "  ";
        if self.verbs {
            line += format!("{:<8}  ", verb(&change.kind));
        }
        line += Label::role(message.role).of(format!("{:<9}", message.role));
        let delta = columns::right(&signed(change.delta), self.delta_cols);
        line += format!("  {delta}  ");
        line.fit(preview(message), page.width_cols);
        page.push(0, line);
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
