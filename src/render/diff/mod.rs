//! A diff drawn: two contexts compared in, lines out.
//!
//! Deliberately absent: what differs; [`crate::diff`] knows.

mod cache;
mod list;
mod message;
mod page;
mod stat;
mod value;

use std::collections::HashSet;

use crate::diff::{Change, ContextDiff, Kind, Side, Tag};
use crate::model::{EntryId, Part, Role, ToolUse, uses};
use crate::render::{Line, grouped, plural, signed, tokens};
use page::Page;

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
    /// The messages that a client says in the user's name.
    pub injected: HashSet<EntryId>,
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
    /// The beginning that a provider's cache can still use.
    pub prefix: Option<Kept>,
}

/// The beginning of two requests that is the same in both.
#[derive(Clone, Debug)]
pub struct Kept {
    /// How many messages.
    pub messages: usize,
    /// How long it is.
    pub size_bytes: usize,
    /// The provider whose requests they are.
    pub provider: &'static str,
}

/// A diff on its way out.
struct Painter<'a> {
    diff: &'a ContextDiff,
    frame: &'a Frame,
    show: &'a Show,
    /// The changes that are shown.
    changes: Vec<Shown<'a>>,
    /// The calls that each message of the two contexts answers.
    calls: [Vec<Vec<&'a Part>>; 2],
}

/// A change with the tools that its message calls or answers.
type Shown<'a> = (&'a Change, Vec<&'a str>);

/// The changes of a diff that `show` selects.
pub fn selected<'a>(diff: &'a ContextDiff, show: &Show) -> Vec<Shown<'a>> {
    let (before, after) = (diff.before.tools(), diff.after.tools());
    let changes = diff.changes.iter().map(|change| {
        let of = |side: &'a Side, tools: &[Vec<&'a str>], at: Option<usize>| {
            let slot = side.slot(at?)?;
            Some((&side.messages[slot], tools[slot].clone()))
        };
        let old = of(&diff.before, &before, change.before);
        let new = of(&diff.after, &after, change.after);
        let sides: Vec<_> = [old, new].into_iter().flatten().collect();
        let mut seen = HashSet::new();
        let names = sides.iter().flat_map(|(_, names)| names.iter().copied());
        let names: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
        let of_role = |role: Role| sides.iter().any(|(message, _)| message.role == role);
        let has_tool = |tool: &str| names.contains(&tool);
        let fits = show.role.is_none_or(of_role) && show.tool.as_deref().is_none_or(has_tool);
        fits.then_some((change, names))
    });
    changes.flatten().collect()
}

/// The lines of a diff, for so many columns; in a pipe nothing is cut.
pub fn lines(
    diff: &ContextDiff,
    frame: &Frame,
    show: &Show,
    width_cols: Option<usize>,
) -> Vec<Line> {
    let mut page = Page::new(width_cols, show.full);
    let painter = Painter {
        diff,
        frame,
        show,
        changes: selected(diff, show),
        calls: [&diff.before, &diff.after].map(Side::answered),
    };
    if show.form == Form::Lines {
        painter.oneline(&mut page);
        return page.lines;
    }
    page.push(0, painter.first_line());
    if diff.is_empty() {
        page.push(0, painter.nothing());
    } else {
        match show.form {
            Form::Stat => painter.stat(&mut page),
            _ => painter.whole(&mut page),
        }
        page.gap();
        page.push(0, painter.total());
    }
    painter.cache(&mut page);
    page.lines
}

/// What a diff says beside what differs in each message, for whoever lays it out otherwise.
pub(super) struct Words<'a> {
    /// What is compared; or that nothing differs.
    pub(super) first: Vec<Line>,
    /// Each change: what differs in its message is told below the line.
    pub(super) changes: Vec<(&'a Change, Line)>,
    /// What all of it comes to, and what a provider's cache can still use.
    pub(super) last: Vec<Line>,
}

/// The words of a diff, as the lines of it say them.
pub(super) fn words<'a>(diff: &'a ContextDiff, frame: &'a Frame) -> Words<'a> {
    let show = Show::default();
    let painter = Painter {
        diff,
        frame,
        show: &show,
        changes: selected(diff, &show),
        calls: [&diff.before, &diff.after].map(Side::answered),
    };
    let mut first = vec![painter.first_line().into()];
    let mut last = Page::new(None, true);
    if diff.is_empty() {
        first.push(painter.nothing().into());
    } else {
        last.push(0, painter.total());
    }
    painter.cache(&mut last);
    let listed: Vec<&Change> = diff.changes.iter().filter(|it| is_listed(it)).collect();
    let mut rows = painter.rows(&listed, 0, true, None).into_iter();
    let all = painter.changes.iter().map(|(change, names)| {
        let row = is_listed(change).then(|| rows.next()).flatten();
        row.unwrap_or_else(|| painter.heading(change, names))
    });
    Words {
        first,
        changes: diff.changes.iter().zip(all).collect(),
        last: last.lines,
    }
}

/// Whether a change is a line of a list: its message is as it was, and seen no more, or again.
const fn is_listed(change: &Change) -> bool {
    matches!(change.kind, Kind::Hidden | Kind::Returned)
}

impl Painter<'_> {
    fn first_line(&self) -> String {
        let (before, after) = &self.frame.names;
        let remark = self.frame.remark.as_deref().unwrap_or_default();
        format!("comparing {before} with {after}{remark}")
    }

    fn nothing(&self) -> String {
        let count = plural(self.diff.after.len() as u64, "message");
        let total = tokens(self.diff.after.total());
        format!("no differences: {count}, {total} tokens")
    }

    /// The calls that the message of a change answers, in a line.
    fn call(&self, change: &Change) -> Option<String> {
        let [before, after] = &self.calls;
        let calls = match (change.before, change.after) {
            (_, Some(at)) => &after[self.diff.after.slot(at)?],
            (Some(at), None) => &before[self.diff.before.slot(at)?],
            (None, None) => return None,
        };
        let calls: Vec<ToolUse> = calls.iter().copied().filter_map(ToolUse::of).collect();
        uses::answered(&calls)
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
                let count = run(rest);
                // Lists of one line each stand together.
                if !listed {
                    page.gap();
                }
                self.list(page, &rest[..count]);
                (listed, rest) = (true, &rest[count..]);
                continue;
            }
            page.gap();
            page.push(0, self.heading(change, names));
            message::settings(page, 2, &change.settings);
            let message = self.diff.message(change);
            match &change.kind {
                Kind::Modified(diff) => message::modified(page, diff),
                Kind::Removed => message::whole(page, message, Tag::Removed, limit),
                _ => message::whole(page, message, Tag::Added, limit),
            }
            (listed, rest) = (false, &rest[1..]);
        }
    }

    /// How many lines each new or removed message gets: the more there are, the fewer.
    fn lines_each(&self) -> usize {
        let alone = |(change, _): &&Shown<'_>| matches!(change.kind, Kind::Added | Kind::Removed);
        match self.changes.iter().filter(alone).count() {
            0..=3 => 40,
            4..=12 => 12,
            _ => 4,
        }
    }

    fn unfiltered(&self) -> bool {
        self.show.role.is_none() && self.show.tool.is_none()
    }

    /// `2 messages modified, 1 added, 14 hidden, tokens: -55 (85,815 → 85,760)`.
    fn total(&self) -> String {
        let mut words = Vec::new();
        for verb in ["modified", "added", "removed", "hidden", "returned"] {
            let is_of = |(change, _): &&Shown<'_>| list::verb(&change.kind) == verb;
            let of = self.changes.iter().filter(is_of);
            match of.map(|(change, _)| change.count).sum::<usize>() {
                0 => {}
                count if words.is_empty() => {
                    words.push(format!("{} {verb}", plural(count as u64, "message")))
                }
                count => words.push(format!("{} {verb}", grouped(count as u64))),
            }
        }
        if words.is_empty() {
            words.push(if self.unfiltered() {
                "no message differs".to_owned()
            } else {
                "no such message differs".to_owned()
            });
        }
        let (delta, of) = if self.unfiltered() {
            let (before, after) = (self.diff.before.total(), self.diff.after.total());
            let of = format!("{} → {}", tokens(before), tokens(after));
            (self.diff.delta(), of)
        } else {
            let delta = self.changes.iter().map(|(change, _)| change.delta).sum();
            let all = plural(self.diff.changes.len() as u64, "change");
            (delta, format!("of {all}"))
        };
        format!("{}, tokens: {} ({of})", words.join(", "), signed(delta))
    }
}

/// How many changes at the beginning are of one kind.
fn run(changes: &[Shown<'_>]) -> usize {
    let kind = |(change, _): &Shown<'_>| std::mem::discriminant(&change.kind);
    let same = |other: &&Shown<'_>| kind(other) == kind(&changes[0]);
    changes.iter().take_while(same).count()
}
