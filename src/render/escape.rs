//! The one door through which untrusted text leaves the program for people's eyes.
//!
//! Message text comes from models, tools and files. Control characters, escape sequences,
//! bidirectional overrides and invisible characters in it are shown, never executed: C0 controls as
//! their pictures (`␛`), everything else as `\u{202e}`. Deliberately absent: cutting, colour, HTML.

use std::borrow::Cow;
use std::fmt::Write;

/// One line: line feeds and tabs are shown too.
pub fn line(text: &str) -> Cow<'_, str> {
    replace(text, |_| false, show)
}

/// One line of someone's text: tabs stay.
pub fn row(text: &str) -> Cow<'_, str> {
    replace(text, |c| c == '\t', show)
}

/// Lines: line feeds and tabs stay; a carriage return before a line feed stays as well.
pub fn block(text: &str) -> Cow<'_, str> {
    let stays = |c| matches!(c, '\n' | '\t');
    if text.contains("\r\n") {
        return Cow::Owned(replace(&text.replace("\r\n", "\n"), stays, show).into_owned());
    }
    replace(text, stays, show)
}

/// JSON text, for a terminal: the same value, with every character that a terminal could act on
/// written as a JSON escape.
pub fn json(text: &str) -> Cow<'_, str> {
    replace(
        text,
        |c| matches!(c, '\n' | '\t'),
        |c, out| {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

fn replace(
    text: &str,
    stays: impl Fn(char) -> bool,
    show: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    // Nearly all that is shown is plain.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain || !text.chars().any(|c| is_unsafe(c) && !stays(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let joins = is_joiner(c)
            && before.is_some_and(is_joined)
            && rest.clone().next().is_some_and(is_joined);
        if !is_unsafe(c) || stays(c) || joins {
            out.push(c);
        } else {
            show(c, &mut out);
        }
        before = Some(c);
    }
    Cow::Owned(out)
}

fn show(c: char, out: &mut String) {
    match c {
        '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(c))),
        '\u{7f}' => out.push('␡'),
        _ => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// Controls, bidirectional controls, line separators, and what takes no room.
///
/// # Source
///
/// Unicode Standard Annex 9, 2.1 to 2.7 (bidirectional controls), and the general category Cf.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The zero-width joiner and non-joiner: they build emoji, and words of many scripts.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Whether a joiner beside `c` has a meaning, rather than hiding in plain Latin text.
fn is_joined(c: char) -> bool {
    !c.is_ascii() && !is_unsafe(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_to_be_executed() {
        assert_eq!(line("\u{1b}[31mred\u{7}"), "␛[31mred␇");
        assert_eq!(line("a\nb\tc\r"), "a␊b␉c␍");
        assert_eq!(block("a\r\nb\tc\rd\0"), "a\nb\tc␍d␀");
        assert_eq!(line("\u{9b}2J\u{7f}"), "\\u{9b}2J␡");
        assert_eq!(line("abc\u{202e}cba\u{2066}x"), "abc\\u{202e}cba\\u{2066}x");
        assert_eq!(line("pay\u{200b}load\u{feff}"), "pay\\u{200b}load\\u{feff}");
        assert_eq!(line("i\u{200d}j"), "i\\u{200d}j");
        assert_eq!(line("\u{e0041}"), "\\u{e0041}");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "",
            "plain",
            "héllo",
            "日本語",
            "👩\u{200d}💻 🇫🇷",
            "می\u{200c}خواهم",
        ] {
            assert_eq!(line(text), text);
            assert_eq!(block(text), text);
        }
        assert!(matches!(line("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"t": "a\u{9b}b\u{202e}c\u{e0041}\u{7f}d\n"});
        let text = value.to_string();
        let shown = json(&text);
        assert!(!shown.chars().any(is_unsafe), "{shown}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"),
            value
        );
    }
}
