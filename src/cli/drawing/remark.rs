//! A remark: its commands as they are to be typed; on a terminal in rows of its width, with what can
//! be copied in one piece.
//!
//! Deliberately absent: pipes and files, in which every remark is one line.

use std::ops::Range;

use tract::render::{Label, Line, Run, shell_word};

/// What ends a command in a sentence.
const ENDS: [&str; 5] = ["; ", ", ", ": ", " (", ") "];

/// The commands that act on the branch which `--on` names.
const ON_A_BRANCH: [&str; 32] = [
    "annotate",
    "audit",
    "blame",
    "chat",
    "clear",
    "commit",
    "compact",
    "compile",
    "diff",
    "drop",
    "export",
    "guard",
    "log",
    "merge",
    "pick",
    "pin",
    "prune",
    "rebase",
    "redact",
    "replay",
    "reset",
    "restore",
    "resume",
    "revert",
    "rewind",
    "show",
    "shrink",
    "status",
    "transcript",
    "truncate",
    "unpin",
    "view",
];

/// The line with `--on BRANCH` in each command that would act on HEAD without it.
pub fn on_branch(line: &Line, branch: &str) -> Line {
    let named = |run: &Run| {
        let mut said = String::new();
        for (at, piece) in run.text().split("tract ").enumerate() {
            if at > 0 {
                said += "tract ";
                let end = piece.find(|c: char| !c.is_ascii_lowercase());
                if ON_A_BRANCH.contains(&&piece[..end.unwrap_or(piece.len())]) {
                    said += &format!("--on {} ", shell_word(branch));
                }
            }
            said += piece;
        }
        run.label.of(said)
    };
    Line::join(line.runs().iter().map(named), "")
}

/// The rows of a remark. Those after the first stand under what it says, behind `hint:` or where an
/// indented line begins. No command is broken; one that is wider than the terminal has a row that the
/// terminal breaks, and so it is whole where it is copied.
pub fn rows(line: &Line, cols: usize) -> Vec<Line> {
    if line.width_cols() <= cols {
        return vec![line.clone()];
    }
    let text = line.text();
    let indent = text.len() - text.trim_start().len();
    let first = line.runs().first();
    let is_named = |label| matches!(label, Label::Error | Label::Hint | Label::Warning);
    let hang = match first {
        Some(run) if is_named(run.label) && run.text().ends_with(':') => run.text().len() + 1,
        _ => indent + 2,
    };
    let whole = commands(&text);
    let may_break = |space: usize| {
        space >= indent.max(hang) && !whole.iter().any(|command| command.contains(&space))
    };
    line.hang(cols, hang, may_break)
}

/// Where commands stand in a sentence: from `tract`, or from what is piped into it, to the end of the
/// clause.
fn commands(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices("tract ") {
        let before = &text[..at];
        let quote = before.chars().next_back().filter(|c| "`'".contains(*c));
        let is_word = quote.is_some() || before.is_empty() || before.ends_with([' ', '(']);
        if !is_word || found.last().is_some_and(|last| last.contains(&at)) {
            continue;
        }
        let start = if before.ends_with("| ") || before.ends_with("&& ") {
            let ends = ENDS.iter();
            let ends = ends.filter_map(|end| Some(before.rfind(end)? + end.len()));
            ends.max().unwrap_or(0)
        } else {
            at
        };
        let end = match quote {
            Some(quote) => text[at..].find(quote),
            None => end(&text[at..]),
        };
        found.push(start..end.map_or(text.len(), |end| at + end));
    }
    found
}

/// Where the clause ends that begins with this command; what is in quotes ends none.
fn end(command: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in command.char_indices() {
        let after_space = command[..at].ends_with([' ', '=']);
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if after_space && matches!(c, '\'' | '"') && command[at + 1..].contains(c) => {
                quote = Some(c);
            }
            None if ENDS.iter().any(|end| command[at..].starts_with(end)) => return Some(at),
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(line: &Line, cols: usize) -> String {
        let rows = rows(line, cols);
        let rows: Vec<String> = rows.iter().map(Line::text).collect();
        rows.join("\n")
    }

    #[test]
    fn a_hint_hangs_under_its_first_word_and_breaks_no_command() {
        let hint = Label::Hint.of("hint:")
            + " to return: tract checkout main; to go on from here and keep both: tract checkout -b NAME";
        insta::assert_snapshot!(wrapped(&hint, 60), @r"
        hint: to return: tract checkout main; to go on from here and
              keep both: tract checkout -b NAME
        ");
        insta::assert_snapshot!(wrapped(&hint, 34), @r"
        hint: to return:
              tract checkout main; to go
              on from here and keep both:
              tract checkout -b NAME
        ");
        assert_eq!(wrapped(&hint, 100), hint.text());
    }

    #[test]
    fn what_is_piped_or_quoted_or_too_wide_is_in_one_piece() {
        let piped = Label::Hint.of("hint:")
            + " it is packed, so: gunzip -c session.jsonl.gz | tract import -";
        insta::assert_snapshot!(wrapped(&piped, 50), @r"
        hint: it is packed, so:
              gunzip -c session.jsonl.gz | tract import -
        ");
        let quoted = Label::Error.of("error:")
            + " say `tract commit -r user -m 'one, two; three'`, or with an editor that you know well";
        insta::assert_snapshot!(wrapped(&quoted, 50), @r"
        error: say
               `tract commit -r user -m 'one, two; three'`,
               or with an editor that you know well
        ");
        let path = Label::Warning.of("note:")
            + " left out: /home/mara/.claude/projects/-home-mara-tally/5b0c9a1e.jsonl is empty";
        insta::assert_snapshot!(wrapped(&path, 40), @r"
        note: left out:
              /home/mara/.claude/projects/-home-mara-tally/5b0c9a1e.jsonl
              is empty
        ");
    }

    #[test]
    fn commands_that_act_on_a_branch_name_it() {
        let said = |text: &str| on_branch(&Line::from(text), "pl").text();
        assert_eq!(
            said("tract prune, or `tract truncate`; tract undo takes it back"),
            "tract --on pl prune, or `tract --on pl truncate`; tract undo takes it back"
        );
        let named = "back: tract --on agent reset ORIG_HEAD; tract checkout -b NAME, tract logs";
        assert_eq!(said(named), named);
        let odd = on_branch(&Line::from("tract log"), "it's").text();
        assert_eq!(odd, r"tract --on 'it'\''s' log");
    }

    #[test]
    fn what_is_said_stays_said() {
        let text = "Hid 7 messages (a tract in the midst, of no command), HEAD is now 3f2bb77";
        for cols in 20..80 {
            let rows = rows(&Line::from(text), cols);
            let words: Vec<String> = rows
                .iter()
                .map(|row| row.text().trim().to_owned())
                .collect();
            assert_eq!(words.join(" "), text, "{cols}");
        }
    }
}
