//! Which format a source is in, from its content alone.
//!
//! Each format says itself which record shows that a source is its own. Deliberately absent: file
//! names, and formats that this crate cannot import (those are [`crate::formats::shared::foreign`]'s).

use crate::error::{Error, Result};
use crate::formats::registry::FORMATS;
use crate::formats::shared::foreign::foreign;
use crate::formats::shared::head::{SourceHead, front, is_complete};
use crate::formats::shared::lines::lines;
use crate::formats::shared::records::{json_error, without_mark};
use crate::formats::shared::spans::{skip_space, skip_value};
use crate::formats::shared::sse::{self, SseLine};
use crate::formats::{Format, Input};

/// How much of a file of lines mostly holds all the records that are looked at: 2 MiB.
const FIRST_BYTES: u64 = 2 << 20;

/// The format of `input`; none if it is in none of the known ones, or empty.
///
/// # Errors
///
/// [`crate::Error::Io`] if the source cannot be read.
pub fn sniff(input: &dyn Input) -> Result<Option<&'static Format>> {
    if let Some(sure) = by_first_lines(input)? {
        return Ok(sure);
    }
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
        Some(_) if let Some(found) = of_text(bytes) => Some(found),
        // A spoilt first line: the next one decides whether this is JSON Lines.
        Some(_) => memchr::memchr(b'\n', &bytes[start..]).and_then(|end| {
            let rest = &bytes[skip_space(bytes, start + end)..];
            rest.starts_with(b"{")
                .then(|| format(&SourceHead::lines(rest)))?
        }),
        None => None,
    })
}

/// The format whose sources are plain text and begin so.
fn of_text(bytes: &[u8]) -> Option<&'static Format> {
    let shows = |format: &&Format| format.text.is_some_and(|shows| shows(bytes));
    FORMATS.into_iter().find(shows)
}

/// The verdict of a long file of lines by its beginning, where that holds all the records that anybody
/// looks at: to read on to the end of what may be looked at gives the same, and takes longer than the
/// rest of many an import.
fn by_first_lines(input: &dyn Input) -> Result<Option<Option<&'static Format>>> {
    if input.size_bytes() <= FIRST_BYTES {
        return Ok(None);
    }
    let bytes = input.front(FIRST_BYTES).map_err(Error::io("source"))?;
    let bytes = without_mark(&bytes);
    let whole = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
    let (bytes, start) = (&bytes[..whole], skip_space(bytes, 0));
    let begins = matches!(bytes.get(start), Some(b'{' | b'['));
    let is_one = |end| skip_space(bytes, end) == bytes.len();
    if !begins || skip_value(bytes, 0).map_or(true, is_one) {
        return Ok(None);
    }
    let head = SourceHead::lines(bytes);
    Ok(verdict(&head).filter(|_| head.is_full()))
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
    let first = lines(bytes).next();
    let parses = |text: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(text);
    if !is_whole || !begins || first.is_some_and(|line| parses(line).is_ok()) {
        return Ok(None);
    }
    let wrong = parses(bytes).err();
    Ok(wrong.map(|error| json_error("broken JSON", &error, 0)))
}

/// Whether the bytes begin as server-sent events do.
fn is_sent(bytes: &[u8]) -> bool {
    let first = lines(bytes).next();
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;

    use super::*;

    /// Bytes, and how far they were looked at.
    struct Watched(Vec<u8>, Cell<u64>);

    impl Input for Watched {
        fn size_bytes(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
            self.1.set(self.1.get().max(offset + buffer.len() as u64));
            self.0.as_slice().read_at(offset, buffer)
        }
    }

    /// The format, and whether no more was read than what holds the first lines.
    fn sniffed(text: String) -> (Option<&'static str>, bool) {
        let source = Watched(text.into_bytes(), Cell::new(0));
        let format = sniff(&source).expect("readable");
        (
            format.map(|format| format.name),
            source.1.get() <= FIRST_BYTES,
        )
    }

    #[test]
    fn a_long_file_is_told_by_its_first_lines_where_they_are_enough() {
        let line = |text: usize| {
            let text = "x".repeat(text);
            let message = format!(r#"{{"role":"user","content":"{text}"}}"#);
            let ids = r#""uuid":"a","parentUuid":null,"sessionId":"s","isSidechain":false"#;
            format!("{{\"type\":\"user\",{ids},\"message\":{message}}}\n")
        };
        let ours = Some("claude-code");
        assert_eq!(sniffed(line(1_000).repeat(5_000)), (ours, true));
        // Too few of them, and nothing known in them: the rest is looked at.
        assert_eq!(sniffed(line(100_000).repeat(50)), (ours, false));
        let other = "{\"a\":1}\n".repeat(150) + &line(3_000).repeat(1_000);
        assert_eq!(sniffed(other.clone()), (ours, true));
        assert_eq!(sniffed("{\"a\":1}\n".repeat(400_000)).0, None);
        // One document is one to its end, however many lines it has.
        let chat = r#"{"role":"user","content":"hello"},"#.to_owned() + "\n";
        let chat = format!(
            "[\n{}{{\"role\":\"user\",\"content\":\"bye\"}}]\n",
            chat.repeat(90_000)
        );
        let (format, is_short) = sniffed(chat);
        assert!(format.is_some() && !is_short, "{format:?}");
    }
}
