//! How the words of others stand in a text of tract's own, so that none of them can speak as tract, or as the user.
//!
//! What tract says begins in the first column. What it quotes stands behind a margin, each line of it, whatever ends a
//! line; and what must share a line with tract's words is folded onto that line. Whoever lays out messages as text, for a
//! model or a person, does it with these functions. Deliberately absent: control characters on a terminal
//! ([`crate::render::escape`]), HTML.

use std::borrow::Cow;

/// What a quoted line stands behind.
pub const MARGIN: &str = "  ";

/// Whether a reader may see a new line behind this character.
///
/// # Source
///
/// Unicode Standard 5.8, table 5-1 (NLF, VT, FF, LS, PS), and the three separators at which Python's `splitlines` breaks.
const fn ends_line(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// The text with each line behind `margin`. An empty line keeps only what of the margin can be seen.
///
/// ```
/// use tract::model::quote::{MARGIN, quoted};
///
/// assert_eq!(quoted("It says:\n\n[3] user", MARGIN), "  It says:\n\n  [3] user");
/// assert_eq!(quoted("## :3 user\n", "> "), "> ## :3 user\n");
/// ```
pub fn quoted(text: &str, margin: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + text.len() / 16 + margin.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(ends_line).unwrap_or(rest.len());
        quoted += if end > 0 { margin } else { margin.trim_end() };
        let width = match rest[end..].chars().next() {
            Some('\r') if rest[end..].starts_with("\r\n") => 2,
            Some(c) => c.len_utf8(),
            None => 0,
        };
        quoted += &rest[..end + width];
        rest = &rest[end + width..];
    }
    quoted
}

/// The text behind a head of tract's own: its first line stands on the line of the head, the others behind the margin.
///
/// ```
/// use tract::model::quote::headed;
///
/// assert_eq!(headed("(result)", "ok\n[3] user"), "(result) ok\n  [3] user");
/// assert_eq!(headed("(result)", ""), "(result)");
/// ```
pub fn headed(head: &str, text: &str) -> String {
    let quoted = quoted(text, MARGIN);
    match quoted.trim() {
        "" => head.to_owned(),
        quoted => format!("{head} {quoted}"),
    }
}

/// The text on one line: white space is folded, whatever ends a line is a space.
///
/// ```
/// use tract::model::quote::folded;
///
/// assert_eq!(folded("notes.md)\u{2028}\n[4]  user"), "notes.md) [4] user");
/// ```
pub fn folded(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || ends_line(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The text for a place between tags: no tag in it that frames a prompt. Such tags have `_` or `-` in their names, as
/// `tract_given_back` and `system-reminder` do, and no tag of HTML has. Each keeps its letters and its length in
/// characters: its `<` becomes `‹`.
///
/// ```
/// use tract::model::quote::unframed;
///
/// assert_eq!(unframed("x </tract_given_back> y <b>"), "x ‹/tract_given_back> y <b>");
/// ```
pub fn unframed(text: &str) -> Cow<'_, str> {
    let opens = |at: &usize| {
        let rest = text[at + 1..].trim_start();
        let rest = rest.strip_prefix('/').unwrap_or(rest).trim_start();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.');
        let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        name.starts_with(char::is_alphabetic) && name.contains(['_', '-'])
    };
    let tags: Vec<usize> = text
        .match_indices('<')
        .map(|(at, _)| at)
        .filter(opens)
        .collect();
    if tags.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut unframed = String::with_capacity(text.len() + 2 * tags.len());
    let mut from = 0;
    for at in tags {
        unframed += &text[from..at];
        unframed.push('‹');
        from = at + 1;
    }
    Cow::Owned(unframed + &text[from..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::conditions::laws;

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-z #\\[\\]:<>/_]{0,8}",
            prop::sample::select(vec![
                "\n", "\r", "\r\n", "\n\n", "\u{b}", "\u{c}", "\u{85}", "\u{1c}", "\u{2028}",
                "\u{2029}",
            ])
            .prop_map(str::to_owned),
            Just("</tract_given_back>".to_owned()),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(laws(512))]

        /// No line of it, by whatever a reader breaks lines, begins in the first column, and nothing of it is lost.
        #[test]
        fn no_quoted_line_begins_where_tract_speaks(text in texts()) {
            let found = quoted(&text, MARGIN);
            for line in found.split(ends_line) {
                prop_assert!(line.is_empty() || line.starts_with(MARGIN), "{line:?} in {found:?}");
            }
            let letters = |text: &str| text.split(' ').collect::<String>();
            prop_assert_eq!(letters(&found), letters(&text));
            let cited = quoted(&text, "> ");
            let is_cited = cited.split(ends_line).all(|line| line.is_empty() || line.starts_with('>'));
            prop_assert!(is_cited, "{cited:?}");
            prop_assert!(!folded(&text).contains(ends_line));
            prop_assert!(!unframed(&text).contains("</tract_given_back>"));
            prop_assert_eq!(unframed(&text).chars().count(), text.chars().count());
        }
    }

    #[test]
    fn a_line_ends_where_any_reader_breaks_it() {
        let text = "a\r\nb\rc\u{2028}d\n\ne";
        assert_eq!(quoted(text, MARGIN), "  a\r\n  b\r  c\u{2028}  d\n\n  e");
        assert_eq!(quoted("", MARGIN), "");
        assert_eq!(quoted("a\n\nb\n", "> "), "> a\n>\n> b\n");
    }

    #[test]
    fn a_tag_that_frames_a_prompt_is_none_when_quoted() {
        for (text, shown) in [
            ("< / System-Reminder >", "‹ / System-Reminder >"),
            ("<user_instructions a=\"1\">", "‹user_instructions a=\"1\">"),
            ("<div> a < b </p> <-x> <_>", "<div> a < b </p> <-x> <_>"),
        ] {
            assert_eq!(unframed(text), shown);
        }
    }
}
