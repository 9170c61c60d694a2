//! A line for each message.

use tract::diff::Kind;
use tract::render::escape;
use tract::store::preview;

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
        for (change, _) in &self.changes {
            page.push(self.row(page, 0, change, verb(&change.kind)));
        }
    }

    /// Messages that went hidden or came back, the middle of many left out.
    pub(super) fn list(&self, page: &mut Page, changes: &[Shown<'_>]) {
        let verb = verb(&changes[0].0.kind);
        if let [(only, _)] = changes {
            page.push(self.row(page, 0, only, verb));
            return;
        }
        let count = changes.len();
        let (span, label) = span(changes);
        let what = plural(count as u64, "message");
        let delta: i64 = changes.iter().map(|(change, _)| change.delta).sum();
        let span = page.paint(label, &span);
        page.push(format!("{span}  {what} {verb}, {} tokens", signed(delta)));
        let all = self.show.full || count <= LISTED;
        let (begin, end) = if all { (count, 0) } else { ENDS };
        for (change, _) in &changes[..begin] {
            page.push(self.row(page, 4, change, ""));
        }
        if !all {
            let more = grouped((count - begin - end) as u64);
            page.dim(6, &format!("… {more} more (--full)"));
        }
        for (change, _) in &changes[count - end..] {
            page.push(self.row(page, 4, change, ""));
        }
    }

    /// A message on one line: sign, number, hash, what happened unless that is said already, role,
    /// tokens, preview.
    fn row(&self, page: &Page, indent: usize, change: &tract::diff::Change, verb: &str) -> String {
        let message = self.diff.message(change);
        let (sign, label) = message::sign(&change.kind);
        let number = columns::left(&message::number(change), self.columns.0);
        let hash = self.diff.entry(change).id.commit.short();
        let verb = match verb {
            "" => String::new(),
            verb => format!("{verb:<8}  "),
        };
        let role = format!("{:<9}", message.role);
        let delta = columns::right(&signed(change.delta), self.columns.1);
        let plain = format!("{sign} {number}  {hash}  {verb}{role}  {delta}  ");
        let used = indent + columns::width_cols(&plain);
        let text = preview(message);
        let text = escape::line(&text);
        let text = match page.look.width_cols {
            Some(width) => columns::cut(&text, width.saturating_sub(used)),
            None => text.into_owned(),
        };
        let line = format!(
            "{}{}  {}  {verb}{}  {delta}  {text}",
            " ".repeat(indent),
            page.paint(label, &format!("{sign} {number}")),
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
