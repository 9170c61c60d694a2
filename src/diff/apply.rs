//! Diffs applied: what stood before becomes what stands after, so that laws can hold a diff to
//! both of its sides.

use super::{
    ContextDiff, Edit, Json, Kind, LineDiff, MessageDiff, PartDiff, Replaced, Tag, ValueDiff,
    keys::{JsonDiff, JsonEdit},
    lines::HunkLine,
};
use crate::model::{Message, Part};

impl LineDiff {
    /// The text after, from the text before.
    pub(super) fn apply(&self, before: &str) -> String {
        let old: Vec<&str> = before.split('\n').collect();
        let mut out: Vec<String> = Vec::with_capacity(old.len());
        let mut next = 0;
        for hunk in &self.hunks {
            out.extend(old[next..hunk.before].iter().map(ToString::to_string));
            next = hunk.before + hunk.extent().0;
            let kept = hunk.lines.iter().filter(|line| line.tag != Tag::Removed);
            out.extend(kept.map(HunkLine::text));
        }
        out.extend(old[next..].iter().map(ToString::to_string));
        out.join("\n")
    }
}

impl ValueDiff {
    /// The text after, from the text before; JSON in a spelling of its own.
    pub(super) fn apply(&self, before: &str) -> String {
        match self {
            Self::Lines(diff) => diff.apply(before),
            Self::Json(None) => before.to_owned(),
            Self::Json(Some(diff)) => match Json::parse(before) {
                Some(json) => diff.apply(&json).to_string(),
                None => before.to_owned(),
            },
        }
    }
}

impl JsonDiff {
    /// The value after, from the value before.
    pub(super) fn apply(&self, before: &Json) -> Json {
        match (self, before) {
            (Self::Replaced(Replaced { after, .. }), _) => after.clone(),
            (Self::Text(diff), Json::String(text)) => Json::String(diff.apply(text)),
            (Self::Array(edits), Json::Array(items)) => {
                Json::Array(apply(items, edits, |item, diff| diff.apply(item)))
            }
            (Self::Object(edits), Json::Object(pairs)) => {
                let mut pairs = pairs.clone();
                for (key, edit) in edits {
                    let value = match edit {
                        JsonEdit::Removed(_) => None,
                        JsonEdit::Added(value) => Some(value.clone()),
                        JsonEdit::Changed(diff) => pairs.get(key).map(|value| diff.apply(value)),
                    };
                    pairs.remove(key);
                    pairs.extend(value.map(|value| (key.clone(), value)));
                }
                Json::Object(pairs)
            }
            // A diff of other values changes nothing here.
            (_, other) => other.clone(),
        }
    }
}

impl PartDiff {
    /// The part after, from the part before.
    pub(super) fn apply(&self, before: &Part) -> Part {
        let mut part = before.clone();
        match (self, &mut part) {
            (Self::Replaced(Replaced { after, .. }), part) => *part = after.clone(),
            (Self::Text(diff), Part::Text { text }) => *text = diff.apply(text),
            (Self::Opaque(diff), Part::Opaque { data, .. }) => *data = diff.apply(data),
            (
                Self::Thinking {
                    text: diff,
                    signature: new_signature,
                    provider: new_provider,
                },
                Part::Thinking {
                    text,
                    signature,
                    provider,
                },
            ) => {
                if let Some(diff) = diff {
                    *text = diff.apply(text);
                }
                set(signature, new_signature);
                set(provider, new_provider);
            }
            (
                Self::Call {
                    id: new_id,
                    kind: new_kind,
                    arguments: diff,
                },
                Part::ToolCall {
                    id,
                    arguments,
                    kind,
                    ..
                },
            ) => {
                set(id, new_id);
                set(kind, new_kind);
                if let Some(diff) = diff {
                    *arguments = diff.apply(arguments);
                }
            }
            (
                Self::Result {
                    call: new_call,
                    is_error: new_error,
                    content: edits,
                },
                Part::ToolResult {
                    call,
                    content,
                    is_error,
                },
            ) => {
                set(call, new_call);
                set(is_error, new_error);
                *content = apply(content, edits, |part, diff| diff.apply(part));
            }
            // A diff of another part changes nothing here.
            _ => {}
        }
        part
    }
}

impl MessageDiff {
    /// The message after, from the message before.
    pub(super) fn apply(&self, before: &Message) -> Message {
        let mut message = before.clone();
        set(&mut message.role, &self.role);
        set(&mut message.name, &self.name);
        set(&mut message.attached, &self.attached);
        set(&mut message.recipient, &self.recipient);
        message.parts = apply(&message.parts, &self.parts, |part, diff| diff.apply(part));
        message
    }
}

impl ContextDiff {
    /// The messages of the second context, from those of the first and the changes.
    pub(super) fn apply(&self, before: &[Message]) -> Vec<Message> {
        let mut out = Vec::with_capacity(self.after.messages.len());
        let mut next = 0;
        for change in &self.changes {
            // What both hold and stands before the change.
            let until = match (change.before, change.after) {
                (Some(at), _) => at,
                (None, Some(at)) => next + (at - out.len()),
                (None, None) => next,
            };
            out.extend_from_slice(&before[next..until]);
            next = until + usize::from(change.before.is_some());
            match &change.kind {
                Kind::Hidden | Kind::Removed => {}
                Kind::Returned | Kind::Added => out.push(self.message(change).clone()),
                Kind::Modified(diff) => out.push(diff.apply(&before[until])),
            }
        }
        out.extend_from_slice(&before[next..]);
        out
    }
}

/// The second list, from the first and the steps.
fn apply<T: Clone, C>(before: &[T], edits: &[Edit<T, C>], change: impl Fn(&T, &C) -> T) -> Vec<T> {
    let mut out: Vec<T> = Vec::with_capacity(before.len());
    let mut next = 0;
    for edit in edits {
        // What both hold and stands before the step.
        let until = match edit {
            Edit::Removed { before, .. } | Edit::Changed { before, .. } => *before,
            Edit::Added { after, .. } => next + (after - out.len()),
        };
        out.extend_from_slice(&before[next..until]);
        next = until;
        match edit {
            Edit::Removed { .. } => next += 1,
            Edit::Added { item, .. } => out.push(item.clone()),
            Edit::Changed { change: how, .. } => {
                out.push(change(&before[next], how));
                next += 1;
            }
        }
    }
    out.extend_from_slice(&before[next..]);
    out
}

fn set<T: Clone>(value: &mut T, replaced: &Option<Replaced<T>>) {
    if let Some(Replaced { after, .. }) = replaced {
        *value = after.clone();
    }
}
