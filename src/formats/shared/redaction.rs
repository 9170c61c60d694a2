//! A source without its secrets: what stands in place of which of its bytes, and what that does to the
//! places of its records.
//!
//! Line by line, so that of a file that grows the beginning stays what it was. Deliberately absent: what
//! a secret is ([`crate::model::secret`]), and who asks.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::Range;

use memchr::memmem;
use serde_json::Value;

use crate::error::Result;
use crate::formats::Input;
use crate::formats::shared::lines::Lines;
use crate::model::Span;
use crate::model::secret::{SecretCounts, Secrets};

/// A source whose secrets read `[redacted:KIND]`.
pub struct RedactedInput<'a> {
    input: Box<dyn Input + 'a>,
    edits: Vec<Edit>,
    size_bytes: u64,
    counts: SecretCounts,
}

/// Bytes in place of others.
struct Edit {
    was: Range<u64>,
    /// Where they begin.
    at: u64,
    text: Vec<u8>,
}

impl Edit {
    fn end(&self) -> u64 {
        self.at + self.text.len() as u64
    }
}

impl<'a> RedactedInput<'a> {
    /// Reads all of it, and keeps what differs. A last line that is not whole yet is left out: half a
    /// secret has no form. That of a document over several lines is whole where it ends a list or an object.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Io`].
    pub fn of(input: Box<dyn Input + 'a>, secrets: &Secrets) -> Result<Self> {
        let (mut edits, mut counts) = (Vec::new(), SecretCounts::new());
        let mut shift = 0_i64;
        let mut push = |was: Range<u64>, text: Vec<u8>| {
            let at = was.start.wrapping_add_signed(shift);
            shift += text.len() as i64 - (was.end - was.start) as i64;
            edits.push(Edit { was, at, text });
        };
        // Whether a value goes on behind the first line.
        let mut is_document = false;
        let mut lines = Lines::new(&*input)?;
        while let Some(line) = lines.next_line()? {
            let begin = line.span.offset;
            let whole = begin..begin + line.span.len;
            let is_json = || serde_json::from_slice::<Value>(line.bytes).is_ok();
            is_document |= line.number == 1 && !is_json();
            let ends = matches!(line.bytes.trim_ascii_end().last(), Some(b'}' | b']'));
            let is_whole = line.terminated || is_document && ends || is_json();
            let is_read = line.bytes.len() as u64 == line.span.len;
            if !is_read || !is_whole && line.number > 1 {
                push(whole, Vec::new());
                continue;
            }
            match differing(line.bytes, secrets, &mut counts) {
                Differing::Nowhere => {}
                Differing::Places(places) => {
                    for (place, text) in places {
                        push(begin + place.start as u64..begin + place.end as u64, text);
                    }
                }
                Differing::Whole(text) => push(whole, text),
            }
        }
        Ok(Self {
            size_bytes: input.size_bytes().wrapping_add_signed(shift),
            input,
            edits,
            counts,
        })
    }

    /// The secrets that were in it.
    pub fn counts(&self) -> &SecretCounts {
        &self.counts
    }

    /// Where a record stands that stood there.
    pub fn span(&self, was: Span) -> Span {
        let offset = self.place(was.offset);
        let len = self.place(was.offset + was.len).saturating_sub(offset);
        Span { offset, len }
    }

    fn place(&self, was: u64) -> u64 {
        let before = self.edits.partition_point(|edit| edit.was.start < was);
        match before.checked_sub(1).map(|at| &self.edits[at]) {
            None => was,
            Some(edit) => edit.end() + was.saturating_sub(edit.was.end),
        }
    }
}

impl Input for RedactedInput<'_> {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let next = self.edits.partition_point(|edit| edit.at <= offset);
        let mut was = offset;
        if let Some(edit) = next.checked_sub(1).map(|at| &self.edits[at]) {
            if offset < edit.end() {
                let text = &edit.text[(offset - edit.at) as usize..];
                let len = text.len().min(buffer.len());
                buffer[..len].copy_from_slice(&text[..len]);
                return Ok(len);
            }
            was = edit.was.end + (offset - edit.end());
        }
        let end = self.edits.get(next).map(|edit| edit.was.start);
        let end = end.unwrap_or(self.input.size_bytes());
        let len = (buffer.len() as u64).min(end.saturating_sub(was)) as usize;
        self.input.read_at(was, &mut buffer[..len])
    }
}

/// How a line differs without its secrets.
enum Differing {
    Nowhere,
    Places(Vec<(Range<usize>, Vec<u8>)>),
    Whole(Vec<u8>),
}

fn differing(line: &[u8], secrets: &Secrets, counts: &mut SecretCounts) -> Differing {
    let found = secrets.find(line);
    if found.is_empty() {
        return Differing::Nowhere;
    }
    let mut places = Vec::with_capacity(found.len());
    for secret in found {
        *counts.entry(secret.kind).or_default() += 1;
        let stand_in = secret.stand_in().into_bytes();
        places.push((secret.place, stand_in));
    }
    if memmem::find(line, b"\"thinking\"").is_some()
        && let Some(text) = unsigned(line, &secrets.redact(line, &mut SecretCounts::new()))
    {
        return Differing::Whole(text);
    }
    Differing::Places(places)
}

/// A line of a session file, or all of a file of one line, without its secrets.
pub fn redacted_line<'l>(
    line: &'l [u8],
    secrets: &Secrets,
    counts: &mut SecretCounts,
) -> Cow<'l, [u8]> {
    match differing(line, secrets, counts) {
        Differing::Nowhere => Cow::Borrowed(line),
        Differing::Places(_) => secrets.redact(line, &mut SecretCounts::new()),
        Differing::Whole(text) => Cow::Owned(text),
    }
}

/// Secrets in what is written to it, line by line: found, or replaced on their way on.
pub struct Sieve<'a> {
    secrets: &'a Secrets,
    out: Option<&'a mut dyn Write>,
    line: Vec<u8>,
    found: FoundSecrets,
}

/// Secrets of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSecrets {
    /// How many of each kind.
    pub counts: SecretCounts,
    /// What they say.
    pub texts: BTreeSet<Vec<u8>>,
}

impl FoundSecrets {
    /// Adds those of a text.
    pub fn look(&mut self, text: &[u8], secrets: &Secrets) {
        for secret in secrets.find(text) {
            *self.counts.entry(secret.kind).or_default() += 1;
            self.texts.insert(text[secret.place].to_vec());
        }
    }
}

impl<'a> Sieve<'a> {
    /// Finds them, and lets nothing on.
    pub fn finding(secrets: &'a Secrets) -> Self {
        Self {
            secrets,
            out: None,
            line: Vec::new(),
            found: FoundSecrets::default(),
        }
    }

    /// Lets on what is left without them.
    pub fn redacting(secrets: &'a Secrets, out: &'a mut dyn Write) -> Self {
        Self {
            out: Some(out),
            ..Self::finding(secrets)
        }
    }

    /// Ends what was written, and gives what was found.
    ///
    /// # Errors
    ///
    /// That of whoever is written to.
    pub fn end(mut self) -> io::Result<FoundSecrets> {
        let last = std::mem::take(&mut self.line);
        self.take(&last)?;
        Ok(self.found)
    }

    fn take(&mut self, line: &[u8]) -> io::Result<()> {
        self.found.look(line, self.secrets);
        match &mut self.out {
            None => Ok(()),
            Some(out) => {
                let line = redacted_line(line, self.secrets, &mut SecretCounts::new());
                out.write_all(&line)
            }
        }
    }
}

impl Write for Sieve<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|it| *it == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.take(&line)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The redacted record without the thinking that it changes, if there is any: it is signed, and whoever
/// signed it takes no other.
fn unsigned(line: &[u8], redacted: &[u8]) -> Option<Vec<u8>> {
    let was: Value = serde_json::from_slice(line).ok()?;
    let mut is: Value = serde_json::from_slice(redacted).ok()?;
    let end = if line.ends_with(b"\n") { "\n" } else { "" };
    take_signed(&was, &mut is).then(|| format!("{is}{end}").into_bytes())
}

fn take_signed(was: &Value, is: &mut Value) -> bool {
    match (was, is) {
        (Value::Array(was), Value::Array(is)) => {
            let mut taken = false;
            let mut at = 0;
            is.retain_mut(|it| {
                at += 1;
                let was = &was[at - 1];
                let is_signed = was["type"] == "thinking" && was.get("signature").is_some();
                let goes = is_signed && *it != *was;
                taken |= goes || take_signed(was, it);
                !goes
            });
            taken
        }
        (Value::Object(was), Value::Object(is)) => {
            let both = is
                .iter_mut()
                .filter_map(|(key, it)| Some((was.get(key)?, it)));
            both.fold(false, |taken, (was, it)| take_signed(was, it) || taken)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(at: usize) -> String {
        format!("ghp_{at:04}{}", "q7Zk2mWx9RtB4vLc8YpN3sHd6GfJ5uKe")
    }

    fn read(text: &str) -> (String, Vec<Span>) {
        let spans = text.split_inclusive('\n').scan(0, |at, line| {
            let offset = *at;
            *at += line.len() as u64;
            let len = line.trim_end().len() as u64;
            Some(Span { offset, len })
        });
        let bytes = text.as_bytes().to_vec();
        let spans: Vec<Span> = spans.collect();
        let input: Box<dyn Input> = Box::new(&*bytes);
        let redacted = RedactedInput::of(input, &Secrets::new()).expect("read");
        let spans = spans.into_iter().map(|span| redacted.span(span)).collect();
        let whole = redacted.front(u64::MAX).expect("read");
        // However little is asked for.
        let mut by_three: Vec<u8> = Vec::new();
        let mut three = [0; 3];
        while let got @ 1.. = redacted
            .read_at(by_three.len() as u64, &mut three)
            .expect("read")
        {
            by_three.extend(&three[..got]);
        }
        assert_eq!(by_three, whole);
        assert_eq!(redacted.size_bytes(), whole.len() as u64);
        (String::from_utf8(whole).expect("text"), spans)
    }

    #[test]
    fn the_end_of_a_document_is_whole_without_a_line_end() {
        let document = |token: &str| format!("{{\n  \"a\": [\n    \"{token}\"\n  ]\n}}");
        let (redacted, _) = read(&document(&token(1)));
        assert_eq!(redacted, document("[redacted:github-token]"));
    }

    #[test]
    fn records_are_found_where_they_are_without_their_secrets() {
        let (one, two) = (token(1), token(2));
        let text = format!("{{\"a\":\"{one} {two}\"}}\n{{}}\n[\"{two}\"]\n{{\"b\":1}}");
        let (redacted, spans) = read(&text);
        let (put, second) = ("[redacted:github-token]", r#"{"b":1}"#);
        assert_eq!(
            redacted,
            format!("{{\"a\":\"{put} {put}\"}}\n{{}}\n[\"{put}\"]\n{second}")
        );
        let lines: Vec<&str> = redacted.lines().collect();
        for (span, line) in spans.iter().zip(lines) {
            let place = span.offset as usize..(span.offset + span.len) as usize;
            assert_eq!(&redacted[place], line);
        }
    }

    #[test]
    fn a_last_line_that_is_not_whole_is_left_out_and_what_has_grown_begins_as_before() {
        let first = format!("{{\"a\":\"{}\"}}\n", token(1));
        let second = format!("{{\"b\":\"{}\"}}\n", token(2));
        let (whole, _) = read(&(first.clone() + &second));
        for cut in 0..=second.len() {
            let (redacted, _) = read(&(first.clone() + &second[..cut]));
            assert!(whole.starts_with(&redacted), "{redacted}");
            assert!(!redacted.contains("ghp_"), "{redacted}");
        }
    }

    #[test]
    fn thinking_that_is_signed_goes_if_it_would_change() {
        let block = |text: &str| serde_json::json!({"type": "thinking", "thinking": text, "signature": "EpYE"});
        let said = serde_json::json!({"type": "text", "text": token(3)});
        let line =
            serde_json::json!({"content": [block("hm"), block(&token(1)), said]}).to_string();
        let (redacted, _) = read(&line);
        let read: Value = serde_json::from_str(&redacted).expect("JSON");
        let said = serde_json::json!({"type": "text", "text": "[redacted:github-token]"});
        assert_eq!(read, serde_json::json!({"content": [block("hm"), said]}));
        let mut counts = SecretCounts::new();
        let alone = redacted_line(line.as_bytes(), &Secrets::new(), &mut counts);
        assert_eq!((&*alone, counts["github-token"]), (redacted.as_bytes(), 2));
    }
}
