//! A document that is read a piece at a time: whoever walks through it holds the value that stands next, and no more.
//!
//! Deliberately absent: what a value means, and the way back.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::formats::shared::records::{Text, without_mark};
use crate::formats::shared::spans::{Broken, skip_space, skip_value};
use crate::formats::{Input, Problem};

/// As much is read at once: 256 KiB, or as much again as a value has that does not end in what is held.
const PIECE_BYTES: usize = 256 << 10;

/// Why nobody walks on.
pub(in crate::formats) enum Stop {
    /// The document is broken there.
    Broken(Broken),
    /// It could not be read, or its reader failed.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// A place in a document.
pub(in crate::formats) struct Walk<'a> {
    /// None: all of it is held.
    input: Option<&'a dyn Input>,
    held: Cow<'a, [u8]>,
    /// Where what is held begins in the source.
    offset: u64,
    /// The line that all of it stands on; of a document none, and how many line ends stand before what is held.
    line: Option<u64>,
    lines_before: u64,
    /// The place, in what is held.
    at: usize,
}

impl<'a> Walk<'a> {
    /// The beginning of a document, behind a byte order mark.
    pub(in crate::formats) fn of(input: &'a dyn Input) -> Result<Self> {
        let held = input
            .front(PIECE_BYTES as u64)
            .map_err(Error::io("source"))?;
        let at = held.len() - without_mark(&held).len();
        Ok(Self {
            input: Some(input),
            held: Cow::Owned(held),
            offset: 0,
            line: None,
            lines_before: 0,
            at,
        })
    }

    /// The beginning of a value in a text.
    pub(in crate::formats) fn in_text(text: Text<'a>, at: usize) -> Self {
        Self {
            input: None,
            held: Cow::Borrowed(text.bytes),
            offset: text.offset,
            line: text.line,
            lines_before: 0,
            at,
        }
    }

    /// How far this is, in bytes of the source.
    pub(in crate::formats) fn done_bytes(&self) -> u64 {
        self.offset + self.at as u64
    }

    /// What is held.
    pub(in crate::formats) fn text(&self) -> Text<'_> {
        Text {
            bytes: &self.held,
            offset: self.offset,
            line: self.line,
            lines_before: self.lines_before,
            counted: None,
        }
    }

    /// A problem with what stands here.
    pub(in crate::formats) fn problem(&self, reason: impl Into<String>) -> Problem {
        self.text().problem(self.at, reason)
    }

    /// Reads on, and lets go of what is behind. Where there is no more, nothing changes.
    fn more(&mut self) -> Result<bool> {
        let Some(input) = self.input else {
            return Ok(false);
        };
        let held = self.held.to_mut();
        let had = held.len();
        held.resize(had + (had - self.at).max(PIECE_BYTES), 0);
        let from = self.offset + had as u64;
        let got = input
            .read_at(from, &mut held[had..])
            .map_err(Error::io("source"))?;
        held.truncate(had + got);
        if got == 0 {
            return Ok(false);
        }
        let ends = memchr::memchr_iter(b'\n', &held[..self.at]);
        self.lines_before += ends.count() as u64;
        held.drain(..self.at);
        self.offset += self.at as u64;
        self.at = 0;
        Ok(true)
    }

    /// The byte that is next behind white space; none at the end.
    pub(in crate::formats) fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            self.at = skip_space(&self.held, self.at);
            if let Some(byte) = self.held.get(self.at) {
                return Ok(Some(*byte));
            }
            if !self.more()? {
                return Ok(None);
            }
        }
    }

    /// Walks past a value; where it stands in [`Walk::text`].
    pub(in crate::formats) fn value(&mut self) -> Result<Range<usize>, Stop> {
        self.peek()?;
        loop {
            match skip_value(&self.held, self.at) {
                // A number may go on.
                Ok(end) if end < self.held.len() || !self.more()? => {
                    let start = std::mem::replace(&mut self.at, end);
                    return Ok(start..end);
                }
                Err(Broken::Torn) if self.more()? => {}
                Ok(_) => {}
                Err(broken) => return Err(Stop::Broken(broken)),
            }
        }
    }

    /// Walks into an object or a list, if that is what is next; past anything else.
    fn enter(&mut self, open: u8) -> Result<bool, Stop> {
        match self.peek()? {
            Some(byte) if byte == open => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => self.value().map(|_| false),
            None => Err(Stop::Broken(Broken::Torn)),
        }
    }

    /// Whether there is another item before the closing bracket, past which this walks else.
    fn has_next(&mut self, close: u8) -> Result<bool, Stop> {
        loop {
            match self.peek()? {
                None => return Err(Stop::Broken(Broken::Torn)),
                Some(b',') => self.at += 1,
                Some(byte) if byte == close => {
                    self.at += 1;
                    return Ok(false);
                }
                Some(_) => return Ok(true),
            }
        }
    }

    /// Walks through the lists that the object here holds under a key: `each` walks past an element. Past what is no object,
    /// past other members and what is no list.
    pub(in crate::formats) fn each_in(
        &mut self,
        key: &str,
        each: &mut dyn FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if !self.enter(b'{')? {
            return Ok(());
        }
        while self.has_next(b'}')? {
            if self.key()? != key {
                self.value()?;
            } else if self.enter(b'[')? {
                while self.has_next(b']')? {
                    each(self)?;
                }
            }
        }
        Ok(())
    }

    /// Walks past a key and its colon.
    fn key(&mut self) -> Result<String, Stop> {
        let is_key = self.peek()? == Some(b'"');
        let at = self.value()?;
        let key = serde_json::from_slice(&self.held[at]).ok();
        let key = key.filter(|_| is_key).ok_or(Stop::Broken(Broken::Bad))?;
        match self.peek()? {
            Some(b':') => self.at += 1,
            None => return Err(Stop::Broken(Broken::Torn)),
            Some(_) => return Err(Stop::Broken(Broken::Bad)),
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// Bytes of which no more than a few are given at once.
    struct Slow(Vec<u8>);

    impl Input for Slow {
        fn size_bytes(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
            let rest = self.0.get(offset as usize..).unwrap_or_default();
            let count = rest.len().min(buffer.len()).min(7);
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        }
    }

    fn walked(text: &str) -> (Vec<(u64, String)>, Option<Broken>) {
        let input = Slow(text.as_bytes().to_vec());
        let mut walk = Walk::of(&input).expect("it can be read");
        // No more than the next few bytes are held.
        walk.held.to_mut().truncate(9);
        let mut found = Vec::new();
        let ended = walk.each_in("a", &mut |walk| {
            walk.each_in("b", &mut |walk| {
                let at = walk.value()?;
                let text = walk.text();
                let place = text.span(&at).offset;
                found.push((place, String::from_utf8_lossy(&text.bytes[at]).into_owned()));
                Ok(())
            })
        });
        match ended {
            Ok(()) => (found, None),
            Err(Stop::Broken(broken)) => (found, Some(broken)),
            Err(Stop::Failed(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn values_are_found_whatever_is_held() {
        let text = r#" {"x": {"a": [1]}, "\u0061" : [ {"b":[123456789012345, "a \"] long, long text"]}, 7, {"b": null},
            {"c": 1, "b": [{"b": []}, {"deep": [[[]]]}]} ] , "a": 5} "#;
        let (found, broken) = walked(text);
        assert_eq!(broken, None);
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "123456789012345",
                r#""a \"] long, long text""#,
                r#"{"b": []}"#,
                r#"{"deep": [[[]]]}"#
            ]
        );
        for (place, value) in &found {
            assert!(text[*place as usize..].starts_with(value.as_str()));
        }
        for (end, _) in text.char_indices() {
            // A number has no end of its own.
            let (some, _) = walked(&text[..end]);
            let mut pairs = some.iter().zip(&found);
            assert!(some.len() <= found.len(), "{end}");
            assert!(
                pairs.all(|(some, whole)| whole.1.starts_with(&some.1)),
                "{end}"
            );
        }
        assert_eq!(walked(&text[..60]).1, Some(Broken::Torn));
        assert_eq!(walked(r#"{"a": [}"#).1, Some(Broken::Bad));
        assert_eq!(walked(r#"{1: 2}"#).1, Some(Broken::Bad));
    }
}
