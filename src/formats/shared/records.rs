//! The records of a source: JSON values one a line, or inside one document.
//!
//! What goes wrong with a record before anybody asks what it means is found and worded here: bytes
//! that are no UTF-8, text that is no JSON, a torn end, values glued together. Deliberately absent:
//! what a record means.

use std::cell::Cell;
use std::io::Write;
use std::ops::Range;
use std::str::Utf8Chunks;

use serde_json::value::RawValue;

use crate::error::{Error, Result};
use crate::formats::shared::lines::{Lines, Mended, SourceLine, lines, mend};
use crate::formats::shared::spans::{Broken, members, skip_space, skip_value};
use crate::formats::shared::sse::{self, SseLine};
use crate::formats::{Input, Problem, Sink};
use crate::model::Span;
use crate::wire::anthropic::MARK;
use crate::wire::json::{Object, array, decode};

/// The longest document that is read: 1 GiB, for it is held in memory whole.
pub(in crate::formats) const DOCUMENT_BYTES_MAX: u64 = 1 << 30;
/// How much of a document over several lines says what it is: 64 KiB.
const BEGINNING_BYTES: u64 = 64 << 10;

/// As much of a first line is read to learn of which session it is.
const FIRST_LINE_BYTES: u64 = 16 << 20;
/// How often progress is told, in lines.
const PROGRESS_LINES: u64 = 256;

/// Bytes of a source, with their place in it.
#[derive(Clone, Copy)]
pub(in crate::formats) struct Text<'a> {
    pub(in crate::formats) bytes: &'a [u8],
    /// Where they begin in the source.
    pub(super) offset: u64,
    /// The line that they all stand on; none: they are a document, or a part of one.
    pub(super) line: Option<u64>,
    /// How many line ends of a document stand before them.
    pub(super) lines_before: u64,
    /// Up to where the line ends of a document were counted last, and how many there are.
    pub(super) counted: Option<&'a Cell<(usize, u64)>>,
}

impl Text<'_> {
    /// The place in the source of some of the bytes.
    pub(in crate::formats) fn span(&self, at: &Range<usize>) -> Span {
        Span {
            offset: self.offset + at.start as u64,
            len: at.len() as u64,
        }
    }

    /// A problem with the byte at `at`: in a document its line is counted.
    pub(in crate::formats) fn problem(&self, at: usize, reason: impl Into<String>) -> Problem {
        Problem::new(self.line.unwrap_or_else(|| self.line_of(at)), reason)
    }

    /// The line of a document on which the byte at `at` stands. One problem after the other is found, so what is
    /// counted is what lies between them.
    fn line_of(&self, at: usize) -> u64 {
        let at = at.min(self.bytes.len());
        let ends = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u64;
        let (from, before) = self.counted.map_or((0, 0), Cell::get);
        let before = if from <= at {
            before + ends(&self.bytes[from..at])
        } else {
            before - ends(&self.bytes[at..from])
        };
        if let Some(counted) = self.counted {
            counted.set((at, before));
        }
        self.lines_before + before + 1
    }

    /// The value at `at`, and how many lone surrogates in it became U+FFFD.
    pub(in crate::formats) fn decode(
        &self,
        at: &Range<usize>,
    ) -> Result<(Box<RawValue>, u64), String> {
        let mended = mend(&self.bytes[at.clone()]);
        let raw = RawValue::from_string(mended.text.into_owned());
        Ok((
            raw.map_err(|error| error.to_string())?,
            mended.lone_surrogates,
        ))
    }

    /// Reads the message at `at`, which must be an object. What is wrong with it is told to the
    /// sink; `lone` grows by the lone surrogates in it.
    pub(in crate::formats) fn message<T>(
        &self,
        at: &Range<usize>,
        lone: &mut u64,
        sink: &mut dyn Sink,
        read: impl FnOnce(&RawValue) -> Result<T, String>,
    ) -> Result<Option<T>> {
        let found = self.decode(at).and_then(|(raw, count)| {
            *lone += count;
            if raw.get().starts_with('{') {
                read(&raw)
            } else {
                Err("a message that is no object".to_owned())
            }
        });
        match found {
            Err(reason) => {
                sink.problem(self.problem(at.start, reason))?;
                Ok(None)
            }
            Ok(found) => {
                // Of a line it has been said already.
                if self.line.is_none() && std::str::from_utf8(&self.bytes[at.clone()]).is_err() {
                    sink.problem(self.problem(at.start, "invalid UTF-8"))?;
                }
                Ok(Some(found))
            }
        }
    }
}

/// A source that is one document, held in memory.
pub(in crate::formats) struct Held {
    bytes: Vec<u8>,
    /// Where the document begins: after a byte order mark and white space.
    pub(in crate::formats) start: usize,
    counted: Cell<(usize, u64)>,
}

impl Held {
    pub(in crate::formats) fn read(input: &dyn Input) -> Result<Self> {
        if input.size_bytes() > DOCUMENT_BYTES_MAX {
            let (found, max) = (input.size_bytes() >> 20, DOCUMENT_BYTES_MAX >> 20);
            let why =
                format!("one document of {found} MiB, and {max} MiB is the most that is held");
            return Err(Error::input("the file", why));
        }
        let bytes = input.front(u64::MAX).map_err(Error::io("source"))?;
        let start = skip_space(&bytes, bytes.len() - without_mark(&bytes).len());
        Ok(Self {
            bytes,
            start,
            counted: Cell::default(),
        })
    }

    pub(in crate::formats) fn text(&self) -> Text<'_> {
        Text {
            bytes: &self.bytes,
            offset: 0,
            line: None,
            lines_before: 0,
            counted: Some(&self.counted),
        }
    }

    /// Says what is wrong behind the last record: why there may be more, or that there is more
    /// than the document.
    pub(in crate::formats) fn end(
        &self,
        broken: Option<Broken>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let text = self.text();
        if let Some(broken) = broken {
            sink.problem(text.problem(self.bytes.len(), broken.reason()))
        } else if let Ok(end) = skip_value(&self.bytes, self.start)
            && skip_space(&self.bytes, end) < self.bytes.len()
        {
            sink.problem(text.problem(end, "more text after the document"))
        } else {
            Ok(())
        }
    }
}

/// A record with some of its values changed, or taken out where `change` gives none.
pub(in crate::formats) fn rewritten(
    record: &str,
    change: impl Fn(&str, &str) -> Option<String>,
) -> Object {
    let (members, _) = members(record.as_bytes(), 0);
    members
        .into_iter()
        .fold(Object::new(), |object, (key, span)| {
            match change(&key, &record[span]) {
                Some(value) => object.raw(&key, &value),
                None => object,
            }
        })
}

/// A record without some of its members.
pub(in crate::formats) fn without(record: &str, keys: &[&str]) -> Object {
    rewritten(record, |key, value| {
        (!keys.contains(&key)).then(|| value.to_owned())
    })
}

/// A record with another value in place of one of its members, if it has that.
pub(in crate::formats) fn replaced(record: &str, key: &str, json: &str) -> Object {
    rewritten(record, |name, value| {
        Some(if name == key { json } else { value }.to_owned())
    })
}

/// Writes a record as a line: line ends between its tokens, as in a block that is kept as it came,
/// become spaces.
pub(in crate::formats) fn write_line(out: &mut dyn Write, record: &str) -> Result<()> {
    let line = record.replace(['\n', '\r'], " ");
    writeln!(out, "{line}").map_err(Error::io("export"))
}

/// Hands the records of a file of lines to `each`, with their places; what is damaged is passed
/// over.
pub(crate) fn each_record(input: &dyn Input, each: &mut dyn FnMut(Span, &str)) -> Result<()> {
    struct Each<'a>(&'a mut dyn FnMut(Span, &str));

    impl Sink for Each<'_> {}

    impl LineReader for Each<'_> {
        fn sink(&mut self) -> &mut dyn Sink {
            self
        }

        fn may_be_sent(&self) -> bool {
            true
        }

        fn record(&mut self, record: Record<'_>) -> Result<()> {
            (self.0)(record.span(), record.value.get());
            Ok(())
        }
    }

    each_line(input, &mut Each(each)).map(drop)
}

/// From this version on Claude Code sends back who made a call, as its session says.
///
/// # Source
///
/// Requests of the client's versions 2.1.303 and 2.1.304, for the same session.
const SENDS_CALLERS: [u64; 3] = [2, 1, 304];

/// Whether the client that wrote a record sends back who made a call.
pub(crate) fn sends_callers(record: &str) -> Option<bool> {
    #[derive(serde::Deserialize)]
    struct Client {
        version: String,
    }
    let client: Client = serde_json::from_str(record).ok()?;
    let numbers = client.version.split('.').map(|part| part.parse().ok());
    let numbers: Option<Vec<u64>> = numbers.collect();
    Some(numbers? >= SENDS_CALLERS.to_vec())
}

/// The content that a provider is sent of a record: its own, that of the message in it, or all of it
/// where it is nothing else. With `callers`, it goes on saying who made a call.
pub(crate) fn content(record: &str, callers: bool) -> Option<String> {
    lazy! { struct Head { message, content } }
    let record = record.trim();
    if record.starts_with(['"', '[']) {
        return Some(record.to_owned());
    }
    let head: Head<'_> = serde_json::from_str(record).ok()?;
    let inner: Option<Head<'_>> = decode(head.message);
    let Some(content) = inner.and_then(|inner| inner.content) else {
        return head.content.map(RawValue::get).map(str::to_owned);
    };
    // A session says of a call who made it, which its client did not always send back.
    let blocks = serde_json::from_str::<Vec<&RawValue>>(content.get());
    let is_left_out = !callers && content.get().contains("\"caller\"");
    let blocks = blocks.ok().filter(|_| is_left_out);
    Some(match blocks {
        Some(blocks) => array(blocks.into_iter().map(|block| match block.get() {
            block if block.starts_with('{') => without(block, &["caller"]).finish(),
            block => block.to_owned(),
        })),
        None => content.get().to_owned(),
    })
}

/// A content without the marks for a provider's cache: these belong to a request.
pub(crate) fn unmarked(content: String) -> String {
    if !content.contains(MARK) {
        return content;
    }
    let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(&content) else {
        return content;
    };
    array(blocks.into_iter().map(|block| match block.get() {
        block if block.starts_with('{') => without(block, &[MARK]).finish(),
        block => block.to_owned(),
    }))
}

/// A source's bytes without a UTF-8 byte order mark.
pub(in crate::formats) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// A value on a line.
pub(in crate::formats) struct Record<'a> {
    /// The value, mended.
    pub(in crate::formats) value: &'a RawValue,
    /// The line as it stands in the source.
    pub(in crate::formats) text: Text<'a>,
    /// Where the value stands on the line.
    pub(in crate::formats) at: Range<usize>,
    /// The line's number, from 1.
    pub(in crate::formats) line: u64,
    /// Which value of its line it is, from 1.
    pub(in crate::formats) number: u64,
}

impl Record<'_> {
    /// Its place in the source.
    pub(in crate::formats) fn span(&self) -> Span {
        self.text.span(&self.at)
    }
}

/// Takes the records of a file of lines.
pub(in crate::formats) trait LineReader {
    /// Who is told what is wrong with a line.
    fn sink(&mut self) -> &mut dyn Sink;

    /// With what a record begins, where one that was cut short by a crash may have the next glued
    /// to it: there reading goes on after text that is no JSON.
    fn restart(&self) -> Option<&'static str> {
        None
    }

    /// Whether a line is meant to hold one record alone.
    fn one_a_line(&self) -> bool {
        true
    }

    /// Whether the records may come as server-sent events.
    fn may_be_sent(&self) -> bool {
        false
    }

    /// The next record.
    fn record(&mut self, record: Record<'_>) -> Result<()>;
}

/// Hands all records of `input` to `reader`; returns how many lone surrogates became U+FFFD.
pub(in crate::formats) fn each_line(input: &dyn Input, reader: &mut dyn LineReader) -> Result<u64> {
    each_line_from(input, 0, reader)
}

/// The same of the lines from `offset` on, where one begins; they are counted from there.
pub(in crate::formats) fn each_line_from(
    input: &dyn Input,
    offset: u64,
    reader: &mut dyn LineReader,
) -> Result<u64> {
    let mut lines = Lines::from(input, offset)?;
    let (mut bytes, mut records, mut lone_surrogates) = (0, 0, 0);
    while let Some(line) = lines.next_line()? {
        bytes = line.span.offset + line.span.len;
        if let Some(reason) = line.too_long() {
            reader.sink().problem(Problem::new(line.number, reason))?;
            continue;
        }
        let line = match reader.may_be_sent().then(|| sse::line(line.bytes)) {
            Some(SseLine::Aside) => continue,
            Some(SseLine::Data(at)) => line.part(at),
            Some(SseLine::Other) | None => line,
        };
        let mut number = 0;
        for part in between_nuls(line.bytes) {
            let terminated = line.terminated || part.end < line.bytes.len();
            let part = SourceLine {
                terminated,
                ..line.part(part)
            };
            let mended = mend(part.bytes);
            lone_surrogates += mended.lone_surrogates;
            number = each_value(&part, &mended, number, reader)?;
        }
        records += number;
        if memchr::memchr(0, line.bytes).is_some() {
            let reason = "NUL bytes, as a crash leaves them; what stands beside them is read";
            reader.sink().problem(Problem::new(line.number, reason))?;
        }
        if line.number % PROGRESS_LINES == 0 {
            reader.sink().progress(bytes, records);
        }
    }
    reader.sink().progress(bytes, records);
    Ok(lone_surrogates)
}

/// Where a line stands but for the NUL bytes in it, which no JSON has: all of it, of nearly every line.
fn between_nuls(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let ends = memchr::memchr_iter(0, bytes).chain([bytes.len()]);
    let mut start = 0;
    ends.filter_map(move |end| {
        let part = std::mem::replace(&mut start, end + 1)..end;
        (!part.is_empty()).then_some(part)
    })
}

/// Reads the values of a line, or of a part of it that follows so many of them; returns how many there are now.
fn each_value(
    line: &SourceLine<'_>,
    mended: &Mended<'_>,
    mut number: u64,
    reader: &mut dyn LineReader,
) -> Result<u64> {
    let text = mended.text.as_ref();
    let mut places = mended.invalid_utf8.then(|| Places::of(line.bytes));
    let mut place = |at: usize| places.as_mut().map_or(at, |places| places.source(at));
    let mut from = 0;
    let torn = loop {
        let (mut end, mut failure) = (from, None);
        for value in serde_json::Deserializer::from_str(&text[from..]).into_iter::<&RawValue>() {
            let value = match value {
                Ok(value) => value,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            };
            let start = value.get().as_ptr() as usize - text.as_ptr() as usize;
            end = start + value.get().len();
            number += 1;
            if number == 2 && reader.one_a_line() {
                // A line feed is lost, and nothing else.
                reader.sink().problem(Problem {
                    harmless: true,
                    ..Problem::new(line.number, "several objects on one line; all are used")
                })?;
            }
            reader.record(Record {
                value,
                text: Text {
                    bytes: line.bytes,
                    offset: line.span.offset,
                    line: Some(line.number),
                    lines_before: 0,
                    counted: None,
                },
                at: place(start)..place(end),
                line: line.number,
                number,
            })?;
        }
        let Some(failure) = failure else { break false };
        let restart = reader.restart();
        let next = restart.and_then(|mark| Some(end + 1 + text.get(end + 1..)?.find(mark)?));
        let torn = !line.terminated && next.is_none() && failure.is_eof();
        reader.sink().problem(if torn {
            Problem {
                harmless: true,
                ..Problem::new(line.number, "the last line is torn")
            }
        } else {
            Problem::new(line.number, json_error("bad JSON", &failure, from))
        })?;
        match next {
            Some(next) => from = next,
            None => break torn,
        }
    };
    if mended.invalid_utf8 && !torn {
        reader
            .sink()
            .problem(Problem::new(line.number, "invalid UTF-8"))?;
    }
    Ok(number)
}

/// What is wrong with a JSON text, and where, said once: `bad JSON at column 7: expected value`. Its
/// line is counted where there are several; `before` bytes stand before the text on its first one.
pub fn json_error(what: &str, error: &serde_json::Error, before: usize) -> String {
    let text = error.to_string();
    let (line, column) = (error.line(), error.column());
    let reason = text.strip_suffix(&format!(" at line {line} column {column}"));
    let reason = reason.unwrap_or(&text);
    match line {
        // What is another value than it should be is so as a whole.
        0 | 1 if before + column == 0 => format!("{what}: {reason}"),
        0 | 1 => format!("{what} at column {}: {reason}", before + column),
        _ => format!("{what} at line {line}, column {column}: {reason}"),
    }
}

/// The first line of a source, mended; none if there is none.
pub fn first_line(input: &dyn Input) -> Result<Option<String>> {
    let mut lines = Lines::new(input)?;
    let line = lines.next_line()?;
    Ok(line.map(|line| mend(line.bytes).text.into_owned()))
}

/// The first line of a source, mended; of a document over several lines, and of a line that is too long to say soon what it
/// is, as much as says it. None if there is nothing.
pub fn beginning(input: &dyn Input) -> Result<Option<String>> {
    let mut limit = BEGINNING_BYTES;
    let front = loop {
        let front = input.front(limit).map_err(Error::io("source"))?;
        let is_all = limit >= input.size_bytes().min(FIRST_LINE_BYTES);
        if is_all || memchr::memchr(b'\n', &front).is_some() {
            break front;
        }
        limit *= 16;
    };
    let front = without_mark(&front);
    let line = lines(front).next();
    let line = line.unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // Of a document over several lines the first is a bracket alone.
    let said = if line.trim_ascii() == b"{" {
        &front[..front.len().min(BEGINNING_BYTES as usize)]
    } else {
        line
    };
    Ok((!front.is_empty()).then(|| mend(said).text.into_owned()))
}

/// Where the bytes of a lossy text are in what it was made of, asked in their order.
struct Places<'b> {
    chunks: Utf8Chunks<'b>,
    /// Where the chunk that is looked at begins, in the source and in the text.
    source: usize,
    text: usize,
    /// How long it is: what is valid of it, and what is not.
    valid: usize,
    invalid: usize,
}

impl<'b> Places<'b> {
    fn of(bytes: &'b [u8]) -> Self {
        Self {
            chunks: bytes.utf8_chunks(),
            source: 0,
            text: 0,
            valid: 0,
            invalid: 0,
        }
    }

    /// Where byte `at` of the text is in the source; `at` is never less than it was before.
    fn source(&mut self, at: usize) -> usize {
        while at > self.text + self.valid {
            self.text += self.valid;
            if self.invalid > 0 {
                self.text += char::REPLACEMENT_CHARACTER.len_utf8();
            }
            self.source += self.valid + self.invalid;
            let Some(chunk) = self.chunks.next() else {
                (self.valid, self.invalid) = (0, 0);
                return self.source;
            };
            (self.valid, self.invalid) = (chunk.valid().len(), chunk.invalid().len());
        }
        self.source + at.saturating_sub(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Read(
        Vec<(u64, Span, String)>,
        Vec<(u64, String)>,
        Option<&'static str>,
    );

    impl Sink for Read {
        fn problem(&mut self, problem: Problem) -> Result<()> {
            self.1.push((problem.line, problem.reason));
            Ok(())
        }
    }

    impl LineReader for Read {
        fn sink(&mut self) -> &mut dyn Sink {
            self
        }
        fn restart(&self) -> Option<&'static str> {
            self.2
        }
        fn record(&mut self, record: Record<'_>) -> Result<()> {
            let text = record.value.get().to_owned();
            self.0.push((record.number, record.span(), text));
            Ok(())
        }
    }

    #[test]
    fn the_lines_of_problems_are_counted_from_one_to_the_next() {
        let bytes = "[1,\n2,\n\n3]\n".as_bytes();
        let held = Held::read(&bytes).expect("bytes can be read");
        let text = held.text();
        let places = [0, 3, 4, 8, 9, 2, 99, 7, 0];
        for at in places {
            let before = &bytes[..at.min(bytes.len())];
            let line = before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
            assert_eq!(text.problem(at, "x").line, line, "{at}");
        }
    }

    fn read(bytes: &[u8], restart: Option<&'static str>) -> Read {
        let mut read = Read(Vec::new(), Vec::new(), restart);
        each_line(&bytes, &mut read).expect("bytes can be read");
        for (_, span, text) in &read.0 {
            let at = span.offset as usize..(span.offset + span.len) as usize;
            assert_eq!(mend(&bytes[at]).text, *text);
        }
        read
    }

    #[test]
    fn two_values_on_a_line_are_two_values() {
        let found = read(b"{\"a\":1}{\"b\":2} x\n", None);
        let numbers: Vec<_> = found.0.iter().map(|(number, ..)| *number).collect();
        assert_eq!(numbers, [1, 2]);
        assert_eq!(found.1.len(), 2, "{:?}", found.1);
    }

    #[test]
    fn places_are_those_of_the_source_where_text_was_mended() {
        let found = read(b"{\"a\":\"\xff\xff\xff\"} {\"b\":\"\\ud800\"}\n", None);
        assert_eq!(found.0.len(), 2);
        assert_eq!(found.1.last().expect("one").1, "invalid UTF-8");
    }

    proptest::proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        /// Of every character that came through, as if each were asked for alone.
        #[test]
        fn places_of_a_mended_text_are_found_in_their_order(
            pieces in proptest::collection::vec(proptest::sample::select(
                vec![&b"a"[..], b"\xc3\xa4", b"\xff", b"\xe2\x82", b"\xf0\x9f\x98\x80", b"{}"],
            ), 0..20),
            skipped in 1_usize..4,
        ) {
            let bytes = pieces.concat();
            let text = String::from_utf8_lossy(&bytes);
            let mut places = Places::of(&bytes);
            for (at, character) in text.char_indices().step_by(skipped) {
                let source = places.source(at);
                let rest = String::from_utf8_lossy(&bytes[source..]);
                proptest::prop_assert_eq!(rest.chars().next(), Some(character));
                let before = String::from_utf8_lossy(&bytes[..source]);
                proptest::prop_assert_eq!(&*before, &text[..at]);
            }
        }
    }

    #[test]
    fn a_record_beside_nul_bytes_is_read() {
        let found = read(
            b"{\"a\":1}\n\0\0\0{\"b\":2}\n{\"c\0\0{\"d\":3}\0\0{\"e\":4}\n\0\0{\"f",
            None,
        );
        let values: Vec<(u64, &str)> = found.0.iter().map(|it| (it.0, &*it.2)).collect();
        let [a, b, d, e] = [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"d":3}"#, r#"{"e":4}"#];
        assert_eq!(values, [(1, a), (1, b), (1, d), (2, e)]);
        let lines: Vec<u64> = found.1.iter().map(|problem| problem.0).collect();
        assert_eq!(lines, [2, 3, 3, 3, 4, 4], "{:?}", found.1);
    }

    #[test]
    fn a_record_glued_to_a_torn_one_is_read() {
        let bytes = b"{\"t\":1,\"x\":{\"t\":2}\n{\"t\":3";
        let found = read(bytes, Some("{\"t\""));
        assert_eq!(found.0.len(), 1);
        assert_eq!(found.0[0].2, "{\"t\":2}");
        assert_eq!(found.1.last().expect("one").1, "the last line is torn");
    }
}
