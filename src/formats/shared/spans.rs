//! Finds JSON values in bytes without decoding them: where an object's members and an array's
//! elements begin and end.
//!
//! A torn text gives what stands before the tear. Deliberately absent: validation; whoever decodes
//! a value finds out whether it is right.

use std::ops::Range;

/// Why a value has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Broken {
    /// The text ends inside it.
    Torn,
    /// It is no JSON.
    Bad,
}

impl Broken {
    /// In words.
    pub(in crate::formats) const fn reason(self) -> &'static str {
        match self {
            Self::Torn => "the JSON text ends too early",
            Self::Bad => "not valid JSON",
        }
    }
}

/// The first place from `at` on that is no white space.
pub(in crate::formats) fn skip_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let blank = rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        .count();
    at + blank
}

/// The end of the string that begins at `at`.
fn skip_string(bytes: &[u8], at: usize) -> Result<usize, Broken> {
    let mut at = at + 1;
    loop {
        let rest = bytes.get(at..).ok_or(Broken::Torn)?;
        let found = memchr::memchr3(b'"', b'\\', b'\n', rest).ok_or(Broken::Torn)?;
        at += found;
        match bytes[at] {
            b'"' => return Ok(at + 1),
            b'\\' => at += 2,
            _ => return Err(Broken::Bad),
        }
    }
}

/// The end of the value that begins at `at` (after white space).
pub(in crate::formats) fn skip_value(bytes: &[u8], at: usize) -> Result<usize, Broken> {
    let mut at = skip_space(bytes, at);
    let mut open = Vec::new();
    loop {
        match *bytes.get(at).ok_or(Broken::Torn)? {
            b'"' => at = skip_string(bytes, at)?,
            b'{' => {
                open.push(b'}');
                at += 1;
            }
            b'[' => {
                open.push(b']');
                at += 1;
            }
            close @ (b'}' | b']') => {
                if open.pop() != Some(close) {
                    return Err(Broken::Bad);
                }
                at += 1;
            }
            b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if !open.is_empty() => {
                at += 1;
                continue;
            }
            b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                let rest = &bytes[at..];
                at += rest
                    .iter()
                    .take_while(|byte| {
                        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
                    })
                    .count();
            }
            _ => return Err(Broken::Bad),
        }
        if open.is_empty() {
            return Ok(at);
        }
    }
}

/// The members of the object that begins at `at`, and why there may be more. A value that is torn
/// is the last one and reaches to the end of `bytes`.
pub(in crate::formats) fn members(
    bytes: &[u8],
    at: usize,
) -> (Vec<(String, Range<usize>)>, Option<Broken>) {
    items(bytes, at, *b"{}", |at, found| {
        if bytes[at] != b'"' {
            return Err(Broken::Bad);
        }
        let end = skip_string(bytes, at)?;
        let key = serde_json::from_slice(&bytes[at..end]).map_err(|_| Broken::Bad)?;
        let colon = skip_space(bytes, end);
        match bytes.get(colon) {
            Some(b':') => {}
            None => return Err(Broken::Torn),
            Some(_) => return Err(Broken::Bad),
        }
        let at = skip_space(bytes, colon + 1);
        let end = skip_value(bytes, at);
        found.push((key, at..end.unwrap_or(bytes.len())));
        end
    })
}

/// The elements of the array that begins at `at`, and why there may be more. An element that is
/// torn is left out.
pub(in crate::formats) fn elements(bytes: &[u8], at: usize) -> (Vec<Range<usize>>, Option<Broken>) {
    items(bytes, at, *b"[]", |at, found| {
        let end = skip_value(bytes, at)?;
        found.push(at..end);
        Ok(end)
    })
}

/// The elements of the array that the object at `at` holds under a path of keys; none if there is none.
pub(in crate::formats) fn elements_at(
    bytes: &[u8],
    mut at: usize,
    path: &[&str],
) -> Vec<Range<usize>> {
    for key in path {
        // Of members of the same name the last counts.
        let members = members(bytes, at).0;
        let found = members.into_iter().rfind(|(name, _)| name == key);
        let Some((_, found)) = found else {
            return Vec::new();
        };
        at = found.start;
    }
    elements(bytes, at).0
}

/// What stands between two brackets; `item` reads one at a place, and returns its end.
fn items<T>(
    bytes: &[u8],
    at: usize,
    [open, close]: [u8; 2],
    item: impl Fn(usize, &mut Vec<T>) -> Result<usize, Broken>,
) -> (Vec<T>, Option<Broken>) {
    let mut found = Vec::new();
    let mut at = skip_space(bytes, at);
    if bytes.get(at) != Some(&open) {
        return (found, Some(Broken::Bad));
    }
    at += 1;
    loop {
        at = skip_space(bytes, at);
        match bytes.get(at) {
            None => return (found, Some(Broken::Torn)),
            Some(byte) if *byte == close => return (found, None),
            Some(b',') => at += 1,
            Some(_) => match item(at, &mut found) {
                Ok(end) => at = end,
                Err(broken) => return (found, Some(broken)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_elements_are_exact() {
        let text = br#" {"a" : [1, {"x":"]}\""} ,null], "b\u0041":"c"} "#;
        let (found, broken) = members(text, 0);
        assert_eq!(broken, None);
        let texts: Vec<_> = found
            .iter()
            .map(|(key, span)| (key.as_str(), str::from_utf8(&text[span.clone()]).unwrap()))
            .collect();
        assert_eq!(
            texts,
            [("a", r#"[1, {"x":"]}\""} ,null]"#), ("bA", r#""c""#)]
        );
        let (inner, broken) = elements(text, found[0].1.start);
        assert_eq!((inner.len(), broken), (3, None));
        assert_eq!(&text[inner[1].clone()], br#"{"x":"]}\""}"#);
    }

    #[test]
    fn what_stands_before_a_tear_is_found() {
        let text = br#"[{"a":1},{"b":"#;
        let (found, broken) = elements(text, 0);
        assert_eq!((found.len(), broken), (1, Some(Broken::Torn)));
        assert_eq!(found[0], 1..8);
        let (found, broken) = members(br#"{"a":1,"b":[2,"#, 0);
        assert_eq!((found.len(), broken), (2, Some(Broken::Torn)));
        assert_eq!(skip_value(b"\"a\nb\"", 0), Err(Broken::Bad));
        assert_eq!(skip_value(b"[}", 0), Err(Broken::Bad));
        assert_eq!(skip_value(b"\"a\\", 0), Err(Broken::Torn));
    }
}
