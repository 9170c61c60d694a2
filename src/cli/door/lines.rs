//! Lines of a stream, as long as they may be.

use std::borrow::Cow;
use std::io::{self, BufRead};

/// How long a line may be. A longer one is read to its end and not kept.
pub const LINE_BYTES: usize = 64 << 20;

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Its text.
    Text(String),
    /// It is longer than a line may be.
    TooLong,
    /// It is no UTF-8.
    NoText,
}

/// The lines of a stream; empty ones are passed over.
pub struct Lines<R> {
    input: R,
    most: usize,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            most: LINE_BYTES,
        }
    }

    /// The next line; none at the end.
    pub fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let mut bytes = Vec::new();
            let mut is_long = false;
            let ended = loop {
                let part = match self.input.fill_buf() {
                    Ok(part) => part,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error),
                };
                if part.is_empty() {
                    break true;
                }
                let end = memchr::memchr(b'\n', part);
                let taken = &part[..end.unwrap_or(part.len())];
                is_long |= bytes.len() + taken.len() > self.most;
                if is_long {
                    bytes = Vec::new();
                } else {
                    bytes.extend_from_slice(taken);
                }
                let used = taken.len() + usize::from(end.is_some());
                self.input.consume(used);
                if end.is_some() {
                    break false;
                }
            };
            if is_long {
                return Ok(Some(Line::TooLong));
            }
            match String::from_utf8(bytes) {
                Ok(text) if text.trim().is_empty() && ended => return Ok(None),
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => return Ok(Some(Line::Text(text))),
                Err(_) => return Ok(Some(Line::NoText)),
            }
        }
    }
}

/// JSON as one line for whoever reads it: U+2028 and U+2029, at which readers such as Node's `readline` break lines, are
/// escaped. JSON has them in strings alone, so it is the same JSON. A line break is a space: in strings it is escaped, and
/// what is kept as it came may have them elsewhere.
pub fn one_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        let json = json.replace(['\n', '\r'], " ");
        let json = json.replace('\u{2028}', "\\u2028");
        Cow::Owned(json.replace('\u{2029}', "\\u2029"))
    } else {
        Cow::Borrowed(json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_reader_breaks_a_line_of_json() {
        let json = serde_json::json!({ "a": "x\u{2028}y\u{2029}\u{85}" }).to_string();
        let line = one_line(&json);
        assert_eq!(line, "{\"a\":\"x\\u2028y\\u2029\u{85}\"}");
        let read: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(read.to_string(), json);
        assert!(matches!(one_line("{}"), Cow::Borrowed(_)));
        assert_eq!(one_line("{\r\n \"a\": 1}"), "{   \"a\": 1}");
    }

    fn all(input: &[u8], most: usize) -> Vec<Line> {
        let mut lines = Lines { input, most };
        std::iter::from_fn(|| lines.next().expect("it reads")).collect()
    }

    #[test]
    fn what_is_too_long_or_no_text_is_one_line() {
        let text = |text: &str| Line::Text(text.to_owned());
        let input = b"one\n\n  \r\n123456\ntwo\n\xff\nthree";
        let found = all(input, 5);
        assert_eq!(
            found,
            [
                text("one"),
                Line::TooLong,
                text("two"),
                Line::NoText,
                text("three")
            ]
        );
        assert_eq!(all(b"", 5), []);
    }
}
