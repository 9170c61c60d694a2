//! Lines of a source with their places, and JSON as found in the wild.
//!
//! [`Lines`] reads a source of any size with a bounded buffer; [`mend`] makes bytes into text that a
//! strict decoder takes.

use std::borrow::Cow;
use std::iter::once;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::formats::Input;
use crate::model::Span;

/// A line longer than this is not read: 256 MiB.
pub const MAX_LINE_BYTES: u64 = 256 << 20;

const CHUNK_BYTES: usize = 256 << 10;

/// The lines of a text, without their ends; behind the last end stands one more. A line may be as long as all that is
/// looked at, so no byte of it is looked at alone.
pub(in crate::formats) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = memchr::memchr_iter(b'\n', bytes).chain(once(bytes.len()));
    let mut start = 0;
    ends.map(move |end| &bytes[std::mem::replace(&mut start, end + 1)..end])
}

/// Reads a source line by line.
pub struct Lines<'a> {
    input: &'a dyn Input,
    /// Bytes read and not yet given out.
    buffer: Vec<u8>,
    /// Where in `buffer` the next line begins.
    start: usize,
    /// The place of `buffer[0]` in the source.
    base: u64,
    number: u64,
}

/// One line.
#[derive(Debug)]
pub struct SourceLine<'b> {
    /// Its number, from 1.
    pub number: u64,
    /// Its place, without the line's end (LF or CRLF).
    pub span: Span,
    /// Its bytes; empty if it is too long to be read ([`MAX_LINE_BYTES`]).
    pub bytes: &'b [u8],
    /// Whether a line feed ends it; only the last line may lack one.
    pub terminated: bool,
}

impl<'b> SourceLine<'b> {
    /// What is wrong with it, where it is too long to be read.
    pub fn too_long(&self) -> Option<String> {
        let is_too_long = self.bytes.is_empty() && self.span.len > 0;
        is_too_long.then(|| format!("the line is too long ({} bytes)", self.span.len))
    }

    /// Its text where a source is no JSON, and what is wrong with it: of one that is too long nothing can be read, and
    /// what is no UTF-8 is replaced.
    pub fn plain(&self) -> (Option<Cow<'b, str>>, Option<String>) {
        if let Some(reason) = self.too_long() {
            return (None, Some(reason));
        }
        let text = decoded(self.bytes);
        let is_mended = matches!(text, Cow::Owned(_));
        (Some(text), is_mended.then(|| "invalid UTF-8".to_owned()))
    }

    /// A part of it.
    pub fn part(&self, at: Range<usize>) -> Self {
        let span = Span {
            offset: self.span.offset + at.start as u64,
            len: at.len() as u64,
        };
        Self {
            span,
            bytes: &self.bytes[at],
            ..*self
        }
    }
}

impl<'a> Lines<'a> {
    /// From the beginning; a UTF-8 byte order mark is passed over.
    pub fn new(input: &'a dyn Input) -> Result<Self> {
        Self::from(input, 0)
    }

    /// From the line that begins at `offset`, which counts as the first.
    pub fn from(input: &'a dyn Input, offset: u64) -> Result<Self> {
        let mut lines = Self {
            input,
            buffer: Vec::new(),
            start: 0,
            base: offset,
            number: 0,
        };
        lines.fill()?;
        if offset == 0 && lines.buffer.starts_with(b"\xef\xbb\xbf") {
            lines.start = 3;
        }
        Ok(lines)
    }

    /// Reads one more chunk; false at the end.
    fn fill(&mut self) -> Result<bool> {
        let at = self.base + self.buffer.len() as u64;
        let left = self.input.size_bytes().saturating_sub(at);
        let want = usize::try_from(left)
            .unwrap_or(CHUNK_BYTES)
            .min(CHUNK_BYTES);
        if want == 0 {
            return Ok(false);
        }
        let old = self.buffer.len();
        self.buffer.resize(old + want, 0);
        let got = self
            .input
            .read_at(at, &mut self.buffer[old..])
            .map_err(Error::io("source"))?;
        self.buffer.truncate(old + got);
        Ok(got > 0)
    }

    /// The next line; none at the end. An empty last line is none.
    pub fn next_line(&mut self) -> Result<Option<SourceLine<'_>>> {
        if self.start > 0 && self.start >= self.buffer.len() / 2 {
            self.base += self.start as u64;
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let mut searched = self.start;
        let mut dropped = 0u64;
        let end = loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[searched..]) {
                break Some(searched + found);
            }
            searched = self.buffer.len();
            if (self.buffer.len() - self.start) as u64 > MAX_LINE_BYTES {
                dropped += (self.buffer.len() - self.start) as u64;
                self.base += self.buffer.len() as u64;
                self.buffer.clear();
                self.start = 0;
                searched = 0;
            }
            if !self.fill()? {
                break None;
            }
        };
        let (stop, next) = match end {
            Some(end) => (end, end + 1),
            None => (self.buffer.len(), self.buffer.len()),
        };
        if end.is_none() && stop == self.start && dropped == 0 {
            return Ok(None);
        }
        self.number += 1;
        let mut bytes = &self.buffer[self.start..stop];
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let offset = self.base + self.start as u64 - dropped;
        let span = Span {
            offset,
            len: bytes.len() as u64 + dropped,
        };
        if dropped > 0 {
            bytes = &[];
        }
        self.start = next;
        Ok(Some(SourceLine {
            number: self.number,
            span,
            bytes,
            terminated: end.is_some(),
        }))
    }
}

/// Text as good as the bytes allow, with how much had to be mended.
#[derive(Debug, PartialEq, Eq)]
pub struct Mended<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// Whether bytes that are no UTF-8 became U+FFFD.
    pub invalid_utf8: bool,
    /// How many lone surrogates (`\ud83d` without its other half) became `\ufffd`.
    pub lone_surrogates: u64,
}

/// The text of bytes, with U+FFFD for what is no UTF-8. That they are UTF-8 is found out several times as fast as where
/// they are not.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Makes bytes into text that a strict JSON decoder takes.
pub fn mend(bytes: &[u8]) -> Mended<'_> {
    let text = decoded(bytes);
    let invalid_utf8 = matches!(text, Cow::Owned(_));
    match mend_surrogates(&text) {
        None => Mended {
            text,
            invalid_utf8,
            lone_surrogates: 0,
        },
        Some((mended, lone_surrogates)) => Mended {
            text: Cow::Owned(mended),
            invalid_utf8,
            lone_surrogates,
        },
    }
}

/// Replaces lone surrogate escapes by `\ufffd`; none if there are none.
fn mend_surrogates(text: &str) -> Option<(String, u64)> {
    let bytes = text.as_bytes();
    // Most lines have many escapes and no surrogate.
    let has = |escape: &str| memchr::memmem::find(bytes, escape.as_bytes()).is_some();
    if !has(r"\ud") && !has(r"\uD") {
        return None;
    }
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at + 2..at + 6)?;
        let escape = bytes.get(at) == Some(&b'\\') && bytes.get(at + 1) == Some(&b'u');
        escape
            .then(|| u32::from_str_radix(digits, 16).ok())
            .flatten()
    };
    let (mut out, mut copied, mut count) = (String::new(), 0, 0);
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        let here = at + found;
        match unit(here) {
            Some(0xd800..=0xdbff) if matches!(unit(here + 6), Some(0xdc00..=0xdfff)) => {
                at = here + 12;
            }
            Some(0xd800..=0xdfff) => {
                out.push_str(&text[copied..here]);
                out.push_str("\\ufffd");
                (at, copied) = (here + 6, here + 6);
                count += 1;
            }
            Some(_) => at = here + 6,
            None => at = (here + 2).min(bytes.len()),
        }
    }
    (count > 0).then(|| {
        out.push_str(&text[copied..]);
        (out, count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<(u64, u64, u64, bool)> {
        let mut lines = Lines::new(&bytes).expect("bytes can be read");
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().expect("bytes can be read") {
            let (offset, len) = (line.span.offset, line.span.len);
            assert_eq!(&bytes[offset as usize..(offset + len) as usize], line.bytes);
            found.push((line.number, offset, len, line.terminated));
        }
        found
    }

    #[test]
    fn lines_know_their_places() {
        assert_eq!(all(b""), []);
        assert_eq!(all(b"a\n"), [(1, 0, 1, true)]);
        assert_eq!(
            all(b"\xef\xbb\xbfab\r\n\ncd"),
            [(1, 3, 2, true), (2, 7, 0, true), (3, 8, 2, false)]
        );
    }

    #[test]
    fn lines_longer_than_the_buffer_come_whole() {
        let mut bytes = vec![b'x'; 3 * CHUNK_BYTES + 7];
        bytes.push(b'\n');
        bytes.extend_from_slice(b"tail\n");
        let len = bytes.len() as u64;
        assert_eq!(all(&bytes), [(1, 0, len - 6, true), (2, len - 5, 4, true)]);
    }

    #[test]
    fn only_lone_surrogates_are_replaced() {
        let mended = mend(br#""\ud83d\ude00 \ud83d x \\ud83d \udc00\n""#);
        assert_eq!(mended.text, r#""\ud83d\ude00 \ufffd x \\ud83d \ufffd\n""#);
        assert_eq!((mended.lone_surrogates, mended.invalid_utf8), (2, false));
        assert!(mend(b"\"\xff\"").invalid_utf8);
    }
}
