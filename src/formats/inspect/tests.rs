//! What samples say, with what was counted and scored, and what is wrong with one.

use serde_json::json;

use super::INSPECT;
use crate::formats::shared::contract::read;
use crate::model::{Millis, StatedUsage, Usage};

const LOG: &[u8] = include_bytes!("../../../tests/data/inspect/log.json");

#[test]
fn each_sample_is_a_session_with_its_scores() {
    let told = read(&INSPECT, LOG);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let [one, two] = &told.sessions[..] else {
        panic!("{}", told.sessions.len());
    };
    assert_eq!(one.start.id, "uU1");
    assert_eq!(
        one.end.title.as_deref(),
        Some("sacks/1: includes C, length 0.5")
    );
    assert_eq!(
        one.said(),
        [
            "system: You mind the mill.",
            "user: How many sacks are on both floors of the mill? | [None Some(\"image/png\")]",
            r#"assistant: (Count both. None c2VhbA==) | I count. | c1: count {"floor":1} | c2: count {"floor":9}"#,
            "tool: c1 false = 12",
            "tool: c2 true = no such floor",
            "assistant: Twelve sacks 🌾.",
        ]
    );
    let counted = Usage::new(90, 30).cached(64, 0).reasoned(4);
    assert_eq!(one.steps[2].usage, Some(counted));
    assert_eq!(one.steps[2].time, Some(Millis(1_772_438_402_000)));
    assert_eq!(one.steps[2].settings["model"], "\"miller-2\"");
    assert_eq!(one.steps[5].usage, Some(Usage::new(130, 9)));
    let other = &one.end.other_records;
    assert_eq!(
        json!(other),
        json!({"reply outside of the sample's context": 1})
    );
    assert_eq!(two.start.id, "stem/2");
    assert_eq!(two.end.title.as_deref(), Some("2, epoch 2"));
    assert_eq!(two.said(), ["user: Which wood?", "assistant: Oak."]);
}

#[test]
fn attempts_that_failed_are_counted_with_what_they_used() {
    let said = |id: &str, role: &str| json!({"id": id, "role": role, "content": "a"});
    let asked = |id: &str, output: u64| {
        let usage = json!({"input_tokens": 5, "output_tokens": output, "total_tokens": 5 + output});
        let output = json!({"choices": [{"message": said(id, "assistant")}], "usage": usage});
        json!({"event": "model", "model": "miller-2", "output": output})
    };
    let attempt = json!({"message": "down", "events": [asked("x", 7), {"event": "tool"}]});
    let log = |retries: serde_json::Value| {
        let messages = [said("u", "user"), said("r", "assistant")];
        let sample = json!({"id": 1, "messages": messages, "events": [asked("r", 2)], "error_retries": retries});
        json!({"eval": {"task": "t"}, "samples": [sample]})
    };
    let told = read(&INSPECT, log(json!([attempt])).to_string().as_bytes());
    let session = &told.sessions[0];
    assert_eq!(session.said(), ["user: a", "assistant: a"]);
    assert_eq!(session.steps[1].usage, Some(Usage::new(5, 2)));
    let other = &session.end.other_records;
    assert_eq!(json!(other), json!({"reply of an attempt that failed": 1}));
    let mut stated = StatedUsage::default();
    stated.add_other("miller-2".to_owned(), Usage::new(5, 7));
    assert_eq!(session.end.stated, Some(stated));
    let told = read(&INSPECT, log(json!([])).to_string().as_bytes());
    assert_eq!(told.sessions[0].end.stated, None);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let said = |role: &str| json!({"role": role, "content": [{"type": "hologram"}, {"type": "text", "text": "a"}]});
    let log = json!({"eval": {"task": "t"}, "samples": [{"id": 1}, {"id": 2, "messages": [said("robot"), said("user")]}]});
    let told = read(&INSPECT, log.to_string().as_bytes());
    assert_eq!(
        told.reasons(),
        ["a sample without messages", "unknown role 'robot'"]
    );
    assert_eq!(
        told.sessions[0].said(),
        ["user: {\"type\":\"hologram\"} | a"]
    );
}
