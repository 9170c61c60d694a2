//! What a program printed to a terminal, as a reader wants it: without its colours, and of a line that it wrote over
//! again and again, the last state.
//!
//! Deliberately absent: any other control sequence, which stays and is escaped where it is shown.

use std::borrow::Cow;

/// The text without sequences that set colours or erase a line, and without what a carriage return wrote over.
///
/// ```
/// use tract::tree::console::printed;
///
/// assert_eq!(printed("\u{1b}[31mred\u{1b}[0m\n"), "red\n");
/// assert_eq!(printed("10%\r50%\r100%\ndone"), "100%\ndone");
/// assert_eq!(printed("one\r\ntwo\r\n"), "one\r\ntwo\r\n");
/// assert_eq!(printed("\u{1b}]0;title\u{7}"), "\u{1b}]0;title\u{7}");
/// ```
pub fn printed(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\r']) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let length = sequence(&rest[at..]);
        plain.push_str(if length == 0 { "\u{1b}" } else { "" });
        rest = &rest[at + length.max(1)..];
    }
    plain.push_str(rest);
    if !plain.contains('\r') {
        return Cow::Owned(plain);
    }
    let mut lines = String::with_capacity(plain.len());
    for line in plain.split_inclusive('\n') {
        let (body, end) = match line.find(['\r', '\n']) {
            Some(_) => {
                let body = line.trim_end_matches(['\r', '\n']);
                (body, &line[body.len()..])
            }
            None => (line, ""),
        };
        let last = body.rfind('\r').map_or(body, |at| &body[at + 1..]);
        lines.push_str(last);
        lines.push_str(end);
    }
    Cow::Owned(lines)
}

/// The bytes of a sequence at the beginning of a text that sets colours or erases a line; 0 for any other.
fn sequence(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let is_parameter = |c: char| c.is_ascii_digit() || c == ';' || c == ':';
    let end = parameters.find(|c| !is_parameter(c));
    match end.map(|end| (end, parameters.as_bytes()[end])) {
        Some((end, b'm' | b'K')) => "\u{1b}[".len() + end + 1,
        _ => 0,
    }
}
