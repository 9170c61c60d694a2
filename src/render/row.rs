//! A message in a list, in one line. Deliberately absent: the other columns of the list.

use std::borrow::Cow;

use crate::model::typed_command;
use crate::render::{Label, Line};

/// What stands between a call and how its result begins.
const BETWEEN: &str = " → ";
/// What is said of a message that says nothing.
pub(super) const NOTHING: &str = "(empty)";

/// How a message begins, after the call that it answers, if it answers one: as much of both as
/// `room` columns hold, where there is a limit. Both texts are hostile until they are here.
pub fn said(call: Option<&str>, preview: &str, room: Option<usize>) -> Line {
    let text = match (preview.is_empty(), call) {
        (true, _) => Label::Dim.of(NOTHING),
        (false, None) => match (typed_command(preview), block(preview)) {
            (Some(command), _) => Line::from(command.as_str()),
            (None, Some((name, text))) => Label::Dim.of(format!("{name}: ")) + text.as_ref(),
            (None, None) => Line::from(preview),
        },
        (false, Some(_)) => match block(preview) {
            Some((name, text)) => Label::Dim.of(format!("{name}: {text}")),
            None => Label::Dim.of(preview),
        },
    };
    let Some(call) = call else {
        return text.within(room);
    };
    answered(Line::from(call), text, room)
}

/// A call, and how its result begins, in so much room.
pub(super) fn answered(call: Line, text: Line, room: Option<usize>) -> Line {
    shared(call, Label::Dim.of(BETWEEN), text, room)
}

/// A text, and behind it the call that its message makes, in so much room.
pub(super) fn beside(text: Line, call: Line, room: Option<usize>) -> Line {
    shared(text, Line::from("  "), call, room)
}

/// Two lines in one. The first says more, and gets two thirds of the room where both do not fit.
fn shared(mut first: Line, between: Line, second: Line, room: Option<usize>) -> Line {
    if let Some(room) = room {
        let rest = between.width_cols() + second.width_cols();
        first = first.cut((room * 2 / 3).max(room.saturating_sub(rest)));
    }
    (first + between + second).within(room)
}

/// The same behind the beginning of a line, in what that leaves of `width_cols`.
pub fn after(head: Line, call: Option<&str>, preview: &str, width_cols: Option<usize>) -> Line {
    let room = width_cols.map(|width| width.saturating_sub(head.width_cols()));
    head + said(call, preview, room)
}

/// What a block is that a client wrote, and how it begins: `<environment_context> <cwd>/w</cwd>` is
/// `environment context` and `cwd /w`. Its name is of several words; tags of one, and those with
/// attributes, may be a person's.
fn block(preview: &str) -> Option<(String, Cow<'_, str>)> {
    let (name, rest) = preview.strip_prefix('<')?.split_once('>')?;
    let mut words = name.split(['_', '-', ' ']);
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
    if name.len() > 40 || words.clone().count() < 2 || !words.all(is_word) {
        return None;
    }
    let rest = rest.trim();
    let text = if rest.contains('<') {
        Cow::Owned(without_tags(rest))
    } else {
        Cow::Borrowed(rest)
    };
    let text = if text.is_empty() {
        Cow::Borrowed(NOTHING)
    } else {
        text
    };
    Some((name.replace(['_', '-'], " "), text))
}

/// The text with the names of its tags alone: `<cwd>/w</cwd> <shell>zsh</shell>` is `cwd /w, shell zsh`.
fn without_tags(text: &str) -> String {
    let mut told = String::new();
    for piece in text.split('<') {
        let (tag, said) = piece.split_once('>').unwrap_or(("", piece));
        let is_name = |c: char| c.is_ascii_lowercase() || c == '_' || c == '-';
        let tag = if tag.chars().all(is_name) { tag } else { "" };
        for word in [tag, said.trim()] {
            if !word.is_empty() {
                let gap = match (told.is_empty(), word == tag) {
                    (true, _) => "",
                    (false, true) => ", ",
                    (false, false) => " ",
                };
                told += gap;
                told += word;
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_a_client_says_what_it_is() {
        for (preview, told) in [
            (
                "<environment_context> <cwd>/w/tally</cwd> <shell>zsh</shell> <curr",
                "environment context: cwd /w/tally, shell zsh curr",
            ),
            (
                "<permissions instructions> Filesystem sandboxing defines",
                "permissions instructions: Filesystem sandboxing defines",
            ),
            (
                "<command-name>/clear</command-name>",
                "command name: /clear",
            ),
            (
                "<local-command-stdout></local-command-stdout>",
                "local command stdout: (empty)",
            ),
            ("<div class=\"a b\">", "<div class=\"a b\">"),
            ("<p>One</p>", "<p>One</p>"),
            (
                "<tool_use_error>String not found",
                "tool use error: String not found",
            ),
            ("a < b_c > d", "a < b_c > d"),
            ("<a_>x", "<a_>x"),
        ] {
            assert_eq!(said(None, preview, None).text(), told);
            let after = said(Some("Bash"), preview, None).text();
            assert_eq!(after, format!("Bash → {told}"));
        }
    }

    #[test]
    fn a_result_is_told_with_its_call_however_little_room_there_is() {
        let call = "Read file_path=\"src/a/long/way/down/lib.rs\"";
        let of = |room| said(Some(call), "//! The library", room).text();
        assert_eq!(of(None), format!("{call} → //! The library"));
        assert_eq!(of(Some(70)), format!("{call} → //! The library"));
        assert_eq!(of(Some(40)), "Read file_path=\"src/a/lon… → //! The li…");
        assert_eq!(said(Some("Bash"), "", None).text(), "Bash → (empty)");
        assert_eq!(said(None, "", Some(9)).text(), "(empty)");
        assert_eq!(said(None, "one two", Some(5)).text(), "one…");
        for room in 0..70 {
            let line = said(Some(call), "//! The library", Some(room));
            assert!(line.width_cols() <= room, "{room}");
        }
        assert_eq!(said(Some("\u{1b}"), "\u{1b}", None).text(), "␛ → ␛");
    }
}
