//! What a call gave back, told apart from what the tool says around it.
//!
//! Some tools put a header above an output, or a number before each line of a file. A reader wants
//! what it says first. Deliberately absent: anything that is left out; a header is facts, numbers are
//! a count from the first one.
//!
//! # Source
//!
//! Codex' `shell`, `shell_command` and `exec_command`, and Claude Code's `Read`, as they stand in sessions of theirs.

use std::borrow::Cow;

use serde_json::Value;

/// What a call gave back, in its parts. Hostile until escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutcome<'a> {
    /// What it says.
    pub text: Cow<'a, str>,
    /// What the tool says of it: how long it took, how it ended.
    pub facts: Vec<Cow<'a, str>>,
    /// The number of its first line, where lines of a file were numbered.
    pub first_line: Option<u64>,
    /// What the client put behind it.
    pub aside: Option<&'a str>,
}

/// What stands in a header, at the beginning of a line.
const HEADS: [&str; 10] = [
    "Command: ",
    "Chunk ID: ",
    "Wall time: ",
    "Wall time ",
    "Process exited with code ",
    "Process running with session ID ",
    "Original token count: ",
    "Exit code: ",
    "Total output lines: ",
    "Script ",
];
/// A header has at most so many lines.
const HEAD_LINES: usize = 12;
/// The tags of what the client put behind a result.
const ASIDE: [&str; 2] = ["<system-reminder>", "</system-reminder>"];

impl<'a> ToolOutcome<'a> {
    /// What a text that a call gave back says.
    ///
    /// ```
    /// use tract::render::outcome::ToolOutcome;
    ///
    /// let outcome = ToolOutcome::of("Exit code: 0\nWall time: 1 seconds\nOutput:\nfound\n");
    /// assert_eq!(outcome.text, "found\n");
    /// assert_eq!(outcome.facts, ["Exit code: 0", "Wall time: 1 seconds"]);
    /// ```
    pub fn of(text: &'a str) -> Self {
        headed(text)
            .or_else(|| wrapped(text))
            .or_else(|| numbered(text))
            .unwrap_or(Self {
                text: text.into(),
                facts: Vec::new(),
                first_line: None,
                aside: None,
            })
    }

    /// What the tool says of it, on one line.
    pub fn facts(&self) -> String {
        self.facts.join(" · ")
    }
}

/// A header, `Output:`, and what it says.
fn headed(text: &str) -> Option<ToolOutcome<'_>> {
    let mut facts = Vec::new();
    let mut rest = text;
    for _ in 0..HEAD_LINES {
        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        let line = line.trim_end();
        if line == "Output:" && !facts.is_empty() {
            return Some(ToolOutcome {
                text: behind.into(),
                facts,
                first_line: None,
                aside: None,
            });
        }
        if !HEADS.iter().any(|head| line.starts_with(head)) {
            return None;
        }
        facts.push(line.into());
        rest = behind;
    }
    None
}

/// `{"output": …, "metadata": {…}}`.
fn wrapped(text: &str) -> Option<ToolOutcome<'_>> {
    if !text.starts_with("{\"output\":") {
        return None;
    }
    let Ok(Value::Object(mut whole)) = serde_json::from_str(text) else {
        return None;
    };
    let Some(Value::String(output)) = whole.remove("output") else {
        return None;
    };
    let metadata = whole.remove("metadata");
    if !whole.is_empty() {
        return None;
    }
    let facts = match metadata {
        Some(Value::Object(facts)) => facts
            .into_iter()
            .map(|(key, value)| format!("{key} {value}").replace('_', " ").into())
            .collect(),
        Some(_) => return None,
        None => Vec::new(),
    };
    Some(ToolOutcome {
        text: output.into(),
        facts,
        first_line: None,
        aside: None,
    })
}

/// Lines of a file, each with its number.
fn numbered(text: &str) -> Option<ToolOutcome<'_>> {
    let (text, aside) = match text.find(ASIDE[0]) {
        Some(at) if text.trim_end().ends_with(ASIDE[1]) => (&text[..at], Some(text[at..].trim())),
        _ => (text, None),
    };
    let mut lines = text.trim_end_matches('\n').lines();
    let (first_line, first) = number(lines.next()?)?;
    let mut said = String::with_capacity(text.len());
    said += first;
    for (at, line) in (first_line + 1..).zip(lines) {
        let (number, line) = number(line)?;
        if number != at {
            return None;
        }
        said.push('\n');
        said += line;
    }
    Some(ToolOutcome {
        text: said.into(),
        facts: Vec::new(),
        first_line: Some(first_line),
        aside,
    })
}

/// The number before a line, and the line.
fn number(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.find(|c: char| !c.is_ascii_digit())?;
    let (number, rest) = line.split_at(digits);
    let rest = rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t'))?;
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_gave_back_is_what_it_says() {
        let codex = "Chunk ID: 8c7cc0\nWall time: 0.0 seconds\nProcess exited with code 1\nOutput:\n/home/me\n";
        let outcome = ToolOutcome::of(codex);
        assert_eq!(outcome.text, "/home/me\n");
        assert_eq!(
            outcome.facts(),
            "Chunk ID: 8c7cc0 · Wall time: 0.0 seconds · Process exited with code 1"
        );
        let wrapped = r#"{"output":"a\nb","metadata":{"exit_code":0,"duration_seconds":0.1}}"#;
        let outcome = ToolOutcome::of(wrapped);
        assert_eq!(outcome.text, "a\nb");
        assert_eq!(outcome.facts, ["exit code 0", "duration seconds 0.1"]);
        let read = "     9→fn main() {\n    10→\n    11→}\n\n<system-reminder>\nBe brief.\n</system-reminder>\n";
        let outcome = ToolOutcome::of(read);
        assert_eq!(outcome.text, "fn main() {\n\n}");
        assert_eq!(outcome.first_line, Some(9));
        let aside = outcome.aside.expect("an aside");
        assert!(aside.starts_with("<system-reminder>"), "{aside}");
    }

    #[test]
    fn what_is_something_else_stays_as_it_is() {
        for text in [
            "",
            "Output:\nx",
            "Exit code: 0\nbut no more",
            "1→a\n3→b",
            "1→a\nb",
            "12",
            r#"{"output": 1}"#,
            r#"{"output":"x","error":"y"}"#,
            "<system-reminder>x</system-reminder>",
        ] {
            let outcome = ToolOutcome::of(text);
            assert_eq!(outcome.text, text);
            assert_eq!((outcome.facts.len(), outcome.first_line), (0, None));
        }
    }
}
