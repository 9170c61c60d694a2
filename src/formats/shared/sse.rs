//! The lines of server-sent events, in which providers send streams of records.
//!
//! A record stands behind `data:` on a line of its own. Names, ids, comments and the word that ends
//! a stream tell nothing that the records don't. Deliberately absent: data over several lines,
//! which no provider sends.
//!
//! # Source
//!
//! WHATWG, "HTML", 9.2.6, "Interpreting an event stream".

use std::ops::Range;

/// What ends a stream.
const DONE: &[u8] = b"[DONE]";

/// What stands on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::formats) enum SseLine {
    /// A record, there.
    Data(Range<usize>),
    /// Something that holds no record.
    Aside,
    /// No line of server-sent events.
    Other,
}

/// What stands on `line`, which has no line end.
pub(in crate::formats) fn line(line: &[u8]) -> SseLine {
    let is_field = |name: &str| {
        let rest = line.strip_prefix(name.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b":"))
    };
    if line.strip_suffix(b"\r").unwrap_or(line) == DONE {
        return SseLine::Aside;
    }
    if line.starts_with(b"data:") {
        let start = 5 + usize::from(line[5..].starts_with(b" "));
        return match line[start..].trim_ascii() {
            b"" | DONE => SseLine::Aside,
            _ => SseLine::Data(start..line.len()),
        };
    }
    if line.starts_with(b":") || ["event", "id", "retry", "data"].into_iter().any(is_field) {
        SseLine::Aside
    } else {
        SseLine::Other
    }
}

/// The record on a line of any kind; none if there is none.
pub(in crate::formats) fn record(bytes: &[u8]) -> Option<&[u8]> {
    match line(bytes) {
        SseLine::Data(at) => Some(&bytes[at]),
        SseLine::Aside => None,
        SseLine::Other => Some(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_stands_behind_data() {
        assert_eq!(record(b"data: {}"), Some(&b"{}"[..]));
        assert_eq!(record(b"data:{}"), Some(&b"{}"[..]));
        assert_eq!(record(b"{\"data\":1}"), Some(&b"{\"data\":1}"[..]));
        for nothing in [
            "",
            "data:",
            "data",
            "data: [DONE]",
            "[DONE]",
            ": ping",
            ":",
            "event: x",
            "id",
            "retry: 3",
        ] {
            let found = line(nothing.as_bytes());
            let wanted = if nothing.is_empty() {
                SseLine::Other
            } else {
                SseLine::Aside
            };
            assert_eq!(found, wanted, "{nothing}");
        }
        assert_eq!(line(b"events are"), SseLine::Other);
    }
}
