//! Two forms of one message compared: role, name, and part by part.

use std::borrow::Cow;

use crate::diff::alike::{Sketch, most_alike};
use crate::diff::json::Json;
use crate::diff::keys::JsonDiff;
use crate::diff::lines::LineDiff;
use crate::diff::list::{self, Alignment, Edit, align_equal, fill_gaps};
use crate::diff::{DiffOptions, Replaced};
use crate::model::{Message, Part, Role};

/// How alike two parts of one type must be to be one part that changed, where it is not clear from
/// their places.
const ALIKE: f64 = 0.3;

/// How two forms of a message differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageDiff {
    /// Who speaks, if that changed.
    pub role: Option<Replaced<Role>>,
    /// The speaker's name, if that changed.
    pub name: Option<Replaced<Option<String>>>,
    /// What the client that attached it calls it, if that changed.
    pub attached: Option<Replaced<Option<String>>>,
    /// Whom it is for, if that changed.
    pub recipient: Option<Replaced<Option<String>>>,
    /// The parts that differ.
    pub parts: Vec<Edit<Part, PartDiff>>,
}

/// How two forms of a part differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartDiff {
    /// Plain text.
    Text(ValueDiff),
    /// Reasoning.
    Thinking {
        /// Its text, if that changed.
        text: Option<LineDiff>,
        /// Its signature.
        signature: Option<Replaced<Option<String>>>,
        /// Whose it is.
        provider: Option<Replaced<Option<String>>>,
    },
    /// A call of a tool; a call of another tool is another part.
    Call {
        /// Its id; only where ids count.
        id: Option<Replaced<String>>,
        /// The provider's kind of call.
        kind: Option<Replaced<Option<String>>>,
        /// The arguments.
        arguments: Option<ValueDiff>,
    },
    /// What a tool gave back.
    Result {
        /// The id that it answers; only where ids count.
        call: Option<Replaced<String>>,
        /// Whether the tool failed.
        is_error: Option<Replaced<bool>>,
        /// What it gave.
        content: Vec<Edit<Part, PartDiff>>,
    },
    /// A block that only one provider understands.
    Opaque(ValueDiff),
    /// Another picture, file or block.
    Replaced(Replaced<Part>),
}

/// How two texts differ: by keys where both are JSON structures, else by lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueDiff {
    /// By keys. None: only the spelling differs, as white space or the order of keys.
    Json(Option<JsonDiff>),
    /// By lines.
    Lines(LineDiff),
}

impl ValueDiff {
    /// Compares two texts; none if they are equal.
    pub fn new(before: &str, after: &str, context_lines: usize) -> Option<Self> {
        if before == after {
            return None;
        }
        let json = Json::parse_structure(before).zip(Json::parse_structure(after));
        Some(match json {
            Some((before, after)) => Self::Json(JsonDiff::new(&before, &after, context_lines)),
            None => Self::Lines(LineDiff::new(before, after, context_lines)),
        })
    }
}

impl MessageDiff {
    /// Compares two forms of a message; none if they are equal, ids aside unless they count.
    pub fn new(before: &Message, after: &Message, options: &DiffOptions) -> Option<Self> {
        let (before, after) = (neutral(before, options), neutral(after, options));
        if before == after {
            return None;
        }
        Some(Self {
            role: Replaced::unless_equal(&before.role, &after.role),
            name: Replaced::unless_equal(&before.name, &after.name),
            attached: Replaced::unless_equal(&before.attached, &after.attached),
            recipient: Replaced::unless_equal(&before.recipient, &after.recipient),
            parts: parts(&before.parts, &after.parts, options),
        })
    }
}

impl PartDiff {
    fn new(before: &Part, after: &Part, options: &DiffOptions) -> Option<Self> {
        if before == after {
            return None;
        }
        let value = |a: &str, b: &str| ValueDiff::new(a, b, options.context_lines);
        Some(match (before, after) {
            (Part::Text { text: a }, Part::Text { text: b }) => Self::Text(value(a, b)?),
            (
                Part::Thinking {
                    text: a,
                    signature: signature_a,
                    provider: provider_a,
                },
                Part::Thinking {
                    text: b,
                    signature: signature_b,
                    provider: provider_b,
                },
            ) => Self::Thinking {
                text: Some(LineDiff::new(a, b, options.context_lines)).filter(|d| !d.is_empty()),
                signature: Replaced::unless_equal(signature_a, signature_b),
                provider: Replaced::unless_equal(provider_a, provider_b),
            },
            (
                Part::ToolCall {
                    id: id_a,
                    name: name_a,
                    arguments: a,
                    kind: kind_a,
                },
                Part::ToolCall {
                    id: id_b,
                    name: name_b,
                    arguments: b,
                    kind: kind_b,
                },
            ) if name_a == name_b => Self::Call {
                id: Replaced::unless_equal(id_a, id_b),
                kind: Replaced::unless_equal(kind_a, kind_b),
                arguments: value(a, b),
            },
            (
                Part::ToolResult {
                    call: call_a,
                    content: a,
                    is_error: error_a,
                },
                Part::ToolResult {
                    call: call_b,
                    content: b,
                    is_error: error_b,
                },
            ) => Self::Result {
                call: Replaced::unless_equal(call_a, call_b),
                is_error: Replaced::unless_equal(error_a, error_b),
                content: parts(a, b, options),
            },
            (
                Part::Opaque {
                    provider: provider_a,
                    data: a,
                },
                Part::Opaque {
                    provider: provider_b,
                    data: b,
                },
            ) if provider_a == provider_b => Self::Opaque(value(a, b)?),
            _ => Self::Replaced(Replaced::unless_equal(before, after)?),
        })
    }
}

fn parts(before: &[Part], after: &[Part], options: &DiffOptions) -> Vec<Edit<Part, PartDiff>> {
    let pairs = fill_gaps(align_equal(before, after), before, after, parts_in_gap);
    list::edits(before, after, &pairs, |a, b| PartDiff::new(a, b, options))
}

/// Which parts between equal ones are one part that changed: those at one place where the types
/// follow one another alike, else the most alike of one type.
fn parts_in_gap(before: &[Part], after: &[Part]) -> Alignment {
    if before.iter().map(kind).eq(after.iter().map(kind)) {
        return (0..before.len()).map(|at| (at, at)).collect();
    }
    let sketch = |part: &Part| Sketch::of(texts(part));
    let may_be_one = |old: &Part, new: &Part| kind(old) == kind(new);
    most_alike(before, after, ALIKE, sketch, may_be_one)
}

/// The type, and of a call the tool: another tool's call is another call.
fn kind(part: &Part) -> (&'static str, Option<&str>) {
    match part {
        Part::ToolCall { name, .. } => (part.type_name(), Some(name)),
        _ => (part.type_name(), None),
    }
}

/// The readable texts of a part.
pub(crate) fn texts(part: &Part) -> Vec<&str> {
    match part {
        Part::Text { text } | Part::Thinking { text, .. } => vec![text],
        Part::ToolCall {
            name, arguments, ..
        } => vec![name, arguments],
        Part::ToolResult { content, .. } => content.iter().flat_map(texts).collect(),
        Part::Opaque { data, .. } => vec![data],
        Part::Image(media) | Part::File(media) => media.name.as_deref().into_iter().collect(),
    }
}

/// The message as it is compared: without the ids of calls, unless they count.
pub(crate) fn neutral<'a>(message: &'a Message, options: &DiffOptions) -> Cow<'a, Message> {
    let has_ids = message.calls().chain(message.results()).next().is_some();
    if options.exact_ids || !has_ids {
        return Cow::Borrowed(message);
    }
    let mut message = message.clone();
    message.parts.iter_mut().for_each(forget_ids);
    Cow::Owned(message)
}

fn forget_ids(part: &mut Part) {
    match part {
        Part::ToolCall { id, .. } => id.clear(),
        Part::ToolResult { call, content, .. } => {
            call.clear();
            content.iter_mut().for_each(forget_ids);
        }
        _ => {}
    }
}
