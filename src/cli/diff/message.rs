//! One message that differs: a header line, then what differs in it.

use tract::diff::{
    Change, Edit, Kind, MessageDiff, PartDiff, Replaced, SettingChange, Tag, ValueDiff,
};
use tract::hash::fingerprint;
use tract::model::{Media, MediaSource, Message, Part, call};
use tract::render::escape;

use super::page::Page;
use super::value;
use crate::cli::columns;
use crate::cli::number::{bytes, signed};
use crate::cli::ui::Label;

/// How far the body stands below its header.
const INDENT: usize = 2;
/// How many lines are shown of what differs in one message.
const CHANGED_LINES: usize = 80;
/// The longest value of a setting that is shown whole, in bytes.
const SETTING_BYTES: usize = 60;

/// What a header says of a message.
pub struct Heading<'a> {
    /// The change.
    pub change: &'a Change,
    /// The message, in its later form.
    pub message: &'a Message,
    /// Its earlier form, if it has two.
    pub earlier: Option<&'a Message>,
    /// Its hash, short.
    pub hash: String,
    /// The tools that it has to do with.
    pub tools: Vec<&'a str>,
}

impl Heading<'_> {
    /// `~ :3  9f8e7d6  user  -55 tokens`.
    pub fn line(&self, page: &Page) -> String {
        let change = self.change;
        let (sign, label) = sign(&change.kind);
        let role = self.message.role;
        let mut words = vec![
            page.paint(label, &format!("{sign} {}", number(change))),
            page.paint(Label::Hash, &self.hash),
        ];
        let named = |role, text: &str| page.paint(Label::role(role), text);
        let diff = match &change.kind {
            Kind::Modified(diff) => Some(diff),
            _ => None,
        };
        words.push(match diff.and_then(|diff| diff.role.as_ref()) {
            None => named(role, role.as_str()),
            Some(Replaced { before, after }) => format!(
                "role: {} → {}",
                named(*before, before.as_str()),
                named(*after, after.as_str())
            ),
        });
        if !self.tools.is_empty() {
            words.push(escape::line(&self.tools.join(", ")).into_owned());
        }
        if let Some(earlier) = self.earlier
            && types(earlier) != types(self.message)
        {
            words.push(format!("{} → {}", types(earlier), types(self.message)));
        }
        let delta = format!("{} tokens", signed(change.delta));
        words.push(page.paint(Label::Strong, &delta));
        words.join("  ")
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
        let key = escape::line(key).into_owned();
        let sides = [value.before.as_deref(), value.after.as_deref()];
        let head = format!("{}{key}:", " ".repeat(indent));
        if let [Some(before), Some(after)] = sides
            && before.len().max(after.len()) > SETTING_BYTES
            && let Some(diff) = ValueDiff::new(before, after, 1)
        {
            page.push(head);
            value::value(page, indent, &key, &diff);
            continue;
        }
        let [before, after] = sides.map(setting);
        let before = page.paint(Label::Removed, &before);
        let after = page.paint(Label::Added, &after);
        page.push(format!("{head} {before} → {after}"));
    }
}

/// A setting's value on one line; a long one by its size.
fn setting(value: Option<&str>) -> String {
    let value = value.unwrap_or("(unset)");
    let plain = serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned());
    match plain.len() {
        0..=SETTING_BYTES => escape::line(&plain).into_owned(),
        long => format!("… ({})", bytes(long as u64)),
    }
}

/// What differs in a message.
pub fn modified(page: &mut Page, diff: &MessageDiff) {
    let start = page.lines.len();
    if let Some(Replaced { before, after }) = &diff.name {
        let [before, after] = [before, after].map(|name| {
            let name = name.as_deref().unwrap_or("(none)");
            escape::line(name).into_owned()
        });
        page.push(format!("{}name: {before} → {after}", " ".repeat(INDENT)));
    }
    parts(page, &diff.parts);
    page.fold(start, CHANGED_LINES, INDENT);
}

/// A message that is on one side alone, at most `limit` lines of it.
pub fn whole(page: &mut Page, message: &Message, tag: Tag, limit: usize) {
    let start = page.lines.len();
    for each in &message.parts {
        part(page, each, tag);
    }
    page.fold(start, limit, INDENT);
}

fn parts(page: &mut Page, edits: &[Edit<Part, PartDiff>]) {
    for edit in edits {
        match edit {
            Edit::Removed { item, .. } => part(page, item, Tag::Removed),
            Edit::Added { item, .. } => part(page, item, Tag::Added),
            Edit::Changed { change, .. } => changed_part(page, change),
        }
    }
}

fn changed_part(page: &mut Page, diff: &PartDiff) {
    let fact = |page: &mut Page, name: &str, before: &str, after: &str| {
        let (before, after) = (escape::line(before), escape::line(after));
        page.push(format!("{}{name}: {before} → {after}", " ".repeat(INDENT)));
    };
    let optional = |text: &Option<String>| text.clone().unwrap_or_else(|| "(none)".into());
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
                page.push(format!("{}another signature", " ".repeat(INDENT)));
            }
            if let Some(Replaced { before, after }) = provider {
                fact(page, "provider", &optional(before), &optional(after));
            }
        }
        PartDiff::Call {
            id,
            kind,
            arguments,
        } => {
            if let Some(Replaced { before, after }) = id {
                fact(page, "id", before, after);
            }
            if let Some(Replaced { before, after }) = kind {
                fact(page, "kind of call", &optional(before), &optional(after));
            }
            if let Some(arguments) = arguments {
                value::value(page, INDENT, "arguments", arguments);
            }
        }
        PartDiff::Result {
            call,
            is_error,
            content,
        } => {
            if let Some(Replaced { before, after }) = call {
                fact(page, "id", before, after);
            }
            if let Some(Replaced { before, after }) = is_error {
                let word = |failed: bool| if failed { "failed" } else { "succeeded" };
                fact(page, "tool", word(*before), word(*after));
            }
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
            part(page, before, Tag::Removed);
            part(page, after, Tag::Added);
        }
    }
}

/// A part that is on one side alone.
fn part(page: &mut Page, part: &Part, tag: Tag) {
    let line = |page: &mut Page, text: String| page.text(INDENT, tag, &text);
    match part {
        Part::Text { text } => page.text(INDENT, tag, text),
        Part::Thinking { text, .. } => {
            line(page, "(thinking)".into());
            page.text(INDENT, tag, text);
        }
        Part::ToolCall {
            name, arguments, ..
        } => {
            let summary = format!("→ {}", escape::line(&call::summary(name, arguments)));
            let room = page
                .look
                .width_cols
                .map(|width| width.saturating_sub(INDENT + 2));
            line(
                page,
                match room {
                    Some(room) if !page.full => columns::cut(&summary, room),
                    _ => summary,
                },
            );
        }
        Part::ToolResult {
            content, is_error, ..
        } => {
            if *is_error {
                line(page, "(failed)".into());
            }
            content.iter().for_each(|each| self::part(page, each, tag));
        }
        Part::Image(media) => line(page, format!("[image {}]", describe(media))),
        Part::File(media) => line(page, format!("[file {}]", describe(media))),
        Part::Opaque { provider, data } => {
            let size = bytes(data.len() as u64);
            line(page, format!("[block of {provider}, {size}]"));
        }
    }
}

/// `image/png, 1.2 kB, hash 1a2b3c4`: what tells one picture from another.
fn describe(media: &Media) -> String {
    let source = match &media.source {
        MediaSource::Base64(data) => {
            let hash: String = (fingerprint(data.as_bytes()).iter().take(4))
                .map(|byte| format!("{byte:02x}"))
                .collect();
            format!("{}, hash {hash}", bytes(data.len() as u64 / 4 * 3))
        }
        MediaSource::Url(address) => address.clone(),
        MediaSource::FileId(id) => id.clone(),
    };
    let words = [&media.name, &media.media_type, &media.detail];
    let words = words.into_iter().flatten().cloned();
    words.chain([source]).collect::<Vec<_>>().join(", ")
}

/// `text, 2 tool_call`: the parts' types in order.
fn types(message: &Message) -> String {
    crate::cli::command::log::part_types(message)
}
