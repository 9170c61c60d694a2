//! What a tool's result tells, behind the head that its client puts before it.
//!
//! A reader of many results wants to tell them apart: all of Codex's begin alike, and a file that was read begins with
//! numbers. Deliberately absent: any change of what is stored or sent.

use std::borrow::Cow;

use serde::Deserialize;

/// How Codex's heads begin. Each has a line [`WALL_TIME`], and ends with one that is [`OUTPUT`].
const HEADS: [&str; 4] = ["Command: ", "Chunk ID: ", "Exit code: ", WALL_TIME];
const WALL_TIME: &str = "Wall time: ";
const OUTPUT: &str = "Output:";
/// What stands before an exit code.
const ENDED: [&str; 2] = ["Exit code: ", "Process exited with code "];
/// What a command that goes on is known by.
const RUNNING: &str = "Process running with session ID ";

/// What a result tells, for a line that has little room: without a head, and without the numbers of a file's lines.
///
/// ```
/// use tract::model::told;
///
/// let result = "Chunk ID: 8c7cc0\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno such file\n";
/// assert_eq!(told(result), "exit code 1: no such file\n");
/// assert_eq!(told("     1→fn main() {\n     2→}"), "fn main() {\n}\n");
/// ```
pub fn told(text: &str) -> Cow<'_, str> {
    let whole = || unnumbered(text).map_or(Cow::Borrowed(text), Cow::Owned);
    bare(text).unwrap_or_else(whole)
}

/// The same with the numbers of lines, for some lines; none where there is no head.
pub fn bare(text: &str) -> Option<Cow<'_, str>> {
    behind_head(text).or_else(|| in_json(text))
}

/// What stands behind a head of Codex's; none where there is no such head. That a command failed, or goes on, stands
/// before it.
fn behind_head(text: &str) -> Option<Cow<'_, str>> {
    HEADS.into_iter().find(|head| text.starts_with(head))?;
    let end = text.find("\nOutput:\n").map(|at| at + 1)?;
    let (head, rest) = (&text[..end], &text[end + OUTPUT.len() + 1..]);
    let mut lines = head.lines().skip_while(|line| !line.starts_with(WALL_TIME));
    lines.next()?;
    let ended = |line: &str| {
        let code = ENDED.iter().find_map(|before| line.strip_prefix(before))?;
        code.trim().parse::<i64>().ok()
    };
    let code = head.lines().find_map(ended);
    if let Some(line) = lines.find(|line| line.starts_with(RUNNING)) {
        return Some(if rest.trim().is_empty() {
            Cow::Borrowed(line)
        } else {
            Cow::Borrowed(rest)
        });
    }
    Some(failed(code, Cow::Borrowed(rest)))
}

/// A result with what it is to say first if the command failed.
fn failed(code: Option<i64>, text: Cow<'_, str>) -> Cow<'_, str> {
    match code {
        None | Some(0) => text,
        Some(code) if text.trim().is_empty() => Cow::Owned(format!("exit code {code}")),
        Some(code) => Cow::Owned(format!("exit code {code}: {text}")),
    }
}

/// What an earlier Codex wrote: an object whose first key is `output`.
fn in_json(text: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Wrapped {
        output: String,
        metadata: Ended,
    }
    #[derive(Deserialize)]
    struct Ended {
        exit_code: i64,
    }
    text.strip_prefix("{\"output\":")?;
    let wrapped: Wrapped = serde_json::from_str(text).ok()?;
    Some(failed(
        Some(wrapped.metadata.exit_code),
        Cow::Owned(wrapped.output),
    ))
}

/// The lines of a file without their numbers; none where the first two are not numbered.
fn unnumbered(text: &str) -> Option<String> {
    let text = within_tags(text);
    let mut lines = text.lines();
    let (first, line) = numbered(lines.next()?)?;
    let mut found = format!("{line}\n");
    for (at, line) in (u64::from(first) + 1..).zip(lines) {
        let Some((_, line)) = numbered(line).filter(|(number, _)| u64::from(*number) == at) else {
            // Where no line follows the first one, a number may be what is said.
            if at == u64::from(first) + 1 {
                return None;
            }
            break;
        };
        found += line;
        found.push('\n');
    }
    Some(found)
}

/// What stands within the tags that OpenCode puts around a file.
fn within_tags(text: &str) -> &str {
    let rest = text.strip_prefix("<path>");
    let inside = rest.and_then(|rest| rest.split_once("<content>"));
    match (inside, text.strip_prefix("<file>\n")) {
        (Some((_, inside)), _) => inside.strip_prefix('\n').unwrap_or(inside),
        (None, Some(inside)) => inside,
        (None, None) => text,
    }
}

/// A line's number, and the line.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = line[..digits].parse().ok()?;
    let rest = &line[digits..];
    let said = ["→", "\t", "| ", ": "]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark));
    Some((
        number,
        said.or_else(|| (rest == "|" || rest == ":").then_some(""))?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_told_without_its_head() {
        for (result, said) in [
            (
                "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\n[]\n",
                "[]\n",
            ),
            (
                "Command: /bin/zsh -lc 'a\nb'\nChunk ID: a\nWall time: 0 seconds\nOutput:\nOutput:\n",
                "Output:\n",
            ),
            (
                "Exit code: 2\nWall time: 0 seconds\nOutput:\n",
                "exit code 2",
            ),
            ("Exit code: 0\nWall time: 0 seconds\nOutput:\n", ""),
            (
                "Wall time: 5 seconds\nProcess running with session ID 7\nOutput:\n",
                "Process running with session ID 7",
            ),
            (
                "Wall time: 5 seconds\nProcess running with session ID 7\nOutput:\nup",
                "up",
            ),
            ("Command: a\nOutput:\nb", "Command: a\nOutput:\nb"),
            ("Wall time: 5 seconds", "Wall time: 5 seconds"),
            (
                r#"{"output":"a\nb","metadata":{"exit_code":0,"duration_seconds":0.1}}"#,
                "a\nb",
            ),
            (r#"{"output":"","metadata":{"exit_code":1}}"#, "exit code 1"),
            (r#"{"output":"a"}"#, r#"{"output":"a"}"#),
            (r#"{"output":"a","#, r#"{"output":"a","#),
        ] {
            assert_eq!(told(result), said, "{result}");
        }
    }

    #[test]
    fn a_file_is_told_without_the_numbers_of_its_lines() {
        for (result, said) in [
            (
                "     9→a\n    10→\n    11→\tb\n\n<system-reminder>",
                "a\n\n\tb\n",
            ),
            ("1\timport x\n2\t", "import x\n\n"),
            ("1\tonly", "only\n"),
            (
                "<path>/a</path>\n<type>file</type>\n<content>1: # A\n2: \n</content>",
                "# A\n\n",
            ),
            ("<file>\n00001| a\n00002| b\n</file>", "a\nb\n"),
            ("1: one\nnot a list", "1: one\nnot a list"),
            ("3\t5\n3\t6", "3\t5\n3\t6"),
            ("2026", "2026"),
            ("99999999999999999999999\tx", "99999999999999999999999\tx"),
            ("", ""),
        ] {
            assert_eq!(told(result), said, "{result}");
        }
    }
}
