//! Which format a source is in, from its content alone.
//!
//! Each format says itself which record shows that a source is its own. Deliberately absent: file
//! names, and formats that this crate cannot import (those are [`super::foreign`]'s).

use super::foreign::foreign;
use super::formats::FORMATS;
use super::head::{SourceHead, front, is_complete};
use super::records::{json_error, without_mark};
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

/// What is wrong with a source that begins as JSON and is none, neither as a whole nor in its first
/// line; none where that is not so, or where it is too long to tell.
///
/// # Errors
///
/// [`crate::Error::Io`] if the source cannot be read.
pub fn broken(input: &dyn Input) -> Result<Option<String>> {
    let bytes = front(input)?;
    let is_whole = bytes.len() as u64 == input.size_bytes();
    let bytes = without_mark(&bytes);
    let begins = matches!(bytes.get(skip_space(bytes, 0)), Some(b'{' | b'['));
    let first = bytes.split(|byte| *byte == b'\n').next();
    let parses = |text: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(text);
    if !is_whole || !begins || first.is_some_and(|line| parses(line).is_ok()) {
        return Ok(None);
    }
    let wrong = parses(bytes).err();
    Ok(wrong.map(|error| json_error("broken JSON", &error, 0)))
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
