//! The painter of diffs: a typed diff in, lines out.
//!
//! All untrusted text is escaped on its way into a line. Deliberately absent: what differs; that is
//! the library's.

mod cache;
mod message;
mod page;
mod stat;
#[cfg(test)]
mod tests;
mod value;

use std::collections::HashSet;

use tract::compile::Prefix;
use tract::diff::{Change, ContextDiff, Kind, Tag, Tally, tools};
use tract::model::{Role, TokenCount};
use tract::render::escape;
use tract::store::preview;

use super::columns;
use super::number::{grouped, plural, signed, tokens};
use super::ui::{Label, Look};
use message::Heading;
use page::Page;

/// How many hidden messages in a row are still listed one by one.
const HIDDEN_LISTED: usize = 6;
/// Of a longer row, how many at its beginning, and at its end.
const HIDDEN_ENDS: (usize, usize) = (2, 1);

/// What is shown, and how.
#[derive(Clone, Debug, Default)]
pub struct Show {
    /// In which form.
    pub form: Form,
    /// Only messages of this role, before or after.
    pub role: Option<Role>,
    /// Only messages that call this tool or answer such a call.
    pub tool: Option<String>,
    /// Whether nothing is folded.
    pub full: bool,
}

/// The form of a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Message by message, with what differs in each.
    #[default]
    Whole,
    /// A bar for each message.
    Stat,
    /// A line for each message.
    Lines,
}

/// What the first and the last lines say beside the diff itself.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The two contexts' names as they were typed.
    pub names: (String, String),
    /// The first line's end: what else is to be known of what is compared.
    pub remark: Option<String>,
    /// The beginning that a provider's cache can still use, and the provider's name.
    pub prefix: Option<(Prefix, &'static str)>,
}

/// A diff on its way out.
struct Painter<'a> {
    diff: &'a ContextDiff,
    frame: &'a Frame,
    show: &'a Show,
    /// The changes that are shown, each with its tools.
    changes: Vec<(&'a Change, Vec<&'a str>)>,
}

/// The changes of a diff that `show` selects.
pub fn selected<'a>(diff: &'a ContextDiff, show: &Show) -> Vec<(&'a Change, Vec<&'a str>)> {
    let (before, after) = (tools(&diff.before.messages), tools(&diff.after.messages));
    let changes = diff.changes.iter().map(|change| {
        let old = change
            .before
            .map(|at| (&diff.before.messages[at], &before[at]));
        let new = change
            .after
            .map(|at| (&diff.after.messages[at], &after[at]));
        let sides: Vec<_> = [old, new].into_iter().flatten().collect();
        let mut seen = HashSet::new();
        let names = sides.iter().flat_map(|(_, names)| names.iter().copied());
        let names: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
        let of_role = |role: Role| sides.iter().any(|(message, _)| message.role == role);
        let fits = show.role.is_none_or(of_role)
            && show
                .tool
                .as_deref()
                .is_none_or(|tool| names.contains(&tool));
        (change, names, fits)
    });
    changes
        .filter(|(.., fits)| *fits)
        .map(|(change, names, _)| (change, names))
        .collect()
}

/// The lines of a diff.
pub fn paint(diff: &ContextDiff, frame: &Frame, show: &Show, look: Look) -> Vec<String> {
    let mut page = Page::new(look, show.full);
    let painter = Painter {
        diff,
        frame,
        show,
        changes: selected(diff, show),
    };
    page.push(painter.first_line());
    if diff.is_empty() {
        page.push(painter.nothing());
    } else {
        match show.form {
            Form::Whole => painter.whole(&mut page),
            Form::Stat => painter.stat(&mut page),
            Form::Lines => painter.lines(&mut page),
        }
    }
    if show.form != Form::Lines {
        if !diff.is_empty() {
            page.gap();
            page.push(painter.total());
        }
        painter.cache(&mut page);
    }
    page.lines
}

impl<'a> Painter<'a> {
    fn first_line(&self) -> String {
        let (before, after) = &self.frame.names;
        let line = format!("comparing {before} with {after}");
        let remark = self.frame.remark.as_deref().unwrap_or_default();
        escape::line(&format!("{line}{remark}")).into_owned()
    }

    fn nothing(&self) -> String {
        let count = plural(self.diff.after.messages.len() as u64, "message");
        let total = tokens(self.diff.after.total());
        format!("no differences: {count}, {total} tokens")
    }

    /// Message by message.
    fn whole(&self, page: &mut Page) {
        if !self.diff.settings.is_empty() && self.unfiltered() {
            page.gap();
            message::settings(page, 0, &self.diff.settings);
        }
        let limit = self.lines_each();
        let mut rest = self.changes.as_slice();
        let mut listed = false;
        while let Some((change, names)) = rest.first() {
            if matches!(change.kind, Kind::Hidden | Kind::Returned) {
                let same = |other: &&(&Change, Vec<&str>)| same_kind(change, other.0);
                let count = rest.iter().take_while(same).count();
                // Lists of one line each stand together.
                if !listed {
                    page.gap();
                }
                self.hidden(page, &rest[..count]);
                (listed, rest) = (true, &rest[count..]);
                continue;
            }
            page.gap();
            let heading = self.heading(change, names);
            page.push(heading.line(page));
            message::settings(page, 2, &change.settings);
            match &change.kind {
                Kind::Modified(diff) => message::modified(page, diff),
                Kind::Removed => message::whole(page, heading.message, Tag::Removed, limit),
                _ => message::whole(page, heading.message, Tag::Added, limit),
            }
            (listed, rest) = (false, &rest[1..]);
        }
    }

    fn heading(&self, change: &'a Change, names: &[&'a str]) -> Heading<'a> {
        let earlier = change.before.zip(change.after);
        Heading {
            change,
            message: self.diff.message(change),
            earlier: earlier.map(|(at, _)| &self.diff.before.messages[at]),
            hash: self.diff.entry(change).id.commit.short(),
            tools: names.to_vec(),
        }
    }

    /// How many lines each new or removed message gets: the more there are, the fewer.
    fn lines_each(&self) -> usize {
        let alone = |(change, _): &&(&Change, Vec<&str>)| {
            matches!(change.kind, Kind::Added | Kind::Removed)
        };
        match self.changes.iter().filter(alone).count() {
            0..=3 => 40,
            4..=12 => 12,
            _ => 4,
        }
    }

    /// Messages that went hidden or came back, one line each, the middle of many left out.
    fn hidden(&self, page: &mut Page, changes: &[(&'a Change, Vec<&'a str>)]) {
        let count = changes.len();
        if count <= HIDDEN_LISTED || self.show.full {
            for (change, _) in changes {
                page.push(self.row(page, change, 0));
            }
            return;
        }
        let (first, last) = (changes[0].0, changes[count - 1].0);
        let (sign, label) = message::sign(&first.kind);
        let span = format!(
            "{sign} {} … {}",
            message::number(first),
            message::number(last)
        );
        let what = plural(count as u64, "message");
        let delta: i64 = changes.iter().map(|(change, _)| change.delta).sum();
        let verb = match first.kind {
            Kind::Returned => "returned",
            _ => "hidden",
        };
        let span = page.paint(label, &span);
        page.push(format!("{span}  {what} {verb}, {} tokens", signed(delta)));
        let (begin, end) = HIDDEN_ENDS;
        for (change, _) in &changes[..begin] {
            page.push(self.row(page, change, 4));
        }
        page.dim(
            6,
            &format!("… {} more (--full)", grouped((count - begin - end) as u64)),
        );
        for (change, _) in &changes[count - end..] {
            page.push(self.row(page, change, 4));
        }
    }

    /// A message on one line: sign, number, hash, role, what happened, tokens, preview.
    fn row(&self, page: &Page, change: &Change, indent: usize) -> String {
        let message = self.diff.message(change);
        let (sign, label) = message::sign(&change.kind);
        let number = columns::left(&message::number(change), self.number_cols());
        let hash = self.diff.entry(change).id.commit.short();
        let word = match &change.kind {
            Kind::Hidden => "hidden",
            Kind::Removed => "removed",
            Kind::Returned => "returned",
            Kind::Added => "added",
            Kind::Modified(_) => "modified",
        };
        let delta = columns::right(&signed(change.delta), 8);
        let head = " ".repeat(indent);
        let plain = format!(
            "{head}{sign} {number}  {hash}  {word:<8}  {:<9}  {delta}  ",
            message.role
        );
        let text = preview(message);
        let text = escape::line(&text);
        let text = match page.look.width_cols {
            Some(width) => columns::cut(&text, width.saturating_sub(columns::width_cols(&plain))),
            None => text.into_owned(),
        };
        let line = format!(
            "{head}{}  {}  {word:<8}  {}  {delta}  {text}",
            page.paint(label, &format!("{sign} {number}")),
            page.paint(Label::Hash, &hash),
            page.paint(Label::role(message.role), &format!("{:<9}", message.role)),
        );
        line.trim_end().to_owned()
    }

    /// The columns of the widest number that is shown.
    fn number_cols(&self) -> usize {
        let numbers = self
            .changes
            .iter()
            .map(|(change, _)| message::number(change));
        numbers
            .map(|number| columns::width_cols(&number))
            .max()
            .unwrap_or(0)
    }

    fn unfiltered(&self) -> bool {
        self.show.role.is_none() && self.show.tool.is_none()
    }

    /// `2 messages modified, 1 added, 14 hidden, tokens: -55 (85,815 → 85,760)`.
    fn total(&self) -> String {
        let tally = Tally::of(self.changes.iter().map(|(change, _)| *change));
        let mut words = Vec::new();
        for (count, verb) in [
            (tally.modified, "modified"),
            (tally.added, "added"),
            (tally.removed, "removed"),
            (tally.hidden, "hidden"),
            (tally.returned, "returned"),
        ] {
            match count {
                0 => {}
                _ if words.is_empty() => {
                    words.push(format!("{} {verb}", plural(count as u64, "message")))
                }
                _ => words.push(format!("{} {verb}", grouped(count as u64))),
            }
        }
        if words.is_empty() {
            words.push(match self.unfiltered() {
                true => "no message differs".to_owned(),
                false => "no such message differs".to_owned(),
            });
        }
        if !self.unfiltered() {
            let delta: i64 = self.changes.iter().map(|(change, _)| change.delta).sum();
            let all = plural(self.diff.changes.len() as u64, "change");
            return format!("{}, tokens: {} (of {all})", words.join(", "), signed(delta));
        }
        let (before, after) = (self.diff.before.total(), self.diff.after.total());
        let estimated = before.estimated || after.estimated;
        let delta = self.diff.delta();
        let change = TokenCount {
            tokens: delta.unsigned_abs(),
            estimated,
        };
        let change = match delta {
            0 => "0".to_owned(),
            1.. => format!("+{}", tokens(change)),
            _ => format!("-{}", tokens(change)),
        };
        format!(
            "{}, tokens: {change} ({} → {})",
            words.join(", "),
            tokens(before),
            tokens(after)
        )
    }
}

fn same_kind(a: &Change, b: &Change) -> bool {
    std::mem::discriminant(&a.kind) == std::mem::discriminant(&b.kind)
}
