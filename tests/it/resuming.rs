//! Going on in the tool that a session came from, or in another.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::importing::with_demo;
use crate::sandbox::Sandbox;

/// Of two models, with parallel calls and thinking.
const TWO_MODELS: &str = include_str!("../data/claude-code/parallel.jsonl");

/// The only file below a directory.
fn only_file(directory: PathBuf) -> PathBuf {
    let mut entries = fs::read_dir(&directory).expect("it is there");
    let first = entries.next().expect("not empty").expect("readable").path();
    assert!(entries.next().is_none(), "one thing in {directory:?}");
    match first.is_dir() {
        true => only_file(first),
        false => first,
    }
}

/// The records of the session that a resume wrote for Claude Code.
fn written(sandbox: &Sandbox) -> Vec<Value> {
    let file = only_file(sandbox.home().join(".claude/projects"));
    let text = fs::read_to_string(file).expect("readable");
    let records = text.lines().map(serde_json::from_str);
    records.collect::<Result<_, _>>().expect("JSON")
}

fn title(records: &[Value]) -> Option<&str> {
    records
        .iter()
        .find_map(|record| record["customTitle"].as_str())
}

#[test]
fn each_reply_of_a_resumed_session_bears_the_model_that_made_it() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", TWO_MODELS);
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox.ok(&["resume"]);
    let records = written(&sandbox);
    let models = records
        .iter()
        .filter_map(|r| r["message"]["model"].as_str());
    let (opus, haiku) = ("claude-opus-4-5-20251101", "claude-haiku-4-5");
    // A record for each block: thinking and three calls, a text, and a text of the other model.
    assert_eq!(
        models.collect::<Vec<_>>(),
        [opus, opus, opus, opus, opus, haiku]
    );
}

#[test]
fn another_tools_model_is_not_taken_for_one_of_its_own() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "request.json",
        r#"{"model":"gpt-5.5","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}"#,
    );
    sandbox.ok(&["import", "request.json"]);
    sandbox.ok(&["resume", "--in", "claude-code"]);
    let records = written(&sandbox);
    let models = records
        .iter()
        .filter_map(|r| r["message"]["model"].as_str());
    assert_eq!(models.collect::<Vec<_>>(), ["unknown"]);
}

#[test]
fn the_title_goes_along() {
    let sandbox = with_demo();
    sandbox.ok(&["resume"]);
    let records = written(&sandbox);
    assert_eq!(
        title(&records),
        Some("Read the bank's amounts, and never in silence")
    );
}

#[test]
fn without_a_title_it_is_the_first_prompt_and_never_a_marker() {
    let sandbox = Sandbox::with_messages(&[
        ("system", "Be brief."),
        ("user", "<environment>linux</environment>"),
        ("user", "Mend the mill.\nNow."),
        ("assistant", "How?"),
        ("user", "With a hammer."),
        ("assistant", "Done."),
    ]);
    sandbox.ok(&["truncate", "--keep", "1"]);
    sandbox.ok(&["resume", "--in", "claude-code"]);
    assert_eq!(title(&written(&sandbox)), Some("Mend the mill. Now."));
}
