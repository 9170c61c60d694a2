//! The importer: one pass over the lines, which may be damaged.

use super::session::Reader;
use crate::error::Result;
use crate::interop::lines::{Lines, json_values, mend};
use crate::interop::{ImportOptions, Input, Sink};
use crate::model::Span;

/// How often progress is told, in records.
const PROGRESS_RECORDS: u64 = 512;

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut reader = Reader::new(sink, options.stem);
    let mut lines = Lines::new(input)?;
    let (mut bytes, mut records) = (0, 0);
    while let Some(line) = lines.next_line()? {
        bytes = line.span.offset + line.span.len;
        reader.line = line.number;
        if line.bytes.is_empty() {
            if line.span.len > 0 {
                reader.problem("line too long, not read".to_owned(), false)?;
            }
            continue;
        }
        records += read_line(&mut reader, line.span.offset, line.bytes, line.terminated)?;
        if line.number % PROGRESS_RECORDS == 0 {
            reader.sink.progress(bytes, records);
        }
    }
    reader.sink.progress(bytes, records);
    reader.finish()
}

/// Reads the values of one line; returns how many there were.
fn read_line(reader: &mut Reader<'_>, offset: u64, bytes: &[u8], terminated: bool) -> Result<u64> {
    let mended = mend(bytes);
    reader.end.lone_surrogates += mended.lone_surrogates;
    if mended.invalid_utf8 {
        reader.problem("bytes that are no UTF-8, read as U+FFFD".to_owned(), false)?;
    }
    let text = mended.text.as_ref();
    let place = |at: usize| {
        let at = if mended.invalid_utf8 {
            source_offset(bytes, at)
        } else {
            at
        };
        at as u64
    };
    let (mut count, mut from) = (0, 0);
    loop {
        let (values, error) = json_values(&text[from..]);
        let mut end = from;
        for (at, value) in values {
            let start = from + at;
            end = start + value.get().len();
            count += 1;
            if count == 2 {
                let reason = "several objects on one line; all of them are used";
                reader.problem(reason.to_owned(), false)?;
            }
            let span = Span {
                offset: offset + place(start),
                len: place(end) - place(start),
            };
            reader.record(value, span)?;
        }
        let Some(error) = error else {
            return Ok(count);
        };
        // A crash can cut a record short and glue the next one to it.
        let rest = text.get(end + 1..).unwrap_or_default();
        let next = rest.find("{\"timestamp\"").map(|at| end + 1 + at);
        if next.is_none() && !terminated {
            reader.problem("the last line is cut short".to_owned(), true)?;
        } else {
            reader.problem(format!("not JSON: {error}"), false)?;
        }
        match next {
            Some(next) => from = next,
            None => return Ok(count),
        }
    }
}

/// Where byte `at` of the lossy text of `bytes` is in `bytes`.
fn source_offset(bytes: &[u8], at: usize) -> usize {
    let (mut source, mut text) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid().len();
        if at <= text + valid {
            return source + (at - text);
        }
        text += valid;
        source += valid;
        if !chunk.invalid().is_empty() {
            text += char::REPLACEMENT_CHARACTER.len_utf8();
            source += chunk.invalid().len();
        }
    }
    source
}
