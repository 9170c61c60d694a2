//! What to look for in messages, and where it stands in one.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

use crate::error::{Error, Result};
use crate::model::call::Brief;
use crate::model::searched::{Literals, searched};
use crate::model::{Message, Part};

/// What a compiled regular expression may take, in bytes; what it takes while it runs is limited
/// likewise. It is the crate's own default, stated since a pattern may come from anywhere.
const REGEX_BYTES: usize = 10 << 20;

/// A text or a regular expression to look for. Case doesn't matter.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    literals: Literals,
}

/// A line of a message with matches in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedLine {
    /// The part of the message that it stands in, from 0.
    pub part: usize,
    /// The line, whole, without its end. Hostile until escaped.
    pub text: String,
    /// Where it matches, in bytes; a match that goes on in the next line ends with this one.
    pub matches: Vec<Range<usize>>,
}

impl MatchedLine {
    /// The same of the message that it stands in: the beginning of a call as the call is told everywhere, where that has all
    /// that matched.
    pub(crate) fn in_brief(self, message: &Message) -> Self {
        let Some(Part::ToolCall {
            name, arguments, ..
        }) = message.parts.get(self.part)
        else {
            return self;
        };
        let begins = self.text.strip_prefix(name.as_str());
        if !begins.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) {
            return self;
        }
        let text = Brief::of(name, arguments).whole();
        let mut from = 0;
        let mut matches = Vec::with_capacity(self.matches.len());
        for found in &self.matches {
            let Some(at) = text[from..].find(&self.text[found.clone()]) else {
                return self;
            };
            matches.push(from + at..from + at + found.len());
            from += at + found.len();
        }
        Self {
            text,
            matches,
            part: self.part,
        }
    }
}

impl Pattern {
    /// A plain text: nothing in it has a meaning of its own.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for an empty text, and for one that is too long to look for.
    pub fn text(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::input("the text to find", "it is empty"));
        }
        Ok(Self {
            regex: compile(&regex::escape(text), "the text to find")?,
            literals: Literals::Text(text.to_owned()),
        })
    }

    /// A regular expression. `^` and `$` match at every line, `.` doesn't match a line's end, and
    /// `(?-i)` makes case matter.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for what is none, or would take too much memory.
    ///
    /// # Source
    ///
    /// The syntax of the `regex` crate, <https://docs.rs/regex/latest/regex/#syntax>.
    pub fn regex(expression: &str) -> Result<Self> {
        let regex = compile(expression, "the regular expression")?;
        // Read as if case mattered, for its letters to stay literals; case is for the index to
        // fold.
        let parsed = ParserBuilder::new()
            .multi_line(true)
            .crlf(true)
            .build()
            .parse(expression);
        let literals = parsed.map_or(Literals::Anything, |hir| literals(&hir));
        Ok(Self { regex, literals })
    }

    /// The texts without which nothing matches.
    pub(crate) fn literals(&self) -> &Literals {
        &self.literals
    }

    /// Whether the pattern is somewhere in the message's [searched] text.
    pub fn is_in(&self, message: &Message) -> bool {
        searched(message)
            .iter()
            .any(|piece| self.matches(&piece.text).next().is_some())
    }

    /// Whether the pattern is somewhere in a text.
    pub fn is_in_text(&self, text: &str) -> bool {
        self.matches(text).next().is_some()
    }

    /// The lines of the message's searched text with the pattern in them, in order.
    pub fn lines(&self, message: &Message) -> Vec<MatchedLine> {
        let mut lines = Vec::new();
        for piece in searched(message) {
            // Where the line of the last match begins.
            let mut last = None;
            for found in self.matches(&piece.text) {
                let start = piece.text[..found.start].rfind('\n').map_or(0, |at| at + 1);
                let rest = &piece.text[found.start..];
                let end = rest
                    .find('\n')
                    .map_or(piece.text.len(), |at| found.start + at);
                let text = &piece.text[start..end];
                let text = text.strip_suffix('\r').unwrap_or(text);
                let cut = |at: usize| (at - start).min(text.len());
                let found = cut(found.start)..cut(found.end);
                if last != Some(start) {
                    last = Some(start);
                    lines.push(MatchedLine {
                        part: piece.part,
                        text: text.to_owned(),
                        matches: Vec::new(),
                    });
                }
                if let Some(line) = lines.last_mut() {
                    line.matches.push(found);
                }
            }
        }
        lines
    }

    /// A match of nothing, as `x*` finds everywhere, is none.
    fn matches<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let found = self.regex.find_iter(text).map(|found| found.range());
        found.filter(|range| !range.is_empty())
    }
}

fn compile(expression: &str, what: &str) -> Result<Regex> {
    RegexBuilder::new(expression)
        .case_insensitive(true)
        .multi_line(true)
        .crlf(true)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(REGEX_BYTES)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => Error::input(what, "it is too big"),
            error => {
                // A syntax error comes with a drawing of where; its last line says what.
                let text = error.to_string();
                let reason = text.lines().last().unwrap_or_default();
                Error::input(what, reason.trim_start_matches("error: "))
            }
        })
}

/// The texts that every match of `hir` holds.
fn literals(hir: &Hir) -> Literals {
    match hir.kind() {
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => Literals::Text(text.to_owned()),
            Err(_) => Literals::Anything,
        },
        HirKind::Capture(group) => literals(&group.sub),
        HirKind::Repetition(repeated) if repeated.min > 0 => literals(&repeated.sub),
        HirKind::Concat(all) => Literals::All(all.iter().map(literals).collect()),
        HirKind::Alternation(any) => Literals::Any(any.iter().map(literals).collect()),
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => {
            Literals::Anything
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Role;

    fn lines(pattern: &Pattern, text: &str) -> Vec<(String, Vec<(usize, usize)>)> {
        let message = Message::text(Role::User, text);
        let ends = |line: MatchedLine| {
            let ends = line.matches.iter().map(|range| (range.start, range.end));
            (line.text, ends.collect())
        };
        pattern.lines(&message).into_iter().map(ends).collect()
    }

    #[test]
    fn a_match_is_shown_in_its_line() {
        let text = "one\r\nTwo two\nthree\n";
        let two = Pattern::text("two").expect("a pattern");
        assert_eq!(
            lines(&two, text),
            [("Two two".to_owned(), vec![(0, 3), (4, 7)])]
        );
        let end = Pattern::regex("E$").expect("a pattern");
        let expected = [
            ("one".to_owned(), vec![(2, 3)]),
            ("three".to_owned(), vec![(4, 5)]),
        ];
        assert_eq!(lines(&end, text), expected);
        let across = Pattern::text("one\r\nt").expect("a pattern");
        assert_eq!(lines(&across, text), [("one".to_owned(), vec![(0, 3)])]);
        let nothing = Pattern::regex("x*").expect("a pattern");
        assert_eq!(lines(&nothing, text), []);
    }

    #[test]
    fn nothing_in_a_plain_text_is_special() {
        for text in [
            "a.c",
            "\"AND OR NOT",
            "x*y",
            "(",
            "\\",
            "100% [x] {1}",
            "NEAR(a b)",
            "^",
        ] {
            let pattern = Pattern::text(text).expect("a pattern");
            assert!(pattern.is_in(&Message::text(Role::User, format!("so: {text}."))));
            assert!(
                !pattern.is_in(&Message::text(Role::User, "abc AND x y")),
                "{text}"
            );
        }
        assert!(Pattern::text("").is_err());
    }

    #[test]
    fn what_is_no_regular_expression_is_refused() {
        let refused = |text: &str| Pattern::regex(text).expect_err("refused").to_string();
        assert_eq!(refused("a(b"), "the regular expression: unclosed group");
        assert_eq!(
            refused(r"(\w{500}){500}"),
            "the regular expression: it is too big"
        );
    }

    #[test]
    fn the_fixed_parts_of_an_expression_are_known() {
        let known = |text: &str| Pattern::regex(text).expect("a pattern").literals;
        let text = |text: &str| Literals::Text(text.to_owned());
        assert_eq!(known("parse"), text("parse"));
        assert_eq!(known(".*"), Literals::Anything);
        assert_eq!(
            known("(?i)parse"),
            Literals::All(vec![Literals::Anything; 5])
        );
        assert_eq!(
            known(r"^fn (\w+)\(|struct{2}"),
            Literals::Any(vec![
                Literals::All(vec![
                    Literals::Anything,
                    text("fn "),
                    Literals::Anything,
                    text("(")
                ]),
                Literals::All(vec![text("struc"), text("t")]),
            ])
        );
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        /// The index is asked for nothing that a match could do without.
        #[test]
        fn what_matches_holds_the_literals(
            expression in r"(([abK东]|ß|\(a\|b\)|\(ab\)|\[ab\]|\.|a\?|b\+|\(\?:ka\)\{2\}|\||\^|\$)){1,7}",
            text in "[abkKABßẞ东\u{212a}\n]{0,12}",
        ) {
            if let Ok(pattern) = Pattern::regex(&expression)
                && pattern.regex.is_match(&text)
            {
                prop_assert!(pattern.literals.are_in(&text), "{:?}", pattern.literals);
            }
        }
    }
}
