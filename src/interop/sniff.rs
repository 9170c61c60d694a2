//! Which format a source is in, from its content alone.
//!
//! Each format says itself which record shows that a source is its own. Deliberately absent: file
//! names, and formats that this crate cannot import (they are recognised only where they could be
//! taken for another).

use super::formats::FORMATS;
use super::head::{Keys, SourceHead, front, is_complete};
use super::records::without_mark;
use super::spans::skip_space;
use super::sse::{self, SseLine};
use super::{Format, Input};
use crate::error::Result;

/// The format of `input`; none if it is in none of the known ones, or empty.
///
/// # Errors
///
/// [`crate::Error::Io`] if the source cannot be read.
pub fn sniff(input: &dyn Input) -> Result<Option<&'static Format>> {
    let bytes = front(input)?;
    let bytes = without_mark(&bytes);
    let start = skip_space(bytes, 0);
    Ok(match bytes.get(start) {
        Some(b'{' | b'[') if is_complete(bytes) => format(&SourceHead::document(bytes, start)),
        Some(b'{' | b'[') => match verdict(&SourceHead::lines(bytes)) {
            Some(sure) => sure,
            None => format(&SourceHead::document(bytes, start)),
        },
        Some(_) if is_sent(&bytes[start..]) => {
            format(&SourceHead::lines(bytes)).filter(|format| format.events.is_some())
        }
        // A spoilt first line: the next one decides whether this is JSON Lines.
        Some(_) => memchr::memchr(b'\n', &bytes[start..]).and_then(|end| {
            let rest = &bytes[skip_space(bytes, start + end)..];
            rest.starts_with(b"{")
                .then(|| format(&SourceHead::lines(rest)))?
        }),
        None => None,
    })
}

/// Whether the bytes begin as server-sent events do.
fn is_sent(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').next();
    first.is_some_and(|first| sse::line(first) != SseLine::Other)
}

/// The format that the earliest record shows; none within where that is no known one.
fn verdict(head: &SourceHead<'_>) -> Option<Option<&'static Format>> {
    let foreign = foreign(head).map(|at| (at, None));
    let known = FORMATS
        .into_iter()
        .filter_map(|format| Some(((format.sniff)(head)?, Some(format))));
    let all = foreign.into_iter().chain(known);
    all.min_by_key(|(at, _)| *at).map(|(_, format)| format)
}

fn format(head: &SourceHead<'_>) -> Option<&'static Format> {
    verdict(head).flatten()
}

/// The record that shows a format which is not imported and would be taken for another.
fn foreign(head: &SourceHead<'_>) -> Option<usize> {
    // Amp's blocks are Anthropic's, but for the results.
    let of_amp = |message: Keys<'_>| {
        let mut blocks = message.list("content").into_iter().flatten();
        blocks.any(|block| block.has("toolUseID"))
    };
    if head.lists(|item| item.has_any(&["mapping", "say", "ask"]) || of_amp(item.clone())) {
        return Some(0);
    }
    if let Some(object) = head.object() {
        let own = object.has_any(&["trajectory", "mapping", "nextMessageId"]);
        if own || object.has("info") && object.has("messages") {
            return Some(0);
        }
    }
    head.first(|record| {
        // Gemini CLI's newer files: lines that change what stands before them.
        let of_gemini = record.has("projectHash") && !record.has("messages");
        // Qwen Code has Claude Code's envelope around Gemini's messages.
        let of_qwen = record.has("systemPayload")
            || record
                .inside("message")
                .is_some_and(|message| message.has("parts"));
        of_gemini
            || of_qwen
            || record.list("messages").into_iter().flatten().any(of_amp)
            || record.is("type", "session") && record.has("cwd")
    })
}
