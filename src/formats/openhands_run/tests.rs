//! What runs say, and what condensations hide of them.

use super::OPENHANDS_RUN;
use crate::formats::shared::contract::read;
use crate::formats::sniff::sniff;

const RUNS: &[u8] = include_bytes!("../../../tests/data/openhands-run/output.jsonl");

#[test]
fn each_run_of_a_file_is_a_session() {
    assert_eq!(sniff(&RUNS).expect("readable"), Some(&OPENHANDS_RUN));
    let told = read(&OPENHANDS_RUN, RUNS);
    assert_eq!(
        told.reasons(),
        ["an event that is neither action nor observation"]
    );
    let ids: Vec<&str> = told.sessions.iter().map(|it| &*it.start.id).collect();
    assert_eq!(ids, ["mill__1", "stem/2"]);
    assert_eq!(
        told.sessions[0].said(),
        [
            "user: How many sacks?",
            "assistant: I look. | call_1: execute_bash {\"command\":\"ls\"}",
            "tool: call_1 false = sacks.txt",
            "Compaction: user: Looked.",
            "assistant: 42.",
        ]
    );
    assert_eq!(
        told.sessions[0].steps[0].settings["model"],
        "\"claude-3-5-sonnet\""
    );
    assert_eq!(
        told.sessions[1].said(),
        [
            "user: Which wood?",
            "assistant: Look. | call-1: run {\"command\":\"ls\"}",
            "tool: call-1 false = oak",
        ]
    );
}
