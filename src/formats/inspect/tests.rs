//! What samples say, with what was counted and scored, and what is wrong with one.

use serde_json::json;

use super::INSPECT;
use crate::formats::shared::contract::read;
use crate::model::{Millis, Usage};

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
