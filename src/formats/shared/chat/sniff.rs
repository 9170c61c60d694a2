//! Which of the two chat formats a source is in.

use crate::error::Result;
use crate::formats::Input;
use crate::formats::shared::head::{Keys, Layout, SourceHead, front, is_complete};
use crate::formats::shared::lines::lines;
use crate::formats::shared::records::without_mark;
use crate::formats::shared::spans::skip_space;
use crate::formats::shared::sse;

/// What a source of chat messages shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Kind {
    OpenAi,
    Anthropic,
    /// A conversation of plain texts, good in either format.
    Plain,
}

/// What a message says stands in one of these; what has none of them is none that is read.
const SAYS: [&str; 5] = ["content", "value", "tool_calls", "function_call", "refusal"];

/// Whether an object is a message that says in `parts` what it says, or more than in its content, as those of the AI
/// SDK and of Gemini do.
pub(in crate::formats) fn is_in_parts(message: &Keys<'_>) -> bool {
    let is_more = |part: Keys<'_>| !part.is("type", "text") && !part.is("type", "step-start");
    let parts = message.list("parts").filter(|_| message.has("role"));
    parts.is_some_and(|mut parts| !message.has("content") || parts.any(is_more))
}

/// What the source is, and the record that shows it; none where there are no chat messages.
pub(in crate::formats) fn kind(head: &SourceHead<'_>) -> Option<(usize, Kind)> {
    if head.lists(is_in_parts) {
        return None;
    }
    if head.lists(|item| item.has("traj") && item.has("task_id")) {
        return Some((0, Kind::OpenAi));
    }
    if let Some(object) = head.object()
        && object.is("type", "message")
        && object.has("content")
        && object.is("role", "assistant")
    {
        return Some((0, Kind::Anthropic));
    }
    let records = head.records.iter();
    match head.layout {
        Layout::List => surest(records.map(|item| (message(item), is_system(item)))),
        Layout::Object | Layout::Lines => surest(records.map(|record| (body(record), false))),
    }
}

/// The first that is sure; else OpenAI's where a message is the system's, for a request of Anthropic's has one in its midst
/// alone; else plain, if any is.
fn surest(kinds: impl Iterator<Item = (Option<Kind>, bool)>) -> Option<(usize, Kind)> {
    let (mut likely, mut plain) = (None, None);
    for (at, (kind, is_system)) in kinds.enumerate() {
        match kind {
            Some(Kind::Plain) if is_system => likely = likely.or(Some((at, Kind::OpenAi))),
            Some(Kind::Plain) => plain = Some((at, Kind::Plain)),
            Some(sure) => return Some((at, sure)),
            None => {}
        }
    }
    likely.or(plain)
}

/// A response or request body, or a fine-tuning row.
fn body(record: &Keys<'_>) -> Option<Kind> {
    let mut choices = record.list("choices").into_iter().flatten();
    if choices.any(|choice| choice.has_any(&["message", "delta"])) {
        return Some(Kind::OpenAi);
    }
    if record.list("messages")?.any(|item| is_in_parts(&item)) {
        return None;
    }
    let mut messages = record.list("messages")?.peekable();
    if record.has("system") {
        let is_read = match messages.peek() {
            Some(_) => messages.any(|item| message(&item).is_some()),
            None => record.text("system").is_some() || record.list("system").is_some(),
        };
        return is_read.then_some(Kind::Anthropic);
    }
    for tool in record.list("tools").into_iter().flatten() {
        if tool.has_any(&["function", "custom"]) {
            return Some(Kind::OpenAi);
        }
        if tool.has_any(&["input_schema", "name"]) {
            return Some(Kind::Anthropic);
        }
    }
    let is_empty = messages.peek().is_none();
    match surest(messages.map(|item| (message(&item), is_system(&item)))) {
        None if !is_empty => None,
        None | Some((_, Kind::Plain)) => Some(
            if record.has_any(&[
                "context_management",
                "mcp_servers",
                "thinking",
                "stop_sequences",
            ]) {
                Kind::Anthropic
            } else {
                Kind::Plain
            },
        ),
        Some((_, sure)) => Some(sure),
    }
}

/// Whether an object is a message that OpenAI, or anybody, could have written, and no recorded run.
pub(in crate::formats) fn is_plain(object: &str) -> bool {
    let keys = Keys::of(object.as_bytes(), 0);
    !keys.has("traj") && matches!(message(&keys), Some(Kind::OpenAi | Kind::Plain))
}

fn is_system(message: &Keys<'_>) -> bool {
    message.is("role", "system")
}

fn message(message: &Keys<'_>) -> Option<Kind> {
    let role = message.text("role");
    let role = role.as_deref();
    if !message.has("role") || !message.has_any(&SAYS) {
        return None;
    }
    if matches!(role, Some("tool" | "function" | "developer"))
        || message.has_any(&["tool_calls", "function_call"])
    {
        return Some(Kind::OpenAi);
    }
    for block in message.list("content").into_iter().flatten() {
        match block.text("type").as_deref() {
            Some("image_url" | "input_audio" | "file" | "refusal") => return Some(Kind::OpenAi),
            Some(
                "image" | "document" | "thinking" | "redacted_thinking" | "compaction"
                | "search_result" | "container_upload",
            ) => return Some(Kind::Anthropic),
            Some(other) if other.contains("tool_") => return Some(Kind::Anthropic),
            _ => {}
        }
    }
    Some(Kind::Plain)
}

/// Whether a source is JSON Lines, several of them, and not one document, and its records show what is looked for.
pub(in crate::formats) fn is_lines(
    input: &dyn Input,
    shows: impl Fn(&SourceHead<'_>) -> Option<usize>,
) -> Result<bool> {
    let bytes = front(input)?;
    let bytes = without_mark(&bytes);
    let mut filled = lines(bytes).filter(|line| skip_space(line, 0) < line.len());
    let several = filled.nth(1).is_some();
    // Of a document that is longer than its front no line is whole.
    let has_record = || {
        let mut records = lines(bytes).filter_map(sse::record);
        records.any(|line| line[skip_space(line, 0)..].starts_with(b"{") && is_complete(line))
    };
    Ok(
        several
            && !is_complete(bytes)
            && shows(&SourceHead::lines(bytes)).is_some()
            && has_record(),
    )
}
