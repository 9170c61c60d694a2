//! A line for each message.

use tract::diff::{Change, ContextDiff, Kind};
use tract::model::preview;
use tract::render::escape;

use super::page::Page;
use super::{Painter, Shown, message};
use crate::cli::columns;
use crate::cli::number::{grouped, plural, signed};
use crate::cli::ui::Label;

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
            page.push(row.line(page, change));
        }
    }

    /// Messages that went hidden or came back, the middle of many left out.
    pub(super) fn list(&self, page: &mut Page, changes: &[Shown<'_>]) {
        if let [(only, _)] = changes {
            let row = Row::fitting(self.diff, &[only], 0, true);
            page.push(row.line(page, only));
            return;
        }
        let count = changes.len();
        let (span, label) = span(changes);
        let what = plural(count as u64, "message");
        let verb = verb(&changes[0].0.kind);
        let delta: i64 = changes.iter().map(|(change, _)| change.delta).sum();
        let span = page.paint(label, &span);
        page.push(format!("{span}  {what} {verb}, {} tokens", signed(delta)));
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
            page.push(row.line(page, change));
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
        let widest = |text: fn(&Change) -> String| {
            let widths = changes
                .iter()
                .map(|change| columns::width_cols(&text(change)));
            widths.max().unwrap_or(0)
        };
        Self {
            diff,
            indent,
            verbs,
            number_cols: widest(message::number),
            delta_cols: widest(|change| signed(change.delta)),
        }
    }

    fn line(&self, page: &Page, change: &Change) -> String {
        let message = self.diff.message(change);
        let (sign, label) = message::sign(&change.kind);
        let head = columns::left(&message::number(change), self.number_cols);
        let head = format!("{}{sign} {head}", " ".repeat(self.indent));
        let hash = self.diff.entry(change).id.commit.short();
        let verb = match self.verbs {
            true => format!("{:<8}  ", verb(&change.kind)),
            false => String::new(),
        };
        let role = format!("{:<9}", message.role);
        let delta = columns::right(&signed(change.delta), self.delta_cols);
        let used = columns::width_cols(&format!("{head}  {hash}  {verb}{role}  {delta}  "));
        let text = preview(message);
        let text = escape::line(&text);
        let text = match page.look.width_cols {
            Some(width) => columns::cut(&text, width.saturating_sub(used)),
            None => text.into_owned(),
        };
        let line = format!(
            "{}  {}  {verb}{}  {delta}  {text}",
            page.paint(label, &head),
            page.paint(Label::Hash, &hash),
            page.paint(Label::role(message.role), &role),
        );
        line.trim_end().to_owned()
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
