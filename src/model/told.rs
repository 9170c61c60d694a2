//! What a tool's result tells, behind the head that its client puts before it.
//!
//! A reader of many results wants to tell them apart: all of Codex's begin alike, and a file that was read begins with
//! numbers. Deliberately absent: any change of what is stored or sent.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

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

/// A head of Codex's, and what stands behind it.
fn headed(text: &str) -> Option<(&str, &str)> {
    HEADS.into_iter().find(|head| text.starts_with(head))?;
    let end = text.find("\nOutput:\n").map(|at| at + 1)?;
    let (head, rest) = (&text[..end], &text[end + OUTPUT.len() + 1..]);
    head.lines().find(|line| line.starts_with(WALL_TIME))?;
    Some((head, rest))
}

/// The exit code that a head tells.
fn code_of_head(head: &str) -> Option<i64> {
    head.lines().find_map(|line| {
        let code = ENDED.iter().find_map(|before| line.strip_prefix(before))?;
        code.trim().parse().ok()
    })
}

/// What stands behind a head of Codex's; none where there is no such head. That a command failed, or goes on, stands
/// before it.
fn behind_head(text: &str) -> Option<Cow<'_, str>> {
    let (head, rest) = headed(text)?;
    let code = code_of_head(head);
    let mut lines = head.lines();
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

/// What a result is checked for before it is read whole: without one of these, no text tells an exit code or a failure.
pub(crate) const FAILURE_MARKS: [&str; 4] = ["xit", "returncode", "failed", "unsupported call: "];
/// How a client's texts begin that tell that a call failed before anything ran.
const REFUSALS: [&str; 5] = [
    "exec_command failed for ",
    "write_stdin failed",
    "apply_patch verification failed",
    "failed in sandbox ",
    "unsupported call: ",
];
/// What the last line of a result begins with, within any brackets, where it tells an exit code.
const LAST: [&str; 7] = [
    "Command exited with code ",
    "Command failed with exit code: ",
    "Command finished with exit code ",
    "The command completed with exit code ",
    "exited with exit code ",
    "exit code ",
    "exitCode>",
];
/// How the results of Gemini CLI and Qwen Code begin, which have the exit code among their last lines.
const LABELLED: [&str; 2] = ["Command: ", "Output: "];
const LABELLED_LINES: usize = 6;

/// The exit code that a client says a command ended with: at the place where it says so. What the output quotes is none.
///
/// # Source
///
/// Observed in sessions of Codex, Claude Code, pi, Gemini CLI, Qwen Code, Copilot CLI, Kimi, OpenHands, Crush, mini-SWE-agent and
/// Hermes; Amp's by the importer. The text of OpenCode's results has no code.
pub(super) fn exit_code(text: &str) -> Option<i64> {
    if let Some((head, _)) = headed(text) {
        return code_of_head(head);
    }
    if text.trim_start().starts_with('{') {
        return code_in_json(text);
    }
    let first = text.lines().next().unwrap_or_default();
    let of_first = ["Exit code ", "Exit code: "];
    let of_first = of_first.iter().find_map(|mark| first.strip_prefix(mark));
    if let Some(code) = of_first.and_then(|code| code.trim().parse().ok()) {
        return Some(code);
    }
    let mut last = text.lines().rev().map(str::trim);
    if LABELLED.iter().any(|label| text.starts_with(label)) {
        let mut labelled = last.take(LABELLED_LINES);
        return labelled.find_map(|line| line.strip_prefix("Exit Code: ")?.parse().ok());
    }
    let line = last.find(|line| !line.is_empty())?;
    let line = line.trim_matches(|c: char| "()[]<>.".contains(c));
    let line = line.strip_suffix("</exitCode").unwrap_or(line);
    let of_shell = line
        .strip_prefix("shellId: ")
        .and_then(|rest| rest.split_once(" completed with exit code "));
    let code = LAST.iter().find_map(|mark| line.strip_prefix(mark));
    code.or(of_shell.map(|(_, code)| code))?.parse().ok()
}

/// Whether the text of a result says that its call failed: by the exit code that it tells, or in the words of a client that
/// refused it. A command that ends with another code than 0 failed, whatever its code means to it.
pub(super) fn tells_failure(text: &str) -> bool {
    REFUSALS.iter().any(|words| text.starts_with(words))
        || exit_code(text).is_some_and(|code| code != 0)
}

/// The exit code beside an output, in an object.
fn code_in_json(text: &str) -> Option<i64> {
    #[derive(Deserialize)]
    struct Ended {
        #[serde(alias = "exitCode", alias = "returncode")]
        exit_code: Option<i64>,
        metadata: Option<Box<Ended>>,
        output: Option<IgnoredAny>,
        stdout: Option<IgnoredAny>,
    }
    if !FAILURE_MARKS.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    let ended: Ended = serde_json::from_str(text).ok()?;
    ended.output.or(ended.stdout)?;
    let within = ended.metadata.and_then(|metadata| metadata.exit_code);
    ended.exit_code.or(within)
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
    use proptest::prelude::*;

    use super::*;

    /// What clients write, with the code that each tells; then what only quotes one.
    #[test]
    fn each_client_tells_its_exit_codes_at_its_own_place() {
        let told = [
            (
                "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nProcess exited with code 0\n",
                Some(1),
            ),
            (
                "Command: /bin/sh -c 'a\nb'\nChunk ID: a\nWall time: 1 seconds\nProcess exited with code 128\nOutput:\n",
                Some(128),
            ),
            ("Exit code: 2\nWall time: 0 seconds\nOutput:\n", Some(2)),
            (
                "{\"output\":\"no\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}",
                Some(2),
            ),
            (
                "{\"output\": \"no\", \"exit_code\": 2, \"error\": null}",
                Some(2),
            ),
            ("{\n  \"returncode\": -1,\n  \"output\": \"\"\n}", Some(-1)),
            (
                "{\"command\":\"cat\",\"returncode\":0,\"stderr\":\"\",\"stdout\":\"alpha\"}",
                Some(0),
            ),
            ("Exit code 3\nno such file", Some(3)),
            ("no such file\n\n\nCommand exited with code 2", Some(2)),
            ("no such file\n\n(Command exited with code 1)", Some(1)),
            (
                "Command: ls x\nDirectory: (root)\nOutput: no\nError: (none)\nExit Code: 2\nSignal: (none)\nProcess Group PGID: 4",
                Some(2),
            ),
            (
                "Output: no\nExit Code: 1\nProcess Group PGID: 4615",
                Some(1),
            ),
            ("alpha\n<exited with exit code 0>", Some(0)),
            ("no\n<shellId: 1 completed with exit code 2>", Some(2)),
            (
                "no\n[The command completed with exit code 2.]\n[Current working directory: /]\n[Command finished with exit code 2]",
                Some(2),
            ),
            (
                "Wall time: 0.03 seconds\n<system>ERROR</system>no\nCommand failed with exit code: 2.",
                Some(2),
            ),
            ("$ ls x\nno\n(exit code 2)", Some(2)),
            ("<output>no</output>\n<exitCode>1</exitCode>", Some(1)),
            // What a command printed, and files.
            ("the script exited with code 1\nnext line", None),
            (
                "Wall time: 1 seconds\nOutput:\nProcess exited with code 1\n",
                None,
            ),
            (
                "Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\nExit code: 1\n",
                None,
            ),
            ("{\"exit_code\": 2}", None),
            (
                "     1→Exit code 1\n     2→Command exited with code 1",
                None,
            ),
            ("Exit code 1 is for usage", None),
            ("if exit code 0 then", None),
            ("", None),
        ];
        for (text, code) in told {
            assert_eq!(exit_code(text), code, "{text}");
            assert_eq!(
                tells_failure(text),
                code.is_some_and(|code| code != 0),
                "{text}"
            );
        }
        for text in [
            "exec_command failed for `/bin/zsh -lc 'go mod tidy'`: CreateProcess",
            "apply_patch verification failed: Failed to find expected lines",
            "failed in sandbox LinuxSeccomp with execution error: denied, exit code: 1",
            "unsupported call: send_message",
        ] {
            assert!(tells_failure(text), "{text}");
        }
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        /// Who looks for a mark before a whole message is read misses no failure.
        #[test]
        fn what_tells_a_failure_has_a_mark(
            before in "[a-zA-Z{}:\"\n ]{0,20}",
            words in prop::sample::select(vec![
                "Exit code ", "Exit code: ", "Process exited with code ", "Command exited with code ", "Exit Code: ",
                "exited with exit code ", "{\"output\":\"\",\"exit_code\":", "{\"stdout\":\"\",\"returncode\":",
                "<exitCode>", "exec_command failed for ", "unsupported call: ", "failed in sandbox ", "write_stdin failed",
            ]),
            code in 0..3_i64,
            after in "[}\n ]{0,3}",
        ) {
            for text in [format!("{before}{words}{code}{after}"), format!("{words}{code}{after}")] {
                let has_mark = FAILURE_MARKS.iter().any(|mark| text.contains(mark));
                prop_assert!(has_mark || !tells_failure(&text), "{}", text);
            }
        }
    }

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
