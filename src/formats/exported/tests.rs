//! What files say, each by its marks.

use super::{CLAUDE_CODE_TEXT, CLINE_TEXT, OPENCODE_TEXT};
use crate::formats::Format;
use crate::formats::shared::contract::{Session, sound};
use crate::formats::sniff::sniff;

const SCREEN: &[u8] = include_bytes!("../../../tests/data/claude-code-text/export.txt");
const SESSION: &[u8] = include_bytes!("../../../tests/data/opencode-text/session.md");
const TASK: &[u8] = include_bytes!("../../../tests/data/cline-text/task.md");

fn read(format: &'static Format, bytes: &[u8]) -> Session {
    assert_eq!(sniff(&bytes).expect("readable"), Some(format));
    sound(format, bytes)
}

#[test]
fn a_screen_is_its_prompts_replies_calls_and_results() {
    let session = read(&CLAUDE_CODE_TEXT, SCREEN);
    assert_eq!(
        session.said(),
        [
            "user: How many sacks are there?\nCount twice.",
            "assistant: I look. | call-1: custom Bash ls sacks | wc -l",
            "tool: call-1 false = 12\n  of them full",
            r#"assistant: call-2: custom Search pattern: "barrel""#,
            "tool: call-2 false = Found 0 files",
            "assistant: There are twelve:\n\n- oak\n- elm",
            "user: /cost",
            "user: Thanks.",
            "assistant: You are welcome.",
        ]
    );
    let others = &session.end.other_records;
    assert_eq!(others["note of the client's"], 1);
    assert_eq!(others["output of the client's"], 1);
}

#[test]
fn a_session_in_markdown_is_read_by_its_headings_and_fences() {
    let session = read(&OPENCODE_TEXT, SESSION);
    assert_eq!(session.start.id, "ses_0b0b0b0b0b0b0b0b0b0b0b0b0b");
    assert_eq!(session.end.title.as_deref(), Some("Sacks"));
    assert_eq!(
        session.said(),
        [
            "user: How many sacks?\n\n**Tool: bash** is a mark, too.",
            "assistant: I look. | call-1: bash {\n  \"command\": \"ls sacks\"\n}",
            "tool: call-1 false = oak\n## User\nelm",
            "assistant: call-2: read {\n  \"filePath\": \"barrels\"\n}",
            "tool: call-2 true = no such file",
            "assistant: Two.",
            "assistant: _Thinking:_\n\nSay more.",
        ]
    );
    assert_eq!(session.steps[1].settings["model"], "\"model-x\"");
    assert_eq!(session.steps[6].settings["model"], "\"model-y\"");
}

#[test]
fn a_task_in_markdown_is_read_by_its_marks() {
    let session = read(&CLINE_TEXT, TASK);
    assert_eq!(
        session.said(),
        [
            "user: <task>\nHow many sacks?\n</task>",
            "assistant: I look. | call-1: custom execute_command Command: ls sacks",
            "tool: call-1 false = oak\nelm",
            "assistant: call-2: custom read_file Path: barrels",
            "tool: call-2 true = no such file",
            "assistant: Two.",
            "user: [execute_command] is what I like.\n[sic]",
        ]
    );
}
