//! One message that differs: a header line, then what differs in it.

use crate::diff::{
    Change, Edit, Kind, MessageDiff, PartDiff, Replaced, SettingChange, Tag, ValueDiff,
};
use crate::model::{Message, Part};
use crate::render::diff::page::Page;
use crate::render::diff::{Painter, value};
use crate::render::{Label, Line, part, setting, signed};

/// How far the body stands below its header.
const INDENT: usize = 2;
/// How many lines are shown of what differs in one message.
const CHANGED_LINES: usize = 80;

impl Painter<'_> {
    /// Who says a message.
    pub(super) fn speaker(&self, change: &Change) -> Line {
        let (message, entry) = (self.diff.message(change), self.diff.entry(change));
        let (label, who) = Label::speaker(message.role, self.show.injected.contains(&entry.id));
        label.of(who)
    }

    /// What a header says of a message and the tools that it has to do with:
    /// `~ :3  9f8e7d6  user  -55 tokens`.
    pub(super) fn heading(&self, change: &Change, tools: &[&str]) -> Line {
        let message = self.diff.message(change);
        let (sign, label) = sign(&change.kind);
        let named = |role| Label::role(role).of(role.as_str());
        let role = match &change.kind {
            Kind::Modified(MessageDiff {
                role: Some(Replaced { before, after }),
                ..
            }) => Line::from("role: ") + named(*before) + " → " + named(*after),
            _ => self.speaker(change),
        };
        let hash = self.diff.entry(change).id.commit.short();
        let number = label.of(format!("{sign} {}", number(change)));
        let mut words = vec![number, Label::Hash.of(hash), role];
        if !tools.is_empty() {
            words.push(tools.join(", ").into());
        }
        if let (Some(before), Some(_)) = (change.before, change.after) {
            let earlier = part::types_of(self.diff.before.message(before));
            let later = part::types_of(message);
            if earlier != later {
                words.push(format!("{earlier} → {later}").into());
            }
        }
        words.push(Label::Strong.of(format!("{} tokens", signed(change.delta))));
        Line::join(words, "  ")
    }
}

/// The sign of what happened to a message, and its colour.
pub fn sign(kind: &Kind) -> (char, Label) {
    match kind {
        Kind::Modified(_) => ('~', Label::Hide),
        Kind::Added | Kind::Returned => ('+', Label::Added),
        Kind::Removed | Kind::Hidden => ('-', Label::Removed),
    }
}

/// `:3`, the message's number in the later context, or else in the earlier; `:17 → :3` where the
/// message moved up or down.
pub fn number(change: &Change) -> String {
    match (change.before, change.after) {
        (Some(before), Some(after)) if before != after => {
            format!(":{} → :{}", before + 1, after + 1)
        }
        (Some(at), _) | (None, Some(at)) => format!(":{}", at + 1),
        (None, None) => String::new(),
    }
}

/// The request settings that changed: one a line, long ones (tools, say) by what differs in them.
pub fn settings(page: &mut Page, indent: usize, changes: &[SettingChange]) {
    for SettingChange { key, value } in changes {
        let sides = [value.before.as_deref(), value.after.as_deref()];
        if let [Some(before), Some(after)] = sides
            && before.len().max(after.len()) > setting::WHOLE_BYTES
            && let Some(diff) = ValueDiff::new(before, after, 1)
        {
            page.push(indent, format!("{key}:"));
            value::value(page, indent, key, &diff);
            continue;
        }
        let [before, after] = sides.map(|value| setting::value(value.unwrap_or("(unset)")));
        let sides = Label::Removed.of(before) + " → " + Label::Added.of(after);
        page.push(indent, Line::from(format!("{key}: ")) + sides);
    }
}

/// What differs in a message.
pub fn modified(page: &mut Page, diff: &MessageDiff) {
    let start = page.lines.len();
    fact(page, "name", &diff.name, optional);
    fact(page, "attached", &diff.attached, optional);
    fact(page, "recipient", &diff.recipient, optional);
    parts(page, &diff.parts);
    page.fold(start, CHANGED_LINES, INDENT);
}

/// A message that is on one side alone, at most `limit` lines of it.
pub fn whole(page: &mut Page, message: &Message, tag: Tag, limit: usize) {
    let start = page.lines.len();
    for each in &message.parts {
        on_one_side(page, each, tag);
    }
    page.fold(start, limit, INDENT);
}

fn parts(page: &mut Page, edits: &[Edit<Part, PartDiff>]) {
    for edit in edits {
        match edit {
            Edit::Removed { item, .. } => on_one_side(page, item, Tag::Removed),
            Edit::Added { item, .. } => on_one_side(page, item, Tag::Added),
            Edit::Changed { change, .. } => changed_part(page, change),
        }
    }
}

fn changed_part(page: &mut Page, diff: &PartDiff) {
    match diff {
        PartDiff::Text(diff) => value::value(page, INDENT, "text", diff),
        PartDiff::Opaque(diff) => value::value(page, INDENT, "block", diff),
        PartDiff::Thinking {
            text,
            signature,
            provider,
        } => {
            page.dim(INDENT, "thinking");
            if let Some(text) = text {
                value::hunks(page, INDENT, text);
            }
            if signature.is_some() {
                page.push(INDENT, "another signature");
            }
            fact(page, "provider", provider, optional);
        }
        PartDiff::Call {
            id,
            kind,
            arguments,
        } => {
            fact(page, "id", id, String::clone);
            fact(page, "kind of call", kind, optional);
            if let Some(arguments) = arguments {
                value::value(page, INDENT, "arguments", arguments);
            }
        }
        PartDiff::Result {
            call,
            is_error,
            content,
        } => {
            let word = |failed: &bool| if *failed { "failed" } else { "succeeded" }.to_owned();
            fact(page, "id", call, String::clone);
            fact(page, "tool", is_error, word);
            for edit in content {
                match edit {
                    Edit::Changed {
                        change: PartDiff::Text(diff),
                        ..
                    } => value::value(page, INDENT, "result", diff),
                    edit => parts(page, std::slice::from_ref(edit)),
                }
            }
        }
        PartDiff::Replaced(Replaced { before, after }) => {
            on_one_side(page, before, Tag::Removed);
            on_one_side(page, after, Tag::Added);
        }
    }
}

/// A fact that was another before.
fn fact<T>(page: &mut Page, name: &str, sides: &Option<Replaced<T>>, text: fn(&T) -> String) {
    if let Some(Replaced { before, after }) = sides {
        let (before, after) = (text(before), text(after));
        page.push(INDENT, format!("{name}: {before} → {after}"));
    }
}

fn optional(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| "(none)".into())
}

/// A part that is on one side alone.
fn on_one_side(page: &mut Page, part: &Part, tag: Tag) {
    let room = page.width_cols.filter(|_| !page.full);
    for text in part::brief(part, room.map(|width| width.saturating_sub(INDENT + 2))) {
        page.text(INDENT, tag, &text);
    }
}
