//! Requests that are written while the conversation is read.

use std::fmt::Write;
use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};

/// How many messages, so that more than one share of them is read, and the first of these is more than is held.
const MESSAGES: usize = 4_400;

/// A conversation with two prompts in a row and calls with results, and maybe a call that nothing answers.
fn talk(has_lost: bool) -> Sandbox {
    let mut lines = String::new();
    let mut say = |message: Value| writeln!(lines, "{message}").expect("a line");
    let filler = "what was said, at length. ".repeat(84);
    say(json!({"role": "system", "content": "be brief"}));
    say(json!({"role": "user", "content": "begin"}));
    if has_lost {
        say(json!({"role": "assistant", "content": "so", "tool_calls": [
            {"id": "lost", "type": "function", "function": {"name": "run", "arguments": "{}"}}]}));
    }
    say(json!({"role": "user", "content": "never mind"}));
    say(json!({"role": "user", "content": "go on"}));
    for at in (5..MESSAGES).step_by(3) {
        say(
            json!({"role": "assistant", "content": format!("{at} {filler}"), "tool_calls": [
            {"id": format!("c{at}"), "type": "function", "function": {"name": "run", "arguments": "{}"}}]}),
        );
        say(
            json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": format!("{at} {filler}")}),
        );
        say(json!({"role": "user", "content": format!("{at} {filler}")}));
    }
    let sandbox = Sandbox::new();
    sandbox.write("talk.jsonl", lines);
    sandbox.ok(&["commit", "-q", "--batch", "talk.jsonl"]);
    sandbox
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    sandbox.command(arguments).output().expect("it runs")
}

#[test]
fn a_long_request_is_the_same_to_a_pipe_to_a_file_and_to_a_program() {
    let sandbox = talk(true);
    for format in ["openai", "responses", "anthropic", "gemini", "text"] {
        let compile = ["compile", "--format", format];
        let piped = run(&sandbox, &compile);
        assert!(piped.status.success(), "{format}");
        assert!(piped.stdout.len() > 9_000_000, "{format}");
        let asked = json!({"id": 1, "method": "compile", "params": {"format": format}});
        let answer = sandbox.tract_with(&["api"], format!("{asked}\n"));
        let line = answer.lines().find(|line| line.starts_with('{'));
        let answer: Value = serde_json::from_str(line.expect("an answer")).expect("JSON");
        let payload = &answer["result"]["payload"];
        let text = String::from_utf8(piped.stdout).expect("text");
        match payload.as_str() {
            Some(payload) => assert!(text.trim_end_matches('\n') == payload, "{format}"),
            None => {
                let piped: Value = serde_json::from_str(&text).expect("JSON");
                assert!(piped == *payload, "{format}");
            }
        }
        let file = format!("{format}.json");
        let written = run(&sandbox, &[&compile[..], &["-o", &file]].concat());
        assert!(written.stdout.is_empty(), "{format}");
        let kept = fs::read_to_string(sandbox.work().join(&file)).expect("written");
        assert!(kept == text, "{format}");
    }
}

#[test]
fn a_request_is_written_over_no_file_unless_that_is_said() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    sandbox.write("request.json", "mine");
    insta::assert_snapshot!(sandbox.tract(&["compile", "-o", "request.json"]), @r"
    exit code: 1
    --- stderr
    error: request.json exists already
    hint: --force writes over it
    ");
    insta::assert_snapshot!(sandbox.tract(&["compile", "-o", "request.json", "--force"]), @r"
    --- stderr
    Wrote the request to request.json
    ");
    let written = fs::read_to_string(sandbox.work().join("request.json")).expect("written");
    assert_eq!(written, sandbox.ok(&["compile"]));
}

#[test]
fn damage_behind_the_beginning_of_a_long_request_is_told_and_leaves_no_file() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = talk(false);
    let whole = run(&sandbox, &["compile"]).stdout;
    sandbox.change(
        "UPDATE bodies SET body = zeroblob(9) WHERE content = (SELECT max(content) FROM bodies)",
    );
    let piped = run(&sandbox, &["compile"]);
    assert_eq!(piped.status.code(), Some(3));
    let said = String::from_utf8_lossy(&piped.stderr);
    assert!(
        said.starts_with("error: the repository is damaged:"),
        "{said}"
    );
    assert!(!piped.stdout.is_empty());
    assert!(piped.stdout.len() < whole.len() && whole.starts_with(&piped.stdout));
    let written = run(&sandbox, &["compile", "-o", "request.json"]);
    assert_eq!(written.status.code(), Some(3));
    assert!(!sandbox.work().join("request.json").exists());
    // A request that may be refused is refused before anything of it is written.
    let strict = run(&sandbox, &["compile", "--strict"]);
    assert_eq!((strict.status.success(), strict.stdout.len()), (false, 0));
}

#[test]
fn whoever_reads_no_more_of_a_long_request_ends_it_silently() {
    let sandbox = talk(false);
    let mut child = sandbox
        .command(&["compile"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
