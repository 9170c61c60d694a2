//! A line for each message.

use crate::diff::{Change, Kind};
use crate::model::preview;
use crate::render::diff::page::Page;
use crate::render::diff::{Painter, Shown, message};
use crate::render::{Label, Line, grouped, plural, row, signed, table};

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
            return page
                .lines
                .extend(self.rows(&[only], 0, true, page.width_cols));
        }
        let count: usize = changes.iter().map(|(change, _)| change.count).sum();
        let what = plural(count as u64, "message");
        let verb = verb(&changes[0].0.kind);
        let delta: i64 = changes.iter().map(|(change, _)| change.delta).sum();
        let what = format!("  {what} {verb}, {} tokens", signed(delta));
        page.push(0, span(changes) + what);
        let all = changes.len() == count && (self.show.full || count <= LISTED);
        let (begin, end) = if all { (count, 0) } else { ENDS };
        // Of what was left out, the neighbours on both sides were read.
        let ends = changes[..begin]
            .iter()
            .chain(&changes[changes.len() - end..]);
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
    pub(super) fn rows(
        &self,
        changes: &[&Change],
        indent: usize,
        verbs: bool,
        width_cols: Option<usize>,
    ) -> Vec<Line> {
        let cells = |change: &&Change| {
            let (sign, label) = message::sign(&change.kind);
            let verb = if verbs { verb(&change.kind) } else { "" };
            vec![
                label.of(format!(
                    "{}{sign} {}",
                    " ".repeat(indent),
                    message::number(change)
                )),
                Label::Hash.of(self.diff.entry(change).id.commit.short()),
                Line::from(verb).left(if verbs { 8 } else { 0 }),
                self.speaker(change).left(9),
                signed(change.delta).into(),
            ]
        };
        let heads = table::lines(changes.iter().map(cells).collect(), &[4]);
        let row = |(head, change): (Line, &&Change)| {
            let (call, said) = (self.call(change), preview(self.diff.message(change)));
            row::after(head + "  ", call.as_deref(), &said, width_cols)
        };
        heads.zip(changes).map(row).collect()
    }
}

/// `- :2 … :15`.
pub fn span(changes: &[Shown<'_>]) -> Line {
    let (first, last) = (changes[0].0, changes[changes.len() - 1].0);
    let (sign, label) = message::sign(&first.kind);
    let (first, last) = (message::number(first), message::number(last));
    label.of(format!("{sign} {first} … {last}"))
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
